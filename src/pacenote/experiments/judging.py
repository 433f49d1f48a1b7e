"""From records to findings: summaries are made once per trial, the rules are applied to all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from pacenote import findings, stats
from pacenote.records import Environment, Study, TrialRecord
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
        environment_hash, environment = self._environment(records)
        found = findings.judge(study, records, self._summaries_of(records), environment)
        return msgspec.structs.replace(
            study, findings=found, rules_version=findings.RULES_VERSION, environment_hash=environment_hash
        )

    def widest(self, study: Study, records: Sequence[TrialRecord]) -> float | None:
        """Half width of the widest interval so far; ``None`` while one is not known."""
        _, environment = self._environment(records)
        return findings.reached_width(study, records, self._summaries_of(records), environment)

    def _environment(self, records: Sequence[TrialRecord]) -> tuple[str, Environment | None]:
        """The machine they ran on: every record's environment holds the same facts of it."""
        key = next((record.environment_hash for record in records if record.environment_hash), "")
        return key, self._keeper.get_environment(key) if key else None

    def _summaries_of(self, records: Sequence[TrialRecord]) -> list[TrialSummary]:
        return [self.summary(record) for record in records if record.turns]
