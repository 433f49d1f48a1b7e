"""The rules find what is wrong in the articles' code, nothing in the corrected one, and nothing in sound scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from pacenote.findings.codes import SOURCE
from pacenote.source import LARGEST_BYTES, RULES, look, names_of

ROOT = Path(__file__).resolve().parents[3]
ARTICLES = ROOT / "examples" / "articles"

PRINTED = {
    "training_loop": ["build_flag", "unsynchronised_timing"],
    "loader": ["tensors_in_workers"],
    "mixed_precision": [],
    "timer": ["unsynchronised_timing"],
    "fused": [],  # that a name does not exist is found out by running it
    "side_stream": ["pageable_copy", "side_stream"],
    "to_device": ["autocast_without_scaler"],
    "accumulation": ["undivided_accumulation"],
    "data_parallel": ["data_parallel"],
    "distributed": ["same_order"],
}


def rules_of(path: Path) -> list[str]:
    return sorted(place["rule"] for place in look(path))


def found(text: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    return rules_of(path)


def test_every_printed_script_has_its_expectation() -> None:
    names = {path.stem for path in (ARTICLES / "printed").glob("[!_]*.py")}
    assert names == set(PRINTED) == {path.stem for path in (ARTICLES / "corrected").glob("[!_]*.py")}


@pytest.mark.parametrize(("name", "rules"), PRINTED.items())
def test_what_is_wrong_in_the_printed_code_is_found(name: str, rules: list[str]) -> None:
    assert rules_of(ARTICLES / "printed" / f"{name}.py") == rules


@pytest.mark.parametrize("name", PRINTED)
def test_nothing_is_found_in_the_corrected_code(name: str) -> None:
    assert rules_of(ARTICLES / "corrected" / f"{name}.py") == []


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "scripts").rglob("*.py")), ids=lambda path: path.stem)
def test_nothing_is_found_in_sound_scripts(path: Path) -> None:
    assert look(path) == []


def test_each_rule_has_words() -> None:
    assert {f"source_{rule.name}" for rule in RULES} | {"source_missing_name"} == set(SOURCE)


def test_a_place_has_its_line_and_facts() -> None:
    (place,) = look(ARTICLES / "printed" / "accumulation.py")
    line = (ARTICLES / "printed" / "accumulation.py").read_text().splitlines()[place["line"] - 1]
    assert "loss.backward()" in line
    assert place["params"] == {"every": "4"}


ACCUMULATES = """
import torch
for i, batch in enumerate(loader):
    loss = model(batch){divided}
    {before}loss{after}.backward()
    if (i + 1) % {every} == 0:
        {step}
"""


@pytest.mark.parametrize(
    ("parts", "rules"),
    [
        ({}, ["undivided_accumulation"]),
        ({"every": "args.accumulate"}, ["undivided_accumulation"]),
        ({"step": "scaler.step(optimizer)"}, ["undivided_accumulation"]),
        ({"divided": " / 4"}, []),
        ({"before": "(", "after": " / 4)"}, []),
        ({"after": ".div(4)"}, []),
        ({"divided": " / args.accumulation", "every": "args.accumulation"}, []),
        ({"step": "scheduler.step()"}, []),
        ({"step": "print(i)"}, []),
        ({"divided": " / batch_size"}, ["undivided_accumulation"]),
    ],
)
def test_accumulation_is_divided_or_not(parts: dict[str, str], rules: list[str], tmp_path: Path) -> None:
    usual = {"divided": "", "before": "", "after": "", "every": "4", "step": "optimizer.step()"}
    assert found(ACCUMULATES.format(**{**usual, **parts}), tmp_path) == rules


def test_an_optimizer_that_steps_in_every_pass_accumulates_nothing(tmp_path: Path) -> None:
    text = "for i, x in enumerate(loader):\n    loss.backward()\n    optimizer.step()\n    if i % 10 == 0: print(i)\n"
    assert found(text, tmp_path) == []


TIMED = """
import time
import torch
model = model.to("{device}")
def train():
    began = time.{clock}()
    for batch in loader:
        loss = model(batch)
        loss.backward()
        optimizer.step()
    {wait}
    return time.{clock}() - began
"""


@pytest.mark.parametrize(
    ("device", "clock", "wait", "rules"),
    [
        ("cuda", "time", "pass", ["unsynchronised_timing"]),
        ("cuda", "perf_counter", "pass", ["unsynchronised_timing"]),
        ("cuda", "perf_counter", "torch.cuda.synchronize()", []),
        ("cuda", "perf_counter", "print(loss.item())", []),
        ("cpu", "perf_counter", "pass", []),
    ],
)
def test_timing_waits_for_the_device_or_not(
    device: str, clock: str, wait: str, rules: list[str], tmp_path: Path
) -> None:
    assert found(TIMED.format(device=device, clock=clock, wait=wait), tmp_path) == rules


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("with torch.autocast('cuda'): pass", ["autocast_without_scaler"]),
        ("with torch.autocast(device_type='cuda', dtype=torch.float16): pass", ["autocast_without_scaler"]),
        ("with torch.autocast('cuda', dtype=torch.bfloat16): pass", []),
        ("with torch.autocast('cpu'): pass", []),
        ("with torch.cuda.amp.autocast(enabled=False): pass", []),
        ("with torch.cuda.amp.autocast(): pass\nscaler = torch.amp.GradScaler()", []),
        ("x.cuda(non_blocking=True)", ["pageable_copy"]),
        ("x.cuda(non_blocking=False)", []),
        ("x.pin_memory().cuda(non_blocking=True)", []),
        ("with torch.cuda.stream(s): pass", ["side_stream"]),
        ("with torch.cuda.stream(s): pass\ntorch.cuda.current_stream().wait_stream(s)", []),
        ("net = torch.nn.DataParallel(net)", ["data_parallel"]),
        ("from torch.utils.data import DistributedSampler\ns = DistributedSampler(d, shuffle=False)", []),
    ],
)
def test_single_lines(line: str, rules: list[str], tmp_path: Path) -> None:
    assert found(f"import torch\n{line}\nloss.backward()\n", tmp_path) == rules


@pytest.mark.parametrize(
    "content", [b"def broken(:", b"\xff\xfe\x00", b"x = 1\x00", b"(" * 5000, b"#" * (LARGEST_BYTES + 1)]
)
def test_what_cannot_be_read_gives_nothing(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(content)
    assert look(path) == []
    assert names_of(path) == {}
    assert look(tmp_path / "none.py") == []


def test_names_of_the_framework_are_collected_whole(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("import torch.nn as nn\nfrom torch import optim\nimport os\nnn.Linear(1, 2)\nos.path\noptim.SGD\n")
    assert names_of(path) == {"torch.nn.Linear": 4, "torch.optim.SGD": 6}
