"""Faults injected on purpose, to prove that each end of a child is told apart and nothing finished is lost.

A job's ``fault`` is ``{"kind": …, "at": "start" | "import" | "build" | "step", "step": 3}``. It is used by tests and
benchmarks only; an ordinary run has none.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any, Optional

KINDS = (
    *("exception", "memory_error", "exhaust_memory", "exit", "kill"),
    *("segfault", "abort", "hang", "hang_busy", "interrupt"),
)

MOMENTS = ("start", "import", "build", "step")


class Fault:
    """One fault, waiting for its moment.

    Args:
        spec: The job's ``fault``, or None.
    """

    def __init__(self, spec: Optional[dict[str, Any]]) -> None:
        self.kind = spec["kind"] if spec else None
        self.moment = str(spec.get("at", "step")) if spec else ""
        self.step = int(spec.get("step", 0)) if spec else -1
        if self.kind is not None and self.kind not in KINDS:
            raise ValueError(f"unknown fault {self.kind!r}; known: {', '.join(KINDS)}")
        if (
            self.kind is not None and self.moment not in MOMENTS
        ):  # it would never break, and its test would prove nothing
            raise ValueError(f"unknown moment {self.moment!r}; known: {', '.join(MOMENTS)}")

    def at(self, moment: str) -> None:
        """Break now, if this is the moment."""
        if self.kind is not None and self.moment == moment:
            self._break()

    def at_step(self, step: int) -> None:
        """Break now, if this is the step."""
        if self.kind is not None and self.moment == "step" and step >= self.step:
            self._break()

    def _break(self) -> None:
        kind, self.kind = self.kind, None
        getattr(self, f"_{kind}")()

    def _exception(self) -> None:
        raise RuntimeError("a fault was planted here")

    def _memory_error(self) -> None:
        raise MemoryError("a fault was planted here")

    def _exhaust_memory(self) -> None:
        import resource

        limit = 512 << 20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        held = []
        while True:
            held.append(bytearray(64 << 20))

    def _exit(self) -> None:
        os._exit(3)

    def _kill(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def _segfault(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def _abort(self) -> None:
        os.abort()

    def _hang(self) -> None:
        while True:
            time.sleep(3600)

    def _hang_busy(self) -> None:
        while True:
            sys.getsizeof(0)

    def _interrupt(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
