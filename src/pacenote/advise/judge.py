"""One candidate by itself: how long, how much, whether it can be taken, and what should be known before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from pacenote.advise import bill, energy
from pacenote.advise.amount import Amount, largest
from pacenote.advise.bill import Bill, Usage
from pacenote.advise.candidates import TEAMS, Candidate, Judged, Note, Question
from pacenote.advise.purchase import fixed_per_month, per_job

WEEK_S: Final = 7 * 86400.0

DOMINATES_SHARE: Final = 0.5
"""A line that is more than half of the bill is told: the price per hour then says little about the cost."""

UNPLEASANT_INTERRUPTIONS: Final = 3.0
"""Expected interruptions from which spare capacity without checkpoints is called risky: at three, a run without one
happens in a twentieth of all cases (exp(-3))."""


def judge(candidate: Candidate, question: Question) -> Judged:
    """Work out one candidate."""
    if candidate.time_s is None or not candidate.time_s.ordered or candidate.time_s.value == 0:
        return Judged(candidate=candidate, problems=[Note(code="no_time")])
    work_s, bound = _bounded(candidate.time_s, candidate.loader_s)
    needs = [*candidate.needs]
    made = _bill(candidate, work_s)
    if made is None and candidate.kind in ("cloud", "free"):
        needs.append("price")
    money = _money(candidate, question, made, work_s)
    wall_s = _wall(candidate, made, work_s)
    footprint = None
    if candidate.power_w is not None:
        running_s = made.wall_s if made is not None else work_s
        footprint = energy.footprint(candidate.power_w, running_s, pue=candidate.pue, grid=candidate.grid)
    judged = Judged(
        candidate=candidate,
        work_s=work_s,
        wall_s=wall_s,
        money=money,
        bill=made,
        energy_j=None if footprint is None else footprint.energy_j,
        co2_g=None if footprint is None else footprint.co2_g,
        loader_bound=bound,
    )
    return _with_notes(judged, question, needs)


def effort(candidate: Candidate) -> int:
    """How much a team must know: 0 nothing, 1 a machine elsewhere, 2 cards, spot or an own machine, 3 two of these.

    From the third article's rules for teams (a novice starts on one cloud machine, a pool of cards needs operations).
    It is an order, not a measurement: it only puts a candidate behind safe ones, and only when a team is named.
    """
    if candidate.kind == "here":
        return 0
    harder = (candidate.count > 1) + (candidate.spot is not None) + (candidate.kind == "own")
    return min(3, 1 + harder)


def _bounded(time_s: Amount, loader_s: Amount | None) -> tuple[Amount, bool]:
    """A step takes as long as the slower of device and loader, which work at the same time."""
    if loader_s is None:
        return time_s, False
    return largest(time_s, loader_s), loader_s.value > time_s.value


def _bill(candidate: Candidate, work_s: Amount) -> Bill | None:
    price = candidate.price_per_h.value
    if candidate.kind == "own" or price is None:
        return None
    usage = Usage(
        work_s=work_s,
        boot_s=candidate.boot_s,
        install_s=candidate.install_s,
        idle_s=candidate.idle_s,
        disk_gb=candidate.disk_gb,
        kept_s=candidate.kept_s,
        egress_gb=candidate.egress_gb,
    )
    return bill.make(price, usage, candidate.terms, spot=candidate.spot, price_source=candidate.price_source)


def _money(candidate: Candidate, question: Question, made: Bill | None, work_s: Amount) -> Amount | None:
    if candidate.kind == "own":
        if candidate.purchase is None or not question.jobs_per_month:
            return None
        fixed = fixed_per_month(candidate.purchase) / question.jobs_per_month
        own = candidate.purchase
        return work_s.each(lambda seconds: fixed + per_job(own, seconds)).times(candidate.factor)
    return None if made is None else made.total.times(candidate.factor)


def _wall(candidate: Candidate, made: Bill | None, work_s: Amount) -> Amount:
    once = made.wall_s if made is not None else candidate.boot_s + candidate.install_s + work_s
    if candidate.session_limit_s is None:
        return once
    setup_s = candidate.boot_s + candidate.install_s
    return Amount(
        low=_in_sessions(candidate, work_s.low, setup_s.low),
        value=_in_sessions(candidate, work_s.value, setup_s.value),
        high=_in_sessions(candidate, work_s.high, setup_s.high),
    )


def _in_sessions(candidate: Candidate, work_s: float, setup_s: float) -> float:
    """Time over sessions that each begin with the set-up, and over weeks whose quota runs out."""
    room_s = (candidate.session_limit_s or math.inf) - setup_s
    if room_s <= 0:
        return math.inf
    active_s = work_s + math.ceil(work_s / room_s - 1e-9) * setup_s
    weekly_s = candidate.weekly_limit_s
    if weekly_s is None or active_s <= weekly_s:
        return active_s
    waited = math.ceil(active_s / weekly_s - 1e-9) - 1
    return active_s + waited * max(0.0, WEEK_S - weekly_s)


def _with_notes(judged: Judged, question: Question, needs: list[str]) -> Judged:
    problems = [*_missing(judged, question, needs), *_limits(judged, question)]
    doubts = [*_doubts(judged, question)] if not problems else []
    return Judged(
        candidate=judged.candidate,
        work_s=judged.work_s,
        wall_s=judged.wall_s,
        money=judged.money,
        bill=judged.bill,
        energy_j=judged.energy_j,
        co2_g=judged.co2_g,
        loader_bound=judged.loader_bound,
        problems=problems,
        doubts=doubts,
        cautions=[*_cautions(judged, question)],
    )


def _missing(judged: Judged, question: Question, needs: list[str]) -> Iterator[Note]:
    candidate = judged.candidate
    if needs:
        yield Note(code="figure_missing", params={"figures": needs})
    if candidate.kind == "own" and judged.money is None:
        what = "purchase_price" if candidate.purchase is None else "jobs_per_month"
        yield Note(code="figure_missing", params={"figures": [what]})
    if question.latency_limit_s is not None and candidate.latency_s is None:
        yield Note(code="figure_missing", params={"figures": ["latency"]})


def _limits(judged: Judged, question: Question) -> Iterator[Note]:
    """What rules a candidate out at its estimate; an interval that only reaches over a limit is a doubt."""
    candidate, wall_s, money = judged.candidate, judged.wall_s, judged.money
    assert wall_s is not None and judged.work_s is not None
    if question.regions and not _allowed(candidate, question.regions):
        yield Note(code="region", params={"region": candidate.region})
    if _over(candidate.need_bytes, candidate.card_bytes):
        assert candidate.need_bytes is not None
        yield Note(
            code="does_not_fit",
            params={"need_bytes": candidate.need_bytes.value, "card_bytes": candidate.card_bytes},
        )
    if candidate.spot is not None and not math.isfinite(wall_s.value):
        yield Note(code="spot_hopeless", params={"rate": candidate.spot.interruptions_per_h.value})
    elif _over(wall_s, question.deadline_s):
        yield Note(code="too_late", params={"wall_s": wall_s.value, "deadline_s": question.deadline_s})
    if money is not None and _over(money, question.money):
        yield Note(
            code="too_dear", params={"money": money.value, "limit": question.money, "currency": question.currency}
        )
    if _over(candidate.latency_s, question.latency_limit_s):
        assert candidate.latency_s is not None
        yield Note(
            code="too_slow_to_answer",
            params={"latency_s": candidate.latency_s.value, "limit_s": question.latency_limit_s},
        )
    limit_s = candidate.session_limit_s
    longest_s = judged.work_s.value + candidate.boot_s.value + candidate.install_s.value
    if limit_s is not None and not question.resumable and longest_s > limit_s:
        yield Note(code="session_too_short", params={"limit_s": limit_s, "wall_s": longest_s})


def _doubts(judged: Judged, question: Question) -> Iterator[Note]:
    candidate, wall_s, money = judged.candidate, judged.wall_s, judged.money
    assert wall_s is not None
    if _reaches(wall_s, question.deadline_s):
        yield Note(code="deadline_uncertain", params={"high_s": wall_s.high, "deadline_s": question.deadline_s})
    if _reaches(money, question.money):
        assert money is not None
        yield Note(
            code="money_uncertain", params={"high": money.high, "limit": question.money, "currency": question.currency}
        )
    if _reaches(candidate.need_bytes, candidate.card_bytes):
        assert candidate.need_bytes is not None
        yield Note(
            code="memory_uncertain",
            params={"high_bytes": candidate.need_bytes.high, "card_bytes": candidate.card_bytes},
        )
    if _reaches(candidate.latency_s, question.latency_limit_s):
        assert candidate.latency_s is not None
        yield Note(
            code="latency_uncertain",
            params={"high_s": candidate.latency_s.high, "limit_s": question.latency_limit_s},
        )
    if question.team is not None and effort(candidate) > TEAMS[question.team]:
        yield Note(code="beyond_team", params={"team": question.team})
    interruptions = judged.bill.interruptions.value if judged.bill is not None else 0.0
    if interruptions >= UNPLEASANT_INTERRUPTIONS and not _checkpoints(candidate):
        yield Note(code="spot_too_risky", params={"interruptions": interruptions})


def _cautions(judged: Judged, question: Question) -> Iterator[Note]:
    candidate = judged.candidate
    yield from candidate.sizing
    paid = candidate.kind == "cloud" and bool(candidate.price_per_h.value)
    if paid and candidate.price_age_days is None:
        yield Note(code="price_undated")
    elif paid and candidate.price_age_days is not None and candidate.price_age_days > question.stale_days:
        yield Note(code="price_stale", params={"days": candidate.price_age_days})
    if judged.bill is not None:
        yield from _of_bill(judged.bill)
    if candidate.rate_read_on:
        yield Note(code="converted", params={"currency": candidate.terms.currency, "date": candidate.rate_read_on})
    if candidate.kind == "here" and candidate.price_per_h.value == 0:
        yield Note(code="power_left_out")
    if judged.loader_bound:
        assert candidate.time_s is not None and judged.work_s is not None
        share = 1 - candidate.time_s.value / judged.work_s.value
        yield Note(code="waits_for_loader", params={"share": share})
    limit_s = candidate.session_limit_s
    if limit_s is not None and judged.work_s is not None and judged.work_s.value > limit_s:
        yield Note(code="several_sessions", params={"limit_s": limit_s})
    if candidate.method == "measured" and candidate.time_s is not None and candidate.time_s.spread_share == 0:
        yield Note(code="no_interval")
    if candidate.need_bytes is None and candidate.accelerator and candidate.kind != "here":
        yield Note(code="memory_unknown")
    if candidate.loader_s is None and candidate.accelerator and candidate.kind != "here":
        yield Note(code="loader_unknown")


def _of_bill(made: Bill) -> Iterator[Note]:
    whole = made.total.value
    for code in ("egress", "setup", "idle", "disk", "spot_loss", "rounding"):
        amount = made.amount(code).value
        if whole > 0 and math.isfinite(whole) and amount / whole > DOMINATES_SHARE:
            yield Note(code=f"{code}_dominates", params={"share": amount / whole})
    if made.interruptions.value > 0:
        yield Note(code="spot_interruptions", params={"interruptions": made.interruptions.value})
    if made.missing:
        yield Note(code="bill_incomplete", params={"figures": made.missing})


def _checkpoints(candidate: Candidate) -> bool:
    return candidate.spot is not None and candidate.spot.checkpoint_s is not None


def _allowed(candidate: Candidate, regions: list[str]) -> bool:
    return candidate.kind in ("here", "own") or any(candidate.region.startswith(start) for start in regions)


def _over(amount: Amount | None, limit: float | None) -> bool:
    return amount is not None and limit is not None and amount.value > limit


def _reaches(amount: Amount | None, limit: float | None) -> bool:
    return amount is not None and limit is not None and amount.value <= limit < amount.high
