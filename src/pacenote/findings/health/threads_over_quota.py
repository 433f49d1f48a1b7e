"""More compute threads than the control group's CPU quota feeds."""

from __future__ import annotations

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary


class ThreadsOverQuota:
    """The kernel stops all threads together once the quota of a period is used up.

    A single thread under a quota below one CPU cannot be helped by fewer threads; the throttling itself tells.
    """

    name = "threads_over_quota"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Compare the observed threads with the quota."""
        threads, quota = readings.threads(record), readings.fact(record, environment, "quota_cpus")
        if threads is None or threads < 2 or not quota or threads <= quota:
            return []
        return unhealthy(self.name, threads=threads, quota_cpus=quota)


PART = ThreadsOverQuota()
