from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pacenote.cli import doctor
from pacenote.store import Store

Call = Callable[..., Any]

FOUND: dict[str, Any] = {
    "machine": {
        "cpu_model": "Old [red]Faithful[/red]",
        "physical_cores": 4,
        "logical_cpus": 8,
        "affinity_cpus": 6,
        "quota_cpus": 1.5,
        "cgroup_version": 2,
        "cpu_flags": ["avx2"],
        "memory_total_bytes": 2**34,
        "memory_limit_bytes": None,
        "swap_total_bytes": None,
        "accelerators": [],
        "accelerators_reason": "no_nvidia_driver",
        "os": "Linux",
        "os_version": "6",
        "architecture": "x86_64",
        "virtual": True,
    },
    "now": {"load_1min": 0.5, "running_tasks": 2, "affinity_cpus": 6, "pressure_cpu_share": None},
    "threads_default": 1,
    "sensors": {
        "pss_bytes": {"available": True, "reason": ""},
        "cpu_energy_j": {"available": False, "reason": "no_rapl"},
        "dram_energy_j": {"available": False, "reason": "no_rapl"},
    },
    "python": "/env/bin/python",
    "frameworks": {
        "pytorch": {
            "installed": True,
            "facts": {"version": "9.9"},
            "devices": [
                {"name": "cpu", "kind": "cpu", "available": True, "build": True, "driver": None, "reason": ""},
                {
                    "name": "cuda",
                    "kind": "cuda",
                    "available": False,
                    "build": True,
                    "driver": False,
                    "reason": "build_without_device",
                },
            ],
        },
        "paddle": {"installed": False, "reason": "not_installed"},
    },
}


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacenote.system.doctor.examine", lambda python: {**FOUND, "asked": python})


@pytest.mark.usefixtures("examined")
def test_it_shows_the_machine_and_three_answers_per_device(call: Call) -> None:
    answer = call("doctor")
    assert answer.code == 0
    assert "Old [red]Faithful[/red] (virtual machine)" in answer.out
    assert "4 physical, 8 logical, 6 usable by this process" in answer.out
    assert "1.5 CPUs (cgroup v2)" in answer.out
    cuda = next(line for line in answer.out.splitlines() if " cuda " in line)
    assert cuda.split()[1:4] == ["yes", "no", "no"]


@pytest.mark.usefixtures("examined")
def test_what_is_unknown_or_missing_is_said_never_guessed(call: Call) -> None:
    out = call("doctor").out
    assert "swap ?" in out
    missing = out[out.index("Not measurable here") :].splitlines()
    assert missing[1].strip() == "cpu_energy_j, dram_energy_j"


@pytest.mark.usefixtures("examined")
def test_it_says_what_to_install_and_to_type_next(call: Call) -> None:
    out = call("doctor").out
    assert "PaddlePaddle is not installed for /env/bin/python: pip install 'pacenote[paddle]'" in out
    assert "Only the CPU can be measured here." in out
    assert "pacenote run lenet" in out


@pytest.mark.usefixtures("examined")
def test_it_shows_the_ceilings_that_earlier_runs_measured(call: Call) -> None:
    assert "None yet" in call("doctor").out
    with Store() as store:
        store.put_calibration("pytorch cpu", {"gemm_flops": {"fp32": 4.61e10}, "cached": True})
    assert "pytorch cpu: gemm_flops.fp32" in call("doctor").out


@pytest.mark.usefixtures("examined")
def test_json_holds_everything_and_the_interpreter_is_passed_on(call: Call) -> None:
    found = json.loads(call("doctor", "--json", "--python", "/x/python").out)
    assert found["asked"] == "/x/python"
    assert found["machine"] == FOUND["machine"]
    assert found["ceilings"] == []


def test_no_usable_framework_offers_nothing_to_run() -> None:
    found = {**FOUND, "frameworks": {"paddle": {"installed": None, "reason": "no_answer", "text": "boom"}}}
    assert [line for line in doctor.advice(found, "en") if "pacenote run" in line] == []


@pytest.mark.usefixtures("examined")
def test_a_broken_store_does_not_keep_it_from_examining(call: Call, store_path: Path) -> None:
    store_path.write_text("this is no database, but it is long enough to have a header" * 3)
    answer = call("doctor", "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["ceilings"] == []
    assert "is not a Pacenote store" in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.usefixtures("examined")
def test_only_figures_of_a_calibration_are_shown(call: Call) -> None:
    assert doctor._numbers({"gemm_flops": {"fp32": 1.0, "bf16": None}, "framework": {"v": 2}, "cached": True}) == [
        ("gemm_flops.fp32", 1.0)
    ]
