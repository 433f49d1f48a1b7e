"""Dated prices of instances, what providers charge besides, exchange rates, and the grid's CO2."""

from __future__ import annotations

from pacenote.catalog.prices.offers import COLUMNS, STALE_DAYS, Offer, find, merge, parse, read, shipped, write
from pacenote.catalog.prices.rates import PUE, Grid, Rate, Terms, factor, grid, rate_date, rates, terms

__all__ = [
    "COLUMNS",
    "PUE",
    "STALE_DAYS",
    "Grid",
    "Offer",
    "Rate",
    "Terms",
    "factor",
    "find",
    "grid",
    "merge",
    "parse",
    "rate_date",
    "rates",
    "read",
    "shipped",
    "terms",
    "write",
]
