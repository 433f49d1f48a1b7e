"""The control group's CPU quota stopped the process while it was measured."""

from __future__ import annotations

from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

THROTTLED_SHARE: Final = 0.01
"""1 % of the time: a third of the smallest difference that a study can see (3 %)."""

PERIOD_S: Final = 0.1
"""Length of a quota period unless an administrator changed it (cpu.cfs_period_us, cpu.max: 100 ms)."""

THROTTLED_PERIODS: Final = 0.05
"""Where only the count is known: 5 % of the periods. A period is stopped for a part of its 100 ms, so this is again
some per cent of the time; one stop in a trial of 1.5 s (7 %) counts, since it falls on single steps."""


class CgroupThrottled:
    """Stops are seen in whole periods, so even a mild shortage shows as steps that last tens of milliseconds more."""

    name = "cgroup_throttled"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Add up the stops of the measured turns."""
        share, count = readings.share_of_wall(record, "throttled_s"), readings.total(record, "throttled_count")
        if share is None:
            wall_s = readings.total(record, "wall_s")
            sick = bool(count and wall_s and count * PERIOD_S / wall_s > THROTTLED_PERIODS)
        else:
            sick = share > THROTTLED_SHARE
        if not sick:
            return []
        return unhealthy(self.name, throttled_share=share, throttled_count=None if count is None else int(count))


PART = CgroupThrottled()
