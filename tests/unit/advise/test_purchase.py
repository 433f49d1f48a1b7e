"""Buying against renting, by arithmetic written out."""

from __future__ import annotations

import pytest

from pacenote.advise.purchase import MONTH_S, Purchase, break_even, fixed_per_month, per_job

HOUR = 3600.0


def test_wear_alone() -> None:
    """3600 over 36 months is 100 a month; renting at 2 a job pays from 50 jobs on."""
    found = break_even(Purchase(price=3600, life_months=36), HOUR, 2.0)
    assert found.fixed_per_month == pytest.approx(100)
    assert found.jobs_per_month == pytest.approx(50)
    assert found.capacity_per_month == pytest.approx(730)


def test_resale_lowers_the_wear() -> None:
    assert fixed_per_month(Purchase(price=3600, life_months=36, resale_share=0.25)) == pytest.approx(75)


def test_electricity_of_a_job_and_its_cooling() -> None:
    """450 W and 40 % cooling for 2 h are 1.26 kWh; at 0.30 that is 0.378."""
    own = Purchase(price=1, life_months=1, power_w=450, cooling_share=0.4, electricity_per_kwh=0.30)
    assert per_job(own, 2 * HOUR) == pytest.approx(0.378)


def test_idle_power_is_paid_whether_or_not_it_works() -> None:
    """60 W all month are 43.8 kWh; at 0.30 that is 13.14, and a job pays only for what it draws beyond."""
    own = Purchase(price=0, life_months=1, power_w=460, idle_w=60, on_share=1.0, electricity_per_kwh=0.30)
    assert fixed_per_month(own) == pytest.approx(13.14)
    assert per_job(own, HOUR) == pytest.approx(0.4 * 0.30)


def test_operation_costs_work() -> None:
    own = Purchase(price=2400, life_months=24, operation_h_per_month=2, wage_per_h=40)
    assert fixed_per_month(own) == pytest.approx(100 + 80)
    assert break_even(own, HOUR, 1.8).jobs_per_month == pytest.approx(100)


def test_renting_below_the_own_electricity_never_loses() -> None:
    own = Purchase(price=100, life_months=10, power_w=1000, electricity_per_kwh=0.5)
    found = break_even(own, HOUR, 0.4)
    assert found.jobs_per_month is None
    assert found.reason == "rent_is_cheaper_per_job"


def test_a_machine_cannot_do_more_jobs_than_a_month_has_room_for() -> None:
    """Jobs of 10 h: 73 a month; the break-even would be 100."""
    found = break_even(Purchase(price=3600, life_months=36), 10 * HOUR, 1.0)
    assert found.capacity_per_month == pytest.approx(73)
    assert found.jobs_per_month is None
    assert found.reason == "capacity"


def test_payback_time() -> None:
    """2000 saved at 3 a job less 10 of work a month: 2000 / (100 x 3 - 10) months."""
    own = Purchase(price=2000, life_months=36, operation_h_per_month=1, wage_per_h=10)
    assert break_even(own, HOUR, 3.0, 100).payback_months == pytest.approx(2000 / 290)
    assert break_even(own, HOUR, 3.0, 3).payback_months is None
    assert break_even(own, HOUR, 3.0).payback_months is None


def test_the_month_is_a_twelfth_of_a_year() -> None:
    assert MONTH_S * 12 == 365 * 24 * 3600


@pytest.mark.parametrize("rent", [0.5, 1.0, 2.0, 7.7])
def test_at_the_break_even_both_cost_the_same(rent: float) -> None:
    own = Purchase(price=1800, life_months=24, power_w=300, electricity_per_kwh=0.25, cooling_share=0.3)
    found = break_even(own, 1000.0, rent)
    assert found.jobs_per_month is not None
    assert fixed_per_month(own) + found.jobs_per_month * per_job(own, 1000.0) == pytest.approx(
        rent * found.jobs_per_month
    )
