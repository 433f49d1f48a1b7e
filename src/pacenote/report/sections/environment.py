"""Machine, interpreter and frameworks that the figures belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacenote.report import locale
from pacenote.report.blocks import Facts, Message, Section, literal, say
from pacenote.report.figures import figure, unit_of
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart


def build(view: StudyView) -> Section | None:
    """Every recorded fact, nested ones with a dotted name."""
    frameworks = _frameworks(view)
    # The environment's own ``framework`` is that of one trial; what each trial's framework said is shown instead.
    machine = {name: value for name, value in view.environment.items() if name != "framework" or not frameworks}
    facts = [(_name(name), _value(name, value)) for name, value in _flat("", machine)]
    for name, found in frameworks.items():
        facts += [(_name(key), _value(key, value)) for key, value in _flat(name, found)]
    if not facts:
        return None
    return Section(name="environment", title=say("section.environment"), blocks=[Facts(name="facts", facts=facts)])


def _frameworks(view: StudyView) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for cell in view.cells:
        if cell.framework_facts:
            facts = {name: value for name, value in cell.framework_facts.items() if name != "name"}
            found.setdefault(cell.framework, facts)
    return found


def _flat(prefix: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping) and (value or not prefix):
        rows = []
        for key in value:
            rows += _flat(f"{prefix}.{key}" if prefix else str(key), value[key])
        return rows
    return [(prefix, value)]


def _name(name: str) -> Message:
    """A machine fact has words; a variable or a framework's own fact keeps its name."""
    name = name.removeprefix("variables.")
    return say(f"fact.{name}") if locale.has(f"fact.{name}") else literal(name)


def _value(name: str, value: Any) -> Message:
    if value in ([], {}):
        return say("none")
    if value is None or value == "":
        return say("word.none")
    if name.endswith("reason"):
        return say(f"reason.{value}")
    if isinstance(value, bool):
        return say("yes" if value else "no")
    if isinstance(value, (list, tuple)):
        between = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return literal(between.join(_plain("", item) for item in value))
    return literal(_plain(name, value))


def _plain(name: str, value: Any) -> str:
    """One value with its unit; of a device what is known of it, without its place in the list."""
    if isinstance(value, Mapping):
        known = {key: item for key, item in value.items() if item is not None and key != "index"}
        return ", ".join(_plain(key, item) for key, item in known.items())
    if isinstance(value, (int, float)) and unit_of(name) != "plain":
        return figure(float(value), unit_of(name))
    return str(value)


PART = SectionPart(name="environment", place=80, build=build)
