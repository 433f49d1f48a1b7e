"""More compute threads than there are CPUs to run them."""

from __future__ import annotations

from pacenote.findings import readings
from pacenote.findings.health import unhealthy, warning
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary


class ThreadsOverCores:
    """Threads of one operator wait for each other, so one thread too many already costs whole time slices.

    Two threads on one CPU took a LeNet step from 5 ms to 29-350 ms. More threads than physical cores but not more than
    logical CPUs costs per cents, not multiples: that is a warning.
    """

    name = "threads_over_cores"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Compare the observed threads with the CPUs the process may use."""
        threads, usable = readings.threads(record), readings.usable_cpus(record, environment)
        if threads is None or usable is None:
            return []
        cores = min(usable, readings.physical_cores(record, environment) or usable)
        if threads <= cores:
            return []
        severe = unhealthy if threads > usable else warning
        return severe(self.name, threads=threads, cores=cores)


PART = ThreadsOverCores()
