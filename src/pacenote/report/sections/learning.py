"""The loss that the training code saw."""

from __future__ import annotations

from pacenote.report.blocks import Chart, Section, Series, literal, say
from pacenote.report.model import StudyView
from pacenote.report.sections import SectionPart

_MOST_POINTS = 200


def build(view: StudyView) -> Section | None:
    """One line per condition, from its first process with losses."""
    series: list[Series] = []
    for group, cell in enumerate(view.cells):
        losses = next((trial.losses for trial in view.trials if trial.cell == cell.label and trial.losses), [])
        if len(losses) > 1:
            stride = max(1, -(-len(losses) // _MOST_POINTS))
            points = [(float(step), float(loss)) for step, loss in losses[::stride]]
            series.append(Series(title=literal(cell.label), points=points, group=group))
    if not series:
        return None
    chart = Chart(
        name="loss", kind="lines", title=say("chart.loss"), unit="plain", series=series, x_title=say("axis.step")
    )
    return Section(name="learning", title=say("section.learning"), lead=say("lead.learning"), blocks=[chart])


PART = SectionPart(name="learning", place=75, build=build)
