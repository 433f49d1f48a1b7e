"""Energy and CO2, by arithmetic written out."""

from __future__ import annotations

import pytest

from pacenote.advise.amount import between, exact
from pacenote.advise.energy import DATA_CENTRE, footprint, kwh
from pacenote.catalog.prices import Grid, grid


def test_the_third_articles_job_on_a_gpu() -> None:
    """450 W for 12 min are 0.09 kWh, 250 W for 120 min are 0.5 kWh."""
    assert kwh(footprint(exact(450), exact(720)).energy_j.value) == pytest.approx(0.09)
    assert kwh(footprint(exact(250), exact(7200)).energy_j.value) == pytest.approx(0.5)


def test_a_data_centre_adds_its_own() -> None:
    found = footprint(exact(1000), exact(3600), pue=DATA_CENTRE)
    assert kwh(found.energy_j.low) == pytest.approx(1.07)
    assert kwh(found.energy_j.value) == pytest.approx(1.58)
    assert kwh(found.energy_j.high) == pytest.approx(1.80)


def test_co2_is_energy_times_the_grid_with_its_error() -> None:
    found = footprint(exact(1000), exact(3600), grid=Grid(country="XX", g_per_kwh=400, year=2024, error_share=0.25))
    assert found.co2_g is not None
    assert (found.co2_g.low, found.co2_g.value, found.co2_g.high) == pytest.approx((300, 400, 500))


def test_the_grid_decides_more_than_the_card() -> None:
    france, poland = grid("FR"), grid("PL")
    clean = footprint(exact(700), exact(3600), grid=france).co2_g
    dirty = footprint(exact(100), exact(3600), grid=poland).co2_g
    assert clean is not None
    assert dirty is not None
    assert clean.value == pytest.approx(0.7 * 44.18)
    assert dirty.value == pytest.approx(0.1 * 614.98)
    assert clean.value < dirty.value


def test_without_a_grid_there_is_no_co2() -> None:
    assert footprint(exact(100), between(1, 2, 3)).co2_g is None
