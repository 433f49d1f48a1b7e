"""A study as the report shows it: built once, read by the terminal and the page.

Nothing is concluded here. Conclusions are the study's findings; this module only puts findings, records and
summaries beside the cell that they are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pacenote.records import Environment, Study, TrialRecord
from pacenote.report.cells import cell_view, trial_view
from pacenote.report.model import CellView, Estimate, StudyView, Summary, TrialView

__all__ = ["CellView", "Estimate", "StudyView", "Summary", "TrialView", "build"]


def build(
    study: Study,
    records: Sequence[TrialRecord],
    summaries: Sequence[Summary],
    environment: Environment | None,
) -> StudyView:
    """Put everything that is known about a study into one value.

    Args:
        study: The study; its cells decide the order.
        records: Its trials, any order; a trial of no cell is left out.
        summaries: One summary per trial that has steps.
        environment: The stored environment, or ``None`` if it is not in the store.
    """
    by_trial = {summary.trial_id: summary for summary in summaries}
    by_spec: dict[str, list[TrialRecord]] = {}
    for record in sorted(records, key=lambda record: (record.round, record.id)):
        by_spec.setdefault(record.spec_hash, []).append(record)
    cells: list[CellView] = []
    trials: list[TrialView] = []
    for cell in study.cells:
        own = by_spec.get(cell.spec.hash(), [])
        cells.append(cell_view(cell, own, study.findings))
        trials.extend(trial_view(cell.label, record, by_trial.get(record.id)) for record in own)
    return StudyView(
        id=study.id,
        name=study.name,
        question=study.question,
        created_unix_s=study.created_unix_s,
        finished=study.finished,
        workload=_joined_names(cell.spec.workload for cell in study.cells),
        axes=study.axes,
        baseline=study.baseline,
        cells=cells,
        trials=trials,
        findings=study.findings,
        environment=dict(environment.facts) if environment else {},
        command=study.command,
        options=study.options,
        machine_id=study.machine_id,
        version=study.version,
        rules_version=study.rules_version,
    )


def _joined_names(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
