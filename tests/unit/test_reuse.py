"""``make … TORCH=PYTHON`` lets this environment import what another one has, if both are the same Python."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "reuse.py"


def python_of(folder: Path) -> Path:
    venv.create(folder, with_pip=False)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(python), *arguments], capture_output=True, text=True, check=False)


def test_what_the_other_has_can_be_imported_and_what_is_here_wins(tmp_path: Path) -> None:
    here, other = python_of(tmp_path / "here"), python_of(tmp_path / "other")
    folders = {}
    for python in (here, other):
        ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
        folders[python] = Path(run(python, "-c", ask).stdout.strip())
        (folders[python] / "in_both.py").write_text(f"where = {python.parent.parent.name!r}")
    (folders[other] / "only_there.py").write_text("")
    assert run(here, str(SCRIPT), str(other)).returncode == 0
    done = run(here, "-c", "import only_there, in_both; print(in_both.where)")
    assert done.stdout.strip() == "here", done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for another version is a shell script")
def test_another_version_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho '(2, 7)'\necho /nowhere\n")
    other.chmod(0o755)
    done = run(python_of(tmp_path / "here"), str(SCRIPT), str(other))
    assert done.returncode == 1
    assert "packages cannot be shared" in done.stderr
