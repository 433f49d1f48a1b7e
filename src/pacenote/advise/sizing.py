"""What a model takes on the cards of a candidate: which sharding and batch make it fit, or how many cards would."""

from __future__ import annotations

import math

import msgspec

from pacenote.advise.amount import exact
from pacenote.advise.candidates import Candidate, Note
from pacenote.advise.memory import RECIPES, STRATEGIES, accumulate, smallest_of_all, states
from pacenote.records import Record


class Model(Record, frozen=True, kw_only=True):
    """What is trained.

    Attributes:
        parameters: Number of parameters.
        recipe: One of :data:`pacenote.advise.memory.RECIPES`.
        rest_bytes: What each card holds besides weights, gradients, optimizer and activations.
        per_sample_bytes: Activations of one sample.
        batch: Samples of one update over all cards; ``None`` when not known.
    """

    parameters: float
    recipe: str = "adam_mixed"
    rest_bytes: float = 0.0
    per_sample_bytes: float = 0.0
    batch: int | None = None


def sized(candidate: Candidate, model: Model) -> Candidate:
    """The candidate with what the model takes on each of its cards; unchanged where their memory is not known."""
    card_bytes = candidate.card_bytes
    if card_bytes is None or not candidate.accelerator:
        return candidate
    cards = max(1, candidate.count)
    recipe = RECIPES[model.recipe]
    least_bytes = model.rest_bytes + (model.per_sample_bytes if model.batch else 0.0)
    for strategy in STRATEGIES if cards > 1 else STRATEGIES[:1]:
        own_bytes = states(model.parameters, recipe, strategy, cards)
        if own_bytes + least_bytes <= card_bytes:
            return _fitting(candidate, model, strategy, own_bytes)
    short_bytes = states(model.parameters, recipe, "zero3" if cards > 1 else "ddp", cards) + least_bytes
    fits = [
        (fit.cards, fit.strategy)
        for fit in smallest_of_all(model.parameters, recipe, least_bytes, card_bytes)
        if fit.cards is not None
    ]
    # Of strategies that need equally many cards the first shares least, and so has least to send.
    needed = min(fits, key=lambda fit: fit[0]) if fits else None
    notes = [] if needed is None else [Note(code="cards_needed", params={"cards": needed[0], "strategy": needed[1]})]
    return msgspec.structs.replace(candidate, need_bytes=exact(short_bytes), sizing=notes)


def _fitting(candidate: Candidate, model: Model, strategy: str, own_bytes: float) -> Candidate:
    cards = max(1, candidate.count)
    notes = []
    if strategy != "ddp":
        notes.append(Note(code="fits_sharded", params={"strategy": strategy, "cards": cards}))
    need_bytes = own_bytes + model.rest_bytes
    if model.batch and model.per_sample_bytes and candidate.card_bytes is not None:
        share = math.ceil(model.batch / cards)
        parts = accumulate(share, need_bytes, model.per_sample_bytes, candidate.card_bytes)
        need_bytes += parts.batch * model.per_sample_bytes
        if parts.steps > 1:
            notes.append(Note(code="accumulates", params={"batch": parts.batch, "parts": parts.steps}))
    return msgspec.structs.replace(candidate, need_bytes=exact(need_bytes), sizing=notes)
