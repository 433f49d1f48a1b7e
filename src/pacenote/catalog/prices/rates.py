"""Dated exchange rates, billing terms of providers, and how much CO2 a kilowatt-hour makes where."""

from __future__ import annotations

import csv
import io
from importlib import resources
from typing import Final

from pacenote.errors import UnknownNameError
from pacenote.records import Reading, Record

GRID_SOURCE: Final = (
    "Ember, yearly average of 2024 (github:thegreenwebfoundation/co2.js@b459b5e data/output/average-intensities.js)"
)

GRID_ERROR_SHARE: Final = 0.22
"""How far a yearly average may be off for one job: the largest change from 2023 to 2024 among ten countries of both
tables of Our World in Data (France, 56 to 44 g). Within a day a grid varies more; that is not covered."""

PUE: Final = (1.07, 1.58, 1.80)
"""Power of a data centre over that of its machines, from low to high. The middle is the average of the Uptime
Institute's survey of 2023, the high end that of 2011 (datacenterknowledge.com, 2011-05-10), the low end the best that
large operators report there, 1.07 to 1.2."""


class Rate(Record, frozen=True, kw_only=True):
    """What one unit of a currency is worth.

    Attributes:
        currency: ISO code.
        cny: Yuan for one unit.
        date: Day of the rate, ISO form.
        source: Where it was read.
    """

    currency: str
    cny: float
    date: str
    source: str


class Terms(Record, frozen=True, kw_only=True):
    """How a provider counts.

    Attributes:
        provider: Short name.
        granularity_s: Time is rounded up to a multiple of this many seconds; ``None`` when not known.
        minimum_s: Least time that is charged, seconds.
        clock_aligned: Whether periods are those of the clock, so that a started one counts whole.
        disk_per_gb_month: Price of keeping one GB for a month.
        egress_per_gb: Price of sending one GB out to the internet.
        egress_free_gb: GB a month that cost nothing.
        currency: ISO code of these prices.
        date: Day on which they were read, ISO form.
        source: Where.
    """

    provider: str
    granularity_s: float | None = None
    minimum_s: float = 0.0
    clock_aligned: bool = False
    disk_per_gb_month: Reading = Reading(reason="not_in_source")
    egress_per_gb: Reading = Reading(reason="not_in_source")
    egress_free_gb: float = 0.0
    currency: str = "USD"
    date: str = ""
    source: str = ""


class Grid(Record, frozen=True, kw_only=True):
    """What a kilowatt-hour emits in one country.

    Attributes:
        country: ISO code, or ``"WORLD"``.
        g_per_kwh: Grams of CO2 equivalent, yearly average.
        year: The year.
        error_share: How far off it may be for one job, as a share.
        source: Where it was read.
    """

    country: str
    g_per_kwh: float
    year: int
    error_share: float = GRID_ERROR_SHARE
    source: str = GRID_SOURCE


def rates() -> dict[str, Rate]:
    """Every rate, by currency."""
    return {
        row["currency"]: Rate(currency=row["currency"], cny=float(row["cny"]), date=row["date"], source=row["source"])
        for row in _rows("currency.csv")
    }


def factor(source: str, target: str) -> float:
    """How much of ``target`` one unit of ``source`` is.

    Raises:
        UnknownNameError: If there is no rate for one of them.
    """
    known = rates()
    for currency in (source, target):
        if currency not in known:
            raise UnknownNameError("currency", currency, known)
    return known[source].cny / known[target].cny if source != target else 1.0


def rate_date(source: str, target: str) -> str | None:
    """Day of the older of the two rates; ``None`` when nothing is converted."""
    if source == target:
        return None
    known = rates()
    return min(known[source].date, known[target].date)


def terms(provider: str) -> Terms:
    """How ``provider`` counts; all unknown for one that the table does not have."""
    for row in _rows("terms.csv"):
        if row["provider"] == provider:
            return Terms(
                provider=provider,
                granularity_s=float(row["granularity_s"]) if row["granularity_s"] else None,
                minimum_s=float(row["minimum_s"] or 0),
                disk_per_gb_month=_listed(row["disk_per_gb_month"]),
                egress_per_gb=_listed(row["egress_per_gb"]),
                egress_free_gb=float(row["egress_free_gb"] or 0),
                currency=row["currency"],
                date=row["date"],
                source=row["source"],
            )
    return Terms(provider=provider)


def grid(region: str) -> Grid | None:
    """The grid of a country code or of a provider's region; ``None`` where the country is not known."""
    wanted = region.lower()
    if not wanted:
        return None
    for row in _rows("grid.csv"):
        if wanted == row["country"].lower() or any(wanted.startswith(start) for start in row["regions"].split()):
            return Grid(country=row["country"], g_per_kwh=float(row["g_per_kwh"]), year=int(row["year"]))
    return None


def _listed(text: str) -> Reading:
    return Reading(value=float(text), method="listed") if text else Reading(reason="not_in_source")


def _rows(name: str) -> list[dict[str, str]]:
    text = (resources.files("pacenote.catalog.prices") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))
