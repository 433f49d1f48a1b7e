"""What is said of a whole script: how it ended, and whether every process of it was seen."""

from __future__ import annotations

from collections.abc import Sequence

from pacenote.findings.evidence import Evidence
from pacenote.records import Finding, Severity, Study


def examine_script(study: Study, cells: Sequence[Evidence]) -> list[Finding]:
    """Findings about a script as a whole.

    Args:
        study: Its study; ``options`` holds ``exit_code`` and ``missing_ranks``.
        cells: Its processes.
    """
    found = []
    missing = list(study.options.get("missing_ranks") or [])
    if missing:
        world = max((record.world_size for cell in cells for record in cell.records), default=len(missing))
        params = {"ranks": ", ".join(map(str, missing)), "count": len(missing), "world_size": world}
        found.append(Finding(code="ranks_missing", severity=Severity.UNHEALTHY, params=params))
    code = int(study.options.get("exit_code") or 0)
    if code:
        errors = [one.outcome.error_type for cell in cells for one in cell.records if one.outcome.error_type]
        params = {"exit_code": code, "error": errors[0] if errors else None}
        found.append(Finding(code="script_failed", severity=Severity.WARNING, params=params))
    return found
