from __future__ import annotations

from pacenote.system import thermal


def test_only_sensors_of_the_cpu_count(tree):
    reader = tree("thermal")  # its disk is at 104 °C and its board at 109 °C
    assert thermal.temperature_c(reader) == 62.0
    assert thermal.critical_c(reader) == 100.0


def test_clocks_and_counts(tree):
    reader = tree("thermal", "thermal_severe")
    assert thermal.clock_hz(reader) == (0.8e9, 4.6e9)
    assert thermal.throttle_count(reader) == 2 * (700 + 2900)
    assert thermal.governor(reader) == "powersave"


def test_no_sensor_is_none(tree):
    reader = tree()
    assert thermal.temperature_c(reader) is None
    assert thermal.critical_c(reader) is None
    assert thermal.throttle_count(reader) is None
    assert thermal.clock_hz(reader) == (None, None)
    assert thermal.governor(reader) is None
