"""What a person sees while trials run: one line on stderr with the time that is left.

On a terminal it is a bar; elsewhere (a log, CI) a plain line per round, so that nothing is rewritten.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from pacenote import units
from pacenote.cli.words import say
from pacenote.records import Status
from pacenote.runner import progress as events

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_ENDINGS: Final = frozenset({"budget", "within", "interrupted", "nothing_left"})


class Watcher:
    """Shows progress events; a context manager that cleans its line up.

    Args:
        language: Language of the words.
        quiet: Show nothing but failures.
    """

    def __init__(self, language: str, *, quiet: bool = False) -> None:
        self.language = language
        self.quiet = quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._expected_s = 0.0
        self._shown_round = -1

    def __enter__(self) -> Watcher:
        if not self.quiet and sys.stderr.isatty():
            self._bar = _make_bar()
            self._bar.start()
            self._task = self._bar.add_task("", total=None, left="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: events.Event) -> None:
        """Show one event."""
        if isinstance(event, events.TrialEnded) and event.status is not Status.FINISHED:
            self._failed(event)
        elif not self.quiet:
            self._show(event)

    def _show(self, event: events.Event) -> None:
        if isinstance(event, events.StudyStarted):
            self._started(event)
        elif isinstance(event, events.CalibrationStarted):
            self._now(self._say("progress.calibrating", framework=event.framework, device=event.device))
        elif isinstance(event, events.RoundStarted):
            self._round(event)
        elif isinstance(event, events.TrialReady):
            self._now(self._say("progress.ready", cell=event.cell))
        elif isinstance(event, events.TurnDone):
            self._turn(event)
        elif isinstance(event, events.StudyEnded):
            ending = f"progress.ended_{event.reason}" if event.reason in _ENDINGS else "progress.ended"
            self._line(self._say(ending, rounds=event.rounds))

    def _started(self, event: events.StudyStarted) -> None:
        self._expected_s = event.expected_s
        time = units.seconds(event.expected_s)
        self._line(self._say("progress.plan", cells=len(event.cells), rounds=event.rounds, time=time))
        if event.rounds_kept:
            self._line(self._say("progress.kept", count=event.rounds_kept))
        self._remaining(event.expected_s)

    def _round(self, event: events.RoundStarted) -> None:
        if self._bar is None and event.round != self._shown_round:
            self._shown_round = event.round
            time = units.seconds(event.remaining_s)
            self._line(self._say("progress.round", round=event.round + 1, rounds=event.rounds, time=time))
        self._now(self._say("progress.starting", round=event.round + 1, rounds=event.rounds))
        self._remaining(event.remaining_s)

    def _turn(self, event: events.TurnDone) -> None:
        rate = event.samples_per_s
        shown = "" if rate is None else f"  {units.significant(rate)} samples/s"
        time = units.seconds(event.step_time_s)
        self._now(f"{event.cell}  {time}{shown}")
        self._remaining(event.remaining_s)

    def _failed(self, event: events.TrialEnded) -> None:
        from pacenote.report.locale import text

        first = (event.text.splitlines() or [""])[0]
        status = text(self.language, f"status.{event.status.value}")
        self._line(self._say("progress.failed", cell=event.cell, status=status, text=first).rstrip(" ."))

    def _remaining(self, remaining_s: float) -> None:
        if self._bar is not None and self._task is not None:
            total_s = max(self._expected_s, remaining_s, 1e-9)
            left = self._say("progress.left", time=units.seconds(max(0.0, remaining_s)))
            self._bar.update(self._task, total=total_s, completed=total_s - remaining_s, left=left, refresh=True)

    def _now(self, text: str) -> None:
        """What is going on: rewritten in place, and only where that is possible."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=text, refresh=True)

    def _line(self, text: str) -> None:
        """A line that stays."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)

    def _say(self, key: str, **params: Any) -> str:
        return say(self.language, key, **params)


def _make_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True, highlight=False),
        transient=True,
        # No clock of its own: it is drawn when an event comes, and events come while every child is paused, so that
        # drawing takes no CPU time from what is being measured.
        auto_refresh=False,
    )
