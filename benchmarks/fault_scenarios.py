"""The faults that ``faults.py`` plants: what breaks, when, and how it must be called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

STORE_ERROR, MEASUREMENT_ERROR, INTERRUPTED = 4, 5, 130


@dataclass(frozen=True)
class Scenario:
    """One injection.

    Attributes:
        kind: Group of section 5: out_of_memory, killed, hung, crashed, interrupted, disk_full, parent_killed, locked.
        name: What breaks, unique.
        driver: What ``fault_driver.py`` is told.
        status: How the broken trial must be recorded; ``None`` where no trial is broken.
        codes: Exit codes the command may end with.
        command: The command; ``None`` is the usual one on the simulated framework.
        quick: Whether a quick run includes it.
    """

    kind: str
    name: str
    driver: dict[str, Any] = field(default_factory=dict)
    status: str | None = None
    codes: tuple[int, ...] = (0,)
    command: tuple[str, ...] | None = None
    quick: bool = False


def broken(kind: str, fault: str, at: str, status: str, step: int = 0, **more: Any) -> Scenario:
    """Break the second child (the first of the second cell) in a run of two cells."""
    spec = {"kind": fault, "at": at, "step": step}
    name = f"{fault} at {at}" + (f" {step}" if at == "step" else "")
    hang = kind == "hung"
    return Scenario(kind, name, {"children": [1], "fault": spec, "short_hangs": hang}, status, **more)


def parent(kind: str, do: str, moment: str, number: int, *, after: bool = False, **more: Any) -> Scenario:
    """Let the parent act at the n-th call of one of its steps."""
    when = f"{'after' if after else 'before'} {moment} {number}"
    told = {"do": do, "moment": moment, "number": number, "after": after, "short_hangs": kind == "hung"}
    return Scenario(kind, f"{do} {when}", told, **more)


REAL = ("run", "simplenet", "--framework", "pytorch", "--batch-size", "64", "--threads", "1", "--rounds", "2")

SCENARIOS: tuple[Scenario, ...] = (
    broken("out_of_memory", "memory_error", "import", "out_of_memory"),
    broken("out_of_memory", "memory_error", "build", "out_of_memory", quick=True),
    broken("out_of_memory", "memory_error", "step", "out_of_memory", 100),
    broken("out_of_memory", "exhaust_memory", "build", "out_of_memory"),
    broken("out_of_memory", "exhaust_memory", "step", "out_of_memory", 10),
    broken("killed", "kill", "start", "killed"),
    broken("killed", "kill", "build", "killed"),
    broken("killed", "kill", "step", "killed", 3, quick=True),
    broken("killed", "kill", "step", "killed", 150),
    parent("killed", "child_SIGTERM", "turn", 3, status="killed"),
    parent("killed", "child_SIGKILL", "begin_turn", 5, after=True, status="killed"),
    parent("killed", "child_SIGKILL", "begin_finish", 1, status="killed"),
    broken("crashed", "segfault", "import", "crashed"),
    broken("crashed", "segfault", "step", "crashed", 120),
    broken("crashed", "abort", "step", "crashed", 10),
    broken("crashed", "exception", "import", "crashed"),
    broken("crashed", "exception", "build", "crashed", quick=True),
    broken("crashed", "exception", "step", "crashed", 77),
    broken("crashed", "exit", "start", "crashed"),
    broken("crashed", "exit", "step", "crashed", 42),
    broken("crashed", "interrupt", "step", "crashed", 20),
    broken("hung", "hang", "start", "hung"),
    broken("hung", "hang", "build", "hung"),
    broken("hung", "hang", "step", "hung", 30, quick=True),
    broken("hung", "hang_busy", "step", "hung", 30),
    parent("hung", "child_SIGSTOP", "begin_turn", 4, after=True, status="hung"),
    parent("interrupted", "SIGINT", "start", 1, codes=(INTERRUPTED,)),
    parent("interrupted", "SIGINT", "ready", 2, codes=(INTERRUPTED,)),
    parent("interrupted", "SIGINT", "turn", 20, codes=(INTERRUPTED,), quick=True),
    parent("interrupted", "SIGINT", "begin_turn", 9, after=True, codes=(INTERRUPTED,)),
    parent("interrupted", "SIGINT", "finish", 3, codes=(INTERRUPTED,)),
    parent("interrupted", "SIGINT", "put", 2, codes=(INTERRUPTED,)),
    parent("interrupted", "SIGINT", "put", 1, after=True, codes=(INTERRUPTED,)),
    parent("interrupted", "twice_SIGINT", "turn", 17, codes=(INTERRUPTED,)),
    parent("disk_full", "disk_full", "put_study", 0, after=True, codes=(STORE_ERROR,)),
    parent("disk_full", "disk_full", "put", 2, codes=(STORE_ERROR,), quick=True),
    parent("disk_full", "disk_full", "put", 3, after=True, codes=(STORE_ERROR,)),
    parent("parent_killed", "SIGKILL", "start", 1, after=True, codes=(-9,)),
    parent("parent_killed", "SIGKILL", "ready", 3, codes=(-9,)),
    parent("parent_killed", "SIGKILL", "turn", 21, after=True, codes=(-9,), quick=True),
    parent("parent_killed", "SIGKILL", "begin_turn", 18, after=True, codes=(-9,)),
    parent("parent_killed", "SIGKILL", "put", 2, codes=(-9,)),
    parent("parent_killed", "SIGKILL", "put", 2, after=True, codes=(-9,)),
    parent("parent_killed", "SIGTERM", "turn", 10, codes=(-15, 143)),
    Scenario("locked", "store locked while a trial is put away", {"lock": True}, codes=(STORE_ERROR,)),
    Scenario(
        "out_of_memory",
        "PyTorch allocates more than there is",
        {},
        "out_of_memory",
        command=(*REAL, "--width", "1024", "--depth", "1,2"),  # a layer of 2^38 weights
    ),
    Scenario(
        "parent_killed",
        "kill -9 while PyTorch trains",
        {"do": "SIGKILL", "moment": "begin_turn", "number": 9, "after": True},
        codes=(-9,),
        command=REAL,
    ),
    Scenario(
        "interrupted",
        "Ctrl-C while PyTorch trains",
        {"do": "SIGINT", "moment": "begin_turn", "number": 9, "after": True},
        codes=(INTERRUPTED,),
        command=REAL,
    ),
)
