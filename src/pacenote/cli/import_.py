"""Read a trace that torch.profiler wrote, and keep it as a run.

Steps, phases and operators are found in it as in a run of Pacenote's own. The profiler's own cost is in every time, and
a trace says nothing of the machine's health, so its times are marked as imported. Give the traces of all ranks of a run
together.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pacenote.cli.options import Json, Lang, Output


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Traces, .json or .json.gz; one per rank.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the run, to find it again.", show_default=False)
    ] = None,
    output: Output = None,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Import traces and show what is in them."""
    from pacenote.cli import present
    from pacenote.experiments import importing
    from pacenote.redact import redact
    from pacenote.report.locale import resolve
    from pacenote.store import Store

    language = resolve(lang)
    with Store() as store:
        shown = None if name is None else redact(name)
        study = importing.run(files, store, name=shown, command=["pacenote", *sys.argv[1:]])
        view = present.load(store, study)
    present.answer([view], language, as_json=as_json, output=output)
