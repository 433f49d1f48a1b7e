"""What a model takes on the cards of a candidate, by arithmetic written out."""

from __future__ import annotations

from typing import Any

import pytest
from situations import GB, ask, cloud, here

from pacenote.advise.choose import advise
from pacenote.advise.sizing import Model, sized


def card(count: int = 1, gigabytes: float = 24, **more: Any) -> Any:
    return cloud(
        f"{count} x {gigabytes:g}", 1, 1.0 * count, count=count, card_bytes=gigabytes * GB, need_bytes=None, **more
    )


def codes(candidate: Any) -> dict[str, dict[str, Any]]:
    return {note.code: note.params for note in candidate.sizing}


def need(candidate: Any) -> float:
    assert candidate.need_bytes is not None
    return candidate.need_bytes.value / GB


def test_a_small_model_takes_sixteen_bytes_a_parameter_and_the_rest() -> None:
    found = sized(card(), Model(parameters=1e9, rest_bytes=2 * GB))
    assert need(found) == pytest.approx(18)
    assert found.sizing == []


def test_the_least_sharding_that_fits_is_taken() -> None:
    """2e9 parameters on four cards: 32 whole, 8 + 6 with stage 1, on 16 GB with 1 GB of rest."""
    found = sized(card(4, 16), Model(parameters=2e9, rest_bytes=1 * GB))
    assert need(found) == pytest.approx(2e9 * (4 + 12 / 4) / GB + 1)
    assert codes(found) == {"fits_sharded": {"strategy": "zero1", "cards": 4}}


def test_what_does_not_fit_says_how_many_cards_would_do() -> None:
    """7e9 parameters, 80 GB, 4 of rest: stage 3 needs 112 / 76, two cards; stage 1 needs 84 / 48, two as well."""
    found = sized(card(1, 80), Model(parameters=7e9, rest_bytes=4 * GB))
    assert need(found) == pytest.approx(116)
    assert codes(found) == {"cards_needed": {"cards": 2, "strategy": "zero1"}}
    assert advise([found], ask()).verdict.code == "nothing_fits"
    assert [note.code for note in advise([found], ask()).reasons] == ["cards_needed"]


def test_full_sharding_where_less_never_fits() -> None:
    """70e9: weights and gradients alone are 280; stage 3 on 80 GB with 4 of rest: 1120 / 76, 15 cards."""
    found = sized(card(8, 80), Model(parameters=70e9, rest_bytes=4 * GB))
    assert codes(found)["cards_needed"] == {"cards": 15, "strategy": "zero3"}


def test_a_batch_that_does_not_fit_is_accumulated() -> None:
    """1e8 parameters and 0.4 of rest are 2 GB; 0.1 a sample leaves room for 140 of 256 on 16 GB: two parts of 128."""
    found = sized(card(1, 16), Model(parameters=1e8, rest_bytes=0.4 * GB, per_sample_bytes=0.1 * GB, batch=256))
    assert codes(found) == {"accumulates": {"batch": 128, "parts": 2}}
    assert need(found) == pytest.approx(2 + 12.8)


def test_the_batch_is_divided_over_the_cards_first() -> None:
    found = sized(card(2, 16), Model(parameters=1e8, rest_bytes=0.4 * GB, per_sample_bytes=0.1 * GB, batch=256))
    assert found.sizing == []
    assert need(found) == pytest.approx(2 + 12.8)


def test_activations_of_one_sample_that_fill_a_card_need_no_number_of_cards() -> None:
    found = sized(card(1, 16), Model(parameters=1e8, per_sample_bytes=20 * GB, batch=1))
    assert found.sizing == []
    assert advise([found], ask()).verdict.code == "nothing_fits"


def test_a_candidate_whose_memory_nobody_knows_stays_as_it_is() -> None:
    unknown = cloud("dark", 1, 1.0, card_bytes=None, need_bytes=None)
    assert sized(unknown, Model(parameters=1e12)) == unknown
    assert sized(here(1), Model(parameters=1e12)) == here(1)


def test_advice_takes_the_cards_that_fit() -> None:
    model = Model(parameters=7e9, rest_bytes=4 * GB)
    advice = advise([sized(card(1, 80), model), sized(card(4, 80), model)], ask())
    assert advice.choice == "4 x 80"
    assert "fits_sharded" in [note.code for note in advice.reasons]
