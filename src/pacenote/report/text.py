"""The report in a terminal: the same sections as the page, those that fit, as rich renderables."""

from __future__ import annotations

from typing import Any, Final

from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from pacenote.report import locale
from pacenote.report.blocks import Column, Line, Lines, Section, Table, say
from pacenote.report.content import unit_word
from pacenote.report.figures import joined
from pacenote.report.headline import sentences
from pacenote.report.model import StudyView
from pacenote.report.sections import compose
from pacenote.report.words import Shown, speak, tidy

_TONES: Final = {"good": "green", "warn": "yellow", "bad": "red", "muted": "dim", "strong": "bold"}
_MARKS: Final = {"good": "✓", "warn": "!", "bad": "✗", "muted": "·", "": "·"}
_GAPS: Final = {"en": " ", "zh": ""}


def verdict(view: StudyView, lang: str) -> str:
    """The verdict in at most two sentences."""
    return _GAPS[lang].join(speak(lang, sentence) for sentence in sentences(view))


def render(view: StudyView, lang: str) -> list[Any]:
    """Everything a terminal shows of a study, as renderables in order."""
    shown: list[Any] = []
    # What limits the study stands right above the verdict, where a terminal's reader looks first.
    sections = sorted(compose(view), key=lambda section: section.name == "verdict")
    for section in sections:
        if section.terminal:
            shown += _section(section, lang)
    first, *rest = [speak(lang, sentence) for sentence in sentences(view)]
    shown.append(Text())
    shown.append(Text(first, style="bold"))
    shown += [Text(sentence) for sentence in rest]
    return shown


def _section(section: Section, lang: str) -> list[Any]:
    blocks: list[Any] = []
    for block in section.blocks:
        if isinstance(block, Table):
            blocks += [Text(), *_table(block, lang)] if blocks else _table(block, lang)
        elif isinstance(block, Lines):
            blocks.append(_lines(block, lang))
    return [Text(), Text(speak(lang, section.title), style="bold cyan"), *blocks] if blocks else []


def _table(table: Table, lang: str) -> list[Any]:
    narrow = [at for at, column in enumerate(table.columns) if column.narrow]
    kept = Table(
        name=table.name,
        columns=[table.columns[at] for at in narrow],
        rows=[[row[at] for at in narrow] for row in table.rows],
    )
    clean = tidy(kept)
    if len(clean.columns) < 2:
        return []
    grid = RichTable(box=None, padding=(0, 2, 0, 1), pad_edge=False, header_style="dim")
    for column in clean.columns:
        grid.add_column(speak(lang, column.title), **_layout(column))
    for row in clean.rows:
        grid.add_row(*(_cell(shown, lang) for shown in row))
    return [Padding(grid, (0, 0, 0, 1))]


def _layout(column: Column) -> dict[str, Any]:
    if column.unit == "text":
        return {"justify": "left", "overflow": "fold"}
    return {"justify": "right", "no_wrap": True}


def _cell(shown: Shown, lang: str) -> Text:
    """User text becomes ``Text``, never markup, so a label like ``[red]`` stays a label."""
    if shown.reason is not None:
        return Text(_visible(speak(lang, shown.reason)), style="dim")
    style = _TONES.get(shown.tone, "")
    if shown.text is not None:
        return Text(_visible(speak(lang, shown.text)), style=style)
    suffix = speak(lang, unit_word(shown.suffix)) if shown.suffix else ""
    return Text(joined(shown.number, suffix), style=style)


def _lines(block: Lines, lang: str) -> Padding:
    """A mark, then text that wraps beneath itself."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    for line in block.lines:
        grid.add_row(Text(_MARKS.get(line.tone, "·"), style=_TONES.get(line.tone, "")), _line(line, lang))
    return Padding(grid, (0, 0, 0, 1))


def _line(line: Line, lang: str) -> Text:
    text = Text()
    if line.subject is not None:
        text.append(_visible(speak(lang, line.subject)) + locale.text(lang, "colon"), style="bold")
    text.append(_visible(speak(lang, line.text)), style="")
    if line.fix is not None:
        text.append("\n" + speak(lang, say("word.fix")) + _GAPS[lang] + _visible(speak(lang, line.fix)), style="")
    return text


def _visible(text: str) -> str:
    """Take control characters out of text that came from elsewhere: it must not steer the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
