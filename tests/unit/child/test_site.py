"""The folder that stands first in PYTHONPATH: it attaches, steps aside, and never harms the script."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pacenote.launchers.script import SITE


def run(script: str, tmp_path: Path, *options: str, job: str = "{}") -> subprocess.CompletedProcess[str]:
    folder = tmp_path / "attach"
    folder.mkdir(exist_ok=True)
    if job:
        (folder / "job.json").write_text(job)
    path = os.pathsep.join((str(SITE), str(tmp_path)))
    environ = {**os.environ, "PYTHONPATH": path, "PACENOTE_ATTACH": str(folder)}
    return subprocess.run(
        [sys.executable, *options, "-c", script], env=environ, capture_output=True, text=True, check=False, timeout=60
    )


def failures(tmp_path: Path) -> list[str]:
    return [path.read_text() for path in (tmp_path / "attach").glob("*.failed")]


def test_the_users_own_sitecustomize_is_loaded_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.own = __file__")
    done = run("import sys, sitecustomize; print(own); print(sitecustomize.__file__)", tmp_path)
    assert done.stdout.split() == [str(tmp_path / "sitecustomize.py")] * 2
    assert failures(tmp_path) == []


def test_our_folder_does_not_stay_where_modules_are_looked_for(tmp_path: Path) -> None:
    done = run("import sys; print(*sys.path, sep='\\n')", tmp_path)
    assert str(SITE) not in done.stdout.split("\n")
    assert str(tmp_path) in done.stdout.split("\n")


def test_without_a_job_the_script_runs_as_it_is(tmp_path: Path) -> None:
    done = run("print('ran')", tmp_path, job="")
    assert (done.stdout, done.stderr, done.returncode) == ("ran\n", "", 0)
    assert "FileNotFoundError" in failures(tmp_path)[0]


def test_a_framework_that_cannot_be_hooked_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("answer = 42")
    script = "import torch as t; print(t.answer, type(t.__loader__).__name__, t.__spec__.loader is t.__loader__)"
    done = run(script, tmp_path)
    assert (done.stdout, done.stderr) == ("42 SourceFileLoader True\n", "")
    assert "AttributeError" in failures(tmp_path)[0]


def test_a_framework_that_is_not_there_is_missing_as_it_would_be(tmp_path: Path) -> None:
    done = run("import importlib.util; print(importlib.util.find_spec('paddle_that_is_not_there'))", tmp_path)
    assert done.stdout == "None\n"


def test_isolated_interpreters_do_not_see_us(tmp_path: Path) -> None:
    for option in ("-I", "-S", "-E"):
        assert run("print('ran')", tmp_path, option).stdout == "ran\n"
    assert failures(tmp_path) == []


def test_a_process_that_never_trains_leaves_nothing(tmp_path: Path) -> None:
    run("import os; os._exit(0)", tmp_path)
    assert list((tmp_path / "attach").glob("*.spool")) == []
