"""Is a ratio ever printed from a sick side, or refused on a healthy machine?

Three parts. Injected: eight sick states are really made, each at three severities, and a study is run in the midst of
them. Grafted: states this machine cannot be put into (control groups of version 2, swap, heat, steal, a shared
accelerator) are read from recorded trees through the product's own readings and set into one side of a healthy study.
Undisturbed: the same kind of study is run until 20 runs were undisturbed in the eyes of a referee process that shares
no code with the product.

    python benchmarks/health.py [--runs 20] [--minutes 12] [--quick]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from harness import RESULTS, ROOT, Benchmark, say
from programs.injections import SEVERITIES, Injection, everything, study
from programs.quota import quota

PROGRAMS: Final = ROOT / "benchmarks" / "programs"
RATIO_CODES: Final = ("ratio", "ratio_forced")
RATIO_TEXT: Final = re.compile(r"\d\s?[×x](?![\w×])")
STUDY_TIMEOUT_S: Final = 180.0

HEALTHY: Final[tuple[dict[str, Any], ...]] = tuple(
    study(
        workload=workload,
        frameworks=[framework],
        axes={"batch_size": batches},
        effort={"warmup_s": 0.4, "turn_s": 0.2, "turns": 6},
    )
    for framework in ("pytorch", "paddle")
    for workload, batches in (("simplenet", [64, 128]), ("lenet", [32, 64]))
)
"""Studies with the product's own defaults (threads, waiting, allocator), taken in turn."""


@contextlib.contextmanager
def helper(*command: str) -> Iterator[subprocess.Popen[str]]:
    """A side process that says a word when it is ready and ends when its input closes."""
    with subprocess.Popen(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            if process.poll() is None and process.stdin is not None and not process.stdin.closed:
                process.communicate()


def run_study(
    options: dict[str, Any], store: Path, *, group: str = "-", cpus: str = "-", environ: dict[str, str] | None = None
) -> dict[str, Any]:
    """Run one study in a process of its own and return what it found."""
    added = environ or {}
    path = [added.get("PYTHONPATH", ""), str(ROOT / "src"), str(PROGRAMS.parent), os.environ.get("PYTHONPATH", "")]
    variables = {**os.environ, **added, "PYTHONPATH": os.pathsep.join(part for part in path if part)}
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        variables.pop(name, None)  # the product's defaults are what is judged here
    program = [sys.executable, str(PROGRAMS / "one_study.py"), str(store), json.dumps(options)]
    command = [sys.executable, str(PROGRAMS / "enter.py"), group, cpus, *program]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=STUDY_TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"study failed ({done.returncode}): {done.stderr.strip()[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def ratios(answer: dict[str, Any]) -> int:
    """Ratios that a reader would see, in findings, verdict or text."""
    codes = [finding["code"] for finding in answer["findings"]]
    spoken = [
        finding
        for finding in answer["findings"]
        if finding["code"].startswith("verdict") and finding["params"].get("speedup") is not None
    ]
    return sum(code in RATIO_CODES for code in codes) + len(spoken) + len(RATIO_TEXT.findall(answer.get("text", "")))


def unhealthy(answer: dict[str, Any]) -> list[str]:
    """Codes of the unhealthy findings."""
    return sorted({finding["code"] for finding in answer["findings"] if finding["severity"] == "unhealthy"})


def refusals(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Parameters of every refused ratio."""
    return [finding["params"] for finding in answer["findings"] if finding["code"] == "ratio_refused"]


def judged(answer: dict[str, Any], expected: tuple[str, ...]) -> dict[str, Any]:
    """Reduce an answer to what the gate needs."""
    codes = unhealthy(answer)
    statuses = answer.get("statuses", [])
    return {
        "ratios": ratios(answer),
        # A trial that broke has no ratio either; only one that finished shows that it was refused.
        "refused": len(refusals(answer)) if set(statuses) <= {"finished"} else 0,
        "unhealthy": codes,
        "named": any(code in expected for code in codes),
        "statuses": statuses,
    }


def inject(injection: Injection, store: Path) -> dict[str, Any]:
    """Make one sick state and run a study in it."""
    with contextlib.ExitStack() as stack:
        group = "-"
        if injection.quota_cpus is not None:
            try:
                group = stack.enter_context(quota(injection.quota_cpus))
            except OSError as error:
                return {"impossible": f"no control group can be made here: {error.strerror or error}"}
        if injection.busy is not None:
            cpus, pinned = injection.busy
            place = [] if pinned is None else [str(pinned)]
            stack.enter_context(helper(str(PROGRAMS / "busy.py"), str(cpus), *place))
        answer = run_study(injection.options, store, group=group, cpus=injection.cpus, environ=injection.environ)
    return judged(answer, injection.expected)


def injected(bench: Benchmark, store: Path, quick: bool) -> None:
    """Run what is missing of the injections and write their lines."""
    cases = [case for case in everything() if not quick or case.severity == "severe"]
    for case in cases:
        group = f"injected {case.kind} {case.severity}"
        if not bench.count(group):
            say(group)
            began_s = time.monotonic()
            bench.append(group, inject(case, store), seconds=time.monotonic() - began_s)
    write_lines(bench, "injected", sorted({case.kind for case in cases}), {case.severity for case in cases})


def write_lines(bench: Benchmark, part: str, kinds: list[str], severities: set[str]) -> None:
    """One line of printed ratios per kind, one of how often the trouble was named."""
    for kind in kinds:
        names = [f"{part} {kind} {severity}" for severity in SEVERITIES if severity in severities]
        samples = [bench.samples(name)[-1] for name in names if bench.count(name)]
        possible = [sample for sample in samples if "impossible" not in sample]
        if not possible:
            bench.line(f"{part} {kind}: ratios printed", samples[0]["impossible"] if samples else None, 0, None, 0)
            continue
        printed, n = sum(sample["ratios"] for sample in possible), len(possible)
        bench.line(f"{part} {kind}: ratios printed", printed, 0, printed == 0, n, "ratios")
        refused = sum(bool(sample["refused"]) for sample in possible)
        bench.line(f"{part} {kind}: refused aloud", refused, n, refused == n, n, "studies")
        named = sum(sample["named"] for sample in possible)
        bench.line(f"{part} {kind}: named as what it is", named, None, None, n, "studies")


def grafted(bench: Benchmark, store: Path, quick: bool) -> None:
    """Judge a healthy study again with a sick state set into one side, for every recorded state."""
    sys.path.insert(0, str(ROOT / "src"))  # judged by the same source that made the studies
    from programs import grafting

    severities = set(SEVERITIES[-1:] if quick else SEVERITIES)
    wanted = [(scene, severity) for scene in grafting.EXPECTED for severity in SEVERITIES if severity in severities]
    if any(not bench.count(f"grafted {scene} {severity}") for scene, severity in wanted):
        began_s = time.monotonic()
        healthy = base_study(store)
        if healthy is None:
            bench.line("grafted: healthy studies to set sick states into", 0, 1, False, 0, "studies")
            return
        for scene, severity in wanted:
            answer = grafting.regrafted(store, healthy["study"], scene, severity)
            sample = {**judged(answer, grafting.EXPECTED[scene]), "ratios_without": ratios(healthy)}
            bench.append(f"grafted {scene} {severity}", sample, seconds=(time.monotonic() - began_s) / len(wanted))
    write_lines(bench, "grafted", list(grafting.EXPECTED), severities)
    without = min(bench.samples(f"grafted {scene} {severity}")[-1]["ratios_without"] for scene, severity in wanted)
    bench.line("grafted: ratios printed without the graft", without, 1, without >= 1, len(wanted), "ratios")


def base_study(store: Path, tries: int = 5) -> dict[str, Any] | None:
    """A study that prints its ratio, to set sick states into; a disturbed one is made again."""
    for _ in range(tries):
        answer = run_study(HEALTHY[0], store)
        if ratios(answer) and not unhealthy(answer):
            return answer
        say(f"  the study to set sick states into was itself unhealthy: {', '.join(unhealthy(answer))}")
    return None


def watched(options: dict[str, Any], store: Path) -> dict[str, Any]:
    """Run one study under the eyes of the referee."""
    with helper(str(PROGRAMS / "referee.py"), str(os.getpid())) as referee:
        answer = run_study(options, store)
        text, _ = referee.communicate()
    verdict = json.loads(text.splitlines()[-1])
    why = [reason for params in refusals(answer) for reason in params.get("reasons", [])]
    return {**judged(answer, ()), "reasons": why, "referee": verdict, "undisturbed": verdict["undisturbed"]}


def undisturbed(bench: Benchmark, store: Path, runs: int, ends_s: float) -> None:
    """Run until enough runs were undisturbed, or the time is over, and write the lines."""
    while count_undisturbed(bench) < runs and (time.monotonic() < ends_s or not bench.count("watched")):
        number = bench.count("watched")
        options = HEALTHY[count_undisturbed(bench) % len(HEALTHY)]
        say(f"watched run {number + 1}: {options['frameworks'][0]} {options['workload']}")
        began_s = time.monotonic()
        bench.append("watched", watched(options, store), seconds=time.monotonic() - began_s)
    samples = bench.samples("watched")
    calm = [sample for sample in samples if sample["undisturbed"]]
    disturbed = [sample for sample in samples if not sample["undisturbed"]]
    bench.line("undisturbed runs", len(calm), runs, len(calm) >= runs, len(samples), "runs")
    refused = sum(bool(sample["refused"]) for sample in calm)
    bench.line("undisturbed: runs with a refusal", refused, 0, refused == 0 and bool(calm), len(calm), "runs")
    printed = sum(bool(sample["ratios"]) for sample in calm)
    bench.line("undisturbed: runs with a ratio", printed, len(calm), printed == len(calm), len(calm), "runs")
    noted = sum(bool(sample["unhealthy"]) for sample in calm)
    bench.line("undisturbed: runs with an unhealthy trial left out", noted, None, None, len(calm), "runs")
    also = sum(bool(sample["refused"]) for sample in disturbed)
    bench.line("disturbed (referee): runs with a refusal", also, None, None, len(disturbed), "runs")


def count_undisturbed(bench: Benchmark) -> int:
    """How many watched runs count."""
    return sum(sample["undisturbed"] for sample in bench.samples("watched"))


def main() -> int:
    """Run what is missing and write results/health.json."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=20, help="undisturbed runs to reach")
    parser.add_argument("--minutes", type=float, default=12.0, help="no undisturbed run starts later than this")
    parser.add_argument("--quick", action="store_true", help="severe cases and one watched run: shows that it works")
    parser.add_argument("--folder", type=Path, default=None, help="where the result goes")
    chosen = parser.parse_args()
    folder = chosen.folder or (Path(tempfile.gettempdir()) / "pacenote-quick" if chosen.quick else RESULTS)
    runs = 1 if chosen.quick else chosen.runs
    ends_s = time.monotonic() + (0.0 if chosen.quick else 60 * chosen.minutes)
    bench = Benchmark("health", folder=folder, settings={"quick": chosen.quick})
    with tempfile.TemporaryDirectory(prefix="pacenote-health-") as kept:
        store = Path(kept) / "store.sqlite"
        injected(bench, store, chosen.quick)
        grafted(bench, store, chosen.quick)
        undisturbed(bench, store, runs, ends_s)
    total = sum(line["value"] for line in bench.lines if line["name"].endswith("ratios printed") and line["n"])
    bench.line("ratios printed from a sick side, all cases", total, 0, total == 0, len(bench.lines), "ratios")
    return bench.write()


if __name__ == "__main__":
    raise SystemExit(main())
