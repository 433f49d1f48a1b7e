"""Levers: what can be changed about a training from outside, one file each.

A lever is asked for, applied by the child or by its environment, and then observed: it counts as applied only if
it was seen. Its hook lives in :mod:`pacenote.child.outside` for scripts; for workloads in
:mod:`pacenote.child.lever_hooks` or in the workload's builder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from pacenote import workload_index
from pacenote.child import workloads
from pacenote.errors import UsageError
from pacenote.records import LeverOutcome, Scalar
from pacenote.registry import Registry


class Lever:
    """Base of every lever.

    Attributes:
        name: Key in a spec's levers and in what the child observed.
        option: Option of the command line.
        help: What the command line says about it, in one sentence.
        risk: What it may change besides speed: ``"none"``; ``"numerics"`` (rounding); ``"training"`` (what is learnt).
        choices: The values there are; empty for a number.
        outside: Whether it can be applied to a script from outside; its hook is then in ``child/outside/``, or it acts
            through the environment alone.
    """

    name: ClassVar[str]
    option: ClassVar[str]
    help: ClassVar[str]
    risk: ClassVar[str]
    choices: ClassVar[tuple[str, ...]] = ()
    outside: ClassVar[bool] = True
    plain: ClassVar[Scalar]

    def parse(self, text: str) -> Scalar:
        """Read one value as typed.

        Raises:
            UsageError: If it is not one of the choices.
        """
        value = text.strip().lower()
        if value not in self.choices:
            raise UsageError(f"{self.option} {text!r}: choose one of {', '.join(self.choices)}.")
        return value

    def default(self, machine: Mapping[str, Any], workload: str) -> Scalar:
        """Value when nothing is asked, given machine facts and the workload's name."""
        return self.plain

    def environ(self, value: Scalar) -> dict[str, str]:
        """Environment variables that the child must start with."""
        return {}

    def outcome(self, asked: Scalar, observed: Mapping[str, Any]) -> LeverOutcome:
        """Judge what was asked by what the child saw."""
        if observed.get(self.name) is None:
            return LeverOutcome(name=self.name, asked=asked, reason="not_observable")
        seen = observed[self.name]
        if seen == asked:
            return LeverOutcome(name=self.name, asked=asked, observed=seen, applied=True)
        reason = self.reason(asked, observed)
        return LeverOutcome(name=self.name, asked=asked, observed=seen, applied=False, reason=reason)

    def reason(self, asked: Scalar, observed: Mapping[str, Any]) -> str:
        """Reason code for a lever that was seen to differ from what was asked."""
        return "no_effect"

    def whole_number(self, text: str, smallest: int, largest: int) -> int:
        """Read a whole number within bounds.

        Raises:
            UsageError: If it is none, or out of bounds.
        """
        wanted = f"{self.option} {text!r}: give a whole number from {smallest} to {largest:,}."
        try:
            value = int(text.strip())
        except ValueError:
            raise UsageError(wanted) from None
        if not smallest <= value <= largest:
            raise UsageError(wanted)
        return value


class Switch(Lever):
    """A lever that is on or off, and off unless asked for."""

    choices = ("on", "off")
    plain = "off"


LEVERS: Final[Registry[Lever]] = Registry("lever", "pacenote.levers", "pacenote.levers")


def find_workload(name: str) -> workloads.Workload:
    """Return a workload, built-in or of a third party.

    Raises:
        UnknownNameError: If there is none; the message lists the known names.
    """
    return workload_index.find(name)


def of_workload(workload: str) -> tuple[Lever, ...]:
    """The levers that apply to a workload, in the order the workload lists them.

    Raises:
        UnknownNameError: If there is no such workload.
    """
    return tuple(LEVERS.get(name) for name in find_workload(workload).axes)


def defaults(workload: str, machine: Mapping[str, Any]) -> dict[str, Scalar]:
    """Every lever of a workload with its default on this machine."""
    return {lever.name: lever.default(machine, workload) for lever in of_workload(workload)}
