"""Planted situations: the right recommendation, and the right refusal."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
from situations import GB, HOUR, SECONDS, ask, cloud, free, here, hours, spot

from pacenote.advise.amount import between, exact
from pacenote.advise.candidates import Candidate, Cause, Question
from pacenote.advise.choose import Advice, advise
from pacenote.advise.codes import CODES
from pacenote.advise.purchase import Purchase
from pacenote.catalog.prices import Terms
from pacenote.records import Reading


class Planted(NamedTuple):
    """A situation, and what must be said of it: the verdict, the choice, and codes that must be among the reasons."""

    candidates: list[Candidate]
    question: Question
    verdict: str
    choice: str
    said: tuple[str, ...] = ()


def cause(gain: float, code: str = "loader_starved") -> Cause:
    return Cause(code=code, gain_ratio=exact(gain))


def own(price: float, time_h: float = 1.0, **more: float) -> Candidate:
    return Candidate(
        name="own",
        kind="own",
        accelerator="card",
        count=1,
        time_s=hours(time_h, 0.0),
        loader_s=exact(1.0),
        need_bytes=exact(1.0),
        card_bytes=GB,
        purchase=Purchase(price=price, life_months=36, **more),
    )


FAST = cloud("fast", 1, 4.0)
SLOW = cloud("slow", 4, 0.5)
BALANCED = Question(goal="balanced", hour_worth=1.0)
SITUATIONS: dict[str, Planted] = {
    # The machine at hand.
    "nothing else was offered": Planted([here(5)], ask(), "stay_only", "here"),
    "starved loader: the card would wait": Planted(
        [here(10), cloud("card", 1, 1.0, loader_s=hours(9.5))],
        Question(goal="fastest"),
        "rent",
        "card",
        ("waits_for_loader",),
    ),
    "starved loader: not worth the money": Planted(
        [here(10), cloud("card", 1, 1.0, loader_s=hours(9.5))], ask(), "stay_loader", "here"
    ),
    "starved loader: not even faster": Planted(
        [here(10), cloud("card", 1, 1.0, loader_s=hours(11))], Question(goal="fastest"), "stay_loader", "here"
    ),
    "tiny model: the card is no faster": Planted([here(1), cloud("card", 0.95, 1.0)], ask(), "stay_small", "here"),
    "tiny model: launches make the card slower": Planted(
        [here(1), cloud("card", 1.5, 1.0)], Question(goal="fastest"), "stay_small", "here"
    ),
    "boot costs more than the job": Planted(
        [here(0.1), cloud("card", 0.02, 2.0, boot_s=exact(600))], BALANCED, "stay_cheaper", "here"
    ),
    "no deadline, no worth of time: what is there is cheapest": Planted(
        [here(10), FAST], ask(), "stay_cheaper", "here"
    ),
    "a machine with a card of its own is stayed on": Planted(
        [here(2, accelerator="own card", count=1), cloud("same", 2, 1.0)], ask(), "stay_cheaper", "here"
    ),
    # Renting.
    "an hour is worth more than the card": Planted([here(10), FAST], BALANCED, "rent", "fast", ("best_balanced",)),
    "the deadline decides": Planted([here(10), FAST], ask(deadline_s=2 * HOUR), "rent", "fast"),
    "the cheaper of two within the deadline": Planted(
        [here(10), FAST, SLOW], ask(deadline_s=5 * HOUR), "rent", "slow", ("best_cheapest",)
    ),
    "the faster of two within the money": Planted(
        [here(10), FAST, SLOW], Question(goal="fastest", money=5.0), "rent", "fast", ("best_fastest",)
    ),
    "the money leaves only the slow one": Planted(
        [FAST, SLOW], Question(goal="fastest", money=3.0), "rent", "slow", ("only_one_left",)
    ),
    "both limits leave one": Planted([here(10), FAST, SLOW], ask(deadline_s=2 * HOUR, money=5.0), "rent", "fast"),
    "the region leaves the dear one": Planted(
        [cloud("us", 1, 1.0, region="us-east-1"), cloud("eu", 1, 2.0, region="eu-west-3")],
        ask(regions=["eu-"]),
        "rent",
        "eu",
        ("only_one_left",),
    ),
    "a cheap hour is a dear job": Planted([cloud("cheap", 10, 1.0), cloud("dear", 2, 3.0)], ask(), "rent", "dear"),
    "whole hours make the small job dear": Planted(
        [
            cloud("hourly", 0.1, 1.0, terms=Terms(provider="h", granularity_s=3600)),
            cloud("secondly", 0.1, 3.0),
        ],
        ask(),
        "rent",
        "secondly",
    ),
    "a price in yuan is compared in dollars": Planted(
        [cloud("yuan", 1, 5.0, factor=1 / 7.2), cloud("dollar", 1, 1.0)], ask(), "rent", "yuan"
    ),
    "two cards that scale badly": Planted([cloud("one", 4, 1.0), cloud("two", 3, 2.0, count=2)], ask(), "rent", "one"),
    "the loader holds eight cards back": Planted(
        [
            cloud("one", 8, 1.0, loader_s=hours(3)),
            cloud("eight", 1, 8.0, count=8, loader_s=hours(3)),
        ],
        ask(),
        "rent",
        "one",
    ),
    "a bill without some prices says so": Planted(
        [cloud("card", 1, 1.0, terms=Terms(provider="nobody"), egress_gb=5)],
        ask(),
        "rent",
        "card",
        ("bill_incomplete",),
    ),
    # Money in odd places.
    "egress dominates": Planted(
        [
            cloud(
                "card",
                1,
                1.0,
                egress_gb=500,
                terms=Terms(provider="x", granularity_s=1, egress_per_gb=Reading(value=0.09, method="listed")),
            )
        ],
        ask(),
        "rent",
        "card",
        ("egress_dominates",),
    ),
    "egress makes the cheap hour the dear job": Planted(
        [
            cloud(
                "cheap",
                1,
                1.0,
                egress_gb=500,
                terms=Terms(provider="x", granularity_s=1, egress_per_gb=Reading(value=0.09, method="listed")),
            ),
            cloud("dear", 1, 3.0),
        ],
        ask(),
        "rent",
        "dear",
    ),
    "setting up dominates": Planted(
        [cloud("card", 0.05, 1.0, install_s=exact(1200))], ask(), "rent", "card", ("setup_dominates",)
    ),
    "idling dominates": Planted(
        [cloud("card", 0.5, 1.0, idle_s=exact(HOUR))], ask(), "rent", "card", ("idle_dominates",)
    ),
    "a minimum dominates": Planted(
        [cloud("card", 0.01, 1.0, terms=Terms(provider="h", granularity_s=3600))],
        ask(),
        "rent",
        "card",
        ("rounding_dominates",),
    ),
    "stale price": Planted([cloud("card", 1, 1.0, price_age_days=400)], ask(), "rent", "card", ("price_stale",)),
    "a price without a date": Planted(
        [cloud("card", 1, 1.0, price_age_days=None)], ask(), "rent", "card", ("price_undated",)
    ),
    # Spare capacity.
    "spot with checkpoints is cheaper": Planted(
        [cloud("firm", 5, 2.0), spot("spare", 5, 0.6, 0.05)], ask(), "rent", "spare", ("spot_interruptions",)
    ),
    "spot too risky without checkpoints": Planted(
        [cloud("firm", 20, 2.0), spot("spare", 20, 0.01, 0.1, None)], ask(), "rent", "firm", ("spot_left",)
    ),
    "spot that never ends": Planted(
        [cloud("firm", 5, 2.0), spot("spare", 5, 0.01, 1000.0, None)], ask(), "rent", "firm", ("spot_left",)
    ),
    "spot misses the deadline on average": Planted(
        [cloud("firm", 5, 2.0), spot("spare", 5, 0.5, 1.0)], ask(deadline_s=5.5 * HOUR), "rent", "firm"
    ),
    # Free tiers.
    "a free tier within its session": Planted([cloud("card", 3, 1.0), free("colab", 6)], ask(), "use_free", "colab"),
    "a free tier whose session is too short": Planted(
        [cloud("card", 10, 1.0), free("colab", 20)], ask(), "rent", "card"
    ),
    "a free tier over several sessions with checkpoints": Planted(
        [cloud("card", 10, 1.0), free("colab", 20)], ask(resumable=True), "use_free", "colab", ("several_sessions",)
    ),
    "a weekly quota breaks the deadline": Planted(
        [cloud("card", 20, 1.0), free("kaggle", 40, weekly_limit_s=30 * HOUR)],
        ask(resumable=True, deadline_s=100 * HOUR),
        "rent",
        "card",
    ),
    # Buying.
    "buying pays with many jobs": Planted([own(3600), cloud("card", 1, 2.0)], ask(jobs_per_month=60), "buy", "own"),
    "buying does not pay with few": Planted(
        [own(3600), cloud("card", 1, 2.0)], ask(jobs_per_month=40), "rent", "card", ("buying_pays_from",)
    ),
    "buying never pays against cheap rent": Planted(
        [own(3600, power_w=1000, electricity_per_kwh=0.5), cloud("card", 1, 0.4)],
        ask(jobs_per_month=40),
        "rent",
        "card",
        ("buying_never_pays",),
    ),
    "buying without the number of jobs is left out": Planted(
        [own(3600), cloud("card", 1, 2.0)], ask(), "rent", "card", ("left_out", "buying_pays_from")
    ),
    # Mending first.
    "mending is worth more than the card": Planted(
        [here(10), cloud("card", 3, 2.0)], Question(goal="balanced", causes=[cause(5.0)]), "fix_first", "here"
    ),
    "mending is not enough": Planted(
        [here(10), cloud("card", 1, 1.0)], Question(goal="balanced", causes=[cause(1.5)]), "rent", "card"
    ),
    "mending meets the deadline": Planted(
        [here(10), cloud("card", 1, 1.0)], ask(deadline_s=4 * HOUR, causes=[cause(3.0)]), "fix_first", "here"
    ),
    "the largest of several causes counts": Planted(
        [here(10), cloud("card", 3, 2.0)],
        Question(goal="balanced", causes=[cause(1.1, "pageable_copy"), cause(8.0)]),
        "fix_first",
        "here",
    ),
    # Memory and latency.
    "does not fit": Planted(
        [cloud("small", 1, 1.0, need_bytes=exact(20 * GB)), cloud("big", 1, 4.0, card_bytes=80 * GB)],
        ask(),
        "rent",
        "big",
    ),
    "nothing fits": Planted([cloud("small", 1, 1.0, need_bytes=exact(20 * GB))], ask(), "nothing_fits", "small"),
    "may not fit stands behind what does": Planted(
        [cloud("tight", 1, 1.0, need_bytes=between(14 * GB, 15 * GB, 17 * GB)), cloud("big", 1, 4.0)],
        ask(),
        "rent",
        "big",
    ),
    "may not fit is said when it is all there is": Planted(
        [cloud("tight", 1, 1.0, need_bytes=between(14 * GB, 15 * GB, 17 * GB))],
        ask(),
        "rent",
        "tight",
        ("memory_uncertain",),
    ),
    "answers too slowly": Planted(
        [cloud("slow", 1, 1.0, latency_s=exact(0.2)), cloud("quick", 1, 2.0, latency_s=exact(0.05))],
        ask(latency_limit_s=0.1),
        "rent",
        "quick",
    ),
    "a latency that nobody knows": Planted(
        [cloud("dark", 1, 1.0), cloud("quick", 1, 2.0, latency_s=exact(0.05))],
        ask(latency_limit_s=0.1),
        "rent",
        "quick",
        ("left_out",),
    ),
    # Limits that cannot be met.
    "deadline impossible": Planted([here(10), FAST], ask(deadline_s=0.5 * HOUR), "deadline_impossible", "fast"),
    "money impossible": Planted([FAST, SLOW], ask(money=1.0), "money_impossible", "slow"),
    "deadline and money together leave nothing": Planted(
        [cloud("quick", 1, 9.0), cloud("slow", 9, 0.1)],
        ask(deadline_s=2 * HOUR, money=1.0),
        "deadline_impossible",
        "slow",
    ),
    "no region is allowed": Planted(
        [cloud("us", 1, 1.0, region="us-east-1")], ask(regions=["cn-"]), "nothing_left", "", ("region",)
    ),
    "a deadline within the interval stands behind": Planted(
        [cloud("near", 1.96, 1.0), cloud("far", 1, 4.0)], ask(deadline_s=2 * HOUR), "rent", "far"
    ),
    "a deadline within the interval is said": Planted(
        [cloud("near", 1.96, 1.0)], ask(deadline_s=2 * HOUR), "rent", "near", ("deadline_uncertain",)
    ),
    "money within the interval is said": Planted(
        [cloud("card", 1.0, 1.0)], ask(money=1.01), "rent", "card", ("money_uncertain",)
    ),
    # Teams.
    "a novice gets the single card": Planted(
        [cloud("eight", 1, 3.0, count=8), cloud("one", 4, 1.0)], ask(team="novice"), "rent", "one"
    ),
    "those who operate clusters get the eight": Planted(
        [cloud("eight", 1, 3.0, count=8), cloud("one", 4, 1.0)], ask(team="ops"), "rent", "eight"
    ),
    "a novice is told when all is beyond": Planted(
        [cloud("eight", 1, 3.0, count=8)], ask(team="novice"), "rent", "eight", ("beyond_team",)
    ),
    # Figures that are missing, and measurements that are wanted.
    "missing price is left out": Planted([cloud("dark", 1, None), SLOW], ask(), "rent", "slow", ("left_out",)),
    "only missing prices": Planted([cloud("dark", 1, None)], ask(), "nothing_left", "", ("figure_missing",)),
    "no times at all": Planted([here(None), cloud("card", None, 1.0)], ask(), "measure_first", ""),
    "one without a time is left out": Planted(
        [here(5), cloud("card", None, 1.0)], ask(), "stay_only", "here", ("left_out",)
    ),
    "not decidable yet": Planted(
        [cloud("sure", 2, 1.0), cloud("vague", 3, 1.0, time_s=between(0.4 * HOUR, 3 * HOUR, 6 * HOUR))],
        ask(),
        "measure",
        "sure",
    ),
    "measured times are decided although they spread": Planted(
        [
            cloud("sure", 2, 1.0, method="measured"),
            cloud("vague", 3, 1.0, time_s=between(0.4 * HOUR, 3 * HOUR, 6 * HOUR), method="measured"),
        ],
        ask(),
        "rent",
        "sure",
    ),
    "nothing was asked": Planted([], ask(), "nothing_asked", ""),
}


@pytest.mark.parametrize("name", sorted(SITUATIONS))
def test_situation(name: str) -> None:
    planted = SITUATIONS[name]
    advice = advise(planted.candidates, planted.question)
    said = [note.code for note in advice.reasons]
    assert (advice.verdict.code, advice.choice) == (planted.verdict, planted.choice), (advice.verdict, said)
    assert set(planted.said) <= set(said), said
    assert_whole(advice)


def assert_whole(advice: Advice) -> None:
    """Every code is known and carries the parameters that the table names."""
    for note in (advice.verdict, *advice.reasons):
        extra = {"name"} if advice.verdict.code == "nothing_left" else set()
        assert set(note.params) - extra == set(CODES[note.code]) - extra, note
    for one in advice.ranked:
        for note in (*one.problems, *one.doubts, *one.cautions):
            assert set(note.params) == set(CODES[note.code]), note


def test_there_are_enough_situations() -> None:
    assert len(SITUATIONS) >= 40


def test_every_verdict_is_planted() -> None:
    from pacenote.advise.codes import VERDICTS

    assert {planted.verdict for planted in SITUATIONS.values()} == set(VERDICTS)


def test_what_to_measure_is_the_vague_one() -> None:
    planted = SITUATIONS["not decidable yet"]
    advice = advise(planted.candidates, planted.question)
    assert advice.verdict.params == {"name": "vague", "first": "sure", "second": "vague"}


def test_a_deadline_that_cannot_be_met_says_by_how_much() -> None:
    advice = advise([here(10), FAST], ask(deadline_s=0.5 * HOUR))
    assert advice.verdict.params == {"name": "fast", "wall_s": HOUR, "deadline_s": 0.5 * HOUR}


def test_a_purchase_is_named_with_the_number_of_jobs_from_which_it_pays() -> None:
    """3600 over 36 months is 100 a month; at 2 a job that is 50 jobs."""
    advice = advise([own(3600), cloud("card", 1, 2.0)], ask(jobs_per_month=40))
    note = next(note for note in advice.reasons if note.code == "buying_pays_from")
    assert note.params["jobs"] == pytest.approx(50)


def test_the_pareto_front_holds_what_none_beats() -> None:
    """In time and money: "dull" is slower and dearer than "fast"."""
    advice = advise([here(10), FAST, SLOW, cloud("dull", 2, 4.0)], ask())
    assert set(advice.pareto) == {"here", "slow", "fast"}


def test_energy_keeps_a_frugal_candidate_on_the_front() -> None:
    frugal = cloud("frugal", 2, 3.0, power_w=exact(50))
    hungry = cloud("hungry", 1, 4.0, power_w=exact(500))
    assert set(advise([frugal, hungry], ask()).pareto) == {"frugal", "hungry"}
    wasteful = cloud("wasteful", 2, 3.0, power_w=exact(800))
    assert advise([wasteful, hungry], ask()).pareto == ["hungry"]


def test_what_cannot_be_taken_stands_last_with_its_reason() -> None:
    advice = advise([cloud("small", 1, 0.1, need_bytes=exact(20 * GB)), FAST], ask())
    assert [one.name for one in advice.ranked] == ["fast", "small"]
    assert [note.code for note in advice.ranked[1].problems] == ["does_not_fit"]


def test_time_is_that_of_the_slower_of_device_and_loader() -> None:
    advice = advise([cloud("card", 1, 1.0, loader_s=hours(3, 0.0))], ask())
    judged = advice.ranked[0]
    assert judged.work_s is not None
    assert judged.work_s.value == 3 * HOUR
    assert judged.loader_bound
    note = next(note for note in judged.cautions if note.code == "waits_for_loader")
    assert note.params["share"] == pytest.approx(2 / 3)


def test_sessions_of_a_free_tier_each_begin_with_the_set_up() -> None:
    """25 h of work in sessions of 12 h with 1 h of set-up: 11 h of work each, three sessions, 28 h."""
    tier = free("tier", 25, time_s=hours(25, 0.0), boot_s=exact(HOUR))
    judged = advise([tier], ask(resumable=True)).ranked[0]
    assert judged.wall_s is not None
    assert judged.wall_s.value == pytest.approx(28 * HOUR)


def test_a_weekly_quota_makes_the_job_wait_for_the_next_week() -> None:
    """40 h at 30 h a week: the first week whole, then 10 h."""
    tier = free("tier", 40, time_s=hours(40, 0.0), weekly_limit_s=30 * HOUR)
    judged = advise([tier], ask(resumable=True)).ranked[0]
    assert judged.wall_s is not None
    assert judged.wall_s.value == pytest.approx((7 * 24 + 10) * HOUR)


def test_order_does_not_depend_on_the_order_of_the_candidates() -> None:
    candidates = [here(10), FAST, SLOW, spot("spare", 1, 1.0, 0.01), free("colab", 6)]
    first = advise(candidates, BALANCED)
    assert advise(candidates[::-1], BALANCED) == first


def test_an_infinite_spot_job_is_never_ranked_first() -> None:
    advice = advise([spot("spare", 5, 0.01, 1e6, None)], ask())
    assert advice.verdict.code == "nothing_left"
    assert advice.ranked[0].wall_s is not None
    assert math.isinf(advice.ranked[0].wall_s.value)


def test_terms_of_the_test_are_by_the_second() -> None:
    assert SECONDS.granularity_s == 1.0
