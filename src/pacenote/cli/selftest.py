"""Find the smallest difference that can be seen on this machine.

The same thing is measured against itself (A/A), and against itself made slower by a known amount. The answer says
which differences this machine can show, and whether the intervals kept their promise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pacenote.cli.options import Json, Lang, Output, Python
from pacenote.cli.values import duration_s

if TYPE_CHECKING:
    from pacenote.records import Study
    from pacenote.runner.progress import Progress
    from pacenote.store import Store


def command(
    framework: Annotated[
        str | None, typer.Option(metavar="NAME", help="pytorch or paddle. Default: the first installed.")
    ] = None,
    python: Python = None,
    time_budget: Annotated[str, typer.Option(metavar="TIME", help="How long it may take.")] = "2m",
    output: Output = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    lang: Lang = None,
) -> None:
    """Plant differences and look for them."""
    from pacenote.cli.measure import measure
    from pacenote.experiments import selftest

    budget_s = duration_s(time_budget, "--time-budget")

    def experiment(store: Store, watcher: Progress) -> Study:
        return selftest.run(store, watcher, framework=framework, python=python, time_budget_s=budget_s)

    measure(
        [experiment],
        output=output,
        as_json=as_json,
        quiet=quiet,
        lang=lang,
    )
