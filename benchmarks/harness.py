"""One result file per benchmark: what was run, where, how often, and each figure against its threshold.

A benchmark script makes one :class:`Benchmark`, keeps its samples in the journal (one JSON line each, so an
interrupted run goes on where it stopped), adds one line per figure, and ends with ``write()``::

    bench = Benchmark("repeat")
    for number in range(bench.count("quiet"), repeats):
        bench.append("quiet", {"repeat": number, ...})
    bench.line("coverage", covered / repeats, 0.9, covered / repeats >= 0.9, n=repeats, unit="share")
    raise SystemExit(bench.write())
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"

Figure = float | str | None


def say(text: str) -> None:
    """Write one line for the person who waits, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def commit() -> str:
    """Abbreviated commit of the working tree, with ``+changes`` if tracked files differ from it."""
    try:
        name = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src")
        return name + ("+changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def machine() -> dict[str, Any]:
    """The few facts that a reader of a result needs; no serial number, no host name."""
    return {
        "cpu": _cpu_model(),
        "logical_cpus": os.cpu_count(),
        "usable_cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_bytes": _memory_bytes(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


class Benchmark:
    """The result file of one benchmark.

    Args:
        name: Name of the benchmark; the result is ``results/<name>.json``.
        folder: Where the result and its journal are written; ``results/`` of the repository by default.
        settings: Arguments that change what a sample means; samples of other settings are not resumed.
        sources: Folders and files of the repository whose change makes earlier samples invalid.
    """

    def __init__(
        self,
        name: str,
        *,
        folder: Path | None = None,
        settings: dict[str, Any] | None = None,
        sources: Sequence[str] = ("src",),
    ) -> None:
        self.name = name
        self.folder = RESULTS if folder is None else folder
        self.settings = settings or {}
        self.sources = sources
        self.lines: list[dict[str, Any]] = []
        self.extra: dict[str, Any] = {}
        self._machine = machine()
        self._key: str | None = None
        self._started_s = time.monotonic()
        self._samples = self._read()

    @property
    def path(self) -> Path:
        """The result file."""
        return self.folder / f"{self.name}.json"

    @property
    def journal(self) -> Path:
        """The samples, one JSON line each, beside the result."""
        return self.folder / f"{self.name}.jsonl"

    def resume_key(self) -> str:
        """Equal exactly where earlier samples count: same source, settings, interpreter and machine."""
        if self._key is None:
            digest = hashlib.sha256()
            own = [path for path in sorted((ROOT / "benchmarks").glob("*.py")) if path.name != "harness.py"]
            for source in [*self._sources(), *(path for path in own if path.stem.startswith(self.name.rstrip("s")))]:
                if source.exists():
                    digest.update(source.relative_to(ROOT).as_posix().encode())
                    digest.update(source.read_bytes())
            digest.update(json.dumps([self.settings, self._machine], sort_keys=True).encode())
            self._key = digest.hexdigest()[:16]
        return self._key

    def _sources(self) -> list[Path]:
        paths = [ROOT / name for name in self.sources]
        return [file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]

    def forget(self) -> None:
        """Start over: earlier samples do not count and are removed."""
        self.journal.unlink(missing_ok=True)
        self._samples = []

    def samples(self, group: str) -> list[dict[str, Any]]:
        """Samples of one group that count for this run: those appended now and those resumed."""
        return [sample for sample in self._samples if sample["group"] == group]

    def count(self, group: str) -> int:
        """How many samples the group has."""
        return len(self.samples(group))

    def append(self, group: str, sample: dict[str, Any], *, seconds: float | None = None) -> None:
        """Keep one sample, on disk at once."""
        entry = {"key": self.resume_key(), "group": group, "unix_s": round(time.time(), 3), **sample}
        entry["seconds"] = seconds
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, sort_keys=True) + "\n")
        self._samples.append(entry)

    def line(self, name: str, value: Figure, threshold: Figure, ok: bool | None, n: int, unit: str = "") -> None:
        """Add one figure; ``ok`` is ``None`` for a figure that is reported without a threshold."""
        figure = {"name": name, "value": value, "threshold": threshold, "pass": ok, "n": n, "unit": unit}
        self.lines.append(figure)

    def write(self) -> int:
        """Write the result file, print the summary, and return the exit code (0 when nothing failed)."""
        failed = [line["name"] for line in self.lines if line["pass"] is False]
        result = {
            "benchmark": self.name,
            "command": _command(),
            "commit": commit(),
            "source_key": self.resume_key(),
            "settings": self.settings,
            "machine": self._machine,
            "finished_unix_s": round(time.time(), 3),
            "seconds": round(time.monotonic() - self._started_s, 1),
            "sampled_seconds": round(sum(sample.get("seconds") or 0.0 for sample in self._samples), 1),
            "pass": not failed,
            "lines": self.lines,
            **self.extra,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        waiting = self.path.with_suffix(".json.part")
        waiting.write_text(json.dumps(result, indent=2, sort_keys=False) + "\n", encoding="utf-8")
        os.replace(waiting, self.path)
        for line in self.lines:
            say(_spoken(line))
        say(f"{self.name}: {'passed' if not failed else 'FAILED: ' + ', '.join(failed)} ({self.path})")
        return 1 if failed else 0

    def _read(self) -> list[dict[str, Any]]:
        if not self.journal.exists():
            return []
        kept = []
        for text in self.journal.read_text(encoding="utf-8").splitlines():
            try:
                sample = json.loads(text)
            except ValueError:
                continue  # a line cut off by a killed run
            if sample.get("key") == self.resume_key():
                kept.append(sample)
        return kept


def _spoken(line: dict[str, Any]) -> str:
    verdict = {True: "pass", False: "FAIL", None: "    "}[line["pass"]]
    value = f"{line['value']:.5g}" if isinstance(line["value"], float) else str(line["value"])
    against = "" if line["threshold"] is None else f"  against {line['threshold']}"
    return f"  {verdict}  {line['name']}: {value} {line['unit']}{against}  (n={line['n']})"


def _command() -> str:
    script = Path(sys.argv[0])
    try:
        shown = script.resolve().relative_to(ROOT).as_posix()
    except ValueError:
        shown = script.name
    return " ".join(["python", shown, *sys.argv[1:]])


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _cpu_model() -> str:
    try:
        for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if text.startswith("model name"):
                return text.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None
