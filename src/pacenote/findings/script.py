"""What is said of a whole script: how it ended, whether every process of it was seen, and what its text shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pacenote.between import places
from pacenote.depth import outside
from pacenote.findings.cells import UNATTRIBUTED_SHARE, phase_shares
from pacenote.findings.codes import SOURCE
from pacenote.findings.evidence import Evidence
from pacenote.records import Finding, Severity, Study


def examine_script(study: Study, cells: Sequence[Evidence]) -> list[Finding]:
    """Findings about a script as a whole.

    Args:
        study: Its study; ``options`` holds ``exit_code``, ``missing_ranks`` and ``source`` (places that rules found).
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
    where = [finding for cell in cells for finding in _where(cell)]
    return [*found, *where, *source_findings(study.options.get("source") or [])]


def _where(cell: Evidence) -> list[Finding]:
    """Where the time in no phase lies, where it is much, and what it went into if some steps were recorded in depth."""
    if phase_shares(cell).get("other", 0.0) <= UNATTRIBUTED_SHARE:
        return []
    return [*_place(cell), *_operators(cell)]


def _place(cell: Evidence) -> list[Finding]:
    """After which phase it lies and before which: the two places that hold the most."""
    found = next((found for one in cell.records if (found := places(one.events))), [])
    if not found:
        return []
    first, second = found[0], found[1] if len(found) > 1 else None
    params = {
        "after": first.after,
        "before": first.before,
        "share": first.share,
        "second_after": second.after if second else None,
        "second_before": second.before if second else None,
        "second_share": second.share if second else None,
    }
    return [Finding(code="unattributed_place", severity=Severity.WARNING, subject=cell.label, params=params)]


def _operators(cell: Evidence) -> list[Finding]:
    record = next((one for one in cell.records if one.depth is not None and one.depth.steps), None)
    seen = outside(record.depth, record.events) if record is not None and record.depth is not None else None
    if seen is None:
        return []
    named = [*seen.operators[:2], (None, None), (None, None)]
    params = {
        "first": named[0][0],
        "first_share": named[0][1],
        "second": named[1][0],
        "second_share": named[1][1],
        "python_share": seen.python_share,
    }
    return [Finding(code="unattributed_where", severity=Severity.WARNING, subject=cell.label, params=params)]


def source_findings(places: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What is seen in the text of a script.

    Args:
        places: What :func:`pacenote.source.look` found, each with the ``script``'s name. A rule of a third party that
            has no words yet says nothing.
    """
    return [
        Finding(
            code=f"source_{place['rule']}",
            severity=Severity.WARNING,
            params={"script": place.get("script", ""), "line": place["line"], **place["params"]},
        )
        for place in places
        if f"source_{place['rule']}" in SOURCE
    ]
