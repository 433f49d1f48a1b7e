"""Buying against renting: what an own machine costs a month, and from how many jobs on it is the cheaper one."""

from __future__ import annotations

import math
from typing import Final

from pacenote.advise.energy import JOULES_PER_KWH
from pacenote.records import Record

MONTH_S: Final = 730.0 * 3600.0
"""Seconds of a month: 365 × 24 / 12 hours."""


class Purchase(Record, frozen=True, kw_only=True):
    """An own machine.

    Attributes:
        price: What it costs, in the currency of the comparison.
        life_months: Over how many months the price is spread.
        resale_share: Part of the price that is got back at the end.
        power_w: Power while it works, watts.
        idle_w: Power while it is on and waits, watts.
        on_share: Share of the month in which it is on.
        electricity_per_kwh: Price of a kilowatt-hour.
        cooling_share: Power of its cooling over its own.
        operation_h_per_month: Hours of work that it takes in a month.
        wage_per_h: What such an hour costs.
    """

    price: float
    life_months: float
    resale_share: float = 0.0
    power_w: float = 0.0
    idle_w: float = 0.0
    on_share: float = 0.0
    electricity_per_kwh: float = 0.0
    cooling_share: float = 0.0
    operation_h_per_month: float = 0.0
    wage_per_h: float = 0.0


class BreakEven(Record, frozen=True, kw_only=True):
    """When buying pays.

    Attributes:
        jobs_per_month: From this many jobs a month on it does; ``None`` when it never does.
        capacity_per_month: How many jobs the machine can do in a month.
        own_per_job: Electricity of one job on the own machine.
        rent_per_job: Price of one job on the rented machine.
        fixed_per_month: What the own machine costs a month without working.
        payback_months: Months until the price is earned at the asked-for number of jobs; ``None`` when never.
        reason: Why never: ``"rent_is_cheaper_per_job"`` or ``"capacity"``; empty when it can pay.
    """

    jobs_per_month: float | None
    capacity_per_month: float
    own_per_job: float
    rent_per_job: float
    fixed_per_month: float
    payback_months: float | None = None
    reason: str = ""


def fixed_per_month(own: Purchase) -> float:
    """What the machine costs in a month in which it does nothing: wear, idle power, work."""
    wear = own.price * (1 - own.resale_share) / own.life_months
    idle_j = own.idle_w * (1 + own.cooling_share) * own.on_share * MONTH_S
    return wear + idle_j / JOULES_PER_KWH * own.electricity_per_kwh + own.operation_h_per_month * own.wage_per_h


def per_job(own: Purchase, time_s: float) -> float:
    """Electricity of one job of ``time_s`` seconds, its cooling included, beyond what the machine draws idle."""
    waiting_w = own.idle_w if own.on_share else 0.0
    joules = max(0.0, own.power_w - waiting_w) * (1 + own.cooling_share) * time_s
    return joules / JOULES_PER_KWH * own.electricity_per_kwh


def break_even(own: Purchase, own_time_s: float, rent_per_job: float, jobs_per_month: float | None = None) -> BreakEven:
    """Compare buying with renting by the month.

    Buying pays from ``fixed / (rent - own)`` jobs a month on, as long as the machine can do that many.

    Args:
        own: The machine.
        own_time_s: Time of one job on it, seconds.
        rent_per_job: The whole bill of one job on the rented machine.
        jobs_per_month: How many jobs there are, for the payback time.
    """
    fixed, own_job = fixed_per_month(own), per_job(own, own_time_s)
    capacity = MONTH_S / own_time_s
    saved = rent_per_job - own_job
    jobs: float | None = fixed / saved if saved > 0 else None
    reason = "" if jobs is not None else "rent_is_cheaper_per_job"
    if jobs is not None and jobs > capacity:
        jobs, reason = None, "capacity"
    return BreakEven(
        jobs_per_month=jobs,
        capacity_per_month=capacity,
        own_per_job=own_job,
        rent_per_job=rent_per_job,
        fixed_per_month=fixed,
        payback_months=None if jobs_per_month is None else _payback(own, fixed, saved, min(jobs_per_month, capacity)),
        reason=reason,
    )


def _payback(own: Purchase, fixed: float, saved_per_job: float, jobs: float) -> float | None:
    """Months until what is saved on rent has paid the price; running costs count, wear is the price itself."""
    running = fixed - own.price * (1 - own.resale_share) / own.life_months
    earned = saved_per_job * jobs - running
    months = own.price / earned if earned > 0 else math.inf
    return months if months <= own.life_months else None
