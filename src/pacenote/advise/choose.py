"""All candidates together: what none beats, the short list, and the one recommendation with its reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from pacenote.advise.amount import Amount
from pacenote.advise.candidates import Candidate, Judged, Note, Question
from pacenote.advise.judge import effort, judge
from pacenote.advise.purchase import break_even
from pacenote.records import Record

WORTH_RATIO: Final = 1.2
"""A device that is less than this much faster is called no faster: intervals of predictions are wider than that."""

UNDECIDED_SHARE: Final = 0.5
"""When another may be better by more than this share of the first's cost, a measurement is worth more than a choice."""

_LIMITS: Final = {"too_late": "deadline_impossible", "too_dear": "money_impossible", "does_not_fit": "nothing_fits"}


REFUSALS: Final = frozenset({*_LIMITS.values(), "nothing_left", "nothing_asked", "measure_first"})
"""Verdicts that recommend nothing."""


class Advice(Record, frozen=True, kw_only=True):
    """The answer.

    Attributes:
        verdict: What to do.
        choice: Name of the candidate that it is about; empty when there is none.
        reasons: Why, what to know before, and what stands against others.
        ranked: Every candidate, the best first; those that cannot be taken last.
        pareto: Names of those that no other beats in time, money and energy at once.
    """

    verdict: Note
    choice: str = ""
    reasons: list[Note] = []
    ranked: list[Judged] = []
    pareto: list[str] = []


def advise(candidates: Sequence[Candidate], question: Question) -> Advice:
    """Judge every candidate and recommend one, or say honestly why none."""
    return decide([judge(candidate, question) for candidate in candidates], question)


def decide(judged: Sequence[Judged], question: Question) -> Advice:
    """Recommend one of candidates that are judged already."""
    ranked = sorted(judged, key=lambda one: _order(one, question))
    feasible = [one for one in ranked if one.feasible]
    verdict, choice, reasons = _refuse(ranked) if not feasible else _recommend(feasible, ranked, question)
    return Advice(
        verdict=verdict, choice=choice, reasons=reasons, ranked=ranked, pareto=[one.name for one in pareto(feasible)]
    )


def cost(one: Judged, question: Question) -> Amount | None:
    """What is made small: money, hours, or money and hours by what an hour is worth."""
    if one.money is None or one.wall_s is None:
        return None
    hours = one.wall_s.times(1 / 3600.0)
    if question.goal == "cheapest":
        return one.money
    return hours if question.goal == "fastest" else one.money + hours.times(question.hour_worth)


def pareto(feasible: Sequence[Judged]) -> list[Judged]:
    """Those that no other beats: as good in time, money and energy, and better in one of them."""
    return [one for one in feasible if not any(_beats(other, one) for other in feasible if other is not one)]


def _beats(other: Judged, one: Judged) -> bool:
    pairs = [(other.wall_s, one.wall_s), (other.money, one.money), (other.energy_j, one.energy_j)]
    known = [(mine.value, theirs.value) for mine, theirs in pairs if mine is not None and theirs is not None]
    # An unknown energy neither saves nor sinks a candidate: the comparison is then over time and money.
    return all(mine <= theirs for mine, theirs in known) and any(mine < theirs for mine, theirs in known)


def _order(one: Judged, question: Question) -> tuple[int, float, float, float, int, str]:
    tier = 2 if not one.feasible else int(not one.safe)
    amount = cost(one, question)
    value = math.inf if amount is None else amount.value
    wall = math.inf if one.wall_s is None else one.wall_s.value
    money = math.inf if one.money is None else one.money.value
    return tier, value, wall, money, effort(one.candidate), one.name


def _recommend(
    feasible: Sequence[Judged], ranked: Sequence[Judged], question: Question
) -> tuple[Note, str, list[Note]]:
    best = feasible[0]
    reasons = [*_why(feasible, question), *best.doubts, *best.cautions, *_of_others(best, ranked, question)]
    here = next((one for one in ranked if one.candidate.kind == "here" and one.work_s is not None), None)
    fix = _fix(best, here, question)
    if fix is not None:
        return fix, here.name if here else "", reasons
    unsure = _undecided(feasible, question)
    if unsure is not None:
        return unsure, best.name, reasons
    if best.candidate.kind == "here":
        return _stay(best, ranked), best.name, reasons
    code = {"own": "buy", "free": "use_free"}.get(best.candidate.kind, "rent")
    return Note(code=code, params=_figures(best, question)), best.name, reasons


def _figures(one: Judged, question: Question) -> dict[str, object]:
    assert one.wall_s is not None and one.money is not None
    return {
        "name": one.name,
        "wall_s": one.wall_s.value,
        "low_s": one.wall_s.low,
        "high_s": one.wall_s.high,
        "money": one.money.value,
        "low": one.money.low,
        "high": one.money.high,
        "currency": question.currency,
    }


def _why(feasible: Sequence[Judged], question: Question) -> list[Note]:
    best, others = feasible[0], feasible[1:]
    if not others:
        return [Note(code="only_one_left")]
    second = others[0]
    assert best.wall_s and second.wall_s and best.money and second.money
    return [
        Note(
            code=f"best_{question.goal}",
            params={
                "second": second.name,
                "money": best.money.value,
                "second_money": second.money.value,
                "wall_s": best.wall_s.value,
                "second_s": second.wall_s.value,
                "currency": question.currency,
                "hour_worth": question.hour_worth,
            },
        )
    ]


def _of_others(best: Judged, ranked: Sequence[Judged], question: Question) -> list[Note]:
    """What should be said of those that were not taken: missing figures, spot, buying."""
    found = []
    blocked = [one for one in ranked if any(note.code in ("figure_missing", "no_time") for note in one.problems)]
    if blocked:
        found.append(Note(code="left_out", params={"names": [one.name for one in blocked]}))
    risky = [
        one
        for one in ranked
        if any(note.code in ("spot_too_risky", "spot_hopeless") for note in (*one.doubts, *one.problems))
    ]
    if risky and best not in risky:
        found.append(Note(code="spot_left", params={"names": [one.name for one in risky]}))
    for one in ranked:
        own = one.candidate.purchase
        if own is None or one.work_s is None or best.money is None or best.candidate.kind == "own":
            continue
        even = break_even(own, one.work_s.value, best.money.value / one.candidate.factor, question.jobs_per_month)
        params = {"name": one.name, "jobs": even.jobs_per_month, "capacity": even.capacity_per_month}
        found.append(Note(code="buying_pays_from" if even.jobs_per_month else "buying_never_pays", params=params))
    return found


def _fix(best: Judged, here: Judged | None, question: Question) -> Note | None:
    """Mending what is wrong here beats moving when the mended machine is at least as good as the best of the others."""
    if here is None or best.candidate.kind == "here" or not question.causes:
        return None
    cause = max(question.causes, key=lambda one: one.gain_ratio.value)
    gain = cause.gain_ratio.value
    mended = judge(_faster(here.candidate, gain), question)
    old, new = cost(best, question), cost(mended, question)
    if not mended.safe or old is None or new is None or new.value > old.value:
        return None
    assert mended.wall_s is not None and best.wall_s is not None
    return Note(
        code="fix_first",
        params={
            "cause": cause.code,
            "gain": gain,
            "wall_s": mended.wall_s.value,
            "name": best.name,
            "other_s": best.wall_s.value,
        },
    )


def _faster(candidate: Candidate, gain: float) -> Candidate:
    changes: dict[str, Amount] = {}
    if candidate.time_s is not None:
        changes["time_s"] = candidate.time_s.times(1 / gain)
    if candidate.loader_s is not None:
        changes["loader_s"] = candidate.loader_s.times(1 / gain)
    return msgspec.structs.replace(candidate, **changes)


def _undecided(feasible: Sequence[Judged], question: Question) -> Note | None:
    """Not decidable yet: the second may be much better, and a measurement of one of the two could tell."""
    if len(feasible) < 2:
        return None
    best = feasible[0]
    mine = cost(best, question)
    rivals = [one for one in feasible[1:] if one.safe == best.safe]
    for other in rivals:
        theirs = cost(other, question)
        if mine is None or theirs is None or mine.value <= 0 or not math.isfinite(mine.high):
            continue
        if mine.high - theirs.low > UNDECIDED_SHARE * mine.value:
            unknown = [one for one in (best, other) if one.candidate.method != "measured"]
            if not unknown:
                return None
            widest = max(unknown, key=lambda one: one.wall_s.spread_share if one.wall_s else 0.0)
            return Note(code="measure", params={"name": widest.name, "first": best.name, "second": other.name})
    return None


def _stay(best: Judged, ranked: Sequence[Judged]) -> Note:
    """Why the machine at hand is the answer."""
    timed = [one for one in ranked if one.work_s is not None and one is not best and one.candidate.accelerator]
    assert best.work_s is not None
    if not timed or best.candidate.accelerator:
        return Note(code="stay_cheaper" if timed else "stay_only", params={"wall_s": best.work_s.value})
    fastest = min(timed, key=lambda one: one.candidate.time_s.value if one.candidate.time_s else math.inf)
    device_s, real_s = fastest.candidate.time_s, fastest.work_s
    assert device_s is not None and real_s is not None
    params = {
        "name": fastest.name,
        "wall_s": best.work_s.value,
        "device_s": device_s.value,
        "other_s": real_s.value,
        "share": 1 - device_s.value / real_s.value,
    }
    if device_s.value * WORTH_RATIO > best.work_s.value:
        return Note(code="stay_small", params=params)
    if real_s.value * WORTH_RATIO > best.work_s.value:
        return Note(code="stay_loader", params=params)
    return Note(code="stay_cheaper", params={"wall_s": best.work_s.value})


def _refuse(ranked: Sequence[Judged]) -> tuple[Note, str, list[Note]]:
    """No candidate can be taken: say what stands in the way of most, or of the nearest."""
    if not ranked:
        return Note(code="nothing_asked"), "", []
    codes = [[note.code for note in one.problems] for one in ranked]
    if all("no_time" in found for found in codes):
        return Note(code="measure_first", params={"names": [one.name for one in ranked]}), "", []
    timed = [one for one in ranked if one.wall_s is not None]
    for code, verdict in _LIMITS.items():
        hit = [one for one in timed if code in [note.code for note in one.problems]]
        # The wall in the way is the one without which something could be taken.
        if any(len(one.problems) == 1 for one in hit):
            return _wall(verdict, code, [one for one in hit if len(one.problems) == 1])
    reasons = [Note(code=note.code, params={**note.params, "name": one.name}) for one in timed for note in one.problems]
    return Note(code="nothing_left", params={"names": [one.name for one in ranked]}), "", _distinct(reasons)


def _wall(verdict: str, code: str, hit: Sequence[Judged]) -> tuple[Note, str, list[Note]]:
    def short(one: Judged) -> float:
        amounts = {"too_late": one.wall_s, "too_dear": one.money, "does_not_fit": one.candidate.need_bytes}
        amount = amounts[code]
        return math.inf if amount is None else amount.value

    nearest = min(hit, key=short)
    note = next(note for note in nearest.problems if note.code == code)
    return Note(code=verdict, params={"name": nearest.name, **note.params}), nearest.name, nearest.cautions


def _distinct(notes: Sequence[Note]) -> list[Note]:
    return list({note.code: note for note in notes}.values())
