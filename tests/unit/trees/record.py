"""Record a tree: ``python tests/unit/trees/record.py FOLDER [PID]`` copies every file that the readings touch.

Nothing else of the machine is copied, and the machine's id is replaced.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pacenote.system import counters, machine, process, snapshot
from pacenote.system.reader import Reader


class RecordingReader(Reader):
    """Reads the live machine and keeps what it read below a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__("/")
        self._folder = folder

    @property
    def live(self) -> bool:
        return False  # no system call may stand in for a file

    def text(self, path: str) -> str | None:
        found = super().text(path)
        if path.endswith("machine-id"):
            return "0123456789abcdef0123456789abcdef"
        if found is not None:
            kept = self._folder / path.lstrip("/")
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(found + "\n", encoding="utf-8")
        return found

    def names(self, path: str) -> list[str]:
        found = super().names(path)
        for name in found:
            if os.path.isdir(f"{path}/{name}") and path.startswith("/proc/"):
                (self._folder / path.lstrip("/") / name).mkdir(parents=True, exist_ok=True)
        return found


def record(folder: Path, pid: int) -> None:
    """Take every reading once."""
    reader = RecordingReader(folder)
    counters.read(pid, reader, own_pids=())
    snapshot.snapshot(reader)
    machine.machine_facts(reader)
    process.footprint(pid, reader)


if __name__ == "__main__":
    record(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else os.getpid())
