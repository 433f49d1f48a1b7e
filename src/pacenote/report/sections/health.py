"""What disturbed the measurement, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pacenote.records import Finding, Params, Severity
from pacenote.report import locale
from pacenote.report.blocks import Line, Lines, Message, Section, literal, say
from pacenote.report.figures import Span
from pacenote.report.headline import is_notice
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart

_COUNTS: Final = ("trials", "of_trials")
"""Counts of processes, which add up over conditions."""


def build(view: StudyView) -> Section | None:
    """One entry per kind of finding, with the conditions it was made on and its fix; one line when there is none."""
    found = [item for item in view.findings if item.severity is not Severity.INFO and not is_notice(item)]
    found = [item for item in found if not item.code.startswith(("ratio", "verdict_"))]
    lines = [_line(view, items) for items in _kinds(found)]
    return Section(
        name="health",
        title=say("section.health"),
        lead=say("lead.health"),
        blocks=[Lines(name="health", lines=lines or [Line(text=say("health.none"), tone="good")])],
        terminal=bool(found),
    )


def _kinds(found: Sequence[Finding]) -> list[list[Finding]]:
    """Findings of one code and severity together, unhealthy ones first, else in order of appearance."""
    kinds: dict[tuple[bool, str], list[Finding]] = {}
    for item in found:
        kinds.setdefault((item.severity is not Severity.UNHEALTHY, item.code), []).append(item)
    return [kinds[key] for key in sorted(kinds, key=lambda key: key[0])]


def _line(view: StudyView, items: Sequence[Finding]) -> Line:
    first, params = items[0], _together([item.params for item in items])
    fix = f"fix.{first.code}"
    return Line(
        text=_sentence(first.code, params),
        tone="bad" if first.severity is Severity.UNHEALTHY else "warn",
        subject=_subject(view, list(dict.fromkeys(item.subject for item in items if item.subject))),
        fix=Message(key=fix, params=params) if locale.has(fix) else None,
    )


def _subject(view: StudyView, labels: list[str]) -> Message | None:
    """The conditions by name, or that it is all of them."""
    if len(labels) < 2:
        return literal(labels[0]) if labels else None
    if {cell.label for cell in view.cells} <= set(labels):
        return say("subject.all")
    if {cell.label for cell in view.cells if cell.measured} == set(labels):
        return say("subject.measured")
    return say("subject.list", names=labels)


def _together(params: Sequence[Params]) -> Params:
    """The figures of several findings of one kind: from the smallest to the largest, lists joined."""
    names = dict.fromkeys(name for one in params for name in one)
    return {name: _merged(name, [one[name] for one in params if one.get(name) is not None]) for name in names}


def _merged(name: str, values: list[Any]) -> Any:
    if not values:
        return None
    if name in _COUNTS:
        return sum(values)
    distinct = [value for at, value in enumerate(values) if value not in values[:at]]
    if len(distinct) == 1:
        return distinct[0]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in distinct):
        return Span(min(distinct), max(distinct))
    parts = [part for value in distinct for part in (value if isinstance(value, (list, tuple)) else [value])]
    return list(dict.fromkeys(str(part) for part in parts))


def _sentence(code: str, params: Params) -> Message:
    sentence = Message(key=f"finding.{code}", params=params)
    seen, of_trials = params.get("trials"), params.get("of_trials")
    if seen is None or of_trials is None or seen >= of_trials:
        return sentence
    return say("seen_in", sentence=sentence, trials=seen, of_trials=of_trials)


PART = SectionPart(name="health", place=25, build=build)
