"""Bringing the readings of several processes of one cell together."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from pacenote.records import Reading, TrialRecord


def largest(readings: Sequence[Reading]) -> Reading:
    """The largest known value, for peaks; without one, the first reason."""
    known = [reading for reading in readings if reading.value is not None]
    if not known:
        return _missing(readings)
    return max(known, key=lambda reading: reading.value or 0.0)


def middle(readings: Sequence[Reading]) -> Reading:
    """The median of the known values; without one, the first reason."""
    known = [reading.value for reading in readings if reading.value is not None]
    if not known:
        return _missing(readings)
    method = next(reading.method for reading in readings if reading.value is not None)
    return Reading(value=statistics.median(known), method=method)


def energy_per_sample(records: Sequence[TrialRecord], name: str) -> Reading:
    """Median energy per sample over the measured turns, from the sensor field ``name``."""
    readings = []
    for record in records:
        reading: Reading = getattr(record.sensors, name)
        steps = sum(turn.steps for turn in record.turns if turn.turn > 0)
        if reading.value is None:
            readings.append(reading)
        elif steps and record.samples_per_step:
            value = reading.value / (steps * record.samples_per_step)
            readings.append(Reading(value=value, method="formula"))
    return middle(readings)


def _missing(readings: Sequence[Reading]) -> Reading:
    reason = next((reading.reason for reading in readings if reading.reason), "not_recorded")
    return Reading(reason=reason)
