"""Which results are older than the code they measured: ``python benchmarks/status.py [--check]``.

A result records the commit it was made at. It is out of date when a later commit, or the working tree, changes a
path that it measured. With ``--check`` the exit code is 1 if any is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness import RESULTS, ROOT, say

_SCRIPTS_ONLY: Final = tuple(
    f":(exclude)src/pacenote/{part}"
    for part in (
        *("child/attach.py", "child/freerun.py", "child/spool.py", "child/forwards.py", "child/loader_arguments.py"),
        *("child/depth", "child/outside", "child/site", "engines/spool.py", "launchers/script.py"),
        *("findings/script.py", "findings/codes.py"),
    )
)
"""What is loaded for scripts of the user's only (no trial of a workload comes near it), and a list of names."""

_CHILD: Final = ("src/pacenote/child", *_SCRIPTS_ONLY)
_RUNNING: Final = ("src/pacenote/engines", "src/pacenote/launchers", "src/pacenote/runner", *_CHILD)
_WHOLE: Final = ("src/pacenote/levers", "src/pacenote/stats", "src/pacenote/segment.py", "src/pacenote/plan.py")

MEASURED: Final[dict[str, tuple[str, ...]]] = {
    "startup": ("src/pacenote/cli", "src/pacenote/__init__.py", "src/pacenote/system"),
    "overhead": _CHILD,
    "truth": ("src/pacenote/segment.py", *_CHILD),
    "repeat": (*_RUNNING, "src/pacenote/stats", "src/pacenote/segment.py"),
    "health": ("src/pacenote/findings", "src/pacenote/system", *_RUNNING),
    "faults": (*_RUNNING, "src/pacenote/store"),
    "articles": (*_RUNNING, *_WHOLE),
    "best_epoch": (*_RUNNING, *_WHOLE),
}
"""Benchmark → what it measures, besides its own script. A result of any other name measures all of ``src``."""


@dataclass(frozen=True)
class Standing:
    """How one result relates to the code of today."""

    name: str
    commit: str
    verdict: str
    changed: tuple[str, ...] = ()

    @property
    def fresh(self) -> bool:
        """Whether nothing that the result measured has changed since."""
        return self.verdict == "current"


def standing(path: Path, root: Path = ROOT) -> Standing:
    """Compare one result file with the repository."""
    try:
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return Standing(path.stem, "?", "unreadable")
    name = str(result.get("benchmark") or path.stem)
    recorded = str(result.get("commit") or "unknown")
    commit, _, dirty = recorded.partition("+")
    paths = [*result.get("paths", MEASURED.get(name, ("src",))), f"benchmarks/{name}.py"]
    if dirty:
        return Standing(name, recorded, "made with uncommitted changes")
    if _git(root, "cat-file", "-e", f"{commit}^{{commit}}") is None:
        return Standing(name, recorded, "commit not in this repository")
    changed = _git(root, "diff", "--name-only", commit, "--", *paths)
    if not changed:
        return Standing(name, recorded, "current")
    return Standing(name, recorded, "older than its code", tuple(changed.splitlines()))


def main(arguments: list[str]) -> int:
    """Print one line per result."""
    found = [standing(path) for path in sorted(RESULTS.glob("*.json"))]
    if not found:
        say("no results yet; make some with: make bench")
    for one in found:
        more = f": {len(one.changed)} file(s), first {one.changed[0]}" if one.changed else ""
        say(f"{one.name:12} {one.commit:22} {one.verdict}{more}")
    return int("--check" in arguments and not all(one.fresh for one in found))


def _git(root: Path, *arguments: str) -> str | None:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
