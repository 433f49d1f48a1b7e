"""NVML with several cards that are old, lost, busy or slowed down."""

# ruff: noqa: N802 - the fake has NVML's names
from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from pacenote.records import Reading
from pacenote.system import accelerators, sampler, sensors
from pacenote.system.reader import Reader
from pacenote.system.sensors import Watch

CALLS = {
    "nvmlDeviceGetName": "name",
    "nvmlDeviceGetMemoryInfo": "memory_total_bytes",
    "nvmlDeviceGetMaxClockInfo": "clock_max_hz",
    "nvmlSystemGetDriverVersion": "driver_version",
    "nvmlDeviceGetPowerUsage": "power_w",
    "nvmlDeviceGetUtilizationRates": "utilisation_share",
    "nvmlDeviceGetClockInfo": "clock_hz",
    "nvmlDeviceGetTemperature": "temperature_c",
    "nvmlDeviceGetCurrentClocksThrottleReasons": "slowed_by",
}


class NvmlError(Exception):
    """Stands for pynvml.NVMLError."""


class Cards:
    """A driver with some cards; ``broken`` holds (call, card) pairs that answer with an error."""

    NVMLError = NvmlError
    NVML_CLOCK_SM = 1
    NVML_TEMPERATURE_GPU = 0

    def __init__(self, count: int = 3) -> None:
        self.count = count
        self.broken: set[tuple[str, int | None]] = set()
        self.reasons = 0
        self.pids: dict[int, list[int]] = {}
        self.open = 0

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvml"):
            raise AttributeError(name)

        def call(*arguments: Any) -> Any:
            card = arguments[0] if arguments else None
            if (name, card) in self.broken or (name, None) in self.broken:
                raise NvmlError(name)
            return getattr(self, f"_{name}")(*arguments)

        return call

    def _nvmlInit(self) -> None:
        self.open += 1

    def _nvmlShutdown(self) -> None:
        self.open -= 1

    def _nvmlDeviceGetCount(self) -> int:
        return self.count

    def _nvmlDeviceGetHandleByIndex(self, at: int) -> int:
        return at

    def _nvmlSystemGetDriverVersion(self) -> str:
        return "580.65"

    def _nvmlDeviceGetName(self, handle: int) -> bytes:
        return b"Card \xe9" if handle == 2 else f"Card {handle}".encode()

    def _nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:
        return SimpleNamespace(total=(handle + 1) << 30, used=handle << 20)

    def _nvmlDeviceGetMaxClockInfo(self, handle: int, kind: int) -> int:
        return 1000 + handle

    def _nvmlDeviceGetClockInfo(self, handle: int, kind: int) -> int:
        return 500 + handle

    def _nvmlDeviceGetPowerUsage(self, handle: int) -> int:
        return 1000 * (handle + 1)

    def _nvmlDeviceGetUtilizationRates(self, handle: int) -> SimpleNamespace:
        return SimpleNamespace(gpu=10 * handle)

    def _nvmlDeviceGetTemperature(self, handle: int, kind: int) -> int:
        return 30 + handle

    def _nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: int) -> int:
        return self.reasons

    def _nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:
        return 7000

    def _nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid) for pid in self.pids.get(handle, [])]


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> Cards:
    library = Cards()
    monkeypatch.setitem(sys.modules, "pynvml", library)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return library


def test_every_card_answers_for_itself(cards: Cards) -> None:
    found = accelerators.state()
    assert [one["index"] for one in found] == [0, 1, 2]
    assert [one["memory_total_bytes"] for one in found] == [1 << 30, 2 << 30, 3 << 30]
    assert [one["power_w"] for one in found] == pytest.approx([1.0, 2.0, 3.0])
    assert found[2]["name"].startswith("Card ")
    assert cards.open == 0


@pytest.mark.parametrize(("call", "key"), CALLS.items())
def test_one_refused_call_costs_one_reading_of_one_card(cards: Cards, call: str, key: str) -> None:
    whole = accelerators.state()
    cards.broken = {(call, None if call.startswith("nvmlSystem") else 1)}
    found = accelerators.state()
    assert found[1][key] is None
    lost = {"memory_total_bytes", "memory_used_bytes"} if key == "memory_total_bytes" else {key}
    assert {name for name, value in found[1].items() if value is None} == lost
    if not call.startswith("nvmlSystem"):
        assert [found[0], found[2]] == [whole[0], whole[2]]


def test_a_card_that_fell_off_the_bus_keeps_its_number(cards: Cards) -> None:
    cards.broken = {("nvmlDeviceGetHandleByIndex", 1)}
    found = accelerators.state()
    assert [one["index"] for one in found] == [0, 1, 2]
    assert {value for name, value in found[1].items() if name not in ("index", "driver_version")} == {None}
    assert found[2]["clock_hz"] == pytest.approx(502e6)


def test_a_driver_that_cannot_count_has_no_device(cards: Cards) -> None:
    cards.broken = {("nvmlDeviceGetCount", None)}
    assert accelerators.connect() == (None, "no_nvidia_device")
    assert cards.open == 0


def test_a_driver_that_does_not_close_is_no_error(cards: Cards) -> None:
    cards.broken = {("nvmlShutdown", None)}
    assert len(accelerators.state()) == 3


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        (0x0, []),
        (0x1, []),  # idle
        (0x2, []),  # clocks set by the user
        (0x4, ["power_cap"]),
        (0x8, ["hardware_slowdown"]),
        (0x20, ["software_thermal"]),
        (0x40, ["hardware_thermal"]),
        (0x80, ["power_brake"]),
        (0x8 | 0x40 | 0x80, ["hardware_slowdown", "hardware_thermal", "power_brake"]),
        (0x100, []),  # display clocks
    ],
)
def test_reasons_for_a_lower_clock(cards: Cards, bits: int, names: list[str]) -> None:
    cards.reasons = bits
    assert accelerators.state()[0]["slowed_by"] == names


@pytest.mark.parametrize(("pids", "others"), [([], 0), ([os.getpid()], 0), ([os.getpid(), 2**30], 1), ([5, 5, 6], 2)])
def test_processes_of_others(cards: Cards, pids: list[int], others: int) -> None:
    cards.pids = {1: pids}
    session, _ = accelerators.connect()
    assert session is not None
    assert session.other_processes(1, {os.getpid()}) == others


def test_a_list_of_processes_that_is_refused_is_unknown(cards: Cards) -> None:
    cards.broken = {("nvmlDeviceGetComputeRunningProcesses", 0)}
    assert [one["other_process_count"] for one in accelerators.state()] == [None, 0, 0]


@pytest.mark.parametrize("device", ["cuda:7", "gpu:3"])
def test_a_device_beyond_the_last_card_has_no_sensor(cards: Cards, device: str, tmp_path: Any) -> None:
    watch = Watch(device, Reader(tmp_path))
    watch.begin()
    watch.end()
    found = watch.result()
    assert found.device_power_w == Reading(reason="no_sensor")
    assert found.device_energy_j == Reading(reason="no_sensor")
    assert cards.open == 0
    assert not sensors.Sampler._running


@pytest.mark.parametrize("device", ["mps", "xpu:0", "npu:1"])
def test_a_device_of_another_maker_is_not_asked_of_nvml(cards: Cards, device: str, tmp_path: Any) -> None:
    watch = Watch(device, Reader(tmp_path))
    assert watch.result().device_power_w.reason == "no_sensor"
    assert cards.open == 0


def test_a_line_of_the_sampler(cards: Cards) -> None:
    session, _ = accelerators.connect()
    assert session is not None
    line = sampler.sample(session, 1, None)
    assert line.pop("t_s") > 0
    assert line == session.sample(1)
    own = sampler.sample(session, 1, os.getpid())
    assert own["rss_bytes"] > 1e6
    assert own["processes"] >= 1
    gone = sampler.sample(session, 1, 2**30)
    assert (gone["rss_bytes"], gone["processes"]) == (None, 0)
