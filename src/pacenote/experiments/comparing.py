"""Two stored runs side by side: conditions of the same name are compared, nothing is measured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from pacenote import stats
from pacenote._version import __version__
from pacenote.errors import UsageError
from pacenote.findings import RULES_VERSION
from pacenote.findings.cells import judge_cell, samples_per_s
from pacenote.findings.comparison import compare_pair
from pacenote.findings.evidence import Evidence, gather
from pacenote.findings.judge import LEVEL
from pacenote.findings.verdict import conclude
from pacenote.records import Environment, Finding, Severity, Study, new_id
from pacenote.store import Store, short_ids

QUESTION: Final = "compare"

DIFFERENCES: Final = (
    *("machine_id", "cpu_model", "logical_cpus", "affinity_cpus", "quota_cpus", "memory_total_bytes"),
    *("os", "os_version", "libc", "python", "pacenote", "accelerators", "variables"),
)
"""Facts of the environment that make two runs answer for different machines or set-ups."""


class Side(NamedTuple):
    """One of the two runs, with everything that is known about it."""

    study: Study
    title: str
    cells: list[Evidence]
    environment: Environment | None


def run(store: Store, base_ref: str, other_ref: str, *, force: bool = False) -> Study:
    """Judge two stored runs against each other and keep the answer as a study.

    Args:
        store: Holds both runs.
        base_ref: Names the baseline, see :meth:`pacenote.store.Store.get_study`.
        other_ref: Names the run compared with it.
        force: Give ratios of unhealthy sides, marked.

    Raises:
        UsageError: If both are the same run, a comparison itself, or have no condition in common.
    """
    first, second = store.get_study(base_ref), store.get_study(other_ref)
    if first.id == second.id:
        raise UsageError(f"{base_ref!r} and {other_ref!r} are the same run; name two.")
    titles = _titles(store, first, second)
    base, other = (_side(store, study, title) for study, title in zip((first, second), titles, strict=True))
    pairs = _pairs(base, other)
    named = [(_named(mine, base.title), _named(theirs, other.title)) for mine, theirs in pairs]
    study = Study(
        id=new_id(),
        question=QUESTION,
        created_unix_s=time.time(),
        finished=True,
        cells=[mine.cell for mine, _ in named] + [theirs.cell for _, theirs in named],
        baseline=_opponent(named),
        trial_ids=[record.id for pair in named for evidence in pair for record in evidence.records],
        rules_version=RULES_VERSION,
        environment_hash=second.environment_hash,
        machine_id=second.machine_id,
        options={"force": force, "paired": False, "runs": [first.id, second.id]},
        version=__version__,
    )
    study = msgspec.structs.replace(study, findings=_judge(study, named, _differences(base, other)))
    store.put_study(study)
    return study


def _judge(study: Study, pairs: Sequence[tuple[Evidence, Evidence]], differences: list[str]) -> list[Finding]:
    """Apply the rules of any study to cells that come from two."""
    comparisons = [compare_pair(study, mine, theirs, LEVEL) for mine, theirs in pairs]
    cells = [mine for mine, _ in pairs] + [theirs for _, theirs in pairs]
    about_cells = [finding for evidence in cells for finding in judge_cell(evidence, LEVEL)]
    whole = [Finding(code="not_interleaved", severity=Severity.WARNING)]
    if differences:
        whole.append(Finding(code="runs_differ", severity=Severity.WARNING, params={"facts": differences}))
    return [*conclude(study, cells, comparisons, LEVEL), *comparisons, *whole, *about_cells]


def _side(store: Store, study: Study, title: str) -> Side:
    if not study.cells or study.question == QUESTION:
        raise UsageError(f"{title!r} is itself a comparison; name the runs that it compares.")
    records = store.trials(study.id)
    environment = store.get_environment(study.environment_hash) if study.environment_hash else None
    summaries = {record.id: stats.summarize(record) for record in records if record.turns}
    return Side(study, title, gather(study, records, summaries, environment), environment)


def _titles(store: Store, first: Study, second: Study) -> tuple[str, str]:
    """What to call the two: their names if these tell them apart, else their short ids."""
    if first.name and second.name and first.name != second.name:
        return first.name, second.name
    short = short_ids(study.id for study in store.studies(None))
    return short[first.id], short[second.id]


def _pairs(base: Side, other: Side) -> list[tuple[Evidence, Evidence]]:
    """Conditions of the same name; two runs of one condition each are compared whatever it is called."""
    by_label = {evidence.label: evidence for evidence in other.cells}
    found = [(mine, by_label[mine.label]) for mine in base.cells if mine.label in by_label]
    if not found and len(base.cells) == len(other.cells) == 1:
        found = [(base.cells[0], other.cells[0])]
    if not found:
        mine, theirs = (", ".join(evidence.label for evidence in side.cells) for side in (base, other))
        raise UsageError(f"the runs have no condition in common: {base.title} has {mine}; {other.title} has {theirs}.")
    return found


def _named(evidence: Evidence, title: str) -> Evidence:
    """The same evidence under a label that names its run."""
    label = f"{title}: {evidence.label}"
    cell = msgspec.structs.replace(evidence.cell, label=label)
    health = [msgspec.structs.replace(finding, subject=label) for finding in evidence.health]
    return Evidence(cell, evidence.records, evidence.used, health)


def _opponent(pairs: Sequence[tuple[Evidence, Evidence]]) -> str:
    """The baseline of the verdict: the other side of the fastest condition, so that like is compared with like."""
    rates = {evidence.label: samples_per_s(evidence) or 0.0 for pair in pairs for evidence in pair if evidence.measured}
    best = max(rates, key=lambda label: rates[label], default=pairs[0][1].label)
    return next((theirs.label for mine, theirs in pairs if mine.label == best), None) or next(
        mine.label for mine, theirs in pairs if theirs.label == best
    )


def _differences(base: Side, other: Side) -> list[str]:
    """Names of the facts in which the two environments differ, and of the framework facts beside them."""
    mine, theirs = (_facts(side.environment) for side in (base, other))
    names = [name for name in DIFFERENCES if mine.get(name) != theirs.get(name)]
    frameworks = (mine.get("framework"), theirs.get("framework"))
    if all(isinstance(one, Mapping) for one in frameworks):
        left, right = (dict(one) for one in frameworks if isinstance(one, Mapping))
        names += [f"framework {name}" for name in ("name", "version") if left.get(name) != right.get(name)]
    return names


def _facts(environment: Environment | None) -> Mapping[str, Any]:
    return {} if environment is None else environment.facts
