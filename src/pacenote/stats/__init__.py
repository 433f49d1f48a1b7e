"""Statistics of trials: steady state, summaries of one process, intervals over processes, ratios of cells.

Everything is a pure function of stored values. The unit of repetition is the fresh process: the spread between
processes exceeds the spread within one, so steps are never counted as if they were independent repeats.
"""

from __future__ import annotations

from pacenote.stats.bimodal import Bimodality
from pacenote.stats.intervals import Interval, RatioInterval, cell_interval, ratio_interval
from pacenote.stats.steady import steady_start
from pacenote.stats.summary import STATISTICS_VERSION, TrialSummary, summarize

__all__ = [
    "STATISTICS_VERSION",
    "Bimodality",
    "Interval",
    "RatioInterval",
    "TrialSummary",
    "cell_interval",
    "ratio_interval",
    "steady_start",
    "summarize",
]
