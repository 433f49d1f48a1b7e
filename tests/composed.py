"""Writes ``/proc`` and ``/sys`` trees a file at a time, for machines nobody here has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pacenote.system.reader import Reader


class Machine:
    """A composed machine; every method returns it, so that one reads as one sentence."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._mounts: list[str] = []

    @property
    def reader(self) -> Reader:
        return Reader(self.root)

    def file(self, path: str, text: str) -> Machine:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return self

    def mount(self, kind: str, point: str, *, root: str = "/", options: str = "rw") -> Machine:
        """A row of mountinfo (proc(5)): the root inside the hierarchy, the point, the super options."""
        number = 30 + len(self._mounts)
        self._mounts.append(f"{number} 1 0:{number} {root} {point} rw,nosuid shared:9 - {kind} {kind} {options}")
        return self.file("/proc/self/mountinfo", "\n".join(self._mounts) + "\n")

    def groups(self, *lines: str, pid: int | str = "self") -> Machine:
        return self.file(f"/proc/{pid}/cgroup", "\n".join(lines) + "\n")

    def process(self, pid: int, *, children: tuple[int, ...] = (), ticks: int = 100, **more: Any) -> Machine:
        """A process: ``ticks`` of its own CPU time, ``ended_ticks`` of children that have ended."""
        faults = f"{more.get('minor', 10)} {more.get('minor_ended', 0)} {more.get('major', 0)} 0"
        times = f"{ticks} 0 {more.get('ended_ticks', 0)} 0"
        self.file(f"/proc/{pid}/stat", f"{pid} ({more.get('name', 'python')}) S 1 1 1 0 -1 0 {faults} {times} 20 0 1\n")
        size = more.get("rss_kib", 1000)
        self.file(f"/proc/{pid}/status", f"Name:\tpython\nVmHWM:\t{2 * size} kB\nVmRSS:\t{size} kB\nVmSwap:\t0 kB\n")
        self.file(f"/proc/{pid}/smaps_rollup", f"Rss: {size} kB\nPss: {size // 2} kB\n")
        for thread in more.get("threads", (pid,)):
            switches = "voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n"
            self.file(f"/proc/{pid}/task/{thread}/status", switches)
            listed = children if thread == pid else more.get("children_of_thread", ())
            self.file(f"/proc/{pid}/task/{thread}/children", " ".join(map(str, listed)))
        return self


def deny(monkeypatch: pytest.MonkeyPatch, forbidden: Callable[[str], bool]) -> None:
    """Let the kernel refuse some files, whoever runs the tests."""
    import builtins

    from pacenote.system import reader

    def guarded(path: str, *arguments: Any, **options: Any) -> Any:
        if forbidden(path):
            raise PermissionError(13, "Permission denied", path)
        return builtins.open(path, *arguments, **options)

    monkeypatch.setattr(reader, "open", guarded, raising=False)
