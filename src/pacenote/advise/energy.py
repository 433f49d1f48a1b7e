"""Energy and CO2 of a job, with the doubt that power, data centre and grid leave."""

from __future__ import annotations

from typing import Final

from pacenote.advise.amount import Amount, around, exact
from pacenote.catalog.prices import PUE, Grid
from pacenote.records import Record

JOULES_PER_KWH: Final = 3.6e6

DATA_CENTRE: Final = Amount(low=PUE[0], value=PUE[1], high=PUE[2])
"""Power of a data centre over that of the machine; see :data:`pacenote.catalog.prices.PUE`."""

AT_HOME: Final = exact(1.0)
"""On one's own desk nothing is added; cooling of an own room is an input of the purchase."""


class Footprint(Record, frozen=True, kw_only=True):
    """What one job draws and emits.

    Attributes:
        energy_j: Energy from the grid, in joules.
        co2_g: Grams of CO2 equivalent; ``None`` where the grid is not known.
        source: Where the grid's figure was read.
        year: Its year.
    """

    energy_j: Amount
    co2_g: Amount | None = None
    source: str = ""
    year: int | None = None


def footprint(power_w: Amount, time_s: Amount, *, pue: Amount = AT_HOME, grid: Grid | None = None) -> Footprint:
    """Energy ``power * time * PUE``, and CO2 by the grid's average.

    Args:
        power_w: Power of the machine while it works, watts.
        time_s: How long, seconds.
        pue: Power of the building over that of the machine.
        grid: The grid that feeds it.
    """
    energy_j = power_w * time_s * pue
    if grid is None:
        return Footprint(energy_j=energy_j)
    co2_g = energy_j.times(1 / JOULES_PER_KWH) * around(grid.g_per_kwh, grid.error_share)
    return Footprint(energy_j=energy_j, co2_g=co2_g, source=grid.source, year=grid.year)


def kwh(energy_j: float) -> float:
    """Joules as kilowatt-hours."""
    return energy_j / JOULES_PER_KWH
