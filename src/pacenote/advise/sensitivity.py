"""What would change the answer: each input moved by itself, and the value at which the recommendation turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from pacenote.advise.amount import Amount, exact
from pacenote.advise.bill import Spot
from pacenote.advise.candidates import Candidate, Judged, Question
from pacenote.advise.choose import REFUSALS, Advice, cost, decide
from pacenote.advise.judge import judge
from pacenote.records import Reading, Record

FARTHEST: Final = 64.0
"""Inputs are followed up to this many times and down to this part of their value; what turns beyond is not told."""

STEP: Final = 2.0 ** (1 / 8)
"""Ratio between two looks on the way out. Between them the answer is bisected to the last digits of a float; an answer
that turns and turns back within nine per cent is not seen."""

RIVALS: Final = 3
"""How many of the next best are moved besides the best one."""


class Turn(Record, frozen=True, kw_only=True):
    """A value of one input at which the recommendation changes.

    Attributes:
        input: Which input: ``"price"``, ``"time"``, ``"loader"``, ``"interruptions"``, ``"hour_worth"``,
            ``"deadline"``, ``"money"``, ``"jobs"``, ``"gain"``.
        subject: Candidate whose input it is; empty for inputs of the question.
        now: Its value now, in the unit of the input.
        at: The value at which the answer turns.
        verdict: Code of the answer beyond.
        choice: What is then taken.
    """

    input: str
    subject: str
    now: float
    at: float
    verdict: str
    choice: str


class Swing(Record, frozen=True, kw_only=True):
    """What an input's own interval does to the cost of what is recommended, for a tornado.

    Attributes:
        input: Which input.
        subject: Candidate whose input it is.
        low: Cost with the input at its low end.
        high: Cost with it at its high end.
        turns: Whether the recommendation changes within the interval.
    """

    input: str
    subject: str
    low: float
    high: float
    turns: bool


class _Input(Record, frozen=True, kw_only=True):
    name: str
    subject: str
    now: float


Decide = Callable[[float], Advice]


def turns(candidates: Sequence[Candidate], question: Question) -> list[Turn]:
    """Every value at which the recommendation changes, nearest first, one for each input and direction."""
    case = _Case(candidates, question)
    found = [turn for one in case.inputs() for turn in _both_ways(one, case.decide(one), case.base)]
    return sorted(found, key=lambda turn: abs(math.log(turn.at / turn.now)))


def tornado(candidates: Sequence[Candidate], question: Question) -> list[Swing]:
    """Cost of the recommended candidate over the interval of each of its inputs, widest first."""
    case = _Case(candidates, question)
    best = next((one for one in case.judged if one.name == case.base.choice), None)
    if best is None or best.candidate.time_s is None:
        return []
    found = []
    for name, amount in _intervals(best.candidate):
        costs, changed = [], False
        for value in (amount.low, amount.high):
            moved = _set(best.candidate, name, exact(value))
            amount_then = cost(judge(moved, question), question)
            costs.append(math.inf if amount_then is None else amount_then.value)
            changed = changed or _key(case.with_candidate(moved)) != _key(case.base)
        found.append(Swing(input=name, subject=best.name, low=min(costs), high=max(costs), turns=changed))
    return sorted(found, key=lambda swing: swing.low - swing.high)


class _Case:
    """The candidates, judged once; a moved input judges again only what depends on it."""

    def __init__(self, candidates: Sequence[Candidate], question: Question) -> None:
        self.candidates = list(candidates)
        self.question = question
        self.judged = [judge(candidate, question) for candidate in candidates]
        self.base = decide(self.judged, question)

    def with_candidate(self, moved: Candidate) -> Advice:
        again = [judge(moved, self.question) if one.name == moved.name else one for one in self.judged]
        return decide(again, self.question)

    def inputs(self) -> Iterator[_Input]:
        question = self.question
        near = [one for one in self.base.ranked if one.work_s is not None][: 1 + RIVALS]
        for one in near:
            yield from _own_inputs(one)
        if question.goal == "balanced" and question.hour_worth > 0:
            yield _Input(name="hour_worth", subject="", now=question.hour_worth)
        for name, value in (("deadline", question.deadline_s), ("money", question.money)):
            if value:
                yield _Input(name=name, subject="", now=value)
        if question.jobs_per_month:
            yield _Input(name="jobs", subject="", now=question.jobs_per_month)
        if question.causes:
            yield _Input(name="gain", subject="", now=max(cause.gain_ratio.value for cause in question.causes))

    def decide(self, one: _Input) -> Decide:
        if one.subject:
            candidate = next(candidate for candidate in self.candidates if candidate.name == one.subject)
            return lambda factor: self.with_candidate(_scaled(candidate, one.name, factor))
        return lambda factor: self._asked(one.name, factor)

    def _asked(self, name: str, factor: float) -> Advice:
        question = self.question
        if name == "hour_worth":  # no candidate depends on it
            return decide(self.judged, msgspec.structs.replace(question, hour_worth=question.hour_worth * factor))
        if name == "gain":
            causes = [
                msgspec.structs.replace(cause, gain_ratio=cause.gain_ratio.times(factor)) for cause in question.causes
            ]
            return decide(self.judged, msgspec.structs.replace(question, causes=causes))
        field = {"deadline": "deadline_s", "money": "money", "jobs": "jobs_per_month"}[name]
        moved = msgspec.structs.replace(question, **{field: getattr(question, field) * factor})
        return decide([judge(candidate, moved) for candidate in self.candidates], moved)


def _own_inputs(one: Judged) -> Iterator[_Input]:
    candidate = one.candidate
    assert candidate.time_s is not None
    yield _Input(name="time", subject=one.name, now=candidate.time_s.value)
    if candidate.price_per_h.value:
        yield _Input(name="price", subject=one.name, now=candidate.price_per_h.value)
    if candidate.loader_s is not None:
        yield _Input(name="loader", subject=one.name, now=candidate.loader_s.value)
    if candidate.spot is not None and candidate.spot.interruptions_per_h.value > 0:
        yield _Input(name="interruptions", subject=one.name, now=candidate.spot.interruptions_per_h.value)


def _both_ways(one: _Input, decision: Decide, base: Advice) -> Iterator[Turn]:
    for step in (STEP, 1 / STEP):
        at = _first_turn(decision, _key(base), step)
        if at is not None:
            beyond = decision(at)
            yield Turn(
                input=one.name,
                subject=one.subject,
                now=one.now,
                at=one.now * at,
                verdict=beyond.verdict.code,
                choice=beyond.choice,
            )


def _first_turn(decision: Decide, key: tuple[str, str], step: float) -> float | None:
    """The factor nearest to 1 on one side at which the answer is another; the first that is on the far side."""
    same, factor = 1.0, step
    while 1 / FARTHEST <= factor <= FARTHEST:
        if _key(decision(factor)) != key:
            return _bisect(decision, key, same, factor)
        same, factor = factor, factor * step
    return None


def _bisect(decision: Decide, key: tuple[str, str], same: float, other: float) -> float:
    while True:
        middle = (same + other) / 2
        if middle in (same, other):
            return other
        if _key(decision(middle)) == key:
            same = middle
        else:
            other = middle


def _key(advice: Advice) -> tuple[str, str]:
    # One refusal for another is no change that anybody could use.
    return ("", "") if advice.verdict.code in REFUSALS else (advice.verdict.code, advice.choice)


def _scaled(candidate: Candidate, name: str, factor: float) -> Candidate:
    """The candidate with one input times ``factor``, its interval along with it."""
    if name == "price":
        price = candidate.price_per_h
        assert price.value is not None
        moved = Reading(value=price.value * factor, method=price.method)
        return msgspec.structs.replace(candidate, price_per_h=moved)
    now = dict(_intervals(candidate))[name]
    return _set(candidate, name, now.times(factor))


def _intervals(candidate: Candidate) -> Iterator[tuple[str, Amount]]:
    if candidate.time_s is not None:
        yield "time", candidate.time_s
    if candidate.loader_s is not None:
        yield "loader", candidate.loader_s
    if candidate.spot is not None:
        yield "interruptions", candidate.spot.interruptions_per_h
    for name, amount in (("boot", candidate.boot_s), ("install", candidate.install_s), ("idle", candidate.idle_s)):
        if amount.high > 0:
            yield name, amount


def _set(candidate: Candidate, name: str, amount: Amount) -> Candidate:
    if name == "interruptions":
        assert candidate.spot is not None
        spot: Spot = msgspec.structs.replace(candidate.spot, interruptions_per_h=amount)
        return msgspec.structs.replace(candidate, spot=spot)
    return msgspec.structs.replace(candidate, **{f"{name}_s": amount})
