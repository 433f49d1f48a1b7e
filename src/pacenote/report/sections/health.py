"""What disturbed the measurement, and what to do about it."""

from __future__ import annotations

from itertools import zip_longest

from pacenote.records import Finding, Severity
from pacenote.report import locale
from pacenote.report.blocks import Line, Lines, Message, Section, say
from pacenote.report.headline import is_notice
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart


def build(view: StudyView) -> Section | None:
    """Every unhealthy finding and warning with its fix; one line when there is none."""
    found = [item for item in view.findings if item.severity is not Severity.INFO and not is_notice(item)]
    found = [item for item in found if not item.code.startswith(("ratio", "verdict_"))]
    lines = _lines(found)
    if not lines:
        lines = [Line(text=say("health.none"), tone="good")]
    return Section(
        name="health",
        title=say("section.health"),
        lead=say("lead.health"),
        blocks=[Lines(name="health", lines=lines)],
        terminal=bool(found),
    )


def _lines(found: list[Finding]) -> list[Line]:
    """Unhealthy ones first, one kind after the other, and what to do about a kind once, beneath its last."""
    codes = list(dict.fromkeys(item.code for item in sorted(found, key=_rank)))
    ordered = sorted(found, key=lambda item: (_rank(item), codes.index(item.code)))
    return [
        _line(item, last=after is None or (after.code, after.severity) != (item.code, item.severity))
        for item, after in zip_longest(ordered, ordered[1:])
    ]


def _rank(item: Finding) -> bool:
    return item.severity is not Severity.UNHEALTHY


def _line(item: Finding, *, last: bool) -> Line:
    fix = f"fix.{item.code}"
    return Line(
        text=_sentence(item),
        tone="bad" if item.severity is Severity.UNHEALTHY else "warn",
        subject=item.subject,
        fix=Message(key=fix, params=item.params) if last and locale.has(fix) else None,
    )


def _sentence(item: Finding) -> Message:
    sentence = Message(key=f"finding.{item.code}", params=item.params)
    seen, of_trials = item.params.get("trials"), item.params.get("of_trials")
    if seen is None or of_trials is None or seen >= of_trials:
        return sentence
    return say("seen_in", sentence=sentence, trials=seen, of_trials=of_trials)


PART = SectionPart(name="health", place=25, build=build)
