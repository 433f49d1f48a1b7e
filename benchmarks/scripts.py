"""Do public training scripts run under Pacenote as they do without it, and does it see what they do?

Each script of benchmarks/script_cases.py is taken from its repository at its commit, put into an empty folder with
small stand-in data, and run twice: alone, and under ``pacenote run``. An independent witness
(benchmarks/programs/witness) is in both. Gate per script: steps segmented = optimizer steps counted by the witness,
final weights equal to the bit, the same output (times masked) and exit code, and at most 5 % of the steps' time in no
phase, or what it was spent on named. A script whose weights differ between two runs alone is said to be so, and is
compared in everything else.

    python benchmarks/scripts.py --repositories DIR [--pytorch PYTHON] [--paddle PYTHON] [--only TEXT]

``DIR`` holds one git repository per source, named ``owner+name`` (a clone, or a bare one); what is missing is cloned
from GitHub. The interpreters need torchvision, timm, transformers, lightning, accelerate, datasets and matplotlib, and
paddlepaddle.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import ROOT, Benchmark, say
from script_cases import CASES, Case

PROGRAMS = ROOT / "benchmarks" / "programs"
UNATTRIBUTED_SHARE = 0.05
TIMEOUT_S = 900

MASKS = (
    r"\d+:\d+(:\d+)?([.,]\d+)?",  # clocks
    r"\d{4}-\d\d-\d\d",
    r"\d+(\.\d+)?(e[+-]?\d+)? ?(ms|s|sec|secs|seconds|it/s|s/it|ins/s|samples/s|/s|B/s|MB/s|min)\b",
    r"(?i)(time|elapsed|eta|cost|ips|mfu|dt|ms/batch|per_second|runtime)\W{1,4}(nan|[\d.]+)( ?\(\s*[\d.]+\))?",
    r"0x[0-9a-f]+",
    r"tmp\w+",
    r"\bpid\W+\d+",
    r"(?m)^[IWEF]\d{4} ~ \d+(?= )",  # after its clock, the process that warns
)
"""What differs from run to run in any script: times, rates, addresses, names of temporary files."""


def main() -> int:
    """Run what is missing and write results/scripts.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True, help="where the repositories lie, or go")
    parser.add_argument("--pytorch", default=sys.executable, help="interpreter for PyTorch's scripts")
    parser.add_argument("--paddle", default=sys.executable, help="interpreter for Paddle's scripts")
    parser.add_argument("--only", default="", help="only scripts whose name holds this text")
    parser.add_argument("--keep", type=Path, default=None, help="keep what the runs printed in this folder")
    parser.add_argument("--folder", type=Path, default=None, help="where the result goes")
    chosen = parser.parse_args()
    bench = Benchmark("scripts", folder=chosen.folder)
    pythons = {"pytorch": chosen.pytorch, "paddle": chosen.paddle}
    for case in CASES:
        if chosen.only in case.name and not bench.count(case.name):
            say(case.name)
            began = time.monotonic()
            sample = Trial(case, chosen.repositories, pythons[case.framework], chosen.keep).compare()
            bench.append(case.name, sample, seconds=time.monotonic() - began)
            say(f"  {json.dumps(sample)[:400]}")
    for case in CASES:
        for sample in bench.samples(case.name)[-1:]:
            judge(bench, case, sample)
    done = [case for case in CASES if bench.count(case.name)]
    sources = {case.source[0] for case in done}
    paddle = {case.source[0] for case in done if case.framework == "paddle"}
    bench.line("repositories", len(sources), 10, len(sources) >= 10, len(done), "repositories")
    bench.line("Paddle repositories", len(paddle), 3, len(paddle) >= 3, len(done), "repositories")
    bench.extra["cases"] = [{"name": c.name, "source": list(c.source), "styles": list(c.styles)} for c in done]
    return bench.write()


def judge(bench: Benchmark, case: Case, sample: Mapping[str, Any]) -> None:
    """One line for each thing that must be so."""
    name, ranks = case.name, sample["ranks"]
    right = bool(ranks) and all(one["segmented"] == one["counted"] for one in ranks) and len(ranks) == case.ranks
    bench.line(f"{name}: ranks with all steps", sum(one["segmented"] == one["counted"] for one in ranks),
               case.ranks, right, sum(one["counted"] or 0 for one in ranks), "processes")  # fmt: skip
    share = max((one["other_share"] for one in ranks), default=1.0)
    named = all(one["other_share"] <= UNATTRIBUTED_SHARE or one["other_named"] for one in ranks)
    bench.line(f"{name}: unattributed", share, UNATTRIBUTED_SHARE, bool(ranks) and named, 1, "share of step")
    if sample["deterministic"]:
        bench.line(f"{name}: weights", int(sample["same_weights"]), 1, sample["same_weights"], 1, "equal")
    else:
        bench.line(f"{name}: weights differ between runs alone", None, None, None, 2, "equal")
    bench.line(f"{name}: output", int(sample["same_output"]), 1, sample["same_output"], 1, "equal")
    codes = sample["exit_codes"]
    bench.line(f"{name}: exit code", codes[1], codes[0], codes[0] == codes[1], 1, "code")


class Trial:
    """One case, alone and under Pacenote.

    Args:
        case: The script.
        repositories: Folder of git repositories.
        python: Interpreter that runs it.
        keep: Where what was printed is kept.
    """

    def __init__(self, case: Case, repositories: Path, python: str, keep: Path | None) -> None:
        self.case = case
        self.repositories = repositories
        self.python = python
        self.keep = keep
        self.place = Path(tempfile.gettempdir()) / f"pacenote-scripts-{os.getpid()}"
        self.root = self.place / "tree"
        self.stand_ins = self.place / "stand-ins"

    def compare(self) -> dict[str, Any]:
        """Run both ways and reduce to what is judged."""
        try:
            self.make_stand_ins()
            alone = self.run("alone", [self.python, *self._command()])
            options = ["--quiet", "--python", self.python, *self._options()]
            target, arguments = self.target()
            under = self.run("under", [*PACENOTE, "run", *options, *target, "--", *arguments])
            again = None if same_weights(alone, under) else self.run("again", [self.python, *self._command()])
            return self._reduced(alone, under, again)
        finally:
            self.close()

    def close(self) -> None:
        """Remove everything that was made."""
        shutil.rmtree(self.place, ignore_errors=True)

    def _command(self) -> list[str]:
        target, arguments = self.target()
        return [*target, *arguments]

    def target(self) -> tuple[list[str], list[str]]:
        """What is run, and with which arguments."""
        return self.case.target.split(), [self._filled(one) for one in self.case.arguments]

    def _options(self) -> list[str]:
        return ["--data-fn", self.case.data_function] if self.case.data_function else []

    def _filled(self, value: str) -> str:
        return value.replace("{root}", str(self.root)).replace("{port}", str(PORT))

    def make_stand_ins(self) -> None:
        """Make the data that the script is given."""
        for name in {name for name, _ in self.case.stand_ins}:
            (self.stand_ins / name).mkdir(parents=True)
            place = self.stand_ins / name / "made"
            if name in ("sine_waves", "instructions"):
                place.mkdir()
            program = [self.python, str(PROGRAMS / "stand_ins.py"), name, str(place)]
            subprocess.run(program, check=True, capture_output=True)

    def _unpack(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        owner_name, commit = self.case.source
        repository = self.repositories / owner_name.replace("/", "+")
        if not repository.exists():
            address = f"https://github.com/{owner_name}"
            subprocess.run(["git", "clone", "-q", "--filter=blob:none", address, str(repository)], check=True)
        archive = ["git", "-C", str(repository), "archive", commit]
        listed = subprocess.run([*archive[:3], "ls-tree", "-r", "--name-only", commit], check=True,
                                capture_output=True, text=True).stdout  # fmt: skip
        paths = [path for path in self.case.paths if "*" not in path]
        paths += [name for path in self.case.paths if "*" in path for name in listed.split() if Path(name).match(path)]
        packed = subprocess.run([*archive, *paths], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(self.root)], input=packed, check=True)
        for name, place in self.case.stand_ins:
            shutil.copytree(self.stand_ins / name / "made", self.root / place, dirs_exist_ok=True)

    def run(
        self, way: str, command: list[str], *, program: Path | None = None, more: Mapping[str, str] | None = None,
        threads: str = "",
    ) -> dict[str, Any]:  # fmt: skip
        """Run one way in a fresh copy and say what came out.

        Args:
            way: What this run is called.
            command: What is run.
            program: What stands in ``PYTHONPATH`` beside the script; the witness by default.
            more: Further environment variables.
            threads: Compute threads.
        """
        self._unpack()
        seen = self.place / way
        seen.mkdir()
        environment = {**os.environ, **{name: self._filled(value) for name, value in self.case.environment}}
        paths = [str(program or PROGRAMS / "witness"), environment.get("PYTHONPATH", "")]
        if not any(name == "PYTHONPATH" for name, _ in self.case.environment):
            paths = paths[:1]
        environment |= {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "WITNESS_FOLDER": str(seen),
            "WITNESS_STEPS": str(self.case.last_step),
            "PACENOTE_STORE": str(seen / "store.sqlite"),
            "XDG_CACHE_HOME": str(self.place / "cache"),
            "OMP_NUM_THREADS": threads or ("1" if self.case.ranks > 1 else "2"),
            "HF_HUB_OFFLINE": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TQDM_DISABLE": "1",
            "COLUMNS": "120",
            **(more or {}),
        }
        done = subprocess.run(
            command, cwd=self.root / self.case.folder, env=environment, capture_output=True, text=True,
            errors="replace", stdin=subprocess.DEVNULL, check=False, timeout=TIMEOUT_S,
        )  # fmt: skip
        if self.keep:
            self.keep.mkdir(parents=True, exist_ok=True)
            stem = self.keep / f"{self.case.name.replace(' ', '_')}-{way}"
            stem.with_suffix(".out").write_text(done.stdout, encoding="utf-8")
            stem.with_suffix(".err").write_text(done.stderr, encoding="utf-8")
        told = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(seen.glob("*.json"))]
        code = done.returncode if done.returncode >= 0 else 128 - done.returncode
        ranks = self._ranks(seen / "store.sqlite") if way == "under" else []
        return {"code": code, "out": done.stdout, "err": done.stderr, "told": told, "ranks": ranks}

    def _ranks(self, store: Path) -> list[dict[str, Any]]:
        """What Pacenote stored of each process that trained."""
        asked = [sys.executable, str(PROGRAMS / "read_script_store.py"), str(store)]
        paths = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(asked, env=paths, capture_output=True, text=True, check=False)
        return list(json.loads(done.stdout)) if done.returncode == 0 else []

    def _reduced(self, alone: Any, under: Any, again: Any) -> dict[str, Any]:
        steps = self.case.steps
        if self.case.told_steps:
            said = re.search(self.case.told_steps, under["out"])
            steps = int(said[1]) if said else None
        counted = {one["rank"]: (one["steps"] or [steps])[0] for one in under["told"]}
        ranks = [{**one, "counted": counted.get(one["rank"], steps)} for one in under["ranks"]]
        shown = [self._masked(one["out"]) for one in (alone, under)]
        errors = [self._masked(one["err"]) for one in (alone, under)]
        difference = [*difflib.unified_diff(*shown, lineterm="", n=0), *difflib.unified_diff(*errors, lineterm="", n=0)]
        return {
            "ranks": ranks,
            "exit_codes": [alone["code"], under["code"]],
            "same_output": not difference,
            "difference": difference[:12],
            "same_weights": same_weights(alone, under),
            "deterministic": again is None or same_weights(alone, again),
            "witnesses": under["told"],
        }

    def _masked(self, text: str) -> list[str]:
        """Lines without times; of a line that was written over (a progress bar) only what was left standing."""
        for pattern in (*MASKS, *self.case.masks):
            text = re.sub(pattern, "~", text)
        return [re.sub(r"\s+", " ", line.rstrip("\r").rsplit("\r", 1)[-1]).strip() for line in text.split("\n")]


_START = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); from pacenote.cli.main import main; main()"
PACENOTE = [sys.executable, "-c", _START]
"""Not by ``PYTHONPATH``, which the script would inherit."""


def same_weights(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether both runs left the same weights, and any."""
    found = [sorted((told["rank"], told["weights"]) for told in run["told"]) for run in (one, other)]
    return bool(found[0]) and found[0] == found[1]


def free_port() -> int:
    """A port for ranks to meet at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


PORT = free_port()

if __name__ == "__main__":
    raise SystemExit(main())
