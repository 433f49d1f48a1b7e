"""Enter a control group or a set of CPUs, then become a program: ``enter.py GROUP|- CPUS|- PROGRAM …``."""

from __future__ import annotations

import os
import sys


def main(group: str, cpus: str, command: list[str]) -> None:
    """Change this process, then replace it."""
    if group != "-":
        with open(os.path.join(group, "cgroup.procs"), "w", encoding="utf-8") as stream:
            stream.write(str(os.getpid()))
    if cpus != "-":
        os.sched_setaffinity(0, {int(cpu) for cpu in cpus.split(",")})
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
