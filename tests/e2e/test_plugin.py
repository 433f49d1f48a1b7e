"""The example plug-in, installed as a user would, is measured like a built-in workload."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plug-in installed by pip from its source."""
    pytest.importorskip("torch", reason="the example plug-in trains in PyTorch")
    pytest.importorskip("hatchling", reason="building the example plug-in needs hatchling")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(folder), str(ROOT / "examples" / "plugin")]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return folder


def pacenote(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "src"), str(site)])
    own = {"PYTHONPATH": path, "PACENOTE_STORE": str(site / "store.sqlite"), "PACENOTE_LANG": "en"}
    command = [sys.executable, "-m", "pacenote.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **own}, timeout=240)


@pytest.mark.torch
def test_it_is_measured_like_a_built_in_workload(site: Path) -> None:
    words = "run tinymlp --framework torch --data-mode device --batch-size 16 --threads 1 --rounds 1 --quiet --json"
    done = pacenote(site, *words.split())
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    [cell] = found["cells"]
    assert found["workload"] == "tinymlp"
    assert cell["data"]["source"] == "made-up"
    assert cell["steps"] > 0
    assert cell["phases"]["backward"] > 0
    assert all(one["applied"] in (True, None) for one in cell["lever_outcomes"])


@pytest.mark.torch
def test_its_levers_are_checked_like_any_others(site: Path) -> None:
    done = pacenote(site, "run", "tinymlp", "--data-mode", "device", "--memory-format", "channels_last")
    assert done.returncode == 2
    assert "tinymlp has no --memory-format" in done.stderr
