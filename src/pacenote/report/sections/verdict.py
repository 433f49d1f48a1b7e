"""What limits the verdict: stand-in data, missing parts, failed processes, levers that did nothing."""

from __future__ import annotations

from pacenote.records import Severity
from pacenote.report.blocks import Line, Lines, Message, Section, literal, say
from pacenote.report.headline import is_notice
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart


def build(view: StudyView) -> Section | None:
    """One line per notice; the verdict itself stands above all sections."""
    lines = [] if view.finished else [Line(text=say("page.unfinished"), tone="warn")]
    for item in view.findings:
        if is_notice(item):
            tone = "muted" if item.severity is Severity.INFO else "warn"
            text = Message(key=f"finding.{item.code}", params=item.params)
            lines.append(Line(text=text, subject=literal(item.subject) if item.subject else None, tone=tone))
    if not lines:
        return None
    blocks = [Lines(name="notices", lines=lines)]
    return Section(name="verdict", title=say("section.verdict"), blocks=list(blocks), terminal=True)


PART = SectionPart(name="verdict", place=10, build=build)
