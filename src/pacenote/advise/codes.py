"""Every code that advice can carry, with the parameters that come with it.

The words for each are in :mod:`pacenote.report.locale`; a test holds that both languages have a sentence for each.
"""

from __future__ import annotations

from typing import Final

_TAKE: Final = ("name", "wall_s", "low_s", "high_s", "money", "low", "high", "currency")

VERDICTS: Final[dict[str, tuple[str, ...]]] = {
    "rent": _TAKE,
    "buy": _TAKE,
    "use_free": _TAKE,
    "stay_loader": ("name", "wall_s", "device_s", "other_s", "share"),
    "stay_small": ("name", "wall_s", "device_s", "other_s", "share"),
    "stay_cheaper": ("wall_s",),
    "stay_only": ("wall_s",),
    "fix_first": ("cause", "gain", "wall_s", "name", "other_s"),
    "measure": ("name", "first", "second"),
    "measure_first": ("names",),
    "deadline_impossible": ("name", "wall_s", "deadline_s"),
    "money_impossible": ("name", "money", "limit", "currency"),
    "nothing_fits": ("name", "need_bytes", "card_bytes"),
    "nothing_left": ("names",),
    "nothing_asked": (),
}

_SECOND: Final = ("second", "money", "second_money", "wall_s", "second_s", "currency", "hour_worth")

REASONS: Final[dict[str, tuple[str, ...]]] = {
    "best_cheapest": _SECOND,
    "best_fastest": _SECOND,
    "best_balanced": _SECOND,
    "only_one_left": (),
    "left_out": ("names",),
    "spot_left": ("names",),
    "buying_pays_from": ("name", "jobs", "capacity"),
    "buying_never_pays": ("name", "jobs", "capacity"),
}

PROBLEMS: Final[dict[str, tuple[str, ...]]] = {
    "no_time": (),
    "figure_missing": ("figures",),
    "region": ("region",),
    "does_not_fit": ("need_bytes", "card_bytes"),
    "too_late": ("wall_s", "deadline_s"),
    "too_dear": ("money", "limit", "currency"),
    "too_slow_to_answer": ("latency_s", "limit_s"),
    "session_too_short": ("limit_s", "wall_s"),
    "spot_hopeless": ("rate",),
}
"""Why a candidate cannot be taken."""

DOUBTS: Final[dict[str, tuple[str, ...]]] = {
    "deadline_uncertain": ("high_s", "deadline_s"),
    "money_uncertain": ("high", "limit", "currency"),
    "memory_uncertain": ("high_bytes", "card_bytes"),
    "latency_uncertain": ("high_s", "limit_s"),
    "beyond_team": ("team",),
    "spot_too_risky": ("interruptions",),
}
"""Why it stands behind those that are safe."""

CAUTIONS: Final[dict[str, tuple[str, ...]]] = {
    "price_stale": ("days",),
    "price_undated": (),
    "egress_dominates": ("share",),
    "setup_dominates": ("share",),
    "idle_dominates": ("share",),
    "disk_dominates": ("share",),
    "spot_loss_dominates": ("share",),
    "rounding_dominates": ("share",),
    "spot_interruptions": ("interruptions",),
    "bill_incomplete": ("figures",),
    "waits_for_loader": ("share",),
    "fits_sharded": ("strategy", "cards"),
    "accumulates": ("batch", "parts"),
    "cards_needed": ("cards", "strategy"),
    "several_sessions": ("limit_s",),
    "converted": ("currency", "date"),
    "power_left_out": (),
    "no_interval": (),
    "memory_unknown": (),
    "loader_unknown": (),
}
"""What should be known before it is taken."""

CODES: Final[dict[str, tuple[str, ...]]] = {**VERDICTS, **REASONS, **PROBLEMS, **DOUBTS, **CAUTIONS}

FIGURES: Final = (
    "price",
    "spot_price",
    "interruptions",
    "purchase_price",
    "jobs_per_month",
    "latency",
    "billing_granularity",
    "disk_price",
    "egress_price",
    "accelerator",
)
"""What can be missing."""
