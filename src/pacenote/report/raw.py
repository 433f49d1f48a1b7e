"""The raw data that a page carries: the study as JSON values, with every step time up to a bound."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from pacenote.report.model import StudyView, TrialView

FORMAT: Final = "pacenote-report-1"
MOST_STEPS: Final = 200_000
"""Steps a page carries; at about eight characters each this is 1.6 MB, twice the chart library."""


def total_steps(view: StudyView) -> int:
    """Steps recorded in the study."""
    return sum(len(trial.step_ns) for trial in view.trials)


def kept_steps(view: StudyView) -> int:
    """Steps that the page carries: whole processes, in order, up to the bound."""
    return sum(len(trial.step_ns) for trial in _carried(view))


def export(view: StudyView) -> dict[str, Any]:
    """Everything in the view as plain JSON values."""
    carried = {trial.id for trial in _carried(view)}
    value: dict[str, Any] = msgspec.to_builtins(view)
    for trial in value["trials"]:
        if trial["id"] not in carried:
            trial["step_ns"], trial["turn"] = None, None
    return {"format": FORMAT, **value}


def _carried(view: StudyView) -> list[TrialView]:
    chosen, steps = [], 0
    for trial in view.trials:
        steps += len(trial.step_ns)
        if steps > MOST_STEPS:
            break
        chosen.append(trial)
    return chosen
