"""How many cards a model needs: the memory of data parallelism and of the three stages of ZeRO and FSDP."""

from __future__ import annotations

import math
from typing import Final

from pacenote.records import Record

ZERO_SOURCE: Final = (
    "S. Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models (arXiv 1910.02054), "
    "section 5 and figure 1; FSDP's full sharding is stage 3 (Y. Zhao et al., PyTorch FSDP, arXiv 2304.11277)"
)

STRATEGIES: Final = ("ddp", "zero1", "zero2", "zero3")
"""From what divides nothing to what divides all. ``zero3`` is also FSDP with full sharding."""


class States(Record, frozen=True, kw_only=True):
    """Bytes that one parameter takes.

    Attributes:
        weight_bytes: The parameter itself as it computes.
        gradient_bytes: Its gradient.
        optimizer_bytes: What the optimizer keeps of it, master copies included.
    """

    weight_bytes: float
    gradient_bytes: float
    optimizer_bytes: float

    @property
    def whole_bytes(self) -> float:
        """All of it."""
        return self.weight_bytes + self.gradient_bytes + self.optimizer_bytes


RECIPES: Final[dict[str, States]] = {
    "adam_mixed": States(weight_bytes=2, gradient_bytes=2, optimizer_bytes=12),
    "adam_fp32": States(weight_bytes=4, gradient_bytes=4, optimizer_bytes=8),
    "momentum_fp32": States(weight_bytes=4, gradient_bytes=4, optimizer_bytes=4),
    "sgd_fp32": States(weight_bytes=4, gradient_bytes=4, optimizer_bytes=0),
}
"""Ways to train → bytes for one parameter. ``adam_mixed`` is the paper's 2 + 2 + K with K = 12: a copy of the weight in
single precision and two moments; the others count what the optimizer keeps, four bytes each."""


class Need(Record, frozen=True, kw_only=True):
    """What a training needs on one card.

    Attributes:
        states_bytes: Weights, gradients and optimizer.
        rest_bytes: Activations of one card's batch, buffers and what the framework itself takes.
    """

    states_bytes: float
    rest_bytes: float

    @property
    def whole_bytes(self) -> float:
        """All of it."""
        return self.states_bytes + self.rest_bytes


class Fit(Record, frozen=True, kw_only=True):
    """The smallest number of cards on which a model fits.

    Attributes:
        strategy: One of :data:`STRATEGIES`.
        cards: How many; ``None`` when no number does.
        per_card_bytes: What each then holds.
        reason: Why none: ``"rest_alone"`` (activations fill a card), ``"not_divided"`` (what is not divided does).
    """

    strategy: str
    cards: int | None
    per_card_bytes: float | None = None
    reason: str = ""


class Accumulation(Record, frozen=True, kw_only=True):
    """How a batch that does not fit is made of smaller ones.

    Attributes:
        batch: Samples at once; 0 when not even one fits.
        steps: Batches that make one update.
    """

    batch: int
    steps: int


def states(parameters: float, recipe: States, strategy: str, cards: int) -> float:
    """Bytes of weights, gradients and optimizer on each of ``cards`` cards."""
    weight, gradient, optimizer = recipe.weight_bytes, recipe.gradient_bytes, recipe.optimizer_bytes
    divided = {
        "ddp": (weight, gradient, optimizer),
        "zero1": (weight, gradient, optimizer / cards),
        "zero2": (weight, gradient / cards, optimizer / cards),
        "zero3": (weight / cards, gradient / cards, optimizer / cards),
    }
    return parameters * sum(divided[strategy])


def smallest(parameters: float, recipe: States, rest_bytes: float, card_bytes: float, strategy: str) -> Fit:
    """Find the smallest number of cards for one strategy.

    With ``u`` undivided and ``d`` divided bytes a card holds ``u + d / n + rest``, so ``n >= d / (card - rest - u)``.

    Args:
        parameters: Number of parameters.
        recipe: Bytes of one.
        rest_bytes: What each card holds besides, whatever their number.
        card_bytes: Memory of a card that can be used.
        strategy: One of :data:`STRATEGIES`.
    """
    whole = parameters * recipe.whole_bytes
    undivided = parameters * _undivided(recipe, strategy)
    if rest_bytes > card_bytes:
        return Fit(strategy=strategy, cards=None, reason="rest_alone")
    room = card_bytes - rest_bytes - undivided
    if whole + rest_bytes <= card_bytes:
        cards = 1
    elif room <= 0 or whole == undivided:
        return Fit(strategy=strategy, cards=None, reason="not_divided")
    else:
        cards = max(2, math.ceil((whole - undivided) / room - 1e-12))
    return Fit(
        strategy=strategy,
        cards=cards,
        per_card_bytes=states(parameters, recipe, strategy, cards) + rest_bytes,
    )


def smallest_of_all(parameters: float, recipe: States, rest_bytes: float, card_bytes: float) -> list[Fit]:
    """The smallest number of cards for each strategy, in the order of :data:`STRATEGIES`."""
    return [smallest(parameters, recipe, rest_bytes, card_bytes, strategy) for strategy in STRATEGIES]


def accumulate(batch: int, fixed_bytes: float, per_sample_bytes: float, card_bytes: float) -> Accumulation:
    """Divide a batch so that each part fits, keeping the number of samples of an update.

    Args:
        batch: Samples of one update on this card.
        fixed_bytes: What does not depend on the batch.
        per_sample_bytes: What each sample adds.
        card_bytes: Memory of the card that can be used.
    """
    room = card_bytes - fixed_bytes
    most = math.floor(room / per_sample_bytes) if room > 0 else 0
    if most < 1:
        return Accumulation(batch=0, steps=0)
    if most >= batch:
        return Accumulation(batch=batch, steps=1)
    steps = math.ceil(batch / most)
    return Accumulation(batch=math.ceil(batch / steps), steps=steps)


def _undivided(recipe: States, strategy: str) -> float:
    kept = {
        "ddp": recipe.whole_bytes,
        "zero1": recipe.weight_bytes + recipe.gradient_bytes,
        "zero2": recipe.weight_bytes,
        "zero3": 0.0,
    }
    return kept[strategy]
