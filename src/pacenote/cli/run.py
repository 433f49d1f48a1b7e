"""Measure a workload on the devices and frameworks of this machine, or a script of your own as it runs.

Every condition runs in several fresh processes that take turns, so that drift of the machine hits all of them alike.
Interrupted runs go on where they stopped when the same command is given again.

Several values of an axis (32,256) are compared with the first one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pacenote.cli.levers import PANEL, values, with_lever_options
from pacenote.cli.options import Arguments, DataFn, Json, Lang, Module, Operators, Output, Python, Seconds, Steps
from pacenote.cli.values import duration_s, items, share
from pacenote.errors import UsageError

if TYPE_CHECKING:
    from pacenote.plan import RunOptions

_EFFORT: Final = "Effort"
_INPUT: Final = "Input"
_ANSWER: Final = "Answer"

_IN_PLAN: Final = (
    *("workload", "framework", "device", "axes", "name", "within"),
    *("data_mode", "seed", "rounds", "time_budget"),
)
_DEFAULTS: Final = {"data_mode": "real", "seed": 0, "rounds": 5, "time_budget": "3m"}


def run(
    workload: Annotated[
        str | None,
        typer.Argument(metavar="WORKLOAD", help="lenet, simplenet, or a script: train.py.", show_default=False),
    ] = None,
    arguments: Arguments = None,
    *,
    module: Module = False,
    steps: Steps = None,
    seconds: Seconds = None,
    data_fn: DataFn = None,
    operators: Operators = True,
    framework: Annotated[
        str | None,
        typer.Option(metavar="VALUES", help="pytorch, paddle. Default: all installed.", rich_help_panel=PANEL),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(metavar="VALUES", help="cpu, cuda:0 … Default: all present.", rich_help_panel=PANEL),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of CIFAR-10. Default: a stand-in.", rich_help_panel=_INPUT),
    ] = None,
    data_mode: Annotated[
        str,
        typer.Option(
            metavar="real|device|loader",
            help="real: as the tutorial reads it. device: one batch, already there. loader: reading alone.",
            rich_help_panel=_INPUT,
        ),
    ] = "real",
    python: Python = None,
    seed: Annotated[int, typer.Option(help="Seed of weights and order.", rich_help_panel=_INPUT)] = 0,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="Read the runs from a plan file.", rich_help_panel=_INPUT),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Fresh processes per condition.", rich_help_panel=_EFFORT)] = 5,
    time_budget: Annotated[
        str, typer.Option(metavar="TIME", help="No round starts that ends later.", rich_help_panel=_EFFORT)
    ] = "3m",
    within: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Go on until every interval is ± this: 2%.", rich_help_panel=_EFFORT),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not go on with an interrupted run.", rich_help_panel=_EFFORT)
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run and how long, and stop.", rich_help_panel=_EFFORT)
    ] = False,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name to find the run by.", rich_help_panel=_ANSWER)
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Print ratios of unhealthy sides, marked.", rich_help_panel=_ANSWER)
    ] = False,
    output: Output = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=_ANSWER)] = False,
    lang: Lang = None,
    axes: Mapping[str, str],
) -> None:
    """Put the options together and run them."""
    given = locals()
    if _ran_script(workload, given):
        return
    from pacenote.cli.measure import estimate_only, measure, sweeps

    asked = _planned(plan, given) if plan is not None else [_asked(workload, given)]
    if dry_run:
        estimate_only(asked, as_json=as_json, lang=lang)
    else:
        measure(sweeps(asked), output=output, as_json=as_json, quiet=quiet, lang=lang)


command = with_lever_options(run)


def _ran_script(target: str | None, given: Mapping[str, Any]) -> bool:
    """Run a script, if it is one that is asked for.

    Raises:
        UsageError: If options for scripts stand beside a workload.
    """
    if target is not None and given["plan"] is None:
        from pacenote.cli.script import is_script, measure_script

        if is_script(target, module=given["module"]):
            measure_script(target, given, _DEFAULTS, _typed())
            return True
    strange = [name for name in ("module", "steps", "seconds", "data_fn", "arguments") if given[name]]
    strange += [] if given["operators"] else ["no-operators"]
    if strange:
        raise UsageError(f"{', '.join(strange)}: only for scripts; {target or '--plan'} is none.")
    return False


def _asked(workload: str | None, given: Mapping[str, Any]) -> RunOptions:
    """Turn what was typed into options.

    Raises:
        UsageError: If a value cannot be used.
    """
    from pacenote.plan import RunOptions
    from pacenote.redact import redact

    if workload is None:
        raise UsageError("name a workload (pacenote run lenet) or a plan file (--plan FILE).")
    folder = given["data"]
    return RunOptions(
        workload=workload,
        frameworks=items(given["framework"]),
        devices=items(given["device"]),
        axes=values(given["axes"]),
        data_mode=given["data_mode"],
        data_dir=None if folder is None else str(folder.expanduser().absolute()),
        python=given["python"],
        seed=given["seed"],
        rounds=given["rounds"],
        time_budget_s=duration_s(given["time_budget"], "--time-budget"),
        within=None if given["within"] is None else share(given["within"], "--within"),
        force=given["force"],
        resume=not given["fresh"],
        name=None if given["name"] is None else redact(given["name"]),
        command=_typed(),
    )


def _planned(path: Path, given: Mapping[str, Any]) -> list[RunOptions]:
    """Read a plan file; what it holds is not said twice, so only where to run and how to answer may stand beside it.

    Raises:
        UsageError: If an option contradicts the plan, or the plan cannot be used.
    """
    import msgspec

    from pacenote.planfile import read

    beside = [name for name in _IN_PLAN if given[name] not in (None, {}, _DEFAULTS.get(name))]
    if beside:
        raise UsageError(f"--plan says what to run; leave out {', '.join(beside)} or edit {str(path)!r}.")
    folder = given["data"]
    return [
        msgspec.structs.replace(
            options,
            data_dir=None if folder is None else str(folder.expanduser().absolute()),
            python=given["python"],
            force=given["force"],
            resume=not given["fresh"],
            command=_typed(),
        )
        for options in read(path)
    ]


def _typed() -> list[str]:
    from pacenote.redact import redact

    return ["pacenote", *redact(sys.argv[1:])]
