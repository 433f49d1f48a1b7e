"""Where commands put their answer: text for people, or one JSON document."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


PIPE_WIDTH: Final = 200
"""Columns where no terminal says how many there are: enough that a row of a table stays one line."""


class _Trimmed:
    """A stream without the blanks with which rich fills lines up to the width."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", "utf-8")

    def write(self, text: str) -> int:
        return self._stream.write(re.sub(r" +(?=\n)", "", text))

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False


def console(*, errors: bool = False) -> Console:
    """A console on stdout (or stderr) that colours only what it is told to."""
    from rich.console import Console

    stream = sys.stderr if errors else sys.stdout
    if stream.isatty():
        return Console(highlight=False, stderr=errors)
    width = None if "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(highlight=False, file=cast("IO[str]", _Trimmed(stream)), width=width)


def print_json(value: Any) -> None:
    """Print one JSON document; records, enums and paths included."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode())


def plain_table(*titles: str) -> Table:
    """A table without a frame, one line a row where the terminal is wide enough."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, overflow="fold")
    return table


def cell_text(value: object) -> str:
    """Show text of unknown origin in a table: markup is not interpreted, control characters are not sent."""
    from rich.markup import escape

    text = "".join(letter if letter.isprintable() else " " for letter in str(value))
    return escape(text)


def print_facts(out: Console, facts: Mapping[str, str], indent: str = "") -> None:
    """Print names and values in two columns."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in facts.items():
        table.add_row(f"{indent}{label}", cell_text(value))
    out.print(table)
