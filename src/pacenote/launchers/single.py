"""Start one measured process: its argument list, its two pipes, its own session.

The process gets a session (and process group) of its own: Ctrl-C in the terminal reaches only Pacenote, which
then ends its children in order, and one signal ends a child with all its loader workers. When Pacenote is
killed, the kernel ends the child (see ``child/boot.py``). Nothing of this needs code between fork and exec.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any, Final

from pacenote.child.protocol import CONTROL_FD_VARIABLE, RESULT_FD_VARIABLE
from pacenote.errors import MissingPartError

BOOT: Final = Path(__file__).resolve().parent.parent / "child" / "boot.py"
PARENT_VARIABLE: Final = "PACENOTE_PARENT_PID"

OUTPUT_TAIL_BYTES: Final = 16384
"""How much of what a child printed is kept to explain its end."""


class Launched:
    """A started process with the parent's ends of its pipes.

    Attributes:
        process: The process.
        control: Descriptor that commands are written to.
        result: Descriptor that answers are read from.
    """

    def __init__(self, process: subprocess.Popen[bytes], *, control: int, result: int, output: IO[bytes]) -> None:
        self.process = process
        self.control = control
        self.result = result
        self._output = output

    def output_tail(self) -> str:
        """The last lines the process printed to its standard output and error."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - OUTPUT_TAIL_BYTES))
        return self._output.read().decode("utf-8", "replace")

    def signal_group(self, number: int = getattr(signal, "SIGKILL", signal.SIGTERM)) -> None:
        """Send a signal to the process and everything it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            else:
                self.process.kill()

    def close(self) -> None:
        """Close the pipes; a child that still waits at its gate ends by that."""
        for fd in (self.control, self.result):
            with contextlib.suppress(OSError):
                os.close(fd)
        self.control = self.result = -1
        self._output.close()


def launch(python: str | None, environ: dict[str, str], *, folder: str | None = None) -> Launched:
    """Start ``child/boot.py``.

    Args:
        python: Interpreter to measure; ``None`` is the one that runs Pacenote.
        environ: The whole environment of the process.
        folder: Working directory; ``None`` is the current one.

    Raises:
        MissingPartError: If ``python`` cannot be run.
    """
    control_read, control_write = os.pipe()
    result_read, result_write = os.pipe()
    output = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child; closed by Launched.close
    command = [python or sys.executable, "-X", "faulthandler", str(BOOT)]
    try:
        passed, values = _passed(control_read, result_write)
        process = subprocess.Popen(
            command,
            env={**environ, **values, PARENT_VARIABLE: str(os.getpid())},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            **passed,
        )
    except OSError as error:
        for fd in (control_write, result_read):
            os.close(fd)
        output.close()
        raise MissingPartError(f"cannot start {command[0]}: {error.strerror or error}.") from error
    finally:
        os.close(control_read)
        os.close(result_write)
    return Launched(process, control=control_write, result=result_read, output=output)


def _passed(control_read: int, result_write: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Arguments of Popen that let the child inherit both pipes, and the variables that name them to it."""
    if sys.platform != "win32":
        values = {CONTROL_FD_VARIABLE: str(control_read), RESULT_FD_VARIABLE: str(result_write)}
        return {"pass_fds": (control_read, result_write), "start_new_session": True}, values
    import msvcrt

    handles = [msvcrt.get_osfhandle(fd) for fd in (control_read, result_write)]
    for handle in handles:
        os.set_handle_inheritable(handle, True)
    startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles})
    values = {CONTROL_FD_VARIABLE: str(handles[0]), RESULT_FD_VARIABLE: str(handles[1])}
    flags = subprocess.CREATE_NEW_PROCESS_GROUP
    return {"startupinfo": startup, "creationflags": flags, "close_fds": True}, values
