"""The public names, and what importing them costs: no framework, no heavy library."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import pacenote

FRAMEWORKS = ("torch", "paddle")
HEAVY = ("numpy", "sqlalchemy", "jinja2", "psutil", "rich", "typer")


def loaded_after(code: str, *names: str) -> list[str]:
    ask = f"{code}\nimport sys\nprint(*[name for name in {names!r} if name in sys.modules])"
    environment = {"PYTHONPATH": str(Path(pacenote.__file__).parents[1]), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True, text=True, env=environment)
    return done.stdout.splitlines()[-1].split()


def test_the_public_names_are_sorted_and_all_there() -> None:
    assert list(pacenote.__all__) == sorted(pacenote.__all__)
    for name in pacenote.__all__:
        assert getattr(pacenote, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        pacenote.nonsense  # noqa: B018 - the access is what is tested


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import pacenote", *FRAMEWORKS, *HEAVY) == []


def test_records_load_no_library_but_their_own() -> None:
    assert loaded_after("from pacenote import Study, TrialRecord", *FRAMEWORKS, *HEAVY) == []


def test_help_loads_no_command_and_no_framework() -> None:
    code = "from pacenote.cli.main import execute\nexecute(['--help'])"
    assert loaded_after(code, *FRAMEWORKS, "numpy", "sqlalchemy", "jinja2", "psutil", "pacenote.cli.run") == []


def test_looking_at_stored_runs_needs_no_framework(tmp_path: Path) -> None:
    code = (
        f"import os; os.environ['PACENOTE_STORE'] = {str(tmp_path / 'store.sqlite')!r}\n"
        "from pacenote.cli.main import execute\nexecute(['runs'])"
    )
    assert loaded_after(code, *FRAMEWORKS) == []


def test_the_file_of_typical_user_code_runs(tmp_path: Path) -> None:
    typical = runpy.run_path(str(Path(__file__).parents[1] / "typing" / "api.py"))
    assert typical["describe"](tmp_path) == [
        f"{pacenote.__version__}: there are no runs yet; make one with: pacenote run lenet. (2)"
    ]
