"""How long the command line takes to answer, against the libraries it cannot do without.

Interleaved pairs of ``pacenote --help`` and ``python -c "import typer, rich.console"``; then ``pacenote doctor``; then
which frameworks ``import pacenote`` loads (none).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from typing import Final

from harness import Benchmark, say

CONSOLE_SCRIPT: Final = "import sys; from pacenote.cli.main import main; sys.exit(main())"
BASE: Final = "import typer, rich.console"
FRAMEWORKS: Final = ("torch", "paddle", "numpy", "sqlalchemy", "jinja2")
LIMIT_RATIO: Final = 1.6
LIMIT_DOCTOR_S: Final = 5.0


def main() -> int:
    """Measure, judge, write results/startup.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--doctors", type=int, default=5)
    chosen = parser.parse_args()
    bench = Benchmark("startup")
    for number in range(bench.count("pair"), chosen.pairs):
        # The order changes from pair to pair, so that whatever the first of two pays is paid by both.
        order = ("help", "base") if number % 2 else ("base", "help")
        took = {which: _timed(which) for which in order}
        bench.append("pair", {"help_s": took["help"], "base_s": took["base"]}, seconds=sum(took.values()))
    for _ in range(bench.count("doctor"), chosen.doctors):
        took_s = _timed("doctor")
        bench.append("doctor", {"doctor_s": took_s}, seconds=took_s)
    pairs = bench.samples("pair")
    ratios = [pair["help_s"] / pair["base_s"] for pair in pairs]
    ratio = statistics.median(ratios)
    doctors = [sample["doctor_s"] for sample in bench.samples("doctor")]
    loaded = _loaded()
    bench.line("help_ratio", ratio, LIMIT_RATIO, ratio <= LIMIT_RATIO, len(pairs), "ratio")
    bench.line("help_ratio_p90", statistics.quantiles(ratios, n=10)[-1], None, None, len(pairs), "ratio")
    bench.line("help_s", statistics.median(pair["help_s"] for pair in pairs), None, None, len(pairs), "s")
    bench.line("base_s", statistics.median(pair["base_s"] for pair in pairs), None, None, len(pairs), "s")
    bench.line("doctor_max_s", max(doctors), LIMIT_DOCTOR_S, max(doctors) <= LIMIT_DOCTOR_S, len(doctors), "s")
    bench.line("heavy_imports", ",".join(loaded) or "none", "none", not loaded, 1)
    return bench.write()


def _timed(which: str) -> float:
    commands = {
        "base": ["-c", BASE],
        "help": ["-c", CONSOLE_SCRIPT, "--help"],
        "doctor": ["-c", CONSOLE_SCRIPT, "doctor"],
    }
    begun_s = time.perf_counter()
    done = subprocess.run([sys.executable, *commands[which]], capture_output=True, text=True, check=False)
    took_s = time.perf_counter() - begun_s
    if done.returncode != 0:
        say(done.stderr)
        raise SystemExit(f"{which} ended with {done.returncode}")
    return took_s


def _loaded() -> list[str]:
    code = f"import pacenote, sys; print(*[name for name in {FRAMEWORKS!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


if __name__ == "__main__":
    raise SystemExit(main())
