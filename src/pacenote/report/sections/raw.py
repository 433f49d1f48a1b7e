"""The files that the page carries."""

from __future__ import annotations

from pacenote.report.blocks import Block, Download, Line, Lines, Section, say
from pacenote.report.model import StudyView
from pacenote.report.raw import kept_steps, total_steps
from pacenote.report.sections import SectionPart


def build(view: StudyView) -> Section | None:
    """Downloads, and a line when the page does not carry everything."""
    stem = f"pacenote-{view.id}"
    blocks: list[Block] = [
        Download(name="json", title=say("download.json"), filename=f"{stem}.json", content="json"),
        Download(name="csv", title=say("download.csv"), filename=f"{stem}-steps.csv", content="csv"),
    ]
    total, kept = total_steps(view), kept_steps(view)
    if kept < total:
        text = say("raw.reduced", total_count=total, kept_count=kept)
        blocks.append(Lines(name="reduced", lines=[Line(text=text, tone="warn")]))
    return Section(name="raw", title=say("section.raw"), lead=say("lead.raw"), blocks=blocks)


PART = SectionPart(name="raw", place=95, build=build)
