"""Compare two runs that are in the store.

Conditions of the same name are compared; A is the baseline. The two runs were not interleaved, so drift of the machine
between them is part of the ratio, and the interval covers both sides' spread. When every ratio is refused the exit code
is 6.
"""

from __future__ import annotations

from typing import Annotated

import typer

from pacenote.cli.options import Json, Lang, Output
from pacenote.errors import RefusedError


def command(
    base: Annotated[str, typer.Argument(metavar="A", help="The baseline: last, last~1, an id, or a name.")],
    other: Annotated[str, typer.Argument(metavar="B", help="The run that is compared with it.")] = "last",
    force: Annotated[bool, typer.Option("--force", help="Print ratios of unhealthy sides, marked.")] = False,
    output: Output = None,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Judge two stored runs against each other."""
    from pacenote.cli import present
    from pacenote.experiments import comparing
    from pacenote.report.locale import resolve
    from pacenote.store import Store

    language = resolve(lang)
    with Store() as store:
        study = comparing.run(store, base, other, force=force)
        view = present.load(store, study)
    present.answer([view], language, as_json=as_json, output=output)
    ratios = [finding.code for finding in study.findings if finding.code.startswith("ratio")]
    if all(code == "ratio_refused" for code in ratios):
        raise typer.Exit(RefusedError.exit_code)
