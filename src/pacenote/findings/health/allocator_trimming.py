"""The C library gives memory back to the kernel and fetches it again inside the steps."""

from __future__ import annotations

from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

FAULT_S: Final = 1e-6
"""Cost of a minor fault with the zeroing of its page. Measured by regression over single steps of LeNet (batch 32 and
256, glibc, 4 KiB pages, virtual machine): 0.8 to 2.6 µs; taken low, so that faults are not blamed for too much."""

FAULT_SHARE: Final = 0.05
"""glibc as it comes trims a LeNet of batch 32 now and then: 116 to 224 faults per step, 2 to 4 % by this count, and the
median step does not feel it. At batch 256 it was 3 to 12 % by chance, with steps of 35 or 49 ms: no baseline."""

FAULT_SHARE_KEPT: Final = 0.02
"""With the allocator told to keep its memory, steps fault 0 to 15 times (up to 0.3 %): more means it was not kept."""


class AllocatorTrimming:
    """How much is trimmed depends on the order of allocations, so processes differ by chance.

    Loader workers fault by handing over each batch in fresh shared memory, which is their ordinary work.
    """

    name = "allocator_trimming"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Weigh the page faults per step against the step."""
        faults, step_s = summary.minor_faults_per_step, summary.step_time_mean_s
        if faults is None or not step_s or not readings.on_cpu(record) or readings.workers(record):
            return []
        share = faults * FAULT_S / step_s
        if share < (FAULT_SHARE_KEPT if record.spec.levers.get("allocator") == "no_trim" else FAULT_SHARE):
            return []
        split = summary.bimodality
        return unhealthy(
            self.name,
            fault_share=share,
            minor_faults_per_step=faults,
            low_s=split.low_s if split else None,
            high_s=split.high_s if split else None,
            share_high=split.share_high if split else None,
        )


PART = AllocatorTrimming()
