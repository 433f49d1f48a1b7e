"""The rules, put together: from a study's trials to its findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pacenote.findings.cells import judge_cell
from pacenote.findings.comparison import compare
from pacenote.findings.evidence import gather
from pacenote.findings.script import examine_script
from pacenote.findings.selftest import examine_selftest
from pacenote.findings.verdict import conclude
from pacenote.findings.whole import judge_whole, widest
from pacenote.records import Environment, Finding, Study, TrialRecord
from pacenote.stats import TrialSummary

RULES_VERSION: Final = 3
"""Version of all rules and thresholds; stored with the findings, so that old findings are known as such. History:
2 = page faults that are the same in every step are a warning; 3 = a starved process needs somebody who starves it."""

LEVEL: Final = 0.95


def judge(
    study: Study,
    records: Iterable[TrialRecord],
    summaries: Mapping[str, TrialSummary] | Iterable[TrialSummary],
    environment: Environment | None = None,
) -> list[Finding]:
    """Draw every conclusion the trials of a study carry.

    Args:
        study: The question; ``options`` may hold ``level`` (coverage, 0.95), ``force`` (print ratios from unhealthy
            sides, marked), ``within`` (half-width asked for) and ``paired`` (whether rounds ran interleaved).
        records: Its trials.
        summaries: Their summaries, alone or by trial id; a trial without one does not count.
        environment: The machine they ran on, if known.

    Returns:
        Findings in the order of importance within each kind: the verdict first, then comparisons, the study as a
        whole, and each cell.
    """
    level = float(study.options.get("level") or LEVEL)
    cells = gather(study, records, _by_trial(summaries), environment)
    about_cells = [finding for evidence in cells for finding in judge_cell(evidence, level)]
    comparisons = [] if study.question == "script" else compare(study, cells, level)
    whole = judge_whole(study, cells, comparisons, environment)
    if study.question == "selftest":
        return [*examine_selftest(study, cells, level), *whole, *about_cells]
    if study.question == "script":  # its processes are one answer, not sides of a comparison
        return [*conclude(study, cells[:1], [], level), *examine_script(study, cells), *whole, *about_cells]
    return [*conclude(study, cells, comparisons, level), *comparisons, *whole, *about_cells]


def reached_width(
    study: Study,
    records: Iterable[TrialRecord],
    summaries: Mapping[str, TrialSummary] | Iterable[TrialSummary],
    environment: Environment | None = None,
) -> float | None:
    """Half-width, as a share, of the widest interval so far; ``None`` before every one has an interval."""
    level = float(study.options.get("level") or LEVEL)
    cells = gather(study, records, _by_trial(summaries), environment)
    return widest(cells, compare(study, cells, level))


def _by_trial(summaries: Mapping[str, TrialSummary] | Iterable[TrialSummary]) -> Mapping[str, TrialSummary]:
    if isinstance(summaries, Mapping):
        return summaries
    return {summary.trial_id: summary for summary in summaries}
