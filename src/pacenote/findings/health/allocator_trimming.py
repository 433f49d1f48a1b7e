"""The C library gives memory back to the kernel and fetches it again inside the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy, warning
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import Bimodality, TrialSummary

FAULT_S: Final = 1e-6
"""Cost of a minor fault with the zeroing of its page. Measured by regression over single steps of LeNet (batch 32 and
256, glibc, 4 KiB pages, virtual machine): 0.8 to 2.6 µs; taken low, so that faults are not blamed for too much."""

FAULT_SHARE: Final = 0.05
"""glibc as it comes trims a LeNet of batch 32 now and then: 116 to 224 faults per step, 2 to 4 % by this count, and the
median step does not feel it. At batch 256 it was 3 to 12 % by chance, with steps of 35 or 49 ms: no baseline."""

FAULT_SHARE_KEPT: Final = 0.02
"""With the allocator told to keep its memory, steps fault 0 to 15 times (up to 0.3 %): more means it was not kept, so
the trial is not what its lever says, however even the faults are."""

VARYING_SHARE: Final = 0.01
"""Turns or processes whose faults differ by 1 % of a step, a third of the smallest difference that can be seen (3 %),
do not have one cost. Even cost is far below: Paddle's SimpleNet faults 393 times in every step of every process."""

TWO_GROUPS: Final = 0.85
"""Explained share from which steps fall into two groups: one normal group reaches 0.64, a uniform spread 0.75."""

SMALLER_GROUP: Final = 0.1
"""Fewer steps than 10 % in one group are spikes, which every process has; trimming hits every fifth step or more."""


class AllocatorTrimming:
    """How much is trimmed can depend on the order of allocations; then turns and processes differ by chance.

    A program that allocates and frees the same in every step faults the same in every step: that is what it costs its
    user, so the number is right and only worth a warning. Loader workers fault by handing over each batch in fresh
    shared memory, which is their ordinary work.
    """

    name = "allocator_trimming"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Weigh the page faults per step against the step, and look at whether they are the same all the time."""
        faults, step_s = summary.minor_faults_per_step, summary.step_time_mean_s
        if faults is None or not step_s or not readings.on_cpu(record) or readings.workers(record):
            return []
        kept = record.spec.levers.get("allocator") == "no_trim"
        share = faults * FAULT_S / step_s
        if share < (FAULT_SHARE_KEPT if kept else FAULT_SHARE):
            return []
        split = summary.bimodality
        uneven = _apart(readings.faults_per_step(record), step_s) or _two_groups(split)
        severe = unhealthy if kept or uneven else warning
        return severe(
            self.name,
            fault_share=share,
            minor_faults_per_step=faults,
            low_s=split.low_s if split else None,
            high_s=split.high_s if split else None,
            share_high=split.share_high if split else None,
        )

    def differs(self, summaries: Sequence[TrialSummary]) -> bool:
        """Whether some processes of a cell fault so much more than others that their steps differ."""
        known = [(one.minor_faults_per_step, one.step_time_mean_s) for one in summaries]
        faults = [count for count, step_s in known if count is not None and step_s]
        return bool(faults) and _apart(faults, min(step_s for _, step_s in known if step_s))


def _apart(faults: Sequence[float], step_s: float) -> bool:
    """Whether counts of faults per step differ by a share of the step that matters."""
    return len(faults) > 1 and (max(faults) - min(faults)) * FAULT_S / step_s >= VARYING_SHARE


def _two_groups(split: Bimodality | None) -> bool:
    """Whether steps of one process are of two lengths, as far apart as trimming puts them."""
    if split is None or split.explained_share < TWO_GROUPS:
        return False
    smaller = min(split.share_high, 1.0 - split.share_high)
    return smaller >= SMALLER_GROUP and split.high_s >= (1.0 + FAULT_SHARE) * split.low_s


PART = AllocatorTrimming()
