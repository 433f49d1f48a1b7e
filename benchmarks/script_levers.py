"""Do levers act on public scripts from outside, are they seen, and does nothing of them stay?

Every lever is asked of three scripts (benchmarks/script_cases.py), each in its own run under ``pacenote run``. What
must come out was written down before any of it ran (``EXPECTED``): it was applied and seen, or a reason why it does not
apply there. Besides, per run: the exit code is that of the script alone; a lever that promises not to touch results
(risk ``none``) leaves the final weights equal to the bit; no file of the repository is changed; and the same script run
without the lever afterwards ends with the weights it had before.

    python benchmarks/script_levers.py --repositories DIR [--pytorch PYTHON] [--paddle PYTHON] [--only TEXT]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness import ROOT, Benchmark, say
from script_cases import CASES
from scripts import PACENOTE, Trial, same_weights

sys.path.insert(0, str(ROOT / "src"))

from pacenote.levers import LEVERS

WITH_WORKERS = ("--loader-workers", "1")


@dataclass(frozen=True)
class Asked:
    """One lever as it is asked for.

    Attributes:
        lever: Its name.
        value: Its value.
        besides: Options that it needs to have an effect.
    """

    lever: str
    value: str
    besides: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Lever and value."""
        return f"{self.lever}={self.value}"

    @property
    def options(self) -> list[str]:
        """What is typed."""
        return [f"--{self.lever.replace('_', '-')}", self.value, *self.besides]


ASKED = (
    Asked("threads", "1"),
    Asked("waiting_policy", "active"),
    Asked("allocator", "no_trim"),
    Asked("batch_size", "8"),
    Asked("loader_workers", "1"),
    Asked("prefetch", "4", WITH_WORKERS),
    Asked("persistent_workers", "on", WITH_WORKERS),
    Asked("pin_memory", "on"),
    Asked("non_blocking", "on"),
    Asked("dtype", "bf16"),
    Asked("dtype", "tf32"),
    Asked("dtype", "fp16"),
    Asked("memory_format", "channels_last"),
    Asked("compile", "on"),
    Asked("fused_optimizer", "on"),
    Asked("cudnn_benchmark", "on"),
)

_NO_ACCELERATOR = {
    "pin_memory=on": "device_is_cpu",
    "non_blocking=on": "device_is_cpu",
    "dtype=tf32": "device_is_cpu",
    "dtype=fp16": "needs_loss_scaling",
    "cudnn_benchmark=on": "no_cudnn",
}
_NOT_IN_PADDLE = dict.fromkeys(
    ("pin_memory=on", "non_blocking=on", "memory_format=channels_last", "compile=on", "fused_optimizer=on"),
    "not_in_this_framework",
)
_NO_LOADER = {
    **dict.fromkeys(("batch_size=8", "loader_workers=1"), "no_training_loader"),
    **dict.fromkeys(("prefetch=4", "persistent_workers=on"), "no_workers"),
}

EXPECTED: dict[str, dict[str, str]] = {
    "mnist": {**_NO_ACCELERATOR, "fused_optimizer=on": "no_such_optimizer"},  # Adadelta has no fused kernel
    "dcgan": _NO_ACCELERATOR,
    "imagenet": _NO_ACCELERATOR,
    "nanogpt": {**_NO_ACCELERATOR, **_NO_LOADER, "memory_format=channels_last": "no_images",
                "fused_optimizer=on": "decided_by_script"},  # it asks for it itself, by the device
    "paddle-learn": {**_NO_ACCELERATOR, **_NOT_IN_PADDLE},
}  # fmt: skip
"""Script → lever → why it does not apply there; whatever is not named must be applied and seen."""

LAST_STEP = {"mnist": 0, "dcgan": 12, "imagenet": 12, "nanogpt": 0, "paddle-learn": 30}


def main() -> int:
    """Run what is missing and write results/script_levers.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--pytorch", default=sys.executable)
    parser.add_argument("--paddle", default=sys.executable)
    parser.add_argument("--only", default="", help="only scripts whose name holds this text")
    parser.add_argument("--folder", type=Path, default=None)
    chosen = parser.parse_args()
    bench = Benchmark("script_levers", folder=chosen.folder)
    for case in CASES:
        if case.name not in EXPECTED or chosen.only not in case.name:
            continue
        python = chosen.pytorch if case.framework == "pytorch" else chosen.paddle
        shortened = replace(case, last_step=LAST_STEP[case.name] or case.last_step)
        measure(bench, Trial(shortened, chosen.repositories, python, None))
    judge(bench)
    return bench.write()


def measure(bench: Benchmark, trial: Trial) -> None:
    """The script alone, once with each lever, and without any again."""
    case = trial.case
    missing = [asked for asked in ASKED if not bench.count(f"{case.name} {asked.name}")]
    if not missing:
        return
    try:
        trial.make_stand_ins()
        target, arguments = trial.target()
        begin = [*PACENOTE, "run", "--quiet", "--no-operators", "--python", trial.python]
        alone = trial.run("alone", [trial.python, *target, *arguments])
        for number, asked in enumerate(missing):
            began = time.monotonic()
            ran = trial.run(f"under{number}", [*begin, *asked.options, *target, "--", *arguments])
            sample = reduced(asked, alone, ran, changed_files(trial))
            after = trial.run(f"after{number}", [trial.python, *target, *arguments])
            sample["same_weights_after"] = same_weights(alone, after)
            bench.append(f"{case.name} {asked.name}", sample, seconds=time.monotonic() - began)
            say(f"  {case.name} {asked.name}: {sample}")
    finally:
        trial.close()


def reduced(asked: Asked, alone: Mapping[str, Any], ran: Mapping[str, Any], changed: list[str]) -> dict[str, Any]:
    """What is judged of one run."""
    outcomes = [one for rank in ran["ranks"] for one in rank["levers"] if one["name"] == asked.lever]
    found = outcomes[0] if outcomes else {"applied": False, "observed": None, "reason": "nothing_recorded"}
    return {
        "applied": found["applied"],
        "observed": found["observed"],
        "reason": found["reason"],
        "exit_codes": [alone["code"], ran["code"]],
        "same_weights": same_weights(alone, ran),
        "changed_files": changed,
        "error": "" if ran["code"] == alone["code"] else ran["err"][-800:],
    }


def changed_files(trial: Trial) -> list[str]:
    """Files of the repository that are not what its commit says."""
    owner_name, commit = trial.case.source
    repository = trial.repositories / owner_name.replace("/", "+")
    listed = subprocess.run(["git", "-C", str(repository), "ls-tree", "-r", commit], check=True, capture_output=True,
                            text=True).stdout  # fmt: skip
    hashes = {name: facts.split()[2] for facts, name in (line.split("\t", 1) for line in listed.splitlines())}
    there = [name for name in hashes if (trial.root / name).is_file() and not (trial.root / name).is_symlink()]
    told = subprocess.run(["git", "hash-object", "--no-filters", "--stdin-paths"], check=True, capture_output=True,
                          text=True, input="\n".join(str(trial.root / name) for name in there)).stdout  # fmt: skip
    return [name for name, found in zip(there, told.split(), strict=True) if found != hashes[name]]


def judge(bench: Benchmark) -> None:
    """One line for each thing that must be so, and how often each lever was applied."""
    for asked in ASKED:
        groups = {name: bench.samples(f"{name} {asked.name}")[-1:] for name in EXPECTED}
        samples = {name: found[0] for name, found in groups.items() if found}
        if not samples:
            continue
        wrong = {name: one["reason"] or one["observed"] for name, one in samples.items() if not as_expected(
            name, asked, one)}  # fmt: skip
        applied = sum(one["applied"] for one in samples.values())
        bench.line(f"{asked.name}: applied and seen", applied, None, None, len(samples), "scripts")
        title = f"{asked.name}: not as written down" + (f" ({wrong})" if wrong else "")
        bench.line(title, len(wrong), 0, not wrong, len(samples), "scripts")
        count(bench, asked, "another exit code", samples, lambda one: one["exit_codes"][0] != one["exit_codes"][1])
        count(bench, asked, "files changed", samples, lambda one: bool(one["changed_files"]))
        count(bench, asked, "other weights without it afterwards", samples, lambda one: not one["same_weights_after"])
        if LEVERS.get(asked.lever).risk == "none":
            count(bench, asked, "other weights with it", samples, lambda one: not one["same_weights"])
    bench.line("scripts", len({n for n in EXPECTED for a in ASKED if bench.count(f"{n} {a.name}")}), 3, None,
               sum(bench.count(f"{n} {a.name}") for n in EXPECTED for a in ASKED), "scripts")  # fmt: skip


def count(bench: Benchmark, asked: Asked, what: str, samples: Mapping[str, Any], bad: Any) -> None:
    """One line: in how many scripts something is as it must not be."""
    found = [name for name, one in samples.items() if bad(one)]
    title = f"{asked.name}: {what}" + (f" ({', '.join(found)})" if found else "")
    bench.line(title, len(found), 0, not found, len(samples), "scripts")


def as_expected(name: str, asked: Asked, sample: Mapping[str, Any]) -> bool:
    """Whether a lever was applied, or refused for the reason that was written down."""
    reason = EXPECTED[name].get(asked.name, "")
    if reason:
        return not sample["applied"] and sample["reason"] == reason
    return bool(sample["applied"]) and str(sample["observed"]) == asked.value


if __name__ == "__main__":
    raise SystemExit(main())
