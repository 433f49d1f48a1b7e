"""The two pipes to the parent, as file descriptors named in the environment."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from .protocol import CONTROL_FD_VARIABLE, RESULT_FD_VARIABLE


class Channel:
    """JSON lines to and from the parent.

    Args:
        control_fd: Descriptor the parent's commands are read from.
        result_fd: Descriptor the answers are written to.
    """

    def __init__(self, control_fd: int, result_fd: int) -> None:
        self.control_fd = control_fd
        self.result_fd = result_fd
        self._pending = b""
        self._owner = os.getpid()

    @classmethod
    def from_environment(cls) -> Channel:
        """Take the descriptors from the environment and remove them there, so that grandchildren do not see them."""
        control = _descriptor(os.environ.pop(CONTROL_FD_VARIABLE), os.O_RDONLY)
        result = _descriptor(os.environ.pop(RESULT_FD_VARIABLE), os.O_WRONLY)
        for fd in (control, result):
            os.set_inheritable(fd, False)
        channel = cls(control, result)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=channel.close_in_fork)
        return channel

    def close_in_fork(self) -> None:
        """In a forked worker: let go of the pipes, or the parent would never see their end."""
        if os.getpid() == self._owner:
            return
        for fd in (self.control_fd, self.result_fd):
            try:
                os.close(fd)
            except OSError:
                continue  # already closed by the program itself

    def send(self, message: dict[str, Any]) -> None:
        """Write one message; a parent that has gone ends this process quietly."""
        if os.getpid() != self._owner:
            return
        data = json.dumps(message, separators=(",", ":"), default=str).encode() + b"\n"
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self.result_fd, view) :]
        except (BrokenPipeError, OSError):
            os._exit(0)  # nobody is left to hear the answer

    def receive(self) -> dict[str, Any] | None:
        """Wait for one command; ``None`` when the parent has gone."""
        while b"\n" not in self._pending:
            chunk = os.read(self.control_fd, 65536)
            if not chunk:
                return None
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        command: dict[str, Any] = json.loads(line)
        return command


def _descriptor(text: str, flags: int) -> int:
    """Turn what the parent wrote into a descriptor: itself on POSIX, an inherited handle on Windows."""
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.open_osfhandle(int(text), flags)
    return int(text)
