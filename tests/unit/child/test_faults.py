"""Planted faults: each breaks its process in its own way, once, and only at its moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from pacenote.child.faults import KINDS, MOMENTS, Fault

RAISES = {"exception": RuntimeError, "memory_error": MemoryError}

PROGRAM = "from pacenote.child.faults import Fault; Fault({{'kind': {kind!r}, 'at': 'start'}}).at('start')"


def test_without_a_fault_nothing_breaks() -> None:
    fault = Fault(None)
    for moment in MOMENTS:
        fault.at(moment)
    fault.at_step(10**9)


@pytest.mark.parametrize("kind", RAISES)
@pytest.mark.parametrize("moment", ["start", "import", "build"])
def test_it_breaks_at_its_moment_only(kind: str, moment: str) -> None:
    fault = Fault({"kind": kind, "at": moment})
    for other in MOMENTS:
        if other != moment:
            fault.at(other)
    fault.at_step(99)
    with pytest.raises(RAISES[kind], match="planted"):
        fault.at(moment)


@pytest.mark.parametrize(("spec", "first"), [({"step": 3}, 3), ({}, 0), ({"at": "step", "step": 1}, 1)])
def test_it_breaks_at_its_step_or_the_first_after_it(spec: dict[str, Any], first: int) -> None:
    fault = Fault({"kind": "exception", **spec})
    for step in range(first):
        fault.at_step(step)
    with pytest.raises(RuntimeError):
        fault.at_step(first + 1)


def test_it_breaks_once() -> None:
    fault = Fault({"kind": "exception", "at": "build"})
    with pytest.raises(RuntimeError):
        fault.at("build")
    fault.at("build")


def test_unknown_kinds_and_moments_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown fault 'melt'; known: exception, "):
        Fault({"kind": "melt"})
    with pytest.raises(ValueError, match="unknown moment 'lunch'; known: start, import, build, step"):
        Fault({"kind": "exception", "at": "lunch"})


def test_every_kind_has_its_way() -> None:
    assert all(callable(getattr(Fault, f"_{kind}")) for kind in KINDS)


@pytest.mark.skipif(os.name != "posix", reason="ends by POSIX signals")
@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("exit", 3, ""),
        ("kill", -signal.SIGKILL, ""),
        ("segfault", -signal.SIGSEGV, ""),
        ("abort", -signal.SIGABRT, ""),
        ("interrupt", -signal.SIGINT, "KeyboardInterrupt"),
        ("exhaust_memory", 1, "MemoryError"),
    ],
)
def test_the_process_ends_as_the_kind_says(kind: str, code: int, words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(kind=kind)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code
    assert words in done.stderr


@pytest.mark.parametrize(("kind", "module"), [("hang", "time.sleep"), ("hang_busy", "sys.getsizeof")])
def test_a_hang_goes_on_and_on(kind: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Enough(BaseException):
        pass

    turns: list[Any] = []

    def once_more(argument: Any) -> None:
        turns.append(argument)
        if len(turns) == 5:
            raise Enough

    owner, _, name = module.partition(".")
    monkeypatch.setattr(sys.modules[owner], name, once_more)
    with pytest.raises(Enough):
        Fault({"kind": kind, "at": "start"}).at("start")
