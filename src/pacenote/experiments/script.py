"""Measure a script of the user's: start it as it is, watch, and judge what its processes left behind."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import platformdirs

from pacenote import source
from pacenote._version import __version__
from pacenote.child.attach import JOB
from pacenote.engines.spool import Attached, Spools
from pacenote.errors import UsageError
from pacenote.experiments.attached import Run, Sample, record_of, spec_of
from pacenote.experiments.judging import Judge
from pacenote.findings.script import source_findings
from pacenote.launchers.script import Script, command_of
from pacenote.levers import LEVERS
from pacenote.records import Cell, Finding, Record, Scalar, Study, TrialRecord, new_id
from pacenote.redact import redact
from pacenote.runner.meters import MachineMeters
from pacenote.store import Store

SAMPLE_EVERY_S: Final = 1.0
FOOTPRINT_EVERY: Final = 5
"""Samples between two readings of memory, which walk the page tables (35 ms for 1 GB, measured)."""

PLACES_KEPT: Final = 20
"""Places in the text that are told of; a script with more has one mistake many times."""

NAMES_ASKED: Final = 2000
"""Names of the framework that the child looks for: one look at an attribute each."""

_NEVER_S: Final = float("inf")

FIRST_LOOK_S: Final = 10.0
"""After so long since the first step, what is known so far is told once."""


class ScriptOptions(Record, frozen=True, kw_only=True):
    """What was asked.

    Attributes:
        target: A Python file, a module, or a program.
        arguments: What it gets.
        module: Whether ``target`` is a module.
        python: Interpreter; ``None`` is the one that runs Pacenote.
        steps: Optimizer steps after which the script is ended.
        seconds: Seconds of training after which it is ended.
        data_function: Name of the function that makes its batches; empty to find it.
        depth: Whether a few steps are recorded in depth.
        levers: Levers to apply from outside.
        name: Name of the study.
        command: What was typed.
    """

    target: str
    arguments: list[str] = []
    module: bool = False
    python: str | None = None
    steps: int | None = None
    seconds: float | None = None
    data_function: str = ""
    depth: bool = True
    levers: dict[str, Scalar] = {}
    name: str | None = None
    command: list[str] = []


class Answer(Record, frozen=True, kw_only=True):
    """How the run ended.

    Attributes:
        exit_code: The script's own.
        study: What was found; ``None`` when nothing trained under the probe.
        why_not: Then, why not: ``no_framework``, ``no_training`` or ``probe_failed``.
        detail: What that is about.
        places: Then, what is seen in the script's text all the same.
    """

    exit_code: int
    study: Study | None = None
    why_not: str = ""
    detail: str = ""
    places: list[Finding] = []


Early = Callable[[list[Attached]], None]


def run(options: ScriptOptions, store: Store, early: Early = lambda seen: None) -> Answer:
    """Run a script to its end and keep what was seen of it.

    Args:
        options: What was asked.
        store: Where the study goes.
        early: Told once what the processes have written, some seconds after the first step.

    Raises:
        UsageError: If there is no such script, or the options contradict each other.
        MissingPartError: If its interpreter cannot be run.
    """
    if options.steps is not None and options.seconds is not None:
        raise UsageError("--steps and --seconds are two ways to say when to stop; give one.")
    command = command_of(options.target, options.arguments, module=options.module, python=options.python)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=_spool_place()))
    try:
        job = {name: getattr(options, name) for name in ("steps", "seconds", "data_function", "depth", "levers")}
        job["names"] = [] if options.module else list(source.names_of(Path(options.target)))[:NAMES_ASKED]
        (folder / JOB).write_text(json.dumps(job), encoding="utf-8")
        return _watched(options, command, folder, store, early)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _spool_place() -> Path:
    """A folder that no script takes for its own: not the one for temporary files, which scripts delete."""
    place = Path(platformdirs.user_cache_dir("pacenote")) / "spool"
    place.mkdir(parents=True, exist_ok=True)
    return place


def _watched(options: ScriptOptions, command: Sequence[str], folder: Path, store: Store, early: Early) -> Answer:
    meters, spools = MachineMeters(), Spools(folder)
    machine_id = str(meters.facts.get("machine_id", ""))
    before = meters.before()
    variables = {name: value for lever in options.levers for name, value in _environ(lever, options).items()}
    script = Script(command, folder, variables)
    spawned_ns, started_unix_s = time.perf_counter_ns(), time.time()
    try:
        exit_code, samples = _follow(script, meters, spools, early)
    finally:
        script.close()
    run = Run(
        name=_shown_name(options),
        spawned_ns=spawned_ns,
        started_unix_s=started_unix_s,
        exit_code=exit_code,
        machine_id=machine_id,
        levers=options.levers,
        samples=samples,
        before=before,
    )
    seen = spools.read()
    trained = [one for one in seen if one.trained]
    if not trained:
        without = nothing(exit_code, seen, list(spools.failures()))
        return msgspec.structs.replace(without, places=source_findings(seen_in_text(options, seen)))
    return concluded(options, run, trained, meters, store)


def _environ(lever: str, options: ScriptOptions) -> dict[str, str]:
    return LEVERS.get(lever).environ(options.levers[lever])


def _follow(script: Script, meters: MachineMeters, spools: Spools, early: Early) -> tuple[int, list[Sample]]:
    """Wait for the end, and look at the machine once a second."""
    samples: list[Sample] = []
    last = meters.read(script.pid)
    training: list[int] = []
    footprint_at = 0
    look_at_s: float | None = None
    while (code := script.wait(SAMPLE_EVERY_S)) is None:
        now = meters.read(script.pid)
        if look_at_s is None or time.monotonic() >= look_at_s:
            trained = [one for one in spools.read() if one.trained]
            training = [one.pid for one in trained]
            if look_at_s is not None:
                early(trained)
                look_at_s = _NEVER_S
            elif trained:
                look_at_s = time.monotonic() + FIRST_LOOK_S
        take = training and len(samples) >= footprint_at
        footprints = {pid: meters.footprint(pid) for pid in training} if take else {}
        if take:
            footprint_at = len(samples) + FOOTPRINT_EVERY
        samples.append(
            Sample(t_ns=time.perf_counter_ns(), counters=meters.difference(last, now), footprints=footprints)
        )
        last = now
    return code, samples


def concluded(
    options: ScriptOptions, run: Run, trained: Sequence[Attached], meters: MachineMeters, store: Store
) -> Answer:
    """Keep a record of each process that trained, and judge them.

    Args:
        options: What was asked.
        run: What is known of the run as a whole.
        trained: What the processes left behind; at least one.
        meters: Of this machine.
        store: Where records and study go.
    """
    judge = Judge(store)
    records: list[TrialRecord] = []
    leader: str | None = None
    for one in sorted(trained, key=lambda one: one.rank):
        environment = meters.environment({**one.told("framework", {}), "python": one.hello.get("python")}, os.environ)
        key = store.put_environment(environment)
        trial_id = new_id()
        parent = leader if one.world_size > 1 else None
        records.append(record_of(one, run, environment_hash=key, parent_id=parent, trial_id=trial_id))
        leader = leader or trial_id
    cells: dict[str, Cell] = {}
    for one in trained:
        spec = spec_of(one, run)
        cells.setdefault(spec.hash(), Cell(label=_label(one, run), spec=spec))
    study = Study(
        id=new_id(),
        question="script",
        name=options.name,
        created_unix_s=run.started_unix_s,
        finished=True,
        command=redact(options.command),
        cells=list(cells.values()),
        axes=["rank"] if any(one.world_size > 1 for one in trained) else [],
        baseline=next(iter(cells.values())).label,
        trial_ids=[record.id for record in records],
        machine_id=run.machine_id,
        options={
            "exit_code": run.exit_code,
            "missing_ranks": missing_ranks(trained),
            "source": seen_in_text(options, trained),
        },
        version=__version__,
    )
    store.put_study(study)
    for record in records:
        store.put_trial(record, study.id)
    study = judge.judged(study, records)
    store.put_study(study)
    return Answer(exit_code=run.exit_code, study=study)


def seen_in_text(options: ScriptOptions, trained: Sequence[Attached]) -> list[dict[str, Any]]:
    """What the rules find in the script's text, and the names in it that its framework turned out not to have."""
    path = Path(options.target)
    if options.module or path.suffix not in (".py", ".pyw"):
        return []
    places = [{**place, "script": path.name} for place in source.look(path)]
    lines = source.names_of(path)
    missing = sorted({str(name) for one in trained for name in one.told("missing_names", [])} & set(lines))
    places += [
        {"rule": "missing_name", "line": lines[name], "params": {"name": name}, "script": path.name} for name in missing
    ]
    return places[:PLACES_KEPT]


def missing_ranks(trained: Sequence[Attached]) -> list[int]:
    """Ranks that were expected and left no events."""
    world = max((one.world_size for one in trained), default=1)
    return sorted(set(range(world)) - {one.rank for one in trained}) if world > 1 else []


def nothing(exit_code: int, seen: Sequence[Attached], failures: Sequence[str]) -> Answer:
    """Say why there is no answer.

    Args:
        exit_code: How the code ended.
        seen: What its processes left behind.
        failures: Why the probe could not be attached, where it could not.
    """
    if failures:
        return Answer(exit_code=exit_code, why_not="probe_failed", detail=failures[0])
    if seen:
        return Answer(exit_code=exit_code, why_not="no_training", detail=", ".join(sorted({s.framework for s in seen})))
    return Answer(exit_code=exit_code, why_not="no_framework")


def _shown_name(options: ScriptOptions) -> str:
    return options.target if options.module else Path(options.target).name


def _label(one: Attached, run: Run) -> str:
    return f"{run.name} rank {one.rank}" if one.world_size > 1 else run.name
