"""Runs one ``pacenote`` command in this process with one fault planted in it; started by ``faults.py``.

``python benchmarks/fault_driver.py SCENARIO.json pacenote-arguments…``. The scenario names the children to break (their
job's ``fault``), and at most one action of the parent: at the n-th call of one of its own steps it signals itself or
the child, or lets its disk be full. Each record the store has taken is written down in a side file, flushed to disk,
so that the judge knows what must not be lost.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from pacenote.engines import local
from pacenote.records import Status, TrialRecord
from pacenote.runner import group, slot
from pacenote.store import Store

HANG_TIMEOUT_S = 3.0
"""A hang must be seen by its time-out; nobody waits two minutes for it in a benchmark."""

STEPS: dict[str, tuple[Any, str]] = {
    "start": (local.LocalEngine, "start"),
    "ready": (slot.Slot, "wait_ready"),
    "turn": (slot.Slot, "take_turn"),
    "begin_turn": (local.LocalChild, "begin_turn"),
    "begin_finish": (slot.Slot, "begin_finish"),
    "finish": (slot.Slot, "finish"),
    "store": (group.Group, "_store"),
    "put": (Store, "put_trial"),
    "put_study": (Store, "put_study"),
}
"""Name of a moment → the call it lies before (or, with ``after``, behind)."""


def break_children(numbers: list[int], fault: dict[str, Any] | None) -> None:
    """Give some of the children, counted from 0, a fault."""
    original = local.LocalEngine.start
    count = 0

    def start(self: local.LocalEngine, job: dict[str, Any], **rest: Any) -> local.LocalChild:
        nonlocal count
        broken = {**job, "fault": fault} if count in numbers else job
        count += 1
        return original(self, broken, **rest)

    local.LocalEngine.start = start  # type: ignore[method-assign]


def act_at(moment: str, number: int, act: Callable[[Any], None], *, after: bool) -> None:
    """Do something at the n-th call of one of the parent's steps."""
    owner, name = STEPS[moment]
    original = getattr(owner, name)
    count = 0

    def step(self: Any, *arguments: Any, **rest: Any) -> Any:
        nonlocal count
        mine = count == number
        count += 1
        if mine and not after:
            act(self)
        result = original(self, *arguments, **rest)
        if mine and after:
            act(self)
        return result

    setattr(owner, name, step)


def action(scenario: dict[str, Any]) -> Callable[[Any], None]:
    """What the parent does to itself or to the child."""
    kind = scenario["do"]
    if kind == "disk_full":

        def fill(_: Any) -> None:
            size = Path(os.environ["PACENOTE_STORE"] + "-wal")
            limit = (size.stat().st_size if size.exists() else 0) + 4096
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

        return fill
    number = getattr(signal, kind.removeprefix("child_").removeprefix("twice_"))
    if kind.startswith("child_"):
        return lambda owner: os.kill(owner.child.pid if hasattr(owner, "child") else owner.pid, number)
    if kind.startswith("twice_"):

        def twice(_: Any) -> None:
            os.kill(os.getpid(), number)
            signal.setitimer(signal.ITIMER_REAL, 0.05)

        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), number))
        return twice
    return lambda _: os.kill(os.getpid(), number)


def note_stored(place: Path) -> None:
    """Write down each finished trial that the store has taken."""
    original = Store.put_trial

    def put_trial(self: Store, record: TrialRecord, study_id: str | None = None) -> None:
        original(self, record, study_id)
        if record.outcome.status is Status.FINISHED:
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, f"{record.id}\n".encode())
            os.fsync(descriptor)
            os.close(descriptor)

    Store.put_trial = put_trial  # type: ignore[method-assign]


def shorten_hangs() -> None:
    """Let a silent child be given up soon."""
    original = local.LocalChild.answer

    def answer(self: local.LocalChild, kind: str, timeout_s: float) -> dict[str, Any]:
        return original(self, kind, min(timeout_s, HANG_TIMEOUT_S))

    local.LocalChild.answer = answer  # type: ignore[method-assign]


def main() -> int:
    """Plant the fault and run the command."""
    scenario = json.loads(Path(sys.argv[1]).read_text())
    break_children(scenario.get("children", []), scenario.get("fault"))
    if scenario.get("short_hangs"):
        shorten_hangs()
    note_stored(Path(scenario["stored"]))
    if "do" in scenario:
        act_at(scenario["moment"], scenario["number"], action(scenario), after=scenario.get("after", False))
    sys.argv = ["pacenote", *sys.argv[2:]]
    from pacenote.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
