"""Say which hardware, for how long, for how much: this machine, what is rented, a free tier, or a purchase.

The time of this machine is that of the stored RUN; times elsewhere stand in the file of --candidates, one figure or an
interval (low, estimate, high) each. The answer is one recommendation with its reasons, the bill line by line, and the
values at which it would change; or an honest refusal. It works without a network; old prices are named as such.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pacenote.cli.options import Json, Lang, Run
from pacenote.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from pacenote.advise.candidates import Candidate, Question
    from pacenote.report.model import StudyView

FORMAT: Final = "pacenote-advice-1"
"""Name of the JSON document. A change that takes something away gets a new number."""

_JOB: Final = "Job"
_LIMITS: Final = "Limits"


def command(
    run: Run = "last",
    candidates: Annotated[
        Path | None,
        typer.Option("--candidates", "-c", metavar="FILE", help="What else there is, as TOML.", show_default=False),
    ] = None,
    samples: Annotated[
        float | None, typer.Option(metavar="N", min=1, help="Samples to train on, all told.", rich_help_panel=_JOB)
    ] = None,
    epochs: Annotated[
        float | None,
        typer.Option(metavar="N", min=0, help="Epochs, where the run knows its data.", rich_help_panel=_JOB),
    ] = None,
    resumable: Annotated[
        bool, typer.Option("--resumable", help="The job can go on from a checkpoint.", rich_help_panel=_JOB)
    ] = False,
    jobs_per_month: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="Such jobs in a month.", rich_help_panel=_JOB)
    ] = None,
    money: Annotated[
        float | None, typer.Option(metavar="AMOUNT", min=0, help="Most that a job may cost.", rich_help_panel=_LIMITS)
    ] = None,
    deadline: Annotated[
        str | None, typer.Option(metavar="TIME", help="Longest time: 90m, 8h.", rich_help_panel=_LIMITS)
    ] = None,
    region: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Beginnings of regions: eu-,us-.", rich_help_panel=_LIMITS)
    ] = None,
    latency_limit: Annotated[
        str | None, typer.Option(metavar="TIME", help="Longest time of one answer.", rich_help_panel=_LIMITS)
    ] = None,
    team: Annotated[
        str | None, typer.Option(metavar="novice|some|ops", help="What the team is used to.", rich_help_panel=_LIMITS)
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            metavar="cheapest|fastest|balanced",
            help="Default: cheapest with a deadline, fastest with money alone, else balanced.",
            show_default=False,
        ),
    ] = None,
    hour_worth: Annotated[float, typer.Option(metavar="AMOUNT", min=0, help="What an hour less is worth.")] = 1.0,
    currency: Annotated[str, typer.Option(metavar="CODE", help="Of all money: USD, CNY, EUR.")] = "USD",
    grid: Annotated[
        str | None, typer.Option(metavar="COUNTRY", help="Grid of your own machines: FR, CN.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Use a run that was disturbed.")] = False,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Recommend one way to run a job."""
    from pacenote.cli.values import duration_s, items
    from pacenote.report.locale import resolve

    language = resolve(lang)
    question = _question(
        goal=goal,
        currency=currency.upper(),
        money=money,
        deadline_s=None if deadline is None else duration_s(deadline, "--deadline"),
        regions=items(region),
        team=team,
        jobs_per_month=jobs_per_month or None,
        latency_limit_s=None if latency_limit is None else duration_s(latency_limit, "--latency-limit"),
        hour_worth=hour_worth,
        resumable=resumable,
    )
    view = _view(run)
    found = _candidates(
        view, candidates, question.currency, samples=_samples(view, samples, epochs), grid=grid, force=force
    )
    _answer(found, question, language, as_json=as_json)


def _question(*, goal: str | None, **limits: Any) -> Question:
    from pacenote.advise.candidates import GOALS, TEAMS, Question
    from pacenote.catalog import prices

    prices.factor(limits["currency"], "USD")  # an unknown currency is refused before anything is read
    if goal is None:
        goal = "cheapest" if limits["deadline_s"] else "fastest" if limits["money"] is not None else "balanced"
    for what, name, known in (("goal", goal, GOALS), ("team", limits["team"], TEAMS)):
        if name is not None and name not in known:
            raise UnknownNameError(what, name, known)
    return Question(goal=goal, **limits)


def _view(run: str) -> StudyView:
    from pacenote.cli import present
    from pacenote.store import Store

    with Store() as store:
        return present.load(store, store.get_study(run))


def _samples(view: StudyView, samples: float | None, epochs: float | None) -> float:
    from pacenote.cli.candidates import items

    if samples is not None and epochs is None:
        return samples
    if epochs is None or samples is not None:
        raise UsageError("say how long the job is: --samples N or --epochs N, one of them.")
    epoch = items(view)
    if epoch is None:
        raise UsageError("the run does not say how many samples an epoch has; use --samples.")
    return epochs * epoch


def _candidates(
    view: StudyView, path: Path | None, currency: str, *, samples: float, grid: str | None, force: bool
) -> list[Candidate]:
    from datetime import date

    from pacenote.catalog import prices
    from pacenote.catalog.prices import table
    from pacenote.cli import candidates

    own_grid = prices.grid(grid) if grid else None
    if grid and own_grid is None:
        raise UsageError(f"no figure for the grid of {grid!r}; use a country code like FR or CN.")
    job = candidates.Job(samples=samples, currency=currency, today=date.today(), grid=own_grid)
    found = [candidates.here(view, job, force=force)]
    if path is None:
        return found
    loaded = table.load()
    for line in loaded.warnings:
        print(f"pacenote: {line}", file=sys.stderr)
    return found + candidates.made(candidates.read(path.expanduser()), loaded.offers, job)


def _answer(found: list[Candidate], question: Question, language: str, *, as_json: bool) -> None:
    from pacenote.advise.choose import advise
    from pacenote.advise.sensitivity import tornado, turns
    from pacenote.cli.output import console, print_json
    from pacenote.report import advice as shown

    answer = advise(found, question)
    changes = turns(found, question)
    if as_json:
        swings = tornado(found, question)
        print_json(
            {
                "format": FORMAT,
                "language": language,
                **shown.document(answer, question, changes, language),
                "tornado": swings,
            }
        )
    else:
        console().print(*shown.render(answer, question, changes, language), sep="\n")
