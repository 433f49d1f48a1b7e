"""What a self-test found: the same thing twice, planted slow-downs, and the smallest difference seen here."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pacenote.findings.comparison import measure
from pacenote.findings.evidence import Evidence
from pacenote.records import Finding, Study
from pacenote.stats import RatioInterval


def examine_selftest(study: Study, cells: Sequence[Evidence], level: float) -> list[Finding]:
    """Compare every cell with the first: those with nothing planted are A/A, the others must show what was planted.

    The smallest difference that can be seen is the half-width of the A/A interval: a difference just larger than it
    keeps 1 outside. A self-test on a disturbed machine says nothing, so an unhealthy side gives no finding.
    """
    if not cells or cells[0].reasons:
        return []
    base, found, widths = cells[0], [], []
    for other in cells[1:]:
        if other.reasons:
            continue
        planted = other.cell.spec.planted_slowdown_ratio / base.cell.spec.planted_slowdown_ratio
        interval = measure(study, other, base, level)  # how many times as slow the other is
        if interval.low is None or interval.high is None:
            continue
        if planted == 1.0:
            widths.append(math.log(interval.high / interval.low) / 2.0)
        found.append(_told(other, planted, interval))
    if widths:
        found.append(Finding(code="smallest_difference", params={"ratio": math.exp(max(widths))}))
    return found


def _told(other: Evidence, planted: float, interval: RatioInterval) -> Finding:
    low, high = interval.low or math.nan, interval.high or math.nan
    ends = {"low": low, "high": high, "covered": low <= planted <= high}
    if planted == 1.0:
        return Finding(code="aa", subject=other.label, params=ends)
    return Finding(
        code="planted_seen", subject=other.label, params={"planted": planted, "measured": interval.value, **ends}
    )
