"""Advice as people read it: the short list, the bill line by line, what would change the answer, and the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pacenote.advise.amount import Amount, total
from pacenote.advise.bill import experiments_per_day
from pacenote.advise.candidates import Judged, Note, Question
from pacenote.advise.choose import REFUSALS, Advice
from pacenote.advise.sensitivity import Turn
from pacenote.report.figures import figure
from pacenote.report.locale import has, localise, text

SHORT_LIST: Final = 8
"""How many candidates the terminal shows; JSON has all."""

TURNS: Final = 6
"""How many changes are told; JSON has all."""

HIDDEN_SHARE: Final = 1e-3
"""Lines below this share of the bill are not shown in the terminal: rounding up by a fraction of a second."""

JOULES_PER_KWH: Final = 3.6e6

HERE: Final = "here"
"""Name of the machine at hand; it has words of its own."""


NAMES: Final = ("name", "names", "first", "second", "choice", "subject")
"""Parameters that hold names of candidates."""


def say(lang: str, note: Note) -> str:
    """The sentence of one code; an interval whose ends read the same is left out."""
    params = {key: _called(value, lang) if key in NAMES else value for key, value in note.params.items()}
    exact = f"advice.{note.code}.exact"
    if has(exact) and _same(params, "low", "high", "money") and _same(params, "low_s", "high_s", "s"):
        return _close(text(lang, exact, **params), lang)
    return _close(text(lang, f"advice.{note.code}", **params), lang)


def verdict(advice: Advice, lang: str) -> str:
    """The recommendation and its first reason: two sentences."""
    return (" " if lang == "en" else "").join(say(lang, note) for note in (advice.verdict, *advice.reasons[:1]))


def turn_text(turn: Turn, question: Question, lang: str, price_currency: str) -> str:
    """One change of an input, and what would then be recommended."""
    currency = price_currency if turn.input == "price" else question.currency
    params = {"subject": _called(turn.subject, lang), "at": turn.at, "now": turn.now, "currency": currency}
    what = text(lang, f"turn.{turn.input}", **params)
    then = text(lang, "turn.other", choice=_called(turn.choice, lang)) if turn.choice else text(lang, "turn.none")
    if turn.verdict in REFUSALS:
        then = text(lang, "turn.none")
    return _close(text(lang, "turn.then", what=what, then=then), lang)


def document(advice: Advice, question: Question, turns: Sequence[Turn], lang: str) -> dict[str, Any]:
    """Everything as plain JSON values, with its sentences in one language."""
    value: dict[str, Any] = msgspec.to_builtins(advice)
    for one, plain in zip(advice.ranked, value["ranked"], strict=True):
        for kind in ("problems", "doubts", "cautions"):
            for note, entry in zip(getattr(one, kind), plain[kind], strict=True):
                entry["text"] = say(lang, note)
    for note, entry in zip(advice.reasons, value["reasons"], strict=True):
        entry["text"] = say(lang, note)
    currencies = {one.name: one.candidate.terms.currency for one in advice.ranked}
    return {
        "text": verdict(advice, lang),
        "question": msgspec.to_builtins(question),
        **value,
        "turns": [
            {
                **msgspec.to_builtins(turn),
                "text": turn_text(turn, question, lang, currencies.get(turn.subject, question.currency)),
            }
            for turn in turns
        ],
    }


def render(advice: Advice, question: Question, turns: Sequence[Turn], lang: str) -> list[Any]:
    """Everything a terminal shows, as renderables in order; the answer stands last, where the reader looks."""
    shown: list[Any] = []
    if advice.ranked:
        shown += [*_title("advise.list", lang), _list(advice, question, lang)]
    chosen = next((one for one in advice.ranked if one.name == advice.choice), None)
    if chosen is not None and chosen.bill is not None and chosen.money is not None and chosen.money.value > 0:
        shown += [*_title("advise.bill", lang, name=_called(chosen.name, lang)), _bill(chosen, question, lang)]
    if chosen is not None:
        shown += _measures(chosen, lang)
    told = _turns(advice, question, turns, lang)
    if told:
        shown += [*_title("advise.turns", lang), *told]
    shown += [Text(), Text(_visible(say(lang, advice.verdict)), style="bold")]
    shown += [Text(_visible(say(lang, note))) for note in advice.reasons]
    return shown


def _title(key: str, lang: str, **params: Any) -> list[Any]:
    return [Text(), Text(_visible(text(lang, key, **params)), style="bold cyan")]


def _list(advice: Advice, question: Question, lang: str) -> Padding:
    grid = Table(box=None, padding=(0, 2, 0, 1), pad_edge=False, header_style="dim")
    for name in ("name", "time", "money", "energy", "front", "note"):
        right = name in ("time", "money", "energy")
        params = {"currency": question.currency} if name == "money" else {}
        justify: Any = "right" if right else "left"
        grid.add_column(text(lang, f"advise.{name}", **params), justify=justify, overflow="fold", no_wrap=right)
    for one in advice.ranked[:SHORT_LIST]:
        style = "bold" if one.name == advice.choice else "" if one.feasible else "dim"
        grid.add_row(
            *(
                Text(_visible(cell), style=style)
                for cell in (
                    _called(one.name, lang),
                    _amount(one.wall_s, "s", lang),
                    _amount(one.money, "money", lang),
                    _energy(one.energy_j),
                    "✓" if one.name in advice.pareto else "",
                    _note(one, lang),
                )
            )
        )
    return Padding(grid, (0, 0, 0, 1))


def _note(one: Judged, lang: str) -> str:
    """The first thing that stands against a candidate, or a doubt."""
    notes = [*one.problems, *one.doubts, *one.cautions]
    return say(lang, notes[0]) if notes else ""


def _amount(amount: Amount | None, unit: str, lang: str) -> str:
    if amount is None:
        return "–"
    value = localise(lang, figure(amount.value, unit))
    if amount.low == amount.high:
        return value
    ends = [localise(lang, figure(end, unit)) for end in (amount.low, amount.high)]
    return value if ends[0] == ends[1] else f"{value} ({ends[0]} – {ends[1]})"


def _energy(energy_j: Amount | None) -> str:
    return "–" if energy_j is None else f"{figure(energy_j.value / JOULES_PER_KWH, 'money')} kWh"


def _bill(one: Judged, question: Question, lang: str) -> Padding:
    assert one.bill is not None
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold", style="dim")
    factor = one.candidate.factor
    for line in one.bill.lines:
        if line.amount.high < HIDDEN_SHARE * one.bill.total.high:
            continue
        money = _amount(line.amount.times(factor), "money", lang)
        grid.add_row(text(lang, f"line.{line.code}"), money, _visible(line.source))
    whole = _amount(total(line.amount for line in one.bill.lines).times(factor), "money", lang)
    grid.add_row(
        Text(text(lang, "line.total"), style="bold"), Text(whole, style="bold"), Text(question.currency, style="bold")
    )
    return Padding(grid, (0, 0, 0, 1))


def _measures(one: Judged, lang: str) -> list[Any]:
    found = []
    if one.wall_s is not None and one.wall_s.value > 0:
        day = experiments_per_day(one.wall_s) if one.wall_s.low > 0 else None
        if day is not None:
            found.append(text(lang, "advise.per_day", count=_amount(day, "plain", lang)))
    if one.co2_g is not None and one.candidate.grid is not None:
        co2 = one.co2_g.times(1e-3)
        grid = one.candidate.grid
        params = {"kg": _amount(co2, "money", lang), "country": grid.country, "year": grid.year}
        found.append(text(lang, "advise.co2", **params))
    return [Padding(Text(line), (0, 0, 0, 1)) for line in found]


def _turns(advice: Advice, question: Question, turns: Sequence[Turn], lang: str) -> list[Any]:
    currencies = {one.name: one.candidate.terms.currency for one in advice.ranked}
    return [
        Padding(
            Text("· " + _visible(turn_text(turn, question, lang, currencies.get(turn.subject, question.currency)))),
            (0, 0, 0, 1),
        )
        for turn in turns[:TURNS]
    ]


def _called(name: Any, lang: str) -> Any:
    """How a candidate is called; a list stays a list."""
    if isinstance(name, list):
        return [_called(one, lang) for one in name]
    return text(lang, "advise.here") if name == HERE else name


def _same(params: dict[str, Any], low: str, high: str, unit: str) -> bool:
    return figure(params[low], unit) == figure(params[high], unit)


def _close(sentence: str, lang: str) -> str:
    """Chinese words that came in as values stand without blanks between Chinese words."""
    return sentence if lang == "en" else re.sub("(?<=[\u4e00-\u9fff：，（]) (?=[\u4e00-\u9fff])", "", sentence)


def _visible(shown: str) -> str:
    """Take control characters out of text that came from elsewhere: it must not steer the terminal."""
    return "".join(character if character.isprintable() else " " for character in shown)
