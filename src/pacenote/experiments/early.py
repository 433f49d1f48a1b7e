"""What can be said of a script while it still runs."""

from __future__ import annotations

from typing import Final

import numpy as np

from pacenote.engines.spool import Attached
from pacenote.records import Record
from pacenote.segment import PHASES, segment

FEWEST_STEPS: Final = 5
SHOWN: Final = 2
"""Phases that are named: the longest ones."""


class EarlyLook(Record, frozen=True, kw_only=True):
    """The typical step so far.

    Attributes:
        steps: Steps looked at.
        step_s: Median step.
        phases: The longest phases with their shares, the longest first.
    """

    steps: int
    step_s: float
    phases: list[tuple[str, float]]


def look(one: Attached) -> EarlyLook | None:
    """Look at the later half of the steps so far; ``None`` when there are too few."""
    found = segment(one.log())
    later = np.arange(len(found)) >= len(found) // 2
    later &= ~found.evaluation & ~found.depth
    if later.sum() < FEWEST_STEPS:
        return None
    total_s = float(found.total_s[later].sum())
    shares = sorted(((float(found.phases[name][later].sum()) / total_s, name) for name in PHASES), reverse=True)
    return EarlyLook(
        steps=len(found),
        step_s=float(np.median(found.total_s[later])),
        phases=[(name, share) for share, name in shares[:SHOWN]],
    )
