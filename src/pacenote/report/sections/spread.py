"""Every step of every process, warm-up included: the raw samples behind the medians."""

from __future__ import annotations

from pacenote.report.blocks import Chart, Column, Datum, Line, Lines, Section, Series, Table, literal, say
from pacenote.report.model import StudyView, TrialView
from pacenote.report.sections import SectionPart

_MOST_POINTS = 6000
"""Points in the chart; Chromium draws this many in about 0.1 s, and more cannot be told apart at 800 pixels."""


def build(view: StudyView) -> Section | None:
    """A scatter of step times and one row per process."""
    trials = [trial for trial in view.trials if trial.step_ns]
    if not view.trials:
        return None
    section = Section(name="spread", title=say("section.spread"), lead=say("lead.spread"))
    total = sum(len(trial.step_ns) for trial in trials)
    stride = max(1, -(-total // _MOST_POINTS))
    if trials:
        labels = [cell.label for cell in view.cells]
        chart = Chart(
            name="steps",
            kind="points",
            title=say("chart.steps"),
            unit="s",
            series=[_series(trial, labels.index(trial.cell), stride) for trial in trials],
            x_title=say("axis.step"),
        )
        section.blocks.append(chart)
    if stride > 1:
        kept = sum(len(range(0, len(trial.step_ns), stride)) for trial in trials)
        text = say("points.reduced", kept_count=kept, total_count=total)
        section.blocks.append(Lines(name="reduced", lines=[Line(text=text, tone="muted")]))
    section.blocks.append(_table(view.trials))
    return section


def _series(trial: TrialView, group: int, stride: int) -> Series:
    chosen = range(0, len(trial.step_ns), stride)
    return Series(
        title=literal(trial.cell),
        points=[(float(at), trial.step_ns[at] / 1e9) for at in chosen],
        muted=[at < trial.dropped_steps or (bool(trial.turn) and trial.turn[at] == 0) for at in chosen],
        group=group,
    )


def _table(trials: list[TrialView]) -> Table:
    columns = [
        Column(title=say("column.cell")),
        Column(title=say("column.round"), unit="count"),
        Column(title=say("column.step_time"), unit="s"),
        Column(title=say("column.spread"), unit="share"),
        Column(title=say("column.steps"), unit="count"),
        Column(title=say("column.dropped"), unit="count"),
        Column(title=say("column.status")),
        Column(title=say("column.trial")),
    ]
    return Table(name="processes", columns=columns, rows=[_row(trial) for trial in trials])


def _row(trial: TrialView) -> list[Datum]:
    missing = say("reason.not_recorded")
    ended = say("ended", status=trial.status.value, text=_error(trial)) if _error(trial) else None
    return [
        Datum(text=literal(trial.cell)),
        Datum(value=trial.round + 1),
        Datum(value=trial.step_time_s, reason=missing),
        Datum(value=trial.spread_share, reason=missing),
        Datum(value=trial.steps),
        Datum(value=trial.dropped_steps),
        Datum(text=ended or say(f"status.{trial.status.value}"), tone="" if ended is None else "bad"),
        Datum(text=literal(trial.id), tone="id"),
    ]


def _error(trial: TrialView) -> str:
    parts = [part for part in (trial.error_type, trial.error_text) if part]
    return ": ".join(parts)


PART = SectionPart(name="spread", place=70, build=build)
