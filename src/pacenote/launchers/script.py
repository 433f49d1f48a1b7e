"""Start a script of the user's as the user would, with the probe waiting at the start of every interpreter below it.

Nothing of how it runs is changed: same folder, same terminal, same process group, its own arguments and environment.
Two variables are added: ``PYTHONPATH`` begins with the folder whose ``sitecustomize`` attaches the probe, and
``PACENOTE_ATTACH`` says where the job lies and where events go.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from pacenote.errors import MissingPartError, UsageError

SITE: Final = Path(__file__).resolve().parent.parent / "child" / "site"
ATTACH_VARIABLE: Final = "PACENOTE_ATTACH"


def command_of(target: str, arguments: Sequence[str], *, module: bool, python: str | None) -> list[str]:
    """The command that a user would type.

    Args:
        target: A Python file, a module's name, or a program such as ``torchrun``.
        arguments: What the script gets.
        module: Whether ``target`` is a module.
        python: Interpreter; ``None`` is the one that runs Pacenote.

    Raises:
        UsageError: If there is no such file or program.
    """
    interpreter = python or sys.executable
    if module:
        return [interpreter, "-m", target, *arguments]
    if target.endswith((".py", ".pyw")) or (Path(target).is_file() and not os.access(target, os.X_OK)):
        if not Path(target).is_file():
            raise UsageError(f"there is no file {target!r} here.")
        return [interpreter, target, *arguments]
    program = shutil.which(target)
    if program is None:
        raise UsageError(f"{target!r} is neither a file nor a program.")
    return [program, *arguments]


class Script:
    """A running script.

    Args:
        command: What to run.
        folder: Where the job lies.
        variables: Further environment variables, from levers that are applied from outside.

    Raises:
        MissingPartError: If the command cannot be run.
    """

    def __init__(self, command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None) -> None:
        environ = {**os.environ, **(variables or {}), ATTACH_VARIABLE: str(folder)}
        before = environ.get("PYTHONPATH")
        environ["PYTHONPATH"] = str(SITE) if not before else os.pathsep.join((str(SITE), before))
        # The terminal sends Ctrl-C to both: it is the script's to answer, and ours to wait for its answer.
        # What is ignored (under nohup, in the background of a shell) must stay so: the script inherits it.
        handlers = {**dict.fromkeys(_passed_on(), self._pass_on), signal.SIGINT: self._interrupt}
        heard = [number for number in handlers if signal.getsignal(number) is not signal.SIG_IGN]
        self._kept = {number: signal.signal(number, handlers[number]) for number in heard}
        self.interrupted = False
        self.process: subprocess.Popen[bytes] | None = None
        try:
            self.process = subprocess.Popen(list(command), env=environ)
        except OSError as error:
            self.close()
            raise MissingPartError(f"cannot run {command[0]!r}: {error.strerror or error}.") from error

    @property
    def pid(self) -> int:
        """Process id."""
        assert self.process is not None
        return self.process.pid

    def wait(self, seconds: float) -> int | None:
        """Wait a while; the exit code when it ended, as a shell would say it (128 + the signal that ended it)."""
        assert self.process is not None
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return 128 - code if code < 0 else code

    def close(self) -> None:
        """Give the signals back."""
        for number, handler in self._kept.items():
            signal.signal(number, handler)
        self._kept.clear()

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.interrupted = True

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)


def _passed_on() -> list[signal.Signals]:
    """Signals that come to us alone and are meant for the script."""
    return [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2") if hasattr(signal, name)]
