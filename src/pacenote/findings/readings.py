"""What health checks read of a record: sums over the measured turns, and facts about its machine."""

from __future__ import annotations

from typing import Any

from pacenote.records import Counters, Environment, TrialRecord


def measured(record: TrialRecord) -> list[Counters]:
    """Counters of the measured turns; of the warm-up when there is nothing else."""
    return [turn.counters for turn in record.turns if turn.turn >= 1] or [turn.counters for turn in record.turns]


def total(record: TrialRecord, name: str) -> float | None:
    """Sum of one counter over the measured turns; ``None`` unless each of them has it."""
    values = [getattr(counters, name) for counters in measured(record)]
    return float(sum(values)) if values and None not in values else None


def faults_per_step(record: TrialRecord) -> list[float]:
    """Minor faults per step of each measured turn that has steps and the counter."""
    turns = [turn for turn in record.turns if turn.turn >= 1] or record.turns
    return [
        turn.counters.minor_faults / turn.steps
        for turn in turns
        if turn.steps and turn.counters.minor_faults is not None
    ]


def share_of_wall(record: TrialRecord, name: str) -> float | None:
    """A counter in seconds over the seconds of the measured turns."""
    seconds, wall_s = total(record, name), total(record, "wall_s")
    return seconds / wall_s if seconds is not None and wall_s else None


def fact(record: TrialRecord, environment: Environment | None, name: str) -> Any:
    """A fact about the machine: as it was right before the trial, else as the environment has it."""
    value = record.before.get(name)
    return value if value is not None or environment is None else environment.facts.get(name)


def threads(record: TrialRecord) -> int | None:
    """Compute threads: as observed, else as asked, else as the framework said at the start."""
    seen = next((lever.observed for lever in record.levers if lever.name == "threads"), None)
    for value in (seen, record.spec.levers.get("threads"), record.framework.get("threads")):
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def workers(record: TrialRecord) -> int:
    """Loader worker processes that were asked for."""
    return int(record.spec.levers.get("loader_workers") or 0)


def on_cpu(record: TrialRecord) -> bool:
    """Whether the training itself ran on the CPU."""
    return record.spec.device == "cpu"


def usable_cpus(record: TrialRecord, environment: Environment | None) -> int | None:
    """Logical CPUs that the trial may run on."""
    count: int | None = fact(record, environment, "affinity_cpus") or fact(record, environment, "logical_cpus")
    return count


def physical_cores(record: TrialRecord, environment: Environment | None) -> int | None:
    """Physical cores among them."""
    count: int | None = fact(record, environment, "physical_cores")
    return count


def accelerator(record: TrialRecord) -> dict[str, Any]:
    """State of the trial's accelerator right before it; empty for the CPU and where nothing was read."""
    listed = record.before.get("accelerators") or []
    if on_cpu(record) or not listed:
        return {}
    number = record.spec.device.partition(":")[2]
    index = int(number) if number.isdigit() else 0
    found: dict[str, Any] = listed[index] if index < len(listed) else {}
    return found
