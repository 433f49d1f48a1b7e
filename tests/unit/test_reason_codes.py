"""The search for reason codes, on small programs."""

from __future__ import annotations

import pytest
from reason_codes import find_in


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Reading(reason='no_sensor')", {"no_sensor"}),
        ("x = {'available': False, 'reason': 'no_device'}", {"no_device"}),
        ("device_reason = 'device_is_cpu' if cpu else other or 'no_sensor'", {"device_is_cpu", "no_sensor"}),
        ("class A:\n def f(self):\n  self._energy_reason = 'no_rapl'", {"no_rapl"}),
        ("def reason(self):\n return 'no_effect'", {"no_effect"}),
        ("def why(x):\n return 'gone', 1\nreason, count = why(1)", {"gone"}),
        ("reason, count = 'gone', 'seven'", {"gone"}),
        ("def missing(value, reason):\n pass\nmissing('a', 'b')", {"b"}),
        ("class Raw:\n value: float\n reason: str = ''\nRaw(1.0, 'not_here')", {"not_here"}),
        ("class A:\n def missing(self, reason):\n  pass\nA().missing('b')", {"b"}),
        ("def f():\n said = 'one'\n said = 'two'\n return Reading(reason=said)", {"one", "two"}),
        ("reasons = {'a': 'no_a', 'b': ask()}\ndef ask():\n return 'no_b'", {"no_a", "no_b"}),
        ("reasons[name] = 'dtype_unknown'", {"dtype_unknown"}),
        ("x = kept.get('reason', 'not_calibrated')\ny = Reading(reason=kept.get('reason', 'never'))", {"never"}),
        ("say(f\"reason.{known or 'one_round'}\")", {"one_round"}),
        ("def loop(n):\n return loop(n - 1) if n else 'done'\nreason = loop(3)", {"done"}),
        ("reason: str = 'typed'", {"typed"}),
    ],
)
def test_every_way_to_give_a_reason_is_seen(source: str, expected: set[str]) -> None:
    assert find_in(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "Reading(method='measured')",
        "Reading(reason='Because of the weather.')",
        "Reading(reason=f'calibration_{status}')",
        "Reading(reason='')",
        "def missing(reason, value):\n pass\nmissing(code, 'b')",
        "treason = 'high'",
        "say(f'finding.{code}')",
        "reason = 3",
    ],
)
def test_nothing_else_is_taken_for_one(source: str) -> None:
    assert find_in(source) == set()
