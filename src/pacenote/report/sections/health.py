"""What disturbed the measurement, and what to do about it."""

from __future__ import annotations

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
    lines = [_line(item) for item in sorted(found, key=lambda item: item.severity is not Severity.UNHEALTHY)]
    if not lines:
        lines = [Line(text=say("health.none"), tone="good")]
    return Section(
        name="health",
        title=say("section.health"),
        lead=say("lead.health"),
        blocks=[Lines(name="health", lines=lines)],
        terminal=bool(found),
    )


def _line(item: Finding) -> Line:
    fix = f"fix.{item.code}"
    return Line(
        text=_sentence(item),
        tone="bad" if item.severity is Severity.UNHEALTHY else "warn",
        subject=item.subject,
        fix=Message(key=fix, params=item.params) if locale.has(fix) else None,
    )


def _sentence(item: Finding) -> Message:
    sentence = Message(key=f"finding.{item.code}", params=item.params)
    seen, of_trials = item.params.get("trials"), item.params.get("of_trials")
    if seen is None or of_trials is None or seen >= of_trials:
        return sentence
    return say("seen_in", sentence=sentence, trials=seen, of_trials=of_trials)


PART = SectionPart(name="health", place=25, build=build)
