"""Measure code that runs in this process, as a cell of a notebook does: hooks on, run, hooks off, judge."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from pacenote.child import attach
from pacenote.child.attach import FRAMEWORKS, Finder, Session
from pacenote.engines.spool import Spools
from pacenote.experiments.attached import Run, Sample
from pacenote.experiments.script import Answer, ScriptOptions, concluded, nothing
from pacenote.records import Counters
from pacenote.runner.meters import MachineMeters
from pacenote.store import Store

TITLE: Final = "cell"
"""What the code is called in a study."""


def run(work: Callable[[], Any], store: Store, *, name: str | None = None, command: Sequence[str] = ()) -> Answer:
    """Run some code under the probe; every hook is gone when it returns, however it ends.

    Args:
        work: The code. What it raises is raised again once what was seen is kept.
        store: Where the study goes.
        name: Name of the study.
        command: What was typed.
    """
    meters = MachineMeters()
    before, first = meters.before(), meters.read(os.getpid())
    began_ns, started_unix_s = time.perf_counter_ns(), time.time()
    failed: BaseException | None = None
    with tempfile.TemporaryDirectory(prefix="pacenote-cell-") as folder:
        session = attach.current = Session(folder, {"depth": True})
        finder = Finder(session.imported)
        try:
            for module in FRAMEWORKS:
                if module in sys.modules:
                    session.imported(module, sys.modules[module], 0.0)
            sys.meta_path.insert(0, finder)
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below; an interrupted cell is measured up to there
            failed = error
            session.error = type(error).__name__
        finally:
            sys.meta_path.remove(finder)
            session.end(leaving="cell")
            attach.current = None
            for patches in session.patches.values():
                patches.off()
        counters = _own(meters.difference(first, meters.read(os.getpid())))
        footprint = meters.footprint(os.getpid())
        sample = Sample(t_ns=time.perf_counter_ns(), counters=counters, footprints={os.getpid(): footprint})
        spools = Spools(Path(folder))
        seen = spools.read()
        failures = list(spools.failures())
    run = Run(
        name=name or TITLE,
        spawned_ns=began_ns,
        started_unix_s=started_unix_s,
        exit_code=0 if failed is None else 1,
        machine_id=str(meters.facts.get("machine_id", "")),
        samples=[sample],
        before=before,
    )
    trained = [one for one in seen if one.trained]
    if trained:
        options = ScriptOptions(target=run.name, module=True, name=name, command=list(command))
        answer = concluded(options, run, trained, meters, store)
    else:
        answer = nothing(run.exit_code, seen, failures)
    if failed is not None:
        raise failed
    return answer


def _own(found: Counters) -> Counters:
    """Here the measured process is ours as well, so its time must not be taken off the machine's twice."""
    busy_s = found.machine_busy_s
    other_s = None if busy_s is None else max(0.0, busy_s - found.child_cpu_s)
    return msgspec.structs.replace(found, other_cpu_s=other_s)
