"""Debugging aids that make training slower were on."""

from __future__ import annotations

from typing import Final

from pacenote.findings.health import unhealthy, warning
from pacenote.records import Environment, Finding, TrialRecord
from pacenote.stats import TrialSummary

CHOICES: Final = frozenset({"deterministic_algorithms", "cudnn_deterministic"})
"""Slower on purpose, but a training may need them: a warning."""

DEBUG_VARIABLES: Final = ("PYTHONDEVMODE", "MALLOC_CHECK_", "MALLOC_PERTURB_", "CUDA_LAUNCH_BLOCKING")
"""Environment variables that slow everything down when they are set to anything but 0."""


class DebugMode:
    """Anomaly mode, a running profiler, synchronous launches, checked allocations: none belongs in a baseline."""

    name = "debug_mode"
    passing = False

    def check(self, record: TrialRecord, summary: TrialSummary, environment: Environment | None) -> list[Finding]:
        """Look at the framework's switches and at the environment."""
        switches = record.framework.get("debug_flags") or {}
        flags = {name for name, on in switches.items() if on}
        variables = (environment.facts.get("variables") if environment else None) or {}
        flags |= {name.lower().strip("_") for name in DEBUG_VARIABLES if variables.get(name, "0") not in ("", "0")}
        if "debug" in str(variables.get("PYTHONMALLOC", "")):
            flags.add("pythonmalloc")
        severe = sorted(flags - CHOICES)
        if severe:
            return unhealthy(self.name, flags=severe)
        return warning(self.name, flags=sorted(flags)) if flags else []


PART = DebugMode()
