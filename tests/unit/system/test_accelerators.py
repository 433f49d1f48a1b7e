# ruff: noqa: N802 - the fake has NVML's names
from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from pacenote.system import accelerators


class FakeError(Exception):
    """Stands for pynvml.NVMLError."""


class FakeNvml:
    """Two devices; the second is old and has neither energy counter nor clock reasons."""

    NVMLError = FakeError
    NVML_CLOCK_SM = 1
    NVML_TEMPERATURE_GPU = 0

    def __init__(self, count=2, driver=True):
        self.count, self.driver, self.closed = count, driver, False

    def nvmlInit(self):
        if not self.driver:
            raise FakeError

    def nvmlShutdown(self):
        self.closed = True

    def nvmlDeviceGetCount(self):
        return self.count

    def nvmlDeviceGetHandleByIndex(self, at):
        return at

    def nvmlSystemGetDriverVersion(self):
        return b"550.54"

    def nvmlDeviceGetName(self, handle):
        return f"Card {handle}"

    def nvmlDeviceGetMemoryInfo(self, handle):
        return SimpleNamespace(total=8 << 30, used=1 << 30)

    def nvmlDeviceGetMaxClockInfo(self, handle, kind):
        return 1980

    def nvmlDeviceGetClockInfo(self, handle, kind):
        return 990

    def nvmlDeviceGetPowerUsage(self, handle):
        return 123_000

    def nvmlDeviceGetUtilizationRates(self, handle):
        return SimpleNamespace(gpu=75, memory=10)

    def nvmlDeviceGetTemperature(self, handle, kind):
        return 83

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle):
        if handle == 1:
            raise FakeError
        return 0x1 | 0x20 | 0x40  # idle is no trouble; the other two are

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):
        if handle == 1:
            raise FakeError
        return 5_000

    def nvmlDeviceGetComputeRunningProcesses(self, handle):
        return [SimpleNamespace(pid=1), SimpleNamespace(pid=999_999_999)]


@pytest.fixture
def nvml(monkeypatch):
    library = FakeNvml()
    monkeypatch.setitem(sys.modules, "pynvml", library)
    return library


def test_units(nvml):
    session, reason = accelerators.connect()
    assert reason == ""
    facts = session.facts()[0]
    assert facts["driver_version"] == "550.54"
    assert facts["clock_max_hz"] == pytest.approx(1.98e9)
    sample = session.sample(0)
    assert sample["power_w"] == pytest.approx(123.0)
    assert sample["utilisation_share"] == pytest.approx(0.75)
    assert sample["clock_hz"] == pytest.approx(0.99e9)
    assert sample["slowed_by"] == ["software_thermal", "hardware_thermal"]
    assert session.energy_j(0) == pytest.approx(5.0)


def test_what_a_device_cannot_tell_is_none(nvml):
    session, _ = accelerators.connect()
    assert session.sample(1)["slowed_by"] is None
    assert session.energy_j(1) is None


def test_state_counts_processes_of_others(nvml):
    first = accelerators.state()[0]
    assert first["other_process_count"] == 2
    assert first["memory_used_bytes"] == 1 << 30
    assert nvml.closed


def test_own_processes_are_not_others(nvml):
    session, _ = accelerators.connect()
    assert session.other_processes(0, {1}) == 1


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        (None, "nvml_package_missing"),
        (FakeNvml(driver=False), "no_nvidia_driver"),
        (FakeNvml(count=0), "no_nvidia_device"),
    ],
)
def test_why_there_is_none(monkeypatch, library, reason):
    monkeypatch.setitem(sys.modules, "pynvml", library)
    assert accelerators.connect() == (None, reason)
    assert accelerators.state() == []


@pytest.mark.parametrize(
    ("device", "visible", "index"),
    [
        ("cpu", None, None),
        ("cuda", None, 0),
        ("cuda:1", None, 1),
        ("gpu:1", "3,2", 2),
        ("gpu:2", "3,2", None),
        ("cuda", "GPU-8f2a", None),
        ("cuda:x", None, None),
        ("mps", None, None),
    ],
)
def test_index_follows_visible_devices(monkeypatch, device, visible, index):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert accelerators.index_of(device) == index
