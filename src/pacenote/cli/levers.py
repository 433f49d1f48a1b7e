"""Turns every registered lever into an option, so that a new lever is a new file and nothing else."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pacenote.cli.values import items
from pacenote.errors import UsageError

if TYPE_CHECKING:
    from pacenote.levers import Lever
    from pacenote.records import Scalar

PANEL: Final = "Axes (one value, or several to compare: 32,256)"

RISKS: Final = {
    "none": "",
    "numerics": " Changes rounding.",
    "training": " Changes what is learned.",
}
"""Class of risk → what the help adds."""


def with_lever_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give ``function`` one option per lever; it receives them together as ``axes``.

    Args:
        function: Takes ``axes: Mapping[str, str]`` (lever name → text as typed) besides its own options.
    """
    from pacenote.levers import LEVERS

    hints = typing.get_type_hints(function, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "axes"
    ]
    options = [_parameter(lever) for lever in LEVERS]
    names = {parameter.name for parameter in options}

    @wraps(function)
    def command(**given: Any) -> None:
        axes = {name: given.pop(name) for name in names}
        function(**given, axes={name: text for name, text in axes.items() if text is not None})

    signature = inspect.Signature([*own, *options])
    command.__signature__ = signature  # type: ignore[attr-defined]  # what typer reads instead of **given
    command.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    del command.__wrapped__  # or typer would look through to the original
    return command


def values(axes: Mapping[str, str]) -> dict[str, list[Scalar]]:
    """Parse what was typed for each lever.

    Raises:
        UsageError: If a lever refuses a value or a value is given twice.
    """
    from pacenote.levers import LEVERS

    parsed: dict[str, list[Scalar]] = {}
    for name, text in axes.items():
        lever = LEVERS.get(name)
        found = [lever.parse(item) for item in items(text)]
        if len(set(found)) < len(found):
            raise UsageError(f"{lever.option} {text!r}: a value is given twice.")
        parsed[name] = found
    return parsed


def outside_values(axes: Mapping[str, str]) -> dict[str, Scalar]:
    """Parse levers that are applied to code of the user's, one value each.

    Raises:
        UsageError: If one has several values, or is built into workloads.
    """
    from pacenote.levers import LEVERS

    found: dict[str, Scalar] = {}
    for name, several in values(axes).items():
        lever = LEVERS.get(name)
        if not lever.outside:
            raise UsageError(f"{lever.option}: not for scripts; only a workload can be built so.")
        if len(several) != 1:
            raise UsageError(f"{lever.option}: give one value; a script runs once.")
        found[name] = several[0]
    return found


def _parameter(lever: Lever) -> inspect.Parameter:
    line = (inspect.getdoc(type(lever)) or lever.name).partition("\n")[0]
    choices = "|".join(lever.choices) or "VALUES"
    text = f"{line}{RISKS.get(lever.risk, '')}"
    option = typer.Option(lever.option, metavar=choices, help=text, show_default=False, rich_help_panel=PANEL)
    return inspect.Parameter(
        lever.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option]
    )
