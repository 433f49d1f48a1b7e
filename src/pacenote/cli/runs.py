"""List the runs in the store, newest first.

The first column is what show, compare and report take as RUN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pacenote.cli.options import Json, Lang

if TYPE_CHECKING:
    from pacenote.records import Study


def command(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to list.")] = 20,
    every: Annotated[bool, typer.Option("--all", help="List every run.")] = False,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """List what the store holds."""
    from pacenote.cli.output import print_json
    from pacenote.report.locale import resolve
    from pacenote.store import Store, short_ids

    language = resolve(lang)
    with Store() as store:
        everything = store.studies(None)
    short = short_ids(study.id for study in everything)
    shown = everything if every else everything[:limit]
    if as_json:
        print_json({"runs": [row(study, short[study.id]) for study in shown], "in_store": len(everything)})
    else:
        _print_table(shown, short, language)


def row(study: Study, short_id: str) -> dict[str, Any]:
    """What is said about one run."""
    return {
        "id": study.id,
        "short_id": short_id,
        "name": study.name,
        "question": study.question,
        "workloads": sorted({cell.spec.workload for cell in study.cells}),
        "created_unix_s": study.created_unix_s,
        "conditions": [cell.label for cell in study.cells],
        "trials": len(study.trial_ids),
        "finished": study.finished,
    }


def _print_table(shown: Sequence[Study], short: dict[str, str], language: str) -> None:
    import time

    from pacenote.cli.output import cell_text, console, plain_table
    from pacenote.cli.words import say

    if not shown:
        console().print(say(language, "runs.none"))
        return
    titles = ("id", "name", "when", "what", "conditions", "trials", "state")
    table = plain_table(*(say(language, f"runs.{title}") for title in titles))
    for study in shown:
        line = row(study, short[study.id])
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(study.created_unix_s))
        what = " ".join([study.question, *line["workloads"]])
        state = say(language, "runs.finished" if study.finished else "runs.unfinished")
        conditions = ", ".join(line["conditions"])
        values = (line["short_id"], study.name or "", when, what, conditions, line["trials"], state)
        table.add_row(*(cell_text(value) for value in values))
    console().print(table)
