"""``make bench-status`` tells a result that is older than its code from one that is not."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def status(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("bench_status", BENCHMARKS / "status.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bench_status", module)
    spec.loader.exec_module(module)
    return module


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "src/pacenote/child").mkdir(parents=True)
    (tmp_path / "src/pacenote/child/main.py").write_text("a = 1\n")
    (tmp_path / "src/pacenote/units.py").write_text("b = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def result(root: Path, **content: object) -> Path:
    path = root / "overhead.json"
    path.write_text(json.dumps({"benchmark": "overhead", **content}))
    return path


def test_a_result_is_current_until_what_it_measured_changes(status: ModuleType, repository: Path) -> None:
    path = result(repository, commit=git(repository, "rev-parse", "--short=12", "HEAD"))
    assert status.standing(path, repository).fresh
    (repository / "src/pacenote/units.py").write_text("b = 2\n")  # not what this benchmark measures
    assert status.standing(path, repository).fresh
    (repository / "src/pacenote/child/main.py").write_text("a = 2\n")
    found = status.standing(path, repository)
    assert not found.fresh
    assert found.changed == ("src/pacenote/child/main.py",)


def test_a_result_may_name_its_own_paths(status: ModuleType, repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    path = result(repository, commit=commit, paths=["src/pacenote/units.py"])
    (repository / "src/pacenote/child/main.py").write_text("a = 2\n")
    assert status.standing(path, repository).fresh


@pytest.mark.parametrize(
    ("commit", "verdict"),
    [("0123456789ab", "commit not in this repository"), ("0123456789ab+changes", "made with uncommitted changes")],
)
def test_a_result_of_unknown_code_says_so(status: ModuleType, repository: Path, commit: str, verdict: str) -> None:
    assert status.standing(result(repository, commit=commit), repository).verdict == verdict


def test_a_result_that_is_no_json_says_so(status: ModuleType, repository: Path) -> None:
    path = repository / "overhead.json"
    path.write_text("{")
    assert status.standing(path, repository).verdict == "unreadable"
