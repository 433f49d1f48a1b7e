"""Options that several commands share, so that they read and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

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

_SCRIPT: Final = "Script"

Arguments = Annotated[
    list[str] | None, typer.Argument(metavar="[-- ARGUMENTS]", help="What the script gets.", show_default=False)
]
Module = Annotated[bool, typer.Option("--module", "-m", help="The script is a module.", rich_help_panel=_SCRIPT)]
Steps = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="End the script after so many steps.", rich_help_panel=_SCRIPT)
]
Seconds = Annotated[
    str | None, typer.Option(metavar="TIME", help="End it after so much training: 60, 2m.", rich_help_panel=_SCRIPT)
]
Operators = Annotated[
    bool,
    typer.Option("--operators/--no-operators", help="Record the operators of three steps.", rich_help_panel=_SCRIPT),
]
DataFn = Annotated[
    str | None, typer.Option(metavar="NAME", help="The function that makes batches.", rich_help_panel=_SCRIPT)
]
