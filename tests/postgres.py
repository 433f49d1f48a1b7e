"""A PostgreSQL server of the tests' own: temporary folder, Unix socket only, gone afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")


def programs() -> Path | None:
    """The folder of initdb and pg_ctl; Debian keeps them off the path."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    versions = sorted(DEBIAN.glob("*/bin/initdb"))
    return versions[-1].parent if versions else None


@contextmanager
def server(folder_of_programs: Path) -> Iterator[str]:
    """Run a server and give its URL."""
    # A socket's path has at most 107 characters, so the folder is short.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    prefix: list[str] = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "postgres")
        prefix = ["runuser", "-u", "postgres", "--"]
    data = folder / "data"

    def run(program: str, *arguments: str) -> None:
        command = [*prefix, str(folder_of_programs / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, timeout=60)

    try:
        run("initdb", "-D", str(data), "-A", "trust", "-U", "pacenote", "-N")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
        try:
            yield f"postgresql://pacenote@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
