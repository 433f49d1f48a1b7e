"""Where trials run: one file each. An engine starts a child process and speaks with it; ``local`` is this machine."""

from __future__ import annotations

from typing import Any, Protocol

from pacenote.errors import PacenoteError
from pacenote.records import Outcome
from pacenote.registry import Registry

Message = dict[str, Any]


class ChildEndedError(PacenoteError):
    """A child ended before it should have; ``outcome`` says how."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        super().__init__(f"{outcome.status.value}: {outcome.error_text or outcome.signal or outcome.exit_code}")


class Child(Protocol):
    """One measured process. Every method but :meth:`kill` raises :class:`ChildEndedError` if it ends or hangs."""

    @property
    def pid(self) -> int:
        """Process id."""
        ...

    def answer(self, kind: str, timeout_s: float) -> Message:
        """Wait for the message of this kind."""
        ...

    def begin_turn(self, turn: int, *, seconds: float | None, steps: int | None) -> None:
        """Let it train; the answer is a message of kind ``turn``."""
        ...

    def begin_finish(self) -> None:
        """Ask it to end cleanly; several children can leave at once."""
        ...

    def finish(self, timeout_s: float, *, grace_s: float) -> tuple[Message, Outcome]:
        """Wait for its last message, then at most ``grace_s`` for its end before it is ended."""
        ...

    def kill(self) -> None:
        """End it and everything it started, now; harmless when it has ended."""
        ...


class Engine(Protocol):
    """A place where children run."""

    @property
    def name(self) -> str:
        """The name users type."""
        ...

    def start(self, job: Message, *, python: str | None, environ: dict[str, str]) -> Child:
        """Start a child on ``job``; returns at once, before it has imported anything."""
        ...


ENGINES: Registry[Engine] = Registry("engine", "pacenote.engines", "pacenote.engines")
"""Every known engine."""
