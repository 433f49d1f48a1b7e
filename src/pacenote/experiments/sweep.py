"""The main job: run the cells of a plan in interleaved rounds, judge what came out, keep the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import msgspec

from pacenote import plan, workload_index
from pacenote._version import __version__
from pacenote.engines import ENGINES, Engine
from pacenote.engines.outcome import BAD_DATA_TYPE
from pacenote.errors import (
    DataError,
    MeasurementError,
    MissingPartError,
    PacenoteError,
    UsageError,
)
from pacenote.experiments import calibration, offer
from pacenote.experiments.judging import Judge
from pacenote.levers import LEVERS, defaults
from pacenote.plan import RunOptions
from pacenote.records import Cell, Record, Scalar, Status, Study, TrialRecord, TrialSpec, new_id
from pacenote.redact import redact
from pacenote.runner import Ended, Parts, Runner, Settings, progress, state
from pacenote.runner.group import EnvironmentChangedError
from pacenote.runner.meters import MachineMeters, SystemClock
from pacenote.store import Store

ENGINE: Final = "local"

RESUME_WITHIN_S: Final = 86400.0
"""Age up to which an interrupted study is continued; after a day it is a new question about the machine."""


class Prepared(Record, frozen=True, kw_only=True):
    """A plan that could start now.

    Attributes:
        cells: What will run.
        axes: What varies between them.
        estimate: What it will cost.
        absent: Devices that the frameworks cannot use here, and why.
    """

    cells: list[Cell]
    axes: list[str]
    estimate: plan.Estimate
    absent: list[offer.Absent] = []


def prepare(options: RunOptions, machine: Mapping[str, Any] | None = None) -> Prepared:
    """Turn options into cells for this machine; runs nothing but, at most, the question what devices there are.

    Args:
        options: What was asked.
        machine: Facts of this machine, if they have been read already.

    Raises:
        UnknownNameError: If a workload, framework or lever has a name that nobody knows.
        MissingPartError: If a framework or device that was asked for is not there.
        UsageError: If the options contradict each other.
    """
    facts = MachineMeters().facts if machine is None else machine
    check(options)
    found = offer.find(options)
    cells, axes = plan.build_cells(
        options, frameworks=found.frameworks, devices=found.devices, levers=lever_values(options, facts)
    )
    estimate = plan.expect(cells, options.effort, options.rounds)
    return Prepared(cells=cells, axes=axes, estimate=estimate, absent=found.absent)


def check(options: RunOptions) -> None:
    """Refuse options that no machine could run.

    Raises:
        UsageError: With what is wrong and what would be right.
    """
    if options.rounds < 1 or options.effort.turns < 1:
        raise UsageError("a run needs at least one round and one turn.")
    if is_simulated(options):
        return
    workload = workload_index.find(options.workload)
    if options.data_mode not in workload.data_modes:
        raise UsageError(
            f"{workload.name} has no data mode {options.data_mode!r}; it has {', '.join(workload.data_modes)}."
        )
    for name in options.axes:
        lever = LEVERS.get(name)
        if name not in workload.axes:
            raise UsageError(f"{workload.name} has no {lever.option}; it has {', '.join(workload.axes)}.")


def lever_values(options: RunOptions, machine: Mapping[str, Any]) -> dict[str, Sequence[Scalar]]:
    """Every lever of the workload with the values to run: as asked, else the workload's, else the lever's default."""
    if is_simulated(options):
        return dict(options.axes)
    usual = workload_index.find(options.workload).defaults
    return {
        name: options.axes.get(name) or usual.get(name) or [default]
        for name, default in defaults(options.workload, machine).items()
    }


def is_simulated(options: RunOptions) -> bool:
    """Whether this is a study of the simulated framework, which has no workload and no levers of ours."""
    return offer.framework_names(options.frameworks) == ["simulated"]


def run(
    options: RunOptions,
    store: Store,
    watcher: progress.Progress = progress.silent,
    *,
    engine: Engine | None = None,
) -> Study:
    """Run a plan, or what is left of it, and return the judged study.

    After Ctrl-C the study comes back unfinished, with ``options["stopped"] == "interrupted"``; the same call goes on
    where it stopped.

    Raises:
        MeasurementError: If no trial finished; the study with its failures is stored before.
        DataError: If the input data is not in its published format.
        PacenoteError: As :func:`prepare`, and whatever the store raises.
    """
    work = make_work(store, watcher, engine)
    return run_cells(options, prepare(options, work.machine), work)


@dataclass(frozen=True)
class Work:
    """What a study works with.

    Attributes:
        store: Keeps everything.
        parts: What the runner works with.
        machine: Facts of the machine.
        began_s: When the time budget began.
    """

    store: Store
    parts: Parts
    machine: Mapping[str, Any]
    began_s: float


def make_work(store: Store, watcher: progress.Progress, engine: Engine | None = None) -> Work:
    """Work with this machine."""
    meters, clock = MachineMeters(), SystemClock()
    parts = Parts(engine=engine or ENGINES.get(ENGINE), keeper=store, meters=meters, clock=clock, tell=watcher)
    return Work(store=store, parts=parts, began_s=clock.monotonic_s(), machine=meters.facts)


def run_cells(options: RunOptions, prepared: Prepared, work: Work, *, calibrate: bool = True) -> Study:
    """Run cells that are already known; the later half of :func:`run`.

    Args:
        options: What was asked.
        prepared: What that means here.
        work: What to work with.
        calibrate: Whether the ceilings of the machine are needed for the answer.
    """
    judge = Judge(work.store)
    specs = [cell.spec for cell in prepared.cells] if calibrate else []
    study, kept = open_study(options, prepared, work)
    _tell_start(options, prepared, study, kept, work)
    try:
        ended = _measure(options, study, kept, judge=judge, work=work, calibrated=specs)
    except EnvironmentChangedError:
        study, kept = open_study(msgspec.structs.replace(options, resume=False), prepared, work)
        ended = _measure(options, study, kept, judge=judge, work=work, calibrated=specs)
    return _conclude(study, ended, judge, work.store)


def _tell_start(options: RunOptions, prepared: Prepared, study: Study, kept: Sequence[TrialRecord], work: Work) -> None:
    done = state.stand(study.cells, kept).rounds
    work.parts.tell(
        progress.StudyStarted(
            study_id=study.id,
            cells=[cell.label for cell in study.cells],
            rounds=options.rounds,
            rounds_kept=done,
            expected_s=prepared.estimate.round_s * max(0, options.rounds - done),
        )
    )


def open_study(options: RunOptions, prepared: Prepared, work: Work) -> tuple[Study, list[TrialRecord]]:
    """Continue the unfinished study of this plan, or begin one; it is in the store when this returns."""
    key = plan.plan_hash(prepared.cells, options.effort, options.question)
    store, machine = work.store, work.machine
    now_unix_s = work.parts.clock.unix_s()
    old = store.unfinished(key) if options.resume else None
    kept: list[TrialRecord] = []
    if old is not None and _continues(old, machine, now_unix_s):
        kept = store.trials(old.id)
    else:
        old = None
    study = Study(
        id=new_id(now_unix_s) if old is None else old.id,
        question=options.question,
        name=options.name or (old.name if old else None),
        created_unix_s=now_unix_s if old is None else old.created_unix_s,
        command=redact(options.command),
        cells=prepared.cells,
        axes=prepared.axes,
        baseline=prepared.cells[0].label,
        trial_ids=[record.id for record in kept],
        machine_id=str(machine.get("machine_id", "")),
        plan_hash=key,
        options=_stored_options(options, prepared),
        version=__version__,
    )
    store.put_study(study)
    return study, kept


def _continues(old: Study, machine: Mapping[str, Any], now_unix_s: float) -> bool:
    """Whether new rounds would be replicates of the old ones, as far as can be known before a child has started."""
    return (
        old.version == __version__
        and old.machine_id == machine.get("machine_id", "")
        and now_unix_s - old.created_unix_s <= RESUME_WITHIN_S
    )


def _stored_options(options: RunOptions, prepared: Prepared) -> dict[str, Any]:
    kept = ("rounds", "time_budget_s", "within", "force", "data_mode", "python", "seed")
    return {
        **{name: getattr(options, name) for name in kept},
        "effort": msgspec.to_builtins(options.effort),
        "absent": msgspec.to_builtins(prepared.absent),
    }


def _measure(
    options: RunOptions,
    study: Study,
    kept: list[TrialRecord],
    *,
    judge: Judge,
    work: Work,
    calibrated: Sequence[TrialSpec],
) -> Ended:
    """Run rounds; an interrupt before the first one ends the same way as one inside."""
    parts = work.parts
    settings = Settings(
        rounds=options.rounds,
        time_budget_s=options.time_budget_s,
        within=options.within,
        effort=options.effort,
        machine_id=study.machine_id,
    )
    try:
        ceilings = calibration.ceilings_of(calibrated, work.store, parts, machine=_calibrated_for(work.machine))
        runner = Runner(study, parts, settings, ceilings=ceilings, width=partial(judge.widest, study))
        return runner.run(kept, spent_s=parts.clock.monotonic_s() - work.began_s)
    except KeyboardInterrupt:
        return Ended(records=kept, rounds=state.stand(study.cells, kept).rounds, reason="interrupted")


def _calibrated_for(machine: Mapping[str, Any]) -> dict[str, Any]:
    """What a ceiling depends on besides framework, device and levers."""
    return {name: machine.get(name) for name in ("machine_id", "affinity_cpus", "quota_cpus", "accelerators")}


def _conclude(study: Study, ended: Ended, judge: Judge, store: Store) -> Study:
    """Judge, store, and say so when there is nothing to judge."""
    finished = ended.reason != "interrupted"
    outcome = {"stopped": ended.reason, "rounds_done": ended.rounds, "reached_width": ended.reached_width}
    study = msgspec.structs.replace(
        study,
        finished=finished,
        trial_ids=[record.id for record in ended.records],
        options={**study.options, **outcome},
    )
    study = judge.judged(study, ended.records)
    store.put_study(study)
    if finished and not any(record.outcome.status is Status.FINISHED for record in ended.records):
        raise nothing_finished(ended.records)
    return study


def nothing_finished(records: Sequence[TrialRecord]) -> PacenoteError:
    """The error for a study in which no trial finished: what its first failure says."""
    outcome = records[-1].outcome if records else None
    if outcome is None:
        return MeasurementError("no trial ran.")
    text = outcome.error_text or outcome.signal or "no reason given"
    if outcome.error_type == BAD_DATA_TYPE:
        return DataError(text)
    if outcome.status is Status.MISSING:
        return MissingPartError(f"{text}; see: pacenote doctor.")
    where = f" at {outcome.where}" if outcome.where else ""
    status = outcome.status.value.replace("_", " ")
    return MeasurementError(f"no trial finished; the last one ended as {status}{where}: {text}")
