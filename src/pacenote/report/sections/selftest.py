"""What a self-test found: the same thing twice, and slow-downs that were planted."""

from __future__ import annotations

from pacenote.records import Finding
from pacenote.report.blocks import Chart, Column, Datum, Section, Series, Table, literal, say
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart


def build(view: StudyView) -> Section | None:
    """One row per comparison: what was planted, what was measured, and whether the interval holds it."""
    found = view.found("aa", "planted_seen")
    if not found:
        return None
    chart = Chart(
        name="selftest",
        kind="intervals",
        title=say("chart.selftest"),
        unit="ratio",
        categories=[literal(item.subject) for item in found],
        series=[
            Series(
                title=say("column.measured"),
                values=[_measured(item) for item in found],
                low=[item.params["low"] for item in found],
                high=[item.params["high"] for item in found],
                muted=[item.code == "aa" for item in found],
            )
        ],
        reference=1.0,
    )
    columns = [
        Column(title=say("column.cell")),
        Column(title=say("column.planted"), unit="excess"),
        Column(title=say("column.measured"), unit="excess"),
        Column(title=say("column.interval"), unit="excess"),
        Column(title=say("column.verdict")),
    ]
    table = Table(name="selftest", columns=columns, rows=[_row(item) for item in found])
    title, lead = say("section.selftest"), say("lead.selftest")
    return Section(name="selftest", title=title, lead=lead, blocks=[chart, table], terminal=True)


def _measured(item: Finding) -> float:
    """The measured slow-down; the middle of its interval (on the ratio's own scale) where the same was compared."""
    value = item.params.get("measured")
    low, high = item.params["low"], item.params["high"]
    return float(value) if value is not None else float((low * high) ** 0.5)


def _row(item: Finding) -> list[Datum]:
    params = item.params
    covered = bool(params.get("covered"))
    verdict = Datum(text=say("word.covered" if covered else "word.missed"), tone="good" if covered else "bad")
    return [
        Datum(text=literal(item.subject)),
        Datum(value=params.get("planted", 1.0)),
        Datum(value=_measured(item)),
        Datum(low=params["low"], high=params["high"]),
        verdict,
    ]


PART = SectionPart(name="selftest", place=15, build=build)
