"""The whole bill of one job: what is charged, line by line, each with its interval, its formula and its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pacenote.advise.amount import Amount, exact, total
from pacenote.catalog.prices import Terms
from pacenote.records import Record

HOURS_PER_MONTH: Final = 730.0
"""Hours of a month in bills by the GB-month: 365 × 24 / 12, as cloud calculators count."""

WHOLE_HOUR_S: Final = 3600.0
"""Where nobody says how a provider rounds, the high end is rounded up to a whole hour, the coarsest way in use."""

SPOT_SOURCE: Final = (
    "J. T. Daly, A higher order estimate of the optimum checkpoint interval for restart dumps, "
    "Future Generation Computer Systems 22 (2006): expected time with exponential interruptions"
)

FORMULAS: Final[dict[str, str]] = {
    "compute": "price_per_h * work_s / 3600",
    "setup": "price_per_h * (boot_s + install_s) / 3600",
    "idle": "price_per_h * idle_s / 3600",
    "rounding": "price_per_h * (billed_s - used_s) / 3600",
    "spot_loss": "price_per_h * (expected_s - work_s) / 3600",
    "disk": "price_per_gb_month * disk_gb * kept_h / hours_per_month",
    "egress": "price_per_gb * max(0, egress_gb - free_gb)",
}
"""Code of a line → how its amount comes about, in the names of its ``factors``."""


class Line(Record, frozen=True, kw_only=True):
    """One line of a bill.

    Attributes:
        code: What it is for; a key of :data:`FORMULAS`.
        amount: Money, in the bill's currency.
        factors: What the formula is fed with, at the estimate.
        source: Where the price comes from.
    """

    code: str
    amount: Amount
    factors: dict[str, float] = {}
    source: str = ""


class Bill(Record, frozen=True, kw_only=True):
    """What one job costs.

    Attributes:
        lines: The lines.
        total: Their sum.
        currency: ISO code.
        wall_s: From the order to the end of the job, boot, install, interruptions and all, in seconds.
        billed_s: What is charged, in seconds.
        interruptions: Expected number; 0 unless spare capacity is used.
        missing: Codes of figures that no source has, so that the total leaves them out.
    """

    lines: list[Line]
    total: Amount
    currency: str
    wall_s: Amount
    billed_s: Amount
    interruptions: Amount = exact(0.0)
    missing: list[str] = []

    def amount(self, code: str) -> Amount:
        """Sum of the lines of one code; zero when there are none."""
        return total(line.amount for line in self.lines if line.code == code)


class Usage(Record, frozen=True, kw_only=True):
    """What one job uses.

    Attributes:
        work_s: Training itself, seconds.
        boot_s: From the order until the machine answers, seconds.
        install_s: Putting the environment and the data there, seconds.
        idle_s: Time that the machine stays on without working, seconds.
        disk_gb: Disk kept, GB.
        kept_s: How long the disk is kept beyond the run, seconds.
        egress_gb: Data that leaves the provider's network, GB.
    """

    work_s: Amount
    boot_s: Amount = exact(0.0)
    install_s: Amount = exact(0.0)
    idle_s: Amount = exact(0.0)
    disk_gb: float = 0.0
    kept_s: float = 0.0
    egress_gb: float = 0.0


class Spot(Record, frozen=True, kw_only=True):
    """Spare capacity that may be taken away.

    Attributes:
        interruptions_per_h: Rate at which it is taken.
        checkpoint_s: Training time between two checkpoints; ``None``: no checkpoints, all is lost.
        write_s: Time to write one checkpoint, seconds.
        restart_s: From an interruption until training goes on from the checkpoint, seconds.
    """

    interruptions_per_h: Amount
    checkpoint_s: float | None = None
    write_s: float = 0.0
    restart_s: float = 0.0


def billed(used_s: float, terms: Terms, start_s: float = 0.0) -> float:
    """Seconds that are charged for ``used_s``.

    Args:
        used_s: Seconds that the machine exists.
        terms: How the provider counts; without a granularity the time itself is charged.
        start_s: Where in the clock's period the machine starts, for providers that count whole periods of the clock.
    """
    if used_s <= 0:
        return 0.0
    charged = max(used_s, terms.minimum_s)
    step = terms.granularity_s
    if not step:
        return charged
    if terms.clock_aligned:
        offset = start_s % step
        return max(_up(offset + charged, step), _up(terms.minimum_s, step))
    return _up(charged, step)


def expected_s(work_s: float, rate_per_h: float, spot: Spot) -> float:
    """Expected seconds until ``work_s`` of training is done, interruptions at random and lost work done again.

    Between interruptions lie exponential times of mean ``m``; with segments of ``c`` seconds of work and ``w`` of
    writing, and restarts of ``r``, Daly (2006) has ``m * exp(r / m) * (exp((c + w) / m) - 1) * work / c``.

    Args:
        work_s: Training without interruptions, seconds.
        rate_per_h: Interruptions in an hour.
        spot: Checkpoints and restarts.

    Returns:
        Seconds; infinite when the job would never end within any time that a float holds.
    """
    if work_s <= 0:
        return 0.0
    segment_s = min(spot.checkpoint_s or work_s, work_s)
    write_s = spot.write_s if spot.checkpoint_s else 0.0
    whole_s = work_s + write_s * work_s / segment_s
    if rate_per_h <= 0:
        return whole_s
    mean_s = 3600.0 / rate_per_h
    try:
        growth = math.exp(spot.restart_s / mean_s) * math.expm1((segment_s + write_s) / mean_s)
    except OverflowError:
        return math.inf
    return mean_s * growth * work_s / segment_s


def make(price_per_h: float, usage: Usage, terms: Terms, *, spot: Spot | None = None, price_source: str = "") -> Bill:
    """Make the bill of one job.

    Args:
        price_per_h: Price of an hour, in ``terms.currency``.
        usage: What the job uses.
        terms: How the provider counts, and what disk and transfer cost.
        spot: Given where the price is that of spare capacity.
        price_source: Where the price was read.
    """
    per_s = price_per_h / 3600.0
    setup_s = usage.boot_s + usage.install_s
    work_s, loss_s, interruptions = usage.work_s, exact(0.0), exact(0.0)
    if spot is not None:
        rate = spot.interruptions_per_h
        with_loss = Amount(
            low=expected_s(work_s.low, rate.low, spot),
            value=expected_s(work_s.value, rate.value, spot),
            high=expected_s(work_s.high, rate.high, spot),
        )
        loss_s = _minus(with_loss, work_s)
        interruptions = (rate * with_loss).times(1 / 3600.0)
    wall_s = setup_s + work_s + loss_s
    used_s = wall_s + usage.idle_s
    billed_s = _billed(used_s, terms)
    lines = [
        _line("compute", work_s.times(per_s), price_source, price_per_h=price_per_h, work_s=work_s.value),
        _line(
            "setup",
            setup_s.times(per_s),
            price_source,
            price_per_h=price_per_h,
            boot_s=usage.boot_s.value,
            install_s=usage.install_s.value,
        ),
        _line(
            "spot_loss",
            loss_s.times(per_s),
            SPOT_SOURCE,
            price_per_h=price_per_h,
            expected_s=work_s.value + loss_s.value,
            work_s=work_s.value,
        ),
        _line("idle", usage.idle_s.times(per_s), price_source, price_per_h=price_per_h, idle_s=usage.idle_s.value),
        _line(
            "rounding",
            _minus(billed_s, used_s).times(per_s),
            terms.source,
            price_per_h=price_per_h,
            billed_s=billed_s.value,
            used_s=used_s.value,
        ),
        *_disk(usage, terms, used_s),
        *_egress(usage, terms),
    ]
    kept = [line for line in lines if line.code == "compute" or line.amount.high > 0]
    return Bill(
        lines=kept,
        total=total(line.amount for line in kept),
        currency=terms.currency,
        wall_s=wall_s,
        billed_s=billed_s,
        interruptions=interruptions,
        missing=_missing(price_per_h, usage, terms),
    )


def per_experiment(bill: Bill, experiments: int) -> Amount:
    """Money for one of several experiments that share the bill."""
    return bill.total.times(1.0 / experiments)


def experiments_per_day(wall_s: Amount) -> Amount:
    """How many jobs, one after the other, end in a day."""
    return Amount(low=86400.0 / wall_s.high, value=86400.0 / wall_s.value, high=86400.0 / wall_s.low)


def converted(bill: Bill, factor: float, currency: str) -> Bill:
    """The bill in another currency."""
    lines = [
        Line(code=line.code, amount=line.amount.times(factor), factors=line.factors, source=line.source)
        for line in bill.lines
    ]
    return Bill(
        lines=lines,
        total=bill.total.times(factor),
        currency=currency,
        wall_s=bill.wall_s,
        billed_s=bill.billed_s,
        interruptions=bill.interruptions,
        missing=bill.missing,
    )


def _up(value: float, step: float) -> float:
    # 3600.0000001 from adding floats is an hour, not two.
    return math.ceil(value / step - 1e-9) * step


def _billed(used_s: Amount, terms: Terms) -> Amount:
    charged = used_s.each(lambda seconds: billed(seconds, terms) if math.isfinite(seconds) else seconds)
    if terms.granularity_s is None and math.isfinite(charged.high):
        return Amount(low=charged.low, value=charged.value, high=_up(charged.high, WHOLE_HOUR_S))
    return charged


def _minus(more: Amount, less: Amount) -> Amount:
    """Difference of two amounts that move together, end by end; never below zero."""

    def gap(one: float, other: float) -> float:
        return one if math.isinf(one) else max(0.0, one - other)

    return Amount(low=gap(more.low, less.low), value=gap(more.value, less.value), high=gap(more.high, less.high))


def _line(code: str, amount: Amount, source: str, **factors: float) -> Line:
    return Line(code=code, amount=amount, factors=factors, source=source)


def _disk(usage: Usage, terms: Terms, used_s: Amount) -> Sequence[Line]:
    price = terms.disk_per_gb_month.value
    if price is None or not usage.disk_gb:
        return []
    kept_h = (used_s + exact(usage.kept_s)).times(1 / 3600.0)
    amount = kept_h.times(price * usage.disk_gb / HOURS_PER_MONTH)
    factors = {
        "price_per_gb_month": price,
        "disk_gb": usage.disk_gb,
        "kept_h": kept_h.value,
        "hours_per_month": HOURS_PER_MONTH,
    }
    return [Line(code="disk", amount=amount, factors=factors, source=terms.source)]


def _egress(usage: Usage, terms: Terms) -> Sequence[Line]:
    price = terms.egress_per_gb.value
    if price is None or not usage.egress_gb:
        return []
    charged = max(0.0, usage.egress_gb - terms.egress_free_gb)
    factors = {"price_per_gb": price, "egress_gb": usage.egress_gb, "free_gb": terms.egress_free_gb}
    return [Line(code="egress", amount=exact(price * charged), factors=factors, source=terms.source)]


def _missing(price_per_h: float, usage: Usage, terms: Terms) -> list[str]:
    found = []
    if price_per_h and terms.granularity_s is None:
        found.append("billing_granularity")
    if usage.disk_gb and terms.disk_per_gb_month.value is None:
        found.append("disk_price")
    if usage.egress_gb and terms.egress_per_gb.value is None:
        found.append("egress_price")
    return found
