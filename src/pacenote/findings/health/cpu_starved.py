"""The process did not get the CPU time it asked for."""

from __future__ import annotations

from typing import Final

from pacenote.findings import readings
from pacenote.findings.health import unhealthy
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

KEPT_SHARE: Final = 0.93
"""A quiet process runs for 98-100 % of its wall time (LeNet, one thread), a disturbed one for 60 % or less; below 93 %
the step time is off by more than twice the smallest difference that can be seen (3 %)."""


TAKEN_SHARE: Final = 0.25
"""Part of the missing CPU time that others must have used. A process whose own threads sleep while they wait for each
other misses CPU time too, and that is what its user gets: Paddle's LeNet with two threads ran for 91-95 % of the time
on a quiet machine, with 0.000 CPUs used by others and 25,000 voluntary switches a second."""


class CpuStarved:
    """Training on the CPU keeps at least its main thread busy, so less than one CPU means that somebody took it.

    Only time that the main thread spends waiting for its loader's workers is not asked for. Where it can be read how
    much CPU time others used (other processes, the hypervisor), somebody must be seen to have taken it.
    """

    name = "cpu_starved"
    passing = True

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Compare CPU time with wall time."""
        if not readings.on_cpu(record) or summary.cpu_share is None or record.spec.data_mode == "loader":
            return []
        expected_share = 1.0
        if readings.workers(record) and summary.step_time_mean_s:
            expected_share -= summary.phase_s.get("data_wait", 0.0) / summary.step_time_mean_s
        if summary.cpu_share >= KEPT_SHARE * expected_share:
            return []
        taken_cpus = readings.share_of_wall(record, "other_cpu_s")
        if taken_cpus is not None:
            taken_cpus += readings.share_of_wall(record, "steal_s") or 0.0
            if taken_cpus < TAKEN_SHARE * (expected_share - summary.cpu_share):
                return []
        return unhealthy(self.name, cpu_share=summary.cpu_share, expected_share=expected_share)


PART = CpuStarved()
