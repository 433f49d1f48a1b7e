from __future__ import annotations

import pytest

from pacenote.system import accelerators, sensors
from pacenote.system.sensors import Watch, values_within


def test_only_samples_inside_turns_count():
    lines = [{"t_s": 1.0, "power_w": 10}, {"t_s": 2.0, "power_w": 20}, {"t_s": 5.0, "power_w": 50}, {"t_s": 2.1}]
    assert values_within(lines, "power_w", [(1.5, 3.0), (4.9, 5.1)]) == [20.0, 50.0]


def test_no_sensor_gives_a_reason_for_each(tree):
    watch = Watch("cpu", tree())
    watch.begin()
    watch.end()
    found = watch.result()
    watch.close()
    assert found.cpu_energy_j.reason == "no_rapl"
    assert found.device_power_w.reason == "device_is_cpu"
    assert found.cpu_clock_hz.reason == "no_cpufreq"
    assert found.cpu_temperature_c.reason == "no_temperature_sensor"
    for name in found.__struct_fields__:
        assert getattr(found, name).value is None
        assert getattr(found, name).reason


def test_readings_of_the_cpu(tree):
    watch = Watch("cpu", tree("thermal", "rapl"))
    watch.begin()
    watch._reader = tree("thermal", "thermal_mild", "rapl", "rapl_after")
    watch.end()
    found = watch.result()
    assert found.cpu_energy_j.value == pytest.approx(10.0)
    assert found.dram_energy_j.value == pytest.approx(2.5)
    assert found.cpu_clock_hz.value == 3.6e9
    assert found.cpu_temperature_c.value == 95.0


def test_end_without_begin_counts_nothing(tree):
    watch = Watch("cpu", tree("rapl"))
    watch.end()
    assert watch.result().cpu_energy_j.value is None


class FakeSession:
    handles = (0,)

    def __init__(self):
        self.joules = 100.0
        self.closed = False

    def energy_j(self, at):
        self.joules += 25.0
        return self.joules

    def close(self):
        self.closed = True


class FakeSampler:
    @classmethod
    def acquire(cls, index):
        return cls()

    def release(self):
        return [{"t_s": t, "power_w": 200.0, "utilisation_share": 0.5} for t in range(-5, 10**5)]


def test_device_energy_and_samples(tree, monkeypatch):
    session = FakeSession()
    monkeypatch.setattr(accelerators, "connect", lambda: (session, ""))
    monkeypatch.setattr(sensors, "Sampler", FakeSampler)
    monkeypatch.setattr(sensors.time, "perf_counter", iter([0.0, 3.0, 10.0, 14.0]).__next__)
    watch = Watch("cuda:0", tree())
    for _ in range(2):
        watch.begin()
        watch.end()
    found = watch.result()
    watch.close()
    assert found.device_energy_j.value == pytest.approx(50.0)
    assert found.device_power_w.value == 200.0
    assert found.device_clock_hz.reason == "no_sample_in_turns"
    assert session.closed


def test_missing_driver_is_the_reason(tree, monkeypatch):
    monkeypatch.setattr(accelerators, "connect", lambda: (None, "no_nvidia_driver"))
    assert Watch("cuda:0", tree()).result().device_power_w.reason == "no_nvidia_driver"
