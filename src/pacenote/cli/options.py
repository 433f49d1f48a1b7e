"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Lang = Annotated[
    str | None,
    typer.Option("--lang", metavar="en|zh", help="Language of the answer. Default: the locale's.", show_default=False),
]
Python = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PATH",
        help="Interpreter whose frameworks are used. Default: the one that runs Pacenote.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Also write the run as one HTML page.", show_default=False),
]
Run = Annotated[
    str, typer.Argument(metavar="RUN", help="last, last~1, the beginning of an id, or a name.", show_default=True)
]
