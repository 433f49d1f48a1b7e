"""Every section of a report, third-party ones included, holds what the page and the terminal count on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from fixtures.study import Made, make_study, selftest_findings

from pacenote.child.depth import Calls
from pacenote.depth import from_message
from pacenote.records import Record
from pacenote.report import content, locale, page, text, view
from pacenote.report.blocks import Chart, Column, Message, Section, Table
from pacenote.report.figures import UNITS
from pacenote.report.sections import SECTIONS, SectionPart, compose
from pacenote.report.words import speak

PARTS = list(SECTIONS)


def messages(value: Any) -> Iterator[Message]:
    if isinstance(value, Message):
        yield value
    elif isinstance(value, Record):
        for name in value.__struct_fields__:
            yield from messages(getattr(value, name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from messages(item)


def deep_study() -> Made:
    """The study with some steps recorded in depth, on a device as well."""
    calls = Calls()
    op = calls.add(calls.object("op", "aten::mm", [[4, 8], [8, 2]]), calls.track("thread", "1"), 0, 500)
    stream = calls.track("device", "cuda:0 stream 7")
    calls.add(calls.object("kernel", "gemm"), stream, 600, 300, op)
    calls.add(calls.object("copy", "HtoD", source="pageable", target="device", bytes=64), stream, 950, 50)
    calls.allocated("cpu", 128)
    study = make_study()
    depth = from_message({"steps": 2, **calls.packed()})
    return study._replace(records=[msgspec.structs.replace(one, depth=depth) for one in study.records])


def made(part: SectionPart) -> Section:
    """The section as one of the hand-made studies has it."""
    selftest = make_study(question="selftest", findings=selftest_findings())
    sections = [part.build(view.build(*study)) for study in (make_study(), selftest, deep_study())]
    found = [section for section in sections if section is not None]
    assert found, "the fixtures have something for every section"
    return found[0]


def test_third_parties_broke_nothing() -> None:
    assert SECTIONS.warnings == []
    assert len({part.place for part in PARTS}) == len(PARTS)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_section_carries_its_own_name_and_words(part: SectionPart) -> None:
    section = made(part)
    assert section.name == part.name
    for lang in locale.LANGUAGES:
        for message in messages(section):
            assert message.key == "literal" or locale.has(message.key), message
            assert speak(lang, message).strip()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_no_sentence_misses_a_parameter(part: SectionPart) -> None:
    for message in messages(made(part)):
        if locale.has(message.key) and not message.key.startswith("finding."):
            assert set(locale.placeholders(locale.template("en", message.key))) <= set(message.params), message.key


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_blocks_are_well_formed(part: SectionPart) -> None:
    blocks = made(part).blocks
    assert len({(type(block), block.name) for block in blocks}) == len(blocks)
    for block in blocks:
        if isinstance(block, Table):
            assert {len(row) for row in block.rows} == {len(block.columns)}
            assert {column.unit for column in block.columns if isinstance(column, Column)} <= UNITS
        if isinstance(block, Chart):
            assert block.unit in UNITS
            assert all(not series.values or len(series.values) == len(block.categories) for series in block.series)


@pytest.mark.parametrize(
    "changes",
    [
        {"findings": []},
        {"question": "selftest", "findings": selftest_findings()},
        {"cells": [], "findings": []},
        {"finished": False},
        {"command": []},
    ],
    ids=["no findings", "self-test", "no cells", "interrupted", "no command"],
)
def test_poor_studies_still_make_a_report(changes: dict[str, Any]) -> None:
    study, records, summaries, environment = make_study(**changes)
    for built in (view.build(study, records, summaries, environment), view.build(study, [], [], None)):
        assert compose(built)
        for lang in locale.LANGUAGES:
            assert text.render(built, lang)
            assert page.render([built], lang)
        assert set(content.page_data(built)) == set(locale.LANGUAGES)
