"""Shows a study: from the store to text, to one JSON document, or to the page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pacenote.cli.output import console, print_json
from pacenote.cli.words import say

if TYPE_CHECKING:
    from pacenote.records import Study, TrialRecord
    from pacenote.report.model import StudyView
    from pacenote.stats import TrialSummary
    from pacenote.store import Store

FORMAT: Final = "pacenote-study-1"
"""Name of the JSON document. A change that takes something away gets a new number."""

_SERIES: Final = ("step_ns", "turn", "losses")


def load(store: Store, study: Study) -> StudyView:
    """Put together what the store knows about a study."""
    from pacenote.report import view

    records = store.trials(study.id)
    environment = store.get_environment(study.environment_hash) if study.environment_hash else None
    runs = study.options.get("runs")
    if study.question == "compare" and runs:
        return _side_by_side(store, study, records, runs)
    return view.build(study, records, summaries(store, records), environment)


def _side_by_side(store: Store, study: Study, records: Sequence[TrialRecord], runs: Sequence[str]) -> StudyView:
    """A comparison of two runs: equal conditions of both have equal specs, so each run is put together on its own."""
    import msgspec

    from pacenote.report import view

    half = len(study.cells) // 2
    built = []
    for run, cells in zip(runs, (study.cells[:half], study.cells[half:]), strict=True):
        one = store.get_study(run)
        own = [record for record in records if record.id in set(one.trial_ids)]
        part = msgspec.structs.replace(study, cells=cells)
        environment = store.get_environment(one.environment_hash) if one.environment_hash else None
        built.append(view.build(part, own, summaries(store, own), environment))
    first, second = built
    return msgspec.structs.replace(second, cells=[*first.cells, *second.cells], trials=[*first.trials, *second.trials])


def summaries(store: Store, records: Sequence[TrialRecord]) -> list[TrialSummary]:
    """One summary per trial that has steps: the cached one if this version of the statistics made it."""
    import msgspec

    from pacenote import stats

    found = []
    for record in records:
        if not record.turns:
            continue
        kept = store.summary(record.id, stats.STATISTICS_VERSION)
        try:
            summary = msgspec.convert(kept, stats.TrialSummary, str_keys=True) if kept else stats.summarize(record)
        except msgspec.ValidationError:
            summary = stats.summarize(record)  # a cache that cannot be read is no loss: it is made anew
        found.append(summary)
    return found


def document(view: StudyView, language: str, *, series: bool) -> dict[str, Any]:
    """Everything about a study as plain JSON values, with its sentences in one language.

    Args:
        view: The study.
        language: Language of the sentences.
        series: Whether to include every step and loss of every process.
    """
    import msgspec

    from pacenote.report import locale, text

    value: dict[str, Any] = msgspec.to_builtins(view)
    if not series:
        for trial in value["trials"]:
            for name in _SERIES:
                trial.pop(name, None)
    for finding in value["findings"]:
        finding["text"] = locale.text(language, f"finding.{finding['code']}", **finding["params"])
        if locale.has(f"fix.{finding['code']}"):
            finding["fix"] = locale.text(language, f"fix.{finding['code']}", **finding["params"])
    return {"format": FORMAT, "language": language, "verdict": text.verdict(view, language), **value}


def print_text(views: Sequence[StudyView], language: str) -> None:
    """Print each study as tables and its verdict."""
    from pacenote.report import text

    out = console()
    for view in views:
        out.print(*text.render(view, language), sep="\n")


def write_page(views: Sequence[StudyView], path: Path, language: str) -> None:
    """Write the page and say where on stderr, so that stdout stays the answer."""
    from pacenote.report import page

    page.write(list(views), path.expanduser(), language)
    print(say(language, "report.written", path=path), file=sys.stderr)


def answer(
    views: Sequence[StudyView], language: str, *, as_json: bool, output: Path | None = None, series: bool = False
) -> None:
    """Give the answer of a command that ends with studies; several become a list in JSON."""
    if as_json:
        documents = [document(view, language, series=series) for view in views]
        print_json(documents[0] if len(documents) == 1 else {"format": FORMAT, "studies": documents})
    else:
        print_text(views, language)
    if output is not None:
        write_page(views, output, language)
