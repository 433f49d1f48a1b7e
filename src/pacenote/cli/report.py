"""Write a run as one HTML page that opens without a network.

Charts, tables and raw data are in the one file, in English and Chinese.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pacenote.cli.options import Json, Lang

DEFAULT = Path("pacenote-report.html")


def command(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="last, last~1, the beginning of an id, or a name; several share the page. Default: last.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page.")] = DEFAULT,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Read runs and write the page."""
    from pacenote.cli import present
    from pacenote.cli.output import print_json
    from pacenote.cli.words import say
    from pacenote.report import page
    from pacenote.report.locale import resolve
    from pacenote.store import Store

    language = resolve(lang)
    with Store() as store:
        views = [present.load(store, store.get_study(run)) for run in runs or ["last"]]
    size = page.write(views, output.expanduser(), language)
    if as_json:
        print_json({"path": str(output), "page_bytes": size, "runs": [view.id for view in views]})
    else:
        print(say(language, "report.written", path=output))
