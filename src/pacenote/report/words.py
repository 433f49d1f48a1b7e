"""From messages and data to text in one language; shared by the terminal and the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pacenote.report import locale
from pacenote.report.blocks import Column, Datum, Message, Table
from pacenote.report.figures import Scale, number, scale_for


def speak(lang: str, message: Message) -> str:
    """Write a message in ``lang``; parameters that are messages are written first."""
    params = {
        name: speak(lang, value) if isinstance(value, Message) else value for name, value in message.params.items()
    }
    return locale.text(lang, message.key, **params)


class Shown(NamedTuple):
    """One table cell, ready to be placed: a number with its suffix, or text, or a reason."""

    number: str = ""
    suffix: str = ""
    text: Message | None = None
    reason: Message | None = None
    tone: str = ""
    numeric: bool = False
    sort: float | None = None


class Tidy(NamedTuple):
    """A table without the columns that have no value at all; those are listed with their reason instead."""

    columns: list[Column]
    rows: list[list[Shown]]
    absent: list[tuple[Message, list[Message]]]  # reason → titles


def tidy(table: Table) -> Tidy:
    """Drop columns that no row has a value for, and put every other column on one scale."""
    kept: list[int] = []
    absent: dict[str, tuple[Message, list[Message]]] = {}
    for at, column in enumerate(table.columns):
        cells = [row[at] for row in table.rows]
        reason = cells[0].reason if cells else None
        if at and reason is not None and all(_empty(cell) for cell in cells):
            if reason.key != "word.none":  # a dash: the reason stands in another column
                titles = absent.setdefault(str(reason), (reason, []))[1]
                if column.title not in titles:
                    titles.append(column.title)
        else:
            kept.append(at)
    scales = {at: column_scale(table.columns[at].unit, [row[at] for row in table.rows]) for at in kept}
    rows = [[show(row[at], table.columns[at].unit, scales[at]) for at in kept] for row in table.rows]
    return Tidy([table.columns[at] for at in kept], rows, list(absent.values()))


def column_scale(unit: str, cells: Sequence[Datum]) -> Scale:
    """The scale that suits all cells of a column."""
    if unit == "text":
        return Scale(1.0, "")
    return scale_for(unit, [value for cell in cells for value in (cell.value, cell.low, cell.high)])


def show(datum: Datum, unit: str, scale: Scale | None = None) -> Shown:
    """Make one cell ready to be placed."""
    numeric = unit != "text"
    if datum.text is not None:
        return Shown(text=datum.text, tone=datum.tone, numeric=numeric)
    used = scale or column_scale(unit, [datum])
    if datum.value is not None:
        shown = number(datum.value, unit, used)
        return Shown(number=shown, suffix=used.suffix, tone=datum.tone, numeric=numeric, sort=datum.value)
    if datum.low is not None and datum.high is not None:
        shown = f"{number(datum.low, unit, used)} – {number(datum.high, unit, used)}"
        return Shown(number=shown, suffix=used.suffix, tone=datum.tone, numeric=numeric, sort=datum.low)
    return Shown(reason=datum.reason or Message(key="unknown"), tone=datum.tone, numeric=numeric)


def _empty(cell: Datum) -> bool:
    return cell.value is None and cell.low is None and cell.text is None
