"""What is compared and what is wanted: values only, so that measured, predicted and given times all fit."""

from __future__ import annotations

from typing import Final

from pacenote.advise.amount import Amount, exact
from pacenote.advise.bill import Bill, Spot
from pacenote.advise.energy import AT_HOME
from pacenote.advise.purchase import Purchase
from pacenote.catalog.prices import STALE_DAYS, Grid, Terms
from pacenote.records import Params, Reading, Record

KINDS: Final = ("here", "own", "cloud", "free")
"""The machine at hand, one to be bought, one to be rented, a free tier."""

GOALS: Final = ("cheapest", "fastest", "balanced")

TEAMS: Final[dict[str, int]] = {"novice": 1, "some": 2, "ops": 3}
"""Skill of a team → the effort it can take on. See :func:`pacenote.advise.judge.effort`."""


class Note(Record, frozen=True, kw_only=True):
    """Something said about a candidate or the advice: a code and its parameters, never a sentence.

    Attributes:
        code: One of :data:`pacenote.advise.codes.CODES`.
        params: Values for the sentence; numbers in the unit of their name.
    """

    code: str
    params: Params = {}


class Candidate(Record, frozen=True, kw_only=True):
    """One way to run the job.

    Attributes:
        name: How it is called.
        kind: One of :data:`KINDS`.
        accelerator: Its accelerator; empty for a CPU.
        count: How many accelerators.
        region: Where it is.
        time_s: Time of the job if data were always there, seconds; ``None`` when nobody knows.
        method: ``"measured"``, ``"predicted"`` or ``"given"``.
        loader_s: Time in which its CPUs can feed the job, seconds; ``None`` when not known.
        need_bytes: Memory that the job takes on one card.
        card_bytes: Memory of one card; ``None`` when not known.
        latency_s: Time of one answer, for inference.
        price_per_h: Price of an hour in ``terms.currency``; 0 for what is there already.
        price_age_days: Age of the price; ``None`` when its source has no date.
        price_source: Where the price was read.
        spot: Given for spare capacity that can be taken away.
        terms: How the provider counts.
        rate_read_on: Day of the exchange rate, ISO form; empty when nothing is converted.
        factor: What one unit of ``terms.currency`` is in the currency of the question.
        boot_s: From the order until the machine answers, seconds.
        install_s: Putting environment and data there, seconds.
        idle_s: Time that it stays on without working, seconds.
        disk_gb: Disk, GB.
        kept_s: How long the disk is kept beyond the run, seconds.
        egress_gb: Data that leaves the provider's network, GB.
        session_limit_s: Longest session of a free tier, seconds.
        weekly_limit_s: Accelerator time of a free tier in a week, seconds.
        power_w: Power of the machine while it works, watts.
        pue: Power of the building over that of the machine.
        grid: The grid that feeds it.
        purchase: What buying it costs, for ``"own"``.
        needs: Codes of figures that no source has and that a caller found missing.
        sizing: What was found when the model was put on its cards; see :mod:`pacenote.advise.sizing`.
    """

    name: str
    kind: str = "cloud"
    accelerator: str = ""
    count: int = 0
    region: str = ""
    time_s: Amount | None = None
    method: str = "given"
    loader_s: Amount | None = None
    need_bytes: Amount | None = None
    card_bytes: float | None = None
    latency_s: Amount | None = None
    price_per_h: Reading = Reading(reason="not_in_source")
    price_age_days: int | None = None
    price_source: str = ""
    spot: Spot | None = None
    terms: Terms = Terms(provider="")
    factor: float = 1.0
    rate_read_on: str = ""
    boot_s: Amount = exact(0.0)
    install_s: Amount = exact(0.0)
    idle_s: Amount = exact(0.0)
    disk_gb: float = 0.0
    kept_s: float = 0.0
    egress_gb: float = 0.0
    session_limit_s: float | None = None
    weekly_limit_s: float | None = None
    power_w: Amount | None = None
    pue: Amount = AT_HOME
    grid: Grid | None = None
    purchase: Purchase | None = None
    needs: list[str] = []
    sizing: list[Note] = []


class Cause(Record, frozen=True, kw_only=True):
    """Something that slows the job down where it was measured, and what mending it would gain.

    Attributes:
        code: The cause's code.
        gain_ratio: Time before over time after.
    """

    code: str
    gain_ratio: Amount


class Question(Record, frozen=True, kw_only=True):
    """What is wanted.

    Attributes:
        goal: One of :data:`GOALS`.
        currency: ISO code of all money.
        money: Most that the job may cost; ``None``: no limit.
        deadline_s: Longest time from the order to the end, seconds; ``None``: no limit.
        regions: Beginnings of regions that are allowed; empty: all.
        team: One of :data:`TEAMS`, or ``None``: effort does not matter.
        jobs_per_month: How many such jobs there are, for buying.
        latency_limit_s: Longest time of one answer, seconds.
        hour_worth: What an hour less of waiting is worth, for ``"balanced"``.
        resumable: Whether the job can go on from a checkpoint, over several sessions of a free tier.
        stale_days: Age from which a price is called stale.
        causes: What is wrong where the job was measured.
    """

    goal: str = "balanced"
    currency: str = "USD"
    money: float | None = None
    deadline_s: float | None = None
    regions: list[str] = []
    team: str | None = None
    jobs_per_month: float | None = None
    latency_limit_s: float | None = None
    hour_worth: float = 1.0
    resumable: bool = False
    stale_days: int = STALE_DAYS
    causes: list[Cause] = []


class Judged(Record, frozen=True, kw_only=True):
    """A candidate with what follows from it.

    Attributes:
        candidate: The candidate.
        work_s: Training itself, bounded by what the loader can feed.
        wall_s: From the order to the end.
        money: The whole cost of one job, in the question's currency.
        bill: Its lines; ``None`` for a purchase and for what costs nothing.
        energy_j: Energy; ``None`` when the power is not known.
        co2_g: CO2; ``None`` when power or grid are not known.
        loader_bound: Whether the loader, not the device, sets the time.
        problems: Why it cannot be taken; empty when it can.
        doubts: Limits that lie within an interval.
        cautions: What should be known before it is taken.
    """

    candidate: Candidate
    work_s: Amount | None = None
    wall_s: Amount | None = None
    money: Amount | None = None
    bill: Bill | None = None
    energy_j: Amount | None = None
    co2_g: Amount | None = None
    loader_bound: bool = False
    problems: list[Note] = []
    doubts: list[Note] = []
    cautions: list[Note] = []

    @property
    def name(self) -> str:
        """Name of the candidate."""
        return self.candidate.name

    @property
    def feasible(self) -> bool:
        """Whether nothing stands against it."""
        return not self.problems

    @property
    def safe(self) -> bool:
        """Whether it keeps every limit even at the bad end of its intervals."""
        return not self.problems and not self.doubts
