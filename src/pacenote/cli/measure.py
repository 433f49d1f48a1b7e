"""Runs plans under the eyes of a person: progress while it goes, then the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from pacenote.cli import present
from pacenote.cli.output import cell_text, console, plain_table, print_json
from pacenote.cli.progress import Watcher
from pacenote.cli.words import say

if TYPE_CHECKING:
    from rich.console import Console

    from pacenote.plan import RunOptions
    from pacenote.records import Cell, Study
    from pacenote.runner.progress import Progress
    from pacenote.store import Store

INTERRUPTED: Final = 130

Experiment = Callable[["Store", "Progress"], "Study"]
"""Runs one study with the given store and watcher."""


def measure(
    experiments: Sequence[Experiment], *, output: Path | None, as_json: bool, quiet: bool, lang: str | None
) -> None:
    """Run experiments one after another and answer with all of them.

    Raises:
        MissingPartError: If a page is wanted that cannot be written; before anything runs.
        Exit: With 130 when a run was interrupted, after its finished part has been shown.
    """
    from pacenote.report.locale import resolve
    from pacenote.store import Store

    language = resolve(lang)
    if output is not None:
        _require_page()
    views, interrupted = [], False
    with Store() as store:
        for experiment in experiments:
            with Watcher(language, quiet=quiet) as watcher:
                study = experiment(store, watcher)
            views.append(present.load(store, study))
            interrupted = study.options.get("stopped") == "interrupted"
            if interrupted:
                break
    present.answer(views, language, as_json=as_json, output=output)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def sweeps(asked: Sequence[RunOptions]) -> list[Experiment]:
    """The main job for each set of options."""
    from pacenote.experiments import sweep

    def bound(options: RunOptions) -> Experiment:
        return lambda store, watcher: sweep.run(options, store, watcher)

    for options in asked:
        sweep.check(options)  # a mistake in the last run of a plan is told before the first one starts
    return [bound(options) for options in asked]


def estimate_only(asked: Sequence[RunOptions], *, as_json: bool, lang: str | None) -> None:
    """Say what would run and what it would cost."""
    from pacenote import units
    from pacenote.experiments import sweep
    from pacenote.report.locale import resolve

    language = resolve(lang)
    prepared = [sweep.prepare(options) for options in asked]
    if as_json:
        print_json({"plans": prepared})
        return
    out = console()
    out.print(f"[bold]{say(language, 'plan.title')}[/]")
    for one in prepared:
        _print_cells(out, one.cells, one.axes, language)
        time = units.seconds(one.estimate.total_s)
        out.print(say(language, "plan.cost", trials=one.estimate.trials, time=time))


def _print_cells(out: Console, cells: Sequence[Cell], axes: Sequence[str], language: str) -> None:
    """One line per condition with what varies, and one line for what is the same everywhere."""
    described = [{"framework": cell.spec.framework, "device": cell.spec.device, **cell.spec.levers} for cell in cells]
    table = plain_table("", *axes)
    for cell, values in zip(cells, described, strict=True):
        table.add_row(*(cell_text(value) for value in (cell.label, *(values[name] for name in axes))))
    out.print(table)
    same = ", ".join(f"{name} {value}" for name, value in described[0].items() if name not in axes)
    out.print(say(language, "plan.same", values=cell_text(same)), soft_wrap=True)


def _require_page() -> None:
    """Find out before an hour of measuring, not after, that the page cannot be written."""
    import importlib.util

    from pacenote.errors import MissingPartError

    if importlib.util.find_spec("jinja2") is None:
        raise MissingPartError("the page needs Jinja2, which is not installed: pip install 'pacenote[report]'.")
