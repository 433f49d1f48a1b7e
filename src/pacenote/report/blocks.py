"""What a report section is made of, free of language and of output format.

A section is a list of blocks; a block holds numbers in base units and :class:`Message` values (a locale key with
parameters). The terminal and the page both render from these, so they cannot disagree.
"""

from __future__ import annotations

from typing import Any, Final

from pacenote.records import Reading, Record


class Message(Record, frozen=True, kw_only=True):
    """A sentence or word to be: a locale key and its parameters."""

    key: str
    params: dict[str, Any] = {}


def say(key: str, **params: Any) -> Message:
    """Shorthand for a :class:`Message`."""
    return Message(key=key, params=params)


def literal(text: str) -> Message:
    """Wrap text that is the same in every language (a name, a version, an error of a framework)."""
    return Message(key="literal", params={"text": text})


class Datum(Record, frozen=True, kw_only=True):
    """One table cell: a number in the column's base unit, or a message, or a reason why there is neither."""

    value: float | None = None
    low: float | None = None  # with ``high``: the datum is an interval
    high: float | None = None
    text: Message | None = None
    reason: Message | None = None
    tone: str = ""  # "", "good", "warn", "bad", "muted"


def reading(found: Reading) -> Datum:
    """A table cell for a quantity that may not be measurable here."""
    if found.value is None:
        return Datum(reason=say(f"reason.{found.reason or 'not_recorded'}"))
    return Datum(value=found.value)


WIDEST_OF_TWO: Final = 10.0
"""Two processes have one degree of freedom, whose t-quantile is 12.7: an interval that spans more than a factor of
ten then says that two processes are too few, not how fast the condition may be."""


def interval(low: float | None, high: float | None, *, processes: int | None) -> Datum | None:
    """A table cell for an interval, or for the fact that it is too wide to say anything; ``None`` without one."""
    if low is None or high is None:
        return None
    if processes == 2 and high > WIDEST_OF_TWO * low:
        return Datum(text=say("interval.too_wide", count=processes), tone="muted")
    return Datum(low=low, high=high)


def estimate(value: float, low: float | None, high: float | None, *, processes: int | None) -> Datum:
    """A value with its interval, or with the reason why the interval says nothing."""
    found = interval(low, high, processes=processes) or Datum()
    return Datum(value=value, low=found.low, high=found.high, reason=found.text)


class Column(Record, frozen=True, kw_only=True):
    """One table column; ``unit`` "text" aligns left, every other unit aligns right."""

    title: Message
    unit: str = "text"
    narrow: bool = True  # shown in the terminal as well as on the page


class Table(Record, frozen=True, kw_only=True):
    """A sortable table."""

    name: str
    columns: list[Column]
    rows: list[list[Datum]]


class Series(Record, frozen=True, kw_only=True):
    """One set of values of a chart, parallel to its categories."""

    title: Message
    values: list[float | None] = []
    low: list[float | None] = []
    high: list[float | None] = []
    muted: list[bool] = []
    points: list[tuple[float, float]] = []  # charts of kind "points" and "lines" only
    group: int = 0  # same colour for the same group


class Chart(Record, frozen=True, kw_only=True):
    """A chart, described by its data only.

    Attributes:
        name: Unique in the section.
        kind: ``"bars"``, ``"stack"``, ``"intervals"``, ``"points"`` or ``"lines"``.
        title: What is drawn.
        unit: Base unit of the values, see :mod:`pacenote.report.figures`.
        categories: One label per bar.
        reference: A value to draw a line at.
    """

    name: str
    kind: str
    title: Message
    unit: str
    series: list[Series]
    categories: list[Message] = []
    reference: float | None = None
    x_title: Message | None = None


class Line(Record, frozen=True, kw_only=True):
    """One statement with its weight, and what to do about it."""

    text: Message
    tone: str = ""
    subject: Message | None = None
    fix: Message | None = None


class Lines(Record, frozen=True, kw_only=True):
    """A list of statements."""

    name: str
    lines: list[Line]


class Facts(Record, frozen=True, kw_only=True):
    """Names with values, for example the environment."""

    name: str
    facts: list[tuple[Message, Message]]


class Download(Record, frozen=True, kw_only=True):
    """A file that the reader can save from the page; ``content`` names an entry of the page's payload."""

    name: str
    title: Message
    filename: str
    content: str


Block = Table | Chart | Lines | Facts | Download


class Section(Record, frozen=True, kw_only=True):
    """One part of the report."""

    name: str
    title: Message
    lead: Message | None = None
    blocks: list[Block] = []
    terminal: bool = False  # shown in the terminal too
