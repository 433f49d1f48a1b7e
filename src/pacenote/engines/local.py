"""Children on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Final, NoReturn

from pacenote.engines import ChildEndedError, Message, outcome
from pacenote.engines.lines import lines_of
from pacenote.launchers.single import Launched, launch
from pacenote.records import Outcome, Status

EXIT_GRACE_S: Final = 20.0
"""How long a child may take to leave after its last word; frameworks tear down threads and devices there."""

FAREWELL_S: Final = 5.0
"""How long a child that closed its pipe may take to end by itself before it is ended."""


class LocalChild:
    """One child process; see :class:`pacenote.engines.Child`."""

    def __init__(self, launched: Launched) -> None:
        self._launched = launched
        self._process = launched.process
        self._lines = lines_of(launched.result, launched.process.pid)
        self._memory_kills = outcome.memory_kills()
        self._outcome: Outcome | None = None

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def answer(self, kind: str, timeout_s: float) -> Message:
        """Wait for the message of this kind; ``hello`` is passed over unless it is asked for."""
        if self._outcome is not None:
            raise ChildEndedError(self._outcome)
        deadline_s = time.monotonic() + timeout_s
        while True:
            try:
                line = self._lines.read(deadline_s)
            except TimeoutError:
                self._fail(partial(outcome.hung, timeout_s, kind))
            message = None if line is None else _parse(line)
            if message is None:
                self._fail(self._unexplained, wait_s=FAREWELL_S)
            if message["msg"] == kind:
                return message
            if message["msg"] == "error":
                self._fail(partial(outcome.from_message, message), wait_s=EXIT_GRACE_S)

    def begin_turn(self, turn: int, *, seconds: float | None, steps: int | None) -> None:
        """Let it train; see :class:`pacenote.engines.Child`."""
        self.send({"cmd": "turn", "turn": turn, "seconds": seconds, "steps": steps})

    def begin_finish(self) -> None:
        """Ask it to end cleanly."""
        self.send({"cmd": "finish"})

    def finish(self, timeout_s: float, *, grace_s: float = EXIT_GRACE_S) -> tuple[Message, Outcome]:
        """Wait for its last word, and ``grace_s`` for its end; a fault while it tears down costs nothing measured.

        A child that had to be ended after its last word has no exit code.
        """
        done = self.answer("done", timeout_s)
        left = self._lines.ended(time.monotonic() + grace_s)
        self._end()
        return done, Outcome(status=Status.FINISHED, exit_code=self._process.returncode if left else None)

    def send(self, command: Message) -> None:
        """Write one command."""
        data = json.dumps(command, separators=(",", ":")).encode() + b"\n"
        try:
            os.write(self._launched.control, data)
        except OSError:
            self._fail(self._unexplained, wait_s=FAREWELL_S)

    def kill(self) -> None:
        """End it and everything it started, now."""
        if self._outcome is None and self._launched.control >= 0:
            self._end()

    def _fail(self, describe: Callable[[], Outcome], wait_s: float = 0.0) -> NoReturn:
        """Wait for the end, or make it, and raise what it was."""
        if self._outcome is None:
            if wait_s:
                self._lines.ended(time.monotonic() + wait_s)
            self._end()
            self._outcome = describe()
        raise ChildEndedError(self._outcome)

    def _unexplained(self) -> Outcome:
        before, now = self._memory_kills, outcome.memory_kills()
        killed = before is not None and now is not None and now > before
        return outcome.from_exit(self._process.returncode, self._output, memory_killed=killed)

    def _end(self) -> None:
        """Signal the whole group while its leader is not yet reaped (its id cannot be reused), then reap it."""
        self._launched.signal_group()
        with contextlib.suppress(InterruptedError):
            self._process.wait()
        self._output = self._launched.output_tail()
        self._lines.close()
        self._launched.close()


class LocalEngine:
    """Starts children on this machine."""

    name = "local"

    def start(self, job: Message, *, python: str | None, environ: dict[str, str]) -> LocalChild:
        """Start a child on ``job``; see :class:`pacenote.engines.Engine`."""
        child = LocalChild(launch(python, environ))
        with contextlib.suppress(ChildEndedError):  # one that ended at once says so at its first answer
            child.send({**job, "cmd": "job"})
        return child


def _parse(line: bytes) -> Message | None:
    """Read one message; ``None`` for anything else, which ends the trial: its numbers could not be trusted."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) and isinstance(message.get("msg"), str) else None


PART = LocalEngine()
