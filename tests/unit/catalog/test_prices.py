"""The table of prices: what it holds, how a user's own file is read, and what is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from pacenote.catalog import prices
from pacenote.errors import DataError, UnknownNameError

HEAD = "provider,instance,on_demand_per_h,currency,date\n"
OFFERS = prices.shipped()


def test_every_offer_has_a_source_or_says_why_its_price_is_missing() -> None:
    assert 60 <= len(OFFERS) <= 120
    for offer in OFFERS:
        if offer.on_demand_per_h.value is None:
            assert offer.on_demand_per_h.reason == "not_in_source"
        else:
            assert offer.source, offer.name
            assert offer.on_demand_per_h.method == "listed"


def test_all_the_providers_are_there() -> None:
    wanted = {"aws", "gcp", "azure", "alibaba", "lambda", "vast", "runpod", "colab", "kaggle", "ai-studio"}
    assert {offer.provider for offer in OFFERS} == wanted


def test_spot_is_below_on_demand() -> None:
    both = [offer for offer in OFFERS if offer.spot_per_h.value is not None]
    assert both
    for offer in both:
        assert offer.spot_per_h.value < offer.on_demand_per_h.value, offer.name


def test_an_offer_with_an_accelerator_says_how_many() -> None:
    for offer in OFFERS:
        if offer.accelerator:
            assert offer.accelerator_count, offer.name


def test_names_are_unique() -> None:
    names = [(offer.name, offer.region) for offer in OFFERS]
    assert len(set(names)) == len(names)


def test_the_articles_instance_is_a_v100_and_the_t4_is_another() -> None:
    """The second article's cost table calls the V100 of p3.2xlarge a T4."""
    assert prices.find(OFFERS, "p3.2xlarge").accelerator == "Tesla V100-SXM2-16GB"
    assert prices.find(OFFERS, "p3.2xlarge").on_demand_per_h.value == 3.06
    assert prices.find(OFFERS, "g4dn.xlarge").accelerator == "Tesla T4"


@pytest.mark.parametrize(("name", "hours"), [("colab/free", 12), ("kaggle/free-t4x2", 12)])
def test_free_tiers_have_the_session_limit_that_a_source_states(name: str, hours: int) -> None:
    offer = prices.find(OFFERS, name)
    assert offer.free
    assert offer.session_limit_s.value == hours * 3600


def test_a_free_tier_without_a_source_has_no_figures() -> None:
    offer = prices.find(OFFERS, "ai-studio/free")
    assert offer.session_limit_s.value is None
    assert offer.session_limit_s.reason == "no_limit_known"
    assert offer.accelerator_count is None


def test_age_is_counted_from_the_day_the_price_was_read() -> None:
    offer = prices.find(OFFERS, "g5.xlarge")
    assert offer.age_days(date(2026, 7, 21)) == 1
    assert prices.find(OFFERS, "vast/1x-RTX4090-32-65536").age_days(date(2026, 7, 21)) is None


def test_an_unknown_name_lists_those_of_its_provider() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean"):
        prices.find(OFFERS, "aws/g5.xlrge")


def test_an_instance_of_two_providers_needs_its_provider() -> None:
    two = prices.parse(HEAD + "a,one,1,USD,2026-01-01\nb,one,2,USD,2026-01-01\n", "two", {})
    with pytest.raises(UnknownNameError):
        prices.find(two, "one")
    assert prices.find(two, "b/one").on_demand_per_h.value == 2


def test_the_cheapest_region_answers_for_an_instance() -> None:
    text = "provider,instance,region,on_demand_per_h,currency,date\na,x,far,2,USD,\na,x,near,1,USD,\na,x,lost,,USD,\n"
    assert prices.find(prices.parse(text, "x", {}), "a/x").region == "near"


def test_what_is_written_is_read_back() -> None:
    assert prices.parse(prices.write(OFFERS), "again", {}) == OFFERS


def test_a_users_own_price_replaces_the_shipped_one(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(
        "provider,instance,region,on_demand_per_h,currency,date,source\n"
        "aws,g5.xlarge,us-east-1,0.90,USD,2026-12-01,my contract\n",
        encoding="utf-8",
    )
    merged = prices.merge(OFFERS, prices.read(own))
    assert len(merged) == len(OFFERS)
    found = prices.find(merged, "aws/g5.xlarge")
    assert (found.on_demand_per_h.value, found.source) == (0.90, "my contract")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("provider,instance,currency,date\na,b,USD,\n", "has no column 'on_demand_per_h'"),
        (HEAD.replace("date", "date,colour") + "a,b,1,USD,,red\n", "unknown column 'colour'"),
        (HEAD + "a,b,cheap,USD,2026-01-01\n", "line 2: on_demand_per_h is 'cheap'"),
        (HEAD + "a,b,-1,USD,2026-01-01\n", "no number from 0 up"),
        (HEAD + "a,b,1,USD,yesterday\n", "'yesterday' is no date"),
        (HEAD + ",b,1,USD,2026-01-01\n", "needs a provider"),
        (HEAD + "a,b,nan,USD,2026-01-01\n", "no number from 0 up"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        prices.parse(text, "own.csv", {})


def test_a_file_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        prices.read(tmp_path / "none.csv")


def test_rates_are_dated_and_convert_both_ways() -> None:
    assert prices.factor("USD", "CNY") == 7.1884
    assert prices.factor("CNY", "USD") == pytest.approx(1 / 7.1884)
    assert prices.factor("EUR", "USD") == pytest.approx(7.5257 / 7.1884)
    assert prices.factor("USD", "USD") == 1.0
    assert prices.rate_date("HKD", "USD") == "2024-12-24"
    assert prices.rate_date("USD", "USD") is None
    with pytest.raises(UnknownNameError, match="currency 'XYZ'"):
        prices.factor("XYZ", "USD")


def test_terms_of_a_provider_that_nobody_knows_are_unknown() -> None:
    terms = prices.terms("nobody")
    assert terms.granularity_s is None
    assert terms.egress_per_gb.reason == "not_in_source"
    assert prices.terms("aws").minimum_s == 60
    assert prices.terms("lambda").granularity_s == 60


@pytest.mark.parametrize(
    ("region", "country"),
    [
        ("us-east-1", "US"),
        ("eastus", "US"),
        ("cn-beijing", "CN"),
        ("eu-west-3", "FR"),
        ("FR", "FR"),
        ("asia-south1", "IN"),
    ],
)
def test_a_region_leads_to_its_grid(region: str, country: str) -> None:
    grid = prices.grid(region)
    assert grid is not None
    assert grid.country == country


def test_a_region_that_nobody_knows_has_no_grid() -> None:
    assert prices.grid("not stated") is None
    assert prices.grid("") is None


def test_every_row_of_the_small_tables_is_whole() -> None:
    for rate in prices.rates().values():
        assert rate.cny > 0
        assert rate.source
        date.fromisoformat(rate.date)
    for provider in {offer.provider for offer in OFFERS}:
        terms = prices.terms(provider)
        assert terms.source, provider
        date.fromisoformat(terms.date)
