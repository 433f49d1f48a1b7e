"""Cards and batches that fit, against the paper's own figures and by search."""

from __future__ import annotations

import pytest

from pacenote.advise.memory import RECIPES, STRATEGIES, Accumulation, accumulate, smallest, smallest_of_all, states

ADAM = RECIPES["adam_mixed"]
GB = 1e9


@pytest.mark.parametrize(("strategy", "gigabytes"), [("ddp", 120), ("zero1", 31.4), ("zero2", 16.6), ("zero3", 1.9)])
def test_the_papers_figure_1(strategy: str, gigabytes: float) -> None:
    """7.5 billion parameters on 64 cards (arXiv 1910.02054, figure 1)."""
    assert states(7.5e9, ADAM, strategy, 64) / GB == pytest.approx(gigabytes, abs=0.06)


def test_the_papers_gpt_2_needs_24_gb() -> None:
    """Section 3.1: 1.5 billion parameters take at least 24 GB."""
    assert states(1.5e9, ADAM, "ddp", 1) / GB == pytest.approx(24)


def test_what_fits_on_one_card_needs_one() -> None:
    assert [fit.cards for fit in smallest_of_all(1e9, ADAM, 4 * GB, 24 * GB)] == [1, 1, 1, 1]


def test_plain_data_parallelism_never_helps_memory() -> None:
    fit = smallest(7e9, ADAM, 4 * GB, 80 * GB, "ddp")
    assert fit.cards is None
    assert fit.reason == "not_divided"


def test_activations_that_fill_a_card_are_not_divided_by_anything() -> None:
    assert {fit.reason for fit in smallest_of_all(1e8, ADAM, 90 * GB, 80 * GB)} == {"rest_alone"}


@pytest.mark.parametrize("recipe", sorted(RECIPES))
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("parameters", [1e8, 3e9, 7e9, 13e9, 70e9])
@pytest.mark.parametrize("card_gb", [16, 24, 80])
def test_the_smallest_number_is_what_a_search_finds(
    recipe: str, strategy: str, parameters: float, card_gb: float
) -> None:
    rest, card = 3 * GB, card_gb * GB
    fitting = (n for n in range(1, 4000) if states(parameters, RECIPES[recipe], strategy, n) + rest <= card + 1)
    found = smallest(parameters, RECIPES[recipe], rest, card, strategy)
    assert found.cards == next(fitting, None)
    if found.cards is not None:
        assert found.per_card_bytes is not None
        assert found.per_card_bytes <= card + 1  # a tie is a fit, whatever the last bit says


@pytest.mark.parametrize(
    ("batch", "card", "batch_found", "steps"),
    [(32, 10 * GB, 32, 1), (256, 10 * GB, 86, 3), (256, 2.05 * GB, 0, 0), (100, 3 * GB, 10, 10), (7, 3 * GB, 7, 1)],
)
def test_a_batch_is_divided_into_the_fewest_parts_that_fit(
    batch: int, card: float, batch_found: int, steps: int
) -> None:
    """2 GB fixed and 0.0925 GB for a sample: 10 GB hold 86 samples, 3 GB hold 10."""
    found = accumulate(batch, 2 * GB, 0.0925 * GB, card)
    assert found == Accumulation(batch=batch_found, steps=steps)
    if steps:
        assert found.batch * found.steps >= batch
        assert 2 * GB + found.batch * 0.0925 * GB <= card
