"""Name the end of a child: from its last message, its exit status, what it printed, and the kernel's counters."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any, Final

from pacenote.records import Outcome, Status

ERROR_STATUS: Final = {
    "out_of_memory": Status.OUT_OF_MEMORY,
    "missing_framework": Status.MISSING,
    "missing_device": Status.MISSING,
    "unsupported": Status.UNSUPPORTED,
    "bad_data": Status.CRASHED,
    "exception": Status.CRASHED,
}
"""Kind of a child's error message → status."""

BAD_DATA_TYPE: Final = "DataError"
"""``error_type`` of an outcome whose cause is the user's input data."""

# A process sends these to itself by doing something wrong; every other signal comes from outside.
FAULT_SIGNALS: Final = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGTRAP", "SIGSYS"})

# What Python, the C++ library and the frameworks' CPU allocators say when memory has run out.
_MEMORY_SIGNS: Final = re.compile(
    r"MemoryError|bad_alloc|Cannot allocate memory|can't allocate memory|not enough memory|ResourceExhausted"
)
_PLACE: Final = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
_TEXT_LIMIT: Final = 300


def from_message(message: dict[str, Any]) -> Outcome:
    """Read a child's own account of its end."""
    status = ERROR_STATUS.get(str(message.get("kind")), Status.CRASHED)
    kind, text = str(message.get("type") or "Exception"), one_line(str(message.get("text") or ""))
    if status is Status.CRASHED and _MEMORY_SIGNS.search(f"{kind}: {text}"):
        status = Status.OUT_OF_MEMORY
    if message.get("kind") == "bad_data":
        kind = BAD_DATA_TYPE
    where = message.get("where")
    return Outcome(
        status=status,
        error_type=kind,
        error_text=text,
        where=None if where is None else str(where),
    )


def from_exit(returncode: int | None, output: str, *, memory_killed: bool = False) -> Outcome:
    """Read the end of a child that said nothing.

    Args:
        returncode: As :mod:`subprocess` has it: negative for a signal.
        output: The end of what the child printed.
        memory_killed: Whether the kernel ended a process for lack of memory while this child lived.
    """
    name = signal_name(returncode)
    common: dict[str, Any] = {"exit_code": returncode, "signal": name, "where": place(output)}
    if (name == "SIGKILL" and memory_killed) or (name != "SIGKILL" and _MEMORY_SIGNS.search(output)):
        return Outcome(status=Status.OUT_OF_MEMORY, error_text=last_line(output), **common)
    if name is None or name in FAULT_SIGNALS:
        text = last_line(output) if name is None else None
        return Outcome(status=Status.CRASHED, error_text=text or "the process ended without an answer", **common)
    return Outcome(status=Status.KILLED, **common)


def hung(waited_s: float, waiting_for: str) -> Outcome:
    """Describe a child that gave no answer in time and was ended for it."""
    return Outcome(
        status=Status.HUNG, signal="SIGKILL", error_text=f"no {waiting_for!r} message within {waited_s:.0f} s"
    )


def signal_name(returncode: int | None) -> str | None:
    """Name the signal in a return code; ``None`` if there is none."""
    if returncode is None or returncode >= 0:
        return None
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"


def place(output: str) -> str | None:
    """Find ``file.py:12`` in a traceback or in a fault handler's dump."""
    found = list(_PLACE.finditer(output))
    if not found:
        return None
    # A traceback names the innermost frame last, the fault handler names it first.
    frame = found[-1] if "Traceback (most recent call last)" in output else found[0]
    return f"{Path(frame['file']).name}:{frame['line']}"


def last_line(output: str) -> str | None:
    """Return the last line that says something."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return one_line(lines[-1]) if lines else None


def one_line(text: str) -> str:
    """Keep the first lines of a message as one line of bounded length."""
    joined = " ".join(text.split())
    return joined if len(joined) <= _TEXT_LIMIT else joined[: _TEXT_LIMIT - 1] + "…"


def memory_kills(root: Path = Path("/")) -> int | None:
    """Count the processes the kernel has ended for lack of memory: in our cgroup if it says, else on the machine."""
    for path in (*_event_files(root), root / "proc/vmstat"):
        try:
            text = path.read_text(encoding="ascii", errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill" and value.strip().isdigit():
                return int(value)
    return None


def _event_files(root: Path) -> list[Path]:
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    files = []
    for line in lines:
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if not path:
            continue
        if controllers == "":
            files.append(root / "sys/fs/cgroup" / path.lstrip("/") / "memory.events")
        elif "memory" in controllers.split(","):
            files.append(root / "sys/fs/cgroup/memory" / path.lstrip("/") / "memory.oom_control")
    return files
