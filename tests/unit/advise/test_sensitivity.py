"""The recommendation changes exactly where the arithmetic says."""

from __future__ import annotations

import pytest
from situations import HOUR, ask, cloud, here, hours, spot

from pacenote.advise.amount import between, exact
from pacenote.advise.bill import Spot, expected_s
from pacenote.advise.candidates import Candidate, Cause, Question
from pacenote.advise.purchase import Purchase
from pacenote.advise.sensitivity import Turn, tornado, turns

CLOSE = 1e-9


def turn_of(candidates: list[Candidate], question: Question, name: str, subject: str = "") -> list[Turn]:
    return [turn for turn in turns(candidates, question) if (turn.input, turn.subject) == (name, subject)]


def sure(name: str, time_h: float, price: float) -> Candidate:
    return cloud(name, time_h, price, time_s=hours(time_h, 0.0))


def test_the_price_at_which_the_second_is_as_cheap() -> None:
    """2 h at 3 an hour are 6, 4 h at 1 are 4: the first needs 2 an hour, the second bears 1.5."""
    candidates = [sure("quick", 2, 3.0), sure("slow", 4, 1.0)]
    (up,) = turn_of(candidates, ask(), "price", "slow")
    assert up.at == pytest.approx(1.5, rel=CLOSE)
    assert (up.verdict, up.choice) == ("rent", "quick")
    (down,) = turn_of(candidates, ask(), "price", "quick")
    assert down.at == pytest.approx(2.0, rel=CLOSE)


def test_the_time_at_which_the_second_is_as_cheap() -> None:
    """The second's 4 h at 1 may grow to 6 h; the first's 2 h at 3 must shrink to 4/3 h."""
    candidates = [sure("quick", 2, 3.0), sure("slow", 4, 1.0)]
    (slower,) = turn_of(candidates, ask(), "time", "slow")
    assert slower.at == pytest.approx(6 * HOUR, rel=1e-3)  # bills count whole seconds
    (faster,) = turn_of(candidates, ask(), "time", "quick")
    assert faster.at == pytest.approx(4 / 3 * HOUR, rel=1e-3)


def test_what_an_hour_must_be_worth() -> None:
    """Waiting 10 h costs 10 w; renting costs 4 and 1 h: equal at w = 4/9."""
    question = Question(goal="balanced", hour_worth=1.0)
    (turn,) = turn_of([here(10), sure("card", 1, 4.0)], question, "hour_worth")
    assert turn.at == pytest.approx(4 / 9, rel=CLOSE)
    assert turn.choice == "here"


def test_the_deadline_turns_at_the_time_of_the_cheaper_one() -> None:
    """Here it takes 10 h, up to 10.2: from there on nothing need be paid."""
    (longer, shorter) = sorted(turn_of([here(10), sure("card", 1, 4.0)], ask(deadline_s=5 * HOUR), "deadline"), key=at)[
        ::-1
    ]
    assert longer.at == pytest.approx(10.2 * HOUR, rel=CLOSE)
    assert longer.choice == "here"
    assert shorter.at == pytest.approx(1 * HOUR, rel=CLOSE)
    assert shorter.verdict == "deadline_impossible"


def at(turn: Turn) -> float:
    return turn.at


def test_the_money_turns_at_the_bill_of_the_faster_one() -> None:
    candidates = [sure("quick", 1, 4.0), sure("slow", 4, 0.5)]
    found = sorted(turn_of(candidates, Question(goal="fastest", money=3.0), "money"), key=at)
    assert [turn.at for turn in found] == pytest.approx([2.0, 4.0], rel=CLOSE)
    assert [turn.verdict for turn in found] == ["money_impossible", "rent"]
    assert found[1].choice == "quick"


def test_the_number_of_jobs_turns_at_the_break_even() -> None:
    """3600 over 36 months is 100 a month; rent is 2 a job: 50 jobs."""
    own = Candidate(
        name="own",
        kind="own",
        accelerator="card",
        count=1,
        time_s=exact(HOUR),
        purchase=Purchase(price=3600, life_months=36),
    )
    (turn,) = turn_of([own, sure("card", 1, 2.0)], ask(jobs_per_month=40), "jobs")
    assert turn.at == pytest.approx(50, rel=CLOSE)
    assert (turn.verdict, turn.choice) == ("buy", "own")


def test_the_gain_at_which_mending_beats_the_card() -> None:
    """The card costs 4 and takes 1 h: 5 in all. Here 10 h must become 5: a gain of 2."""
    question = Question(goal="balanced", hour_worth=1.0, causes=[Cause(code="x", gain_ratio=exact(1.5))])
    (turn,) = turn_of([here(10), sure("card", 1, 4.0)], question, "gain")
    assert turn.at == pytest.approx(2.0, rel=CLOSE)
    assert turn.verdict == "fix_first"


def test_the_loader_at_which_the_card_is_no_longer_worth_it() -> None:
    """At 1 an hour, waiting included, card time T costs 2 T; staying costs 10: T = 5 h."""
    card = cloud("card", 1, 1.0, time_s=hours(1, 0.0), loader_s=hours(2, 0.0))
    question = Question(goal="balanced", hour_worth=1.0)
    (turn,) = turn_of([here(10), card], question, "loader", "card")
    assert turn.at == pytest.approx(5 * HOUR, rel=1e-3)


def test_the_rate_at_which_spot_stops_paying() -> None:
    """Spot at half the price pays until the expected time is twice the time."""
    spare = spot("spare", 5, 1.0, 0.05)
    spare = cloud("spare", 5, 1.0, time_s=hours(5, 0.0), spot=spare.spot)
    (turn,) = turn_of([sure("firm", 5, 2.0), spare], ask(), "interruptions", "spare")
    kept = Spot(interruptions_per_h=exact(turn.at), checkpoint_s=0.5 * HOUR, restart_s=300)
    assert expected_s(5 * HOUR, turn.at, kept) == pytest.approx(10 * HOUR, rel=1e-3)
    assert turn.choice == "firm"


@pytest.mark.parametrize("price", [1.1, 1.37, 1.9, 2.4])
def test_on_either_side_of_a_turn_stand_two_answers(price: float) -> None:
    from pacenote.advise.choose import advise

    candidates = [sure("quick", 2, 3.0), sure("slow", 2.3, price)]
    for turn in turns(candidates, ask()):
        if turn.input != "price":
            continue
        moved = [
            cloud(one.name, None, turn.at, time_s=one.time_s) if one.name == turn.subject else one for one in candidates
        ]
        assert advise(moved, ask()).choice == turn.choice
        inside = turn.at + (turn.now - turn.at) * 1e-6
        back = [
            cloud(one.name, None, inside, time_s=one.time_s) if one.name == turn.subject else one for one in candidates
        ]
        assert advise(back, ask()).choice == advise(candidates, ask()).choice


def test_an_answer_that_nothing_turns_has_no_turns() -> None:
    assert turns([here(1)], ask()) == []


def test_turns_come_nearest_first() -> None:
    candidates = [here(10), sure("card", 1, 4.0), sure("slow", 4, 0.5)]
    import math

    distances = [abs(math.log(turn.at / turn.now)) for turn in turns(candidates, Question())]
    assert distances
    assert distances == sorted(distances)


def test_the_tornado_moves_each_input_over_its_own_interval() -> None:
    """Time from 3 to 6 h at 2 an hour moves the bill from 6 to 12; boot from 0 to 6 min by 0.2."""
    card = cloud("card", 4, 2.0, time_s=between(3 * HOUR, 4 * HOUR, 6 * HOUR), boot_s=between(0, 180, 360))
    found = {swing.input: swing for swing in tornado([card], ask())}
    assert (found["time"].low, found["time"].high) == pytest.approx((6.1, 12.1))
    assert (found["boot"].low, found["boot"].high) == pytest.approx((8.0, 8.2))
    assert next(iter(found)) == "time"


def test_the_tornado_says_where_the_answer_turns() -> None:
    vague = cloud("vague", 4, 1.0, time_s=between(3 * HOUR, 4 * HOUR, 5 * HOUR))
    found = {swing.input: swing.turns for swing in tornado([vague, sure("other", 4.5, 1.0)], ask())}
    assert found["time"]


def test_the_tornado_of_no_answer_is_empty() -> None:
    assert tornado([cloud("dark", None, 1.0)], ask()) == []
