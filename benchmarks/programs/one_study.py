"""One study as ``pacenote run`` makes it: ``one_study.py STORE OPTIONS`` (a path, and the options as JSON).

Prints one JSON line: the study's id, its findings, and what the terminal would show.
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import msgspec
from rich.console import Console

from pacenote.experiments import sweep
from pacenote.experiments.judging import Judge
from pacenote.plan import RunOptions
from pacenote.records import Environment, Study, TrialRecord
from pacenote.report import text, view
from pacenote.store import Store


def shown(study: Study, records: list[TrialRecord], judge: Judge, environment: Environment | None) -> str:
    """The text of a study, as printed."""
    summaries = [judge.summary(record) for record in records if record.turns]
    made = view.build(study, records, summaries, environment)
    out = io.StringIO()
    console = Console(file=out, width=200, highlight=False)
    for part in text.render(made, "en"):
        console.print(part)
    return out.getvalue()


def answer(study: Study, records: list[TrialRecord], store: Store) -> dict[str, Any]:
    """What the benchmark judges by."""
    return {
        "study": study.id,
        "statuses": [record.outcome.status.value for record in records],
        "findings": msgspec.to_builtins(study.findings),
        "text": shown(study, records, Judge(store), store.get_environment(study.environment_hash)),
    }


def main(store_path: str, options: str) -> None:
    """Run and print."""
    with Store(store_path) as store:
        study = sweep.run(msgspec.json.decode(options, type=RunOptions), store)
        sys.stdout.write(json.dumps(answer(study, store.trials(study.id), store)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
