"""From records to findings: summaries are made once per trial, the rules are applied to all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from pacenote import findings, plan, stats
from pacenote.records import Environment, Status, Study, TrialRecord
from pacenote.stats import TrialSummary


class SummaryKeeper(Protocol):
    """The part of the store that caches summaries and knows environments."""

    def put_summary(self, trial_id: str, version: int, summary: msgspec.Struct) -> None:
        """Keep a summary."""

    def get_environment(self, key: str) -> Environment | None:
        """Environment by its hash."""
        ...


class Judge:
    """Judges one study.

    Args:
        keeper: Where summaries are kept.
    """

    def __init__(self, keeper: SummaryKeeper) -> None:
        self._keeper = keeper
        self._summaries: dict[str, TrialSummary] = {}

    def summary(self, record: TrialRecord) -> TrialSummary:
        """Summary of one trial, made on first use and kept."""
        if record.id not in self._summaries:
            made = stats.summarize(record)
            self._summaries[record.id] = made
            self._keeper.put_summary(record.id, stats.STATISTICS_VERSION, made)
        return self._summaries[record.id]

    def judged(self, study: Study, records: Sequence[TrialRecord]) -> Study:
        """Return the study with its findings."""
        first = next((record.environment_hash for record in records if record.environment_hash), "")
        environment = self._keeper.get_environment(first) if first else None
        summaries = {record.id: self.summary(record) for record in records if record.turns}
        found = findings.judge(study, list(records), summaries, environment)
        return msgspec.structs.replace(
            study, findings=found, rules_version=findings.RULES_VERSION, environment_hash=first
        )

    def widest(self, study: Study, records: Sequence[TrialRecord]) -> float | None:
        """Largest half width over the ratios of a study, or over its only cell; ``None`` if one is not known yet."""
        by_cell: dict[str, list[TrialSummary]] = {}
        for record in records:
            if record.outcome.status is Status.FINISHED:
                by_cell.setdefault(record.spec_hash, []).append(self.summary(record))
        widths = [
            stats.ratio_interval(by_cell[base.spec.hash()], by_cell[other.spec.hash()]).half_width_share
            for base, other in plan.comparisons(study.cells, study.axes)
            if base.spec.hash() in by_cell and other.spec.hash() in by_cell
        ]
        if not widths:
            widths = [stats.cell_interval(summaries).half_width_share for summaries in by_cell.values()]
        known = [width for width in widths if width is not None]
        return max(known) if known and len(known) == len(widths) else None
