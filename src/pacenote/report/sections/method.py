"""How the figures were made, in the words of this study."""

from __future__ import annotations

import shlex

from pacenote.report.blocks import Line, Lines, Message, Section, say
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart

_LEVEL = 0.95  # findings' default; a ratio that was made with another level says so


def build(view: StudyView) -> Section | None:
    """The sentences of the method, with this study's numbers."""
    rounds = max((cell.rounds for cell in view.cells), default=0)
    level = next((item.params["level"] for item in view.found("ratio") if "level" in item.params), _LEVEL)
    imported = str(view.options.get("imported") or "")
    if view.question == "script":
        texts: list[Message] = [say("method.imported", file=imported) if imported else say("method.processes_script")]
    else:
        texts = [
            say("method.processes", rounds=rounds),
            say("method.interval", level_share=level),
            say("method.steady"),
            say("method.ratio"),
        ]
    if not imported:
        texts.append(say("method.phases"))
    if view.question != "script":
        texts.append(say("method.ceiling"))
    texts += [
        say("method.versions", version=view.version, rules_version=str(view.rules_version), study_id=view.id),
    ]
    if view.command:
        texts.append(say("method.command", command=shlex.join(view.command)))
    lines = [Line(text=text) for text in texts]
    return Section(name="method", title=say("section.method"), blocks=[Lines(name="method", lines=lines)])


PART = SectionPart(name="method", place=90, build=build)
