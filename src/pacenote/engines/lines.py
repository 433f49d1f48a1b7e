"""Wait for a line from a child: asleep until there is one, the child has ended, or the time is over."""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import sys
import threading
import time
from typing import Final, Protocol

CHUNK_BYTES: Final = 1 << 16


class Lines(Protocol):
    """Lines of one pipe."""

    def read(self, deadline_s: float) -> bytes | None:
        """Return the next line, or ``None`` at the end; ``deadline_s`` is on ``time.monotonic``.

        Raises:
            TimeoutError: If there is no line by then.
        """
        ...

    def ended(self, deadline_s: float) -> bool:
        """Wait until the process has ended; False if it has not by then."""
        ...

    def close(self) -> None:
        """Let go of what watches the pipe; the pipe itself stays open."""
        ...


class _Buffer:
    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def take(self) -> bytes | None:
        """Return one whole line if there is one."""
        if not self._pieces or b"\n" not in self._pieces[-1]:
            return None
        line, _, rest = b"".join(self._pieces).partition(b"\n")
        self._pieces = [rest] if rest else []
        return line

    def add(self, chunk: bytes) -> None:
        """Append what was read. Pieces are joined once per line, so a line of many megabytes costs no more."""
        if self._pieces and b"\n" in self._pieces[-1]:
            chunk = self._pieces.pop() + chunk
        self._pieces.append(chunk)


class SelectedLines:
    """Lines by a selector (POSIX). Also watches the process itself, where the system can.

    A loader worker that outlives the child holds the pipe open, so the end of the pipe is not a safe sign of the
    child's end.
    """

    def __init__(self, fd: int, pid: int) -> None:
        self._fd = fd
        self._buffer = _Buffer()
        self._selector = selectors.DefaultSelector()
        self._selector.register(fd, selectors.EVENT_READ)
        os.set_blocking(fd, False)
        self._pid_fd = _open_process(pid)
        if self._pid_fd is not None:
            self._selector.register(self._pid_fd, selectors.EVENT_READ)

    def read(self, deadline_s: float) -> bytes | None:
        """Return the next line; see :class:`Lines`."""
        while True:
            line = self._buffer.take()
            if line is not None:
                return line
            ready = self._selector.select(max(0.0, deadline_s - time.monotonic()))
            if not ready:
                raise TimeoutError
            chunk = self._chunk()
            if chunk:
                self._buffer.add(chunk)
            elif chunk == b"" or not any(key.fd == self._fd for key, _ in ready):
                return None  # the pipe has ended, or the process has and left nothing in the pipe

    def ended(self, deadline_s: float) -> bool:
        """Wait for the process to end; without a process descriptor the end of the pipe stands for it."""
        watched = self._fd if self._pid_fd is None else self._pid_fd
        with selectors.DefaultSelector() as selector:
            selector.register(watched, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0.0, deadline_s - time.monotonic())):
                    return False
                if watched == self._pid_fd or not self._chunk():
                    return True

    def close(self) -> None:
        """Let go; see :class:`Lines`."""
        self._selector.close()
        if self._pid_fd is not None:
            os.close(self._pid_fd)
            self._pid_fd = None

    def _chunk(self) -> bytes | None:
        try:
            return os.read(self._fd, CHUNK_BYTES)
        except BlockingIOError:
            return None


class ThreadedLines:
    """Lines by a thread that sleeps in read(), for systems whose selectors cannot wait for pipes."""

    def __init__(self, fd: int) -> None:
        self._queue: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._pump, args=(fd,), daemon=True).start()

    def read(self, deadline_s: float) -> bytes | None:
        """Return the next line; see :class:`Lines`."""
        try:
            line = self._queue.get(timeout=max(0.0, deadline_s - time.monotonic()))
        except queue.Empty:
            raise TimeoutError from None
        if line is None:
            self._queue.put(None)
        return line

    def ended(self, deadline_s: float) -> bool:
        """Wait for the end of the pipe, which is the end of the process on these systems."""
        with contextlib.suppress(TimeoutError):
            while self.read(deadline_s) is not None:
                continue
            return True
        return False

    def close(self) -> None:
        """Nothing to let go: the thread ends with the pipe."""

    def _pump(self, fd: int) -> None:
        buffer = _Buffer()
        with contextlib.suppress(OSError):
            while chunk := os.read(fd, CHUNK_BYTES):
                buffer.add(chunk)
                while (line := buffer.take()) is not None:
                    self._queue.put(line)
        self._queue.put(None)


def lines_of(fd: int, pid: int) -> Lines:
    """Watch a pipe in the way this system offers."""
    return ThreadedLines(fd) if sys.platform == "win32" else SelectedLines(fd, pid)


def _open_process(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends: Linux 5.3 and newer."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
