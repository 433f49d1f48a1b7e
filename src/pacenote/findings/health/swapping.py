"""Memory was moved to or from swap."""

from __future__ import annotations

from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

MOVED_BYTES: Final = 1 << 20
"""1 MiB during the measured turns: a machine with enough memory moves nothing, and 256 pages fetched one by one from
a disk (0.1 ms each and more) are several LeNet steps."""

SWAPPED_SHARE: Final = 0.01
"""Share of the process's own memory in swap: start-up pages that are never used again may be there, parameters and
activations may not."""


class Swapping:
    """A baseline that swaps is not a baseline."""

    name = "swapping"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Look at the traffic of the machine while measuring, and at what of the process is in swap."""
        moved = [readings.total(record, name) for name in ("swapped_in_bytes", "swapped_out_bytes")]
        moved_bytes = sum(value for value in moved if value is not None)
        held_bytes = record.memory.swap_bytes.value or 0.0
        resident_bytes = record.memory.pss_bytes.value or record.memory.rss_peak_bytes.value or 0.0
        held = held_bytes >= MOVED_BYTES and held_bytes > SWAPPED_SHARE * (held_bytes + resident_bytes)
        if moved_bytes < MOVED_BYTES and not held:
            return []
        return unhealthy(self.name, swap_bytes=record.memory.swap_bytes.value, swapped_bytes=moved_bytes)


PART = Swapping()
