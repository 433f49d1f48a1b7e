"""The C library gives memory back to the kernel and fetches it again, in some steps and not in others."""

from __future__ import annotations

from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import Bimodality, TrialSummary

APART: Final = 1.15
"""Slow steps at least 15 % slower than fast ones: the groups seen with glibc at batch 256 were 35.5 and 49.2 ms."""

EXPLAINED: Final = 0.85
"""Variance explained by the split: 0.64 for one normal group, 0.75 for a flat spread."""

SHARES: Final = (0.05, 0.95)
"""Outside of these the rarer group is a handful of spikes."""

FAULT_S: Final = 0.25e-6
"""Least cost of a minor fault with zeroing of its page, so that faults are not blamed for more than they can do."""

BLAMED_SHARE: Final = 0.3
"""Faults must account for at least this part of the time that the slow steps add."""


class AllocatorTrimming:
    """Two speeds within one process, and page faults in the number that it takes to make the difference."""

    name = "allocator_trimming"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Look at the split of the step times and at the faults per step."""
        split, faults = summary.bimodality, summary.minor_faults_per_step
        if split is None or faults is None or not readings.on_cpu(record) or not _two_speeds(split):
            return []
        added_s = (split.high_s - split.low_s) * split.share_high
        if faults * FAULT_S < BLAMED_SHARE * added_s:
            return []
        return unhealthy(
            self.name,
            low_s=split.low_s,
            high_s=split.high_s,
            share_high=split.share_high,
            minor_faults_per_step=faults,
        )


def _two_speeds(split: Bimodality) -> bool:
    return (
        split.high_s >= APART * split.low_s
        and split.explained_share >= EXPLAINED
        and SHARES[0] <= split.share_high <= SHARES[1]
    )


PART = AllocatorTrimming()
