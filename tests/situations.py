"""Short ways to write down candidates and questions for planted situations."""

from __future__ import annotations

from typing import Any

from pacenote.advise.amount import Amount, around, exact
from pacenote.advise.bill import Spot
from pacenote.advise.candidates import Candidate, Question
from pacenote.catalog.prices import Terms
from pacenote.records import Reading

HOUR = 3600.0
GB = 1e9
SECONDS = Terms(provider="cloud", granularity_s=1.0, source="test")


def hours(value: float, error_share: float = 0.05) -> Amount:
    return around(value * HOUR, error_share)


def here(time_h: float | None, **more: Any) -> Candidate:
    """The machine at hand, with a CPU."""
    time_s = None if time_h is None else hours(time_h, 0.02)
    price = Reading(value=0.0, method="listed")
    return Candidate(
        **{"name": "here", "kind": "here", "time_s": time_s, "method": "measured", "price_per_h": price, **more}
    )


def cloud(name: str, time_h: float | None, price: float | None, **more: Any) -> Candidate:
    """A rented machine with one card; its loader is fast enough unless said."""
    listed = Reading(reason="not_in_source") if price is None else Reading(value=price, method="listed")
    own: dict[str, Any] = {
        "name": name,
        "accelerator": "card",
        "count": 1,
        "time_s": None if time_h is None else hours(time_h),
        "loader_s": exact(1.0),
        "need_bytes": exact(4 * GB),
        "card_bytes": 16 * GB,
        "price_per_h": listed,
        "price_age_days": 10,
        "terms": SECONDS,
    }
    return Candidate(**{**own, **more})


def free(name: str, time_h: float, **more: Any) -> Candidate:
    """A free tier with sessions of 12 hours."""
    return cloud(name, time_h, 0.0, **{"kind": "free", "session_limit_s": 12 * HOUR, **more})


def spot(name: str, time_h: float, price: float, rate: float, checkpoint_h: float | None = 0.5) -> Candidate:
    """Spare capacity that is taken ``rate`` times an hour."""
    kept = None if checkpoint_h is None else checkpoint_h * HOUR
    return cloud(name, time_h, price, spot=Spot(interruptions_per_h=exact(rate), checkpoint_s=kept, restart_s=300))


def ask(**more: Any) -> Question:
    """A question; cheapest unless said."""
    return Question(**{"goal": "cheapest", **more})
