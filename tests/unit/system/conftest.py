"""Lays recorded trees over each other; see ``tests/unit/trees/README.md``."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pacenote.system.reader import Reader

TREES = Path(__file__).parent.parent / "trees"

TreeMaker = Callable[..., Reader]


@pytest.fixture
def tree(tmp_path: Path) -> TreeMaker:
    """``tree("swap", "swap_mild", without=["proc/pressure"])``: ``plain`` with other trees laid over it."""
    made = 0

    def make(*names: str, without: tuple[str, ...] = ()) -> Reader:
        nonlocal made
        made += 1
        root = tmp_path / f"tree{made}"
        for name in ("plain", *names):
            shutil.copytree(TREES / name, root, dirs_exist_ok=True)
        for path in without:
            shutil.rmtree(root / path)
        return Reader(root)

    return make
