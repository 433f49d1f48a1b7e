"""What the page shows of a study, before any markup: messages, numbers on their scale, chart data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Final

from pacenote.report import locale
from pacenote.report.blocks import (
    Block,
    Chart,
    Datum,
    Download,
    Facts,
    Lines,
    Message,
    Section,
    Series,
    Table,
    literal,
    say,
)
from pacenote.report.figures import Scale, scale_for
from pacenote.report.headline import KeyFigure, key_figures, machine, sentences
from pacenote.report.model import StudyView
from pacenote.report.sections import compose
from pacenote.report.words import show, speak, tidy

_WIDE: Final = 12.0
"""Step times that spread further than this get a logarithmic axis; below it the smallest stay readable."""


_CLIPPED: Final = 3.0
"""Times the largest value: an axis ends there when a whisker would reach further and press all values together."""

_ON_AXIS: Final = ("", "%", "×", "samples/s")
"""Units that stand at the axis, or in the chart's title, and so not in its caption."""


def page_data(view: StudyView) -> dict[str, Any]:
    """What the page shows of a study, as plain values in both languages; the golden test compares this."""
    study = study_content(0, view, compose(view))
    return {lang: _spoken(lang, study) for lang in locale.LANGUAGES}


def study_content(at: int, view: StudyView, sections: Sequence[Section]) -> dict[str, Any]:
    """Everything above the charts' data that the template places for one study; ``at`` is its number on the page."""
    moment = datetime.fromtimestamp(view.created_unix_s, tz=timezone.utc)
    return {
        "id": f"s{at}",
        "index": at,
        "eyebrow": say("page.eyebrow", name=view.name or view.workload, machine=machine(view)),
        "sentences": sentences(view),
        "made": say("page.made", date=moment.strftime("%Y-%m-%d %H:%M UTC"), study_id=view.id),
        "key_figures": [_key_figure(item) for item in key_figures(view)],
        "sections": [
            {
                "id": f"s{at}-{section.name}",
                "name": section.name,
                "title": section.title,
                "lead": section.lead,
                "blocks": [
                    {"label": section.title, **_block(block_id(at, section, block.name), block)}
                    for block in section.blocks
                ],
            }
            for section in sections
        ],
    }


def block_id(at: int, section: Section, name: str) -> str:
    """Identity of a block on the page."""
    return f"s{at}-{section.name}-{name}"


def _key_figure(item: KeyFigure) -> dict[str, Any]:
    datum, bounds = item.datum, None
    if datum.low is not None and datum.high is not None:
        scale = scale_for(item.unit, [datum.value])
        shown = show(Datum(low=datum.low, high=datum.high), item.unit, scale)
        bounds = say("kpi.interval", bounds=shown.number)
    elif datum.reason is not None:
        bounds = say("kpi.interval", bounds=datum.reason)
    return {"title": item.title, "shown": show(datum, item.unit), "note": item.note, "range": bounds}


def _block(identity: str, block: Block) -> dict[str, Any]:
    if isinstance(block, Table):
        return {"kind": "table", "id": identity, "name": block.name, **_table(block)}
    if isinstance(block, Chart):
        suffix = _chart_scale(block).suffix
        unit = None if suffix in _ON_AXIS else unit_word(suffix)
        return {"kind": "chart", "id": identity, "title": block.title, "unit": unit}
    if isinstance(block, Lines):
        return {"kind": "lines", "name": block.name, "lines": block.lines}
    if isinstance(block, Facts):
        return {"kind": "facts", "facts": block.facts}
    assert isinstance(block, Download)
    return {"kind": "download", "title": block.title, "filename": block.filename, "content": block.content}


def _table(table: Table) -> dict[str, Any]:
    clean = tidy(table)
    columns = [
        {"title": column.title, "numeric": column.unit != "text", "unit": column.unit} for column in clean.columns
    ]
    return {"columns": columns, "rows": clean.rows, "absent": clean.absent}


def _chart_scale(chart: Chart) -> Scale:
    """An axis is read at its far end, so the largest value chooses the unit."""
    values = [value for series in chart.series for value in (*series.values, *(y for _, y in series.points)) if value]
    return scale_for(chart.unit, [max(values, key=abs)] if values else [])


def chart_data(chart: Chart) -> dict[str, Any]:
    """A chart's data for the script: values on one scale, words in both languages."""
    scale = _chart_scale(chart)
    steady = [
        y for series in chart.series for (_, y), muted in zip(series.points, series.muted, strict=False) if not muted
    ]
    return {
        "kind": chart.kind,
        "unit": _both(unit_word(scale.suffix)),
        "categories": [_both(category) for category in chart.categories],
        "series": [_series(series, scale) for series in chart.series],
        "reference": chart.reference,
        "x_title": _both(chart.x_title or literal("")),
        "top": _scaled(_top(chart), scale),
        "wide": bool(steady) and max(steady) > _WIDE * min(steady) > 0,
    }


def _top(chart: Chart) -> float | None:
    """Where the axis of values with whiskers ends, if not at the longest whisker."""
    values = [value for series in chart.series for value in series.values if value is not None]
    ends = [value for series in chart.series for value in series.high if value is not None]
    if not values or not ends:
        return None
    limit = _CLIPPED * max([*values, *([chart.reference] if chart.reference is not None else [])])
    return limit if max(ends) > limit > 0 else None


def _series(series: Series, scale: Scale) -> dict[str, Any]:
    return {
        "title": _both(series.title),
        "group": series.group,
        "values": [_scaled(value, scale) for value in series.values],
        "low": [_scaled(value, scale) for value in series.low],
        "high": [_scaled(value, scale) for value in series.high],
        "muted": series.muted,
        "points": [[x, _scaled(y, scale)] for x, y in series.points],
    }


def _scaled(value: float | None, scale: Scale) -> float | None:
    return None if value is None else float(f"{value / scale.factor:.6g}")


def _both(message: Message) -> dict[str, str]:
    return {lang: speak(lang, message) for lang in locale.LANGUAGES}


def unit_word(suffix: str) -> Message:
    """The word of a unit, which a language may write its own way."""
    key = f"unit.{suffix}"
    return say(key) if locale.has(key) else literal(suffix)


def _spoken(lang: str, value: Any) -> Any:
    if isinstance(value, Message):
        return speak(lang, value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _spoken(lang, item) for name, item in value._asdict().items() if item not in (None, "")}
    if isinstance(value, dict):
        return {name: _spoken(lang, item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spoken(lang, item) for item in value]
    fields = getattr(value, "__struct_fields__", None)
    return value if fields is None else {name: _spoken(lang, getattr(value, name)) for name in fields}
