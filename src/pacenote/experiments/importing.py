"""A trace of another profiler, kept as a study like any other and judged by the same rules."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from pacenote._version import __version__
from pacenote.experiments.judging import Judge
from pacenote.interchange import kineto
from pacenote.records import (
    Cell,
    ColdStart,
    Counters,
    Effort,
    Environment,
    Kind,
    Memory,
    Outcome,
    Reading,
    Scalar,
    Sensors,
    Status,
    Study,
    TrialRecord,
    TrialSpec,
    Turn,
    new_id,
)
from pacenote.redact import redact
from pacenote.segment import segment
from pacenote.store import Store

NOT_IN_TRACE = Reading(reason="not_in_trace")


def run(paths: Sequence[Path], store: Store, *, name: str | None, command: Sequence[str]) -> Study:
    """Read traces of the ranks of one run, keep them, and judge.

    Args:
        paths: One trace per rank.
        store: Where the study goes.
        name: Name of the study.
        command: What was typed.

    Raises:
        UsageError: If a file is no trace that can be read, or shows no training step.
    """
    read = [(path, kineto.read(path)) for path in paths]
    title = _title(read[0][0])
    facts = {"imported_from": "torch.profiler", "accelerators": [{"name": one} for one in read[0][1].devices]}
    environment_hash = store.put_environment(Environment(facts=facts))
    records: list[TrialRecord] = []
    for path, found in sorted(read, key=lambda pair: pair[1].rank):
        parent = records[0].id if records else None
        records.append(
            _record(path, found, title, count=len(read), environment_hash=environment_hash, parent_id=parent)
        )
    cells: dict[str, Cell] = {}
    for record in records:
        label = title if len(read) == 1 else f"{title} rank {record.rank}"
        cells.setdefault(record.spec_hash, Cell(label=label, spec=record.spec))
    study = Study(
        id=new_id(),
        question="script",
        name=name,
        created_unix_s=time.time(),
        finished=True,
        command=redact(list(command)),
        cells=list(cells.values()),
        axes=["rank"] if len(read) > 1 else [],
        baseline=next(iter(cells.values())).label,
        trial_ids=[record.id for record in records],
        options={"exit_code": 0, "imported": ", ".join(path.name for path in paths)},
        version=__version__,
    )
    store.put_study(study)
    for record in records:
        store.put_trial(record, study.id)
    study = Judge(store).judged(study, records)
    store.put_study(study)
    return study


def _title(path: Path) -> str:
    name = path.name
    for end in (".gz", ".json", ".pt.trace"):
        name = name.removesuffix(end)
    return name or path.name


def _record(
    path: Path, found: kineto.Imported, title: str, *, count: int, environment_hash: str, parent_id: str | None
) -> TrialRecord:
    levers: dict[str, Scalar] = {"rank": found.rank, "world_size": max(found.world_size, count)} if count > 1 else {}
    spec = TrialSpec(workload=title, framework="pytorch", device=found.device, levers=levers)
    steps = segment(found.log)
    # A trace says nothing of the machine: no counter was read over any time.
    nothing = Counters(wall_s=0.0, child_cpu_s=0.0)
    turns = [Turn(turn=at, steps=int(n), counters=nothing) for at, n in enumerate(steps.turns.steps)]
    return TrialRecord(
        id=new_id(),
        spec=spec,
        spec_hash=spec.hash(),
        environment_hash=environment_hash,
        machine_id="",
        replicate=0,
        parent_id=parent_id,
        rank=found.rank,
        world_size=max(found.world_size, count),
        kind=Kind.IMPORTED,
        version=__version__,
        started_unix_s=path.stat().st_mtime,
        effort=Effort(),
        outcome=Outcome(status=Status.FINISHED, exit_code=0),
        cold_start=ColdStart(),
        turns=turns,
        events=found.log,
        memory=Memory(**{name: NOT_IN_TRACE for name in Memory.__struct_fields__}),
        sensors=Sensors(**{name: NOT_IN_TRACE for name in Sensors.__struct_fields__}),
        framework={"name": "pytorch"},
        data={"source": "trace"},
        flop_per_sample=Reading(reason="no_formula"),
        ceiling_flops=Reading(reason="not_calibrated"),
        ceiling_bytes_per_s=Reading(reason="not_calibrated"),
        depth=found.depth,
    )
