"""Reads what is compared: the machine at hand from a stored run, the others from a TOML file.

Each ``[[candidate]]`` names an ``offer`` of the table of prices (or gives its own ``price_per_h``) and how fast the job
runs there, as ``samples_per_s`` or as ``time``: one figure, or three for an interval::

    [[candidate]]
    offer = "aws/g5.xlarge"
    samples_per_s = [900, 1000, 1100]
    loader_samples_per_s = 2500
    memory_need_gib = 6
    memory_gib = 24
    boot = "3m"

Instead of ``memory_need_gib`` a ``[model]`` may say what is trained; what it takes on each candidate's cards, which
sharding and which batch make it fit, and how many cards it needs otherwise then follow::

    [model]
    parameters = 7e9
    recipe = "adam_mixed"
    rest_gib = 4
    per_sample_gib = 0.5
    batch = 64
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from pacenote.advise.amount import Amount, between, exact, inverse
from pacenote.advise.bill import Spot
from pacenote.advise.candidates import Candidate
from pacenote.advise.energy import AT_HOME, DATA_CENTRE
from pacenote.advise.purchase import Purchase
from pacenote.advise.sizing import Model, sized
from pacenote.catalog import prices
from pacenote.catalog.prices import Grid, Offer, Terms
from pacenote.cli.values import duration_s
from pacenote.errors import MissingPartError, PacenoteError, RefusedError, UsageError
from pacenote.records import Reading
from pacenote.report.model import CellView, StudyView

Positive = Annotated[float, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Figure = Positive | Annotated[list[Positive], msgspec.Meta(min_length=3, max_length=3)]
Rate = NotNegative | Annotated[list[NotNegative], msgspec.Meta(min_length=3, max_length=3)]
Duration = str | Annotated[list[str], msgspec.Meta(min_length=3, max_length=3)]

GIB: Final = 2.0**30


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ``[[candidate]]`` as it is written."""

    offer: str | None = None
    name: str | None = None
    kind: Literal["cloud", "own", "free"] | None = None
    accelerator: str | None = None
    count: int | None = None
    region: str | None = None
    method: Literal["given", "measured", "predicted"] = "given"
    time: Duration | None = None
    samples_per_s: Figure | None = None
    loader_samples_per_s: Figure | None = None
    memory_need_gib: Figure | None = None
    memory_gib: Positive | None = None
    latency_s: Figure | None = None
    price_per_h: NotNegative | None = None
    currency: str | None = None
    spot: bool = False
    interruptions_per_h: Rate | None = None
    checkpoint: str | None = None
    write: str | None = None
    restart: str | None = None
    boot: Duration | None = None
    install: Duration | None = None
    idle: Duration | None = None
    disk_gb: NotNegative = 0.0
    kept: str | None = None
    egress_gb: NotNegative = 0.0
    power_w: Figure | None = None
    purchase: Purchase | None = None


class ModelRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ``[model]`` as it is written."""

    parameters: Positive
    recipe: Literal["adam_mixed", "adam_fp32", "momentum_fp32", "sgd_fp32"] = "adam_mixed"
    rest_gib: NotNegative = 0.0
    per_sample_gib: NotNegative = 0.0
    batch: Annotated[int, msgspec.Meta(ge=1)] | None = None


class File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file."""

    candidate: list[Row]
    model: ModelRow | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What all candidates share.

    Attributes:
        samples: Samples that the job trains on, epochs included; ``None`` when only times are given.
        currency: ISO code of the answer.
        today: The day from which ages are counted.
        grid: The grid that feeds a machine of one's own, or ``None``.
    """

    samples: float | None
    currency: str
    today: date
    grid: Grid | None = None


def read(path: Path) -> File:
    """Read a file of candidates.

    Raises:
        UsageError: If it cannot be read or holds something else.
    """
    try:
        return msgspec.convert(_toml(path.read_bytes().decode()), File)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"the candidates {str(path)!r} cannot be read: {reason}.") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise UsageError(f"the candidates {str(path)!r} are not usable: {error}.") from error


def made(file: File, offers: Sequence[Offer], job: Job) -> list[Candidate]:
    """Turn what a file says into candidates.

    Raises:
        UsageError: If two have one name, or a figure is not usable; the message names the candidate.
    """
    found = [_named(row, number, offers, job) for number, row in enumerate(file.candidate, 1)]
    names = [candidate.name for candidate in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two candidates are called {twice!r}; give one of them a name of its own.")
    if file.model is None:
        return found
    model = Model(
        parameters=file.model.parameters,
        recipe=file.model.recipe,
        rest_bytes=file.model.rest_gib * GIB,
        per_sample_bytes=file.model.per_sample_gib * GIB,
        batch=file.model.batch,
    )
    return [one if one.need_bytes is not None else sized(one, model) for one in found]


def here(view: StudyView, job: Job, *, force: bool = False) -> Candidate:
    """The machine at hand, by its fastest healthy condition.

    Raises:
        RefusedError: If the run has no throughput, or every condition was disturbed and ``force`` is not given.
    """
    measured = [cell for cell in view.cells if cell.throughput is not None]
    if not measured:
        raise RefusedError(f"run {view.id} has no throughput, so no time can be told from it.")
    healthy = [cell for cell in measured if force or not cell.unhealthy]
    if not healthy:
        causes = sorted({finding.code for cell in measured for finding in cell.findings if _sick(finding)})
        listed = ", ".join(causes).replace("_", " ")
        raise RefusedError(
            f"fix the cause first: run {view.id} was disturbed ({listed}); measure again, or use --force."
        )
    best = max(healthy, key=_rate)
    assert best.throughput is not None
    estimate = best.throughput
    rate = between(estimate.low or estimate.value, estimate.value, estimate.high or estimate.value)
    return Candidate(
        name="here",
        kind="here",
        accelerator="" if best.device == "cpu" else best.device,
        count=0 if best.device == "cpu" else 1,
        time_s=None if job.samples is None else inverse(job.samples, rate),
        method="measured",
        price_per_h=Reading(value=0.0, method="listed"),
        terms=Terms(provider="here", granularity_s=1.0, currency=job.currency),
        grid=job.grid,
    )


def items(view: StudyView) -> int | None:
    """Samples of one epoch, where the run says."""
    counts = {int(cell.data["items"]) for cell in view.cells if cell.data.get("items")}
    return counts.pop() if len(counts) == 1 else None


def _sick(finding: Any) -> bool:
    return bool(finding.severity.value == "unhealthy")


def _rate(cell: CellView) -> float:
    return cell.throughput.value if cell.throughput is not None else 0.0


def _named(row: Row, number: int, offers: Sequence[Offer], job: Job) -> Candidate:
    try:
        return _candidate(row, number, offers, job)
    except PacenoteError as error:
        raise UsageError(f"candidate {row.name or row.offer or number}: {error}") from error


def _candidate(row: Row, number: int, offers: Sequence[Offer], job: Job) -> Candidate:
    offer = prices.find(offers, row.offer) if row.offer is not None else None
    kind = row.kind or ("own" if row.purchase is not None else "free" if offer is not None and offer.free else "cloud")
    terms = prices.terms(offer.provider) if offer is not None else Terms(provider="")
    currency = row.currency or (offer.currency if offer is not None else job.currency)
    region = row.region or (offer.region if offer is not None else "")
    price, needs = _price(row, offer)
    time_s = _time(row, job)
    loader_s = None
    if row.loader_samples_per_s is not None:
        loader_s = inverse(_samples(job), _amount(row.loader_samples_per_s))
    return Candidate(
        name=row.name or _name(row, offer, number),
        kind=kind,
        accelerator=row.accelerator or (offer.accelerator if offer is not None else ""),
        count=row.count if row.count is not None else (offer.accelerator_count or 0 if offer is not None else 0),
        region=region,
        time_s=time_s,
        method=row.method,
        loader_s=loader_s,
        need_bytes=None if row.memory_need_gib is None else _amount(row.memory_need_gib).times(GIB),
        card_bytes=None if row.memory_gib is None else row.memory_gib * GIB,
        latency_s=None if row.latency_s is None else _amount(row.latency_s),
        price_per_h=price,
        price_age_days=offer.age_days(job.today) if offer is not None and row.price_per_h is None else 0,
        price_source=offer.source if offer is not None and row.price_per_h is None else "",
        spot=_spot(row),
        terms=_in_currency(terms, currency),
        factor=prices.factor(currency, job.currency),
        rate_read_on=prices.rate_date(currency, job.currency) or "",
        boot_s=_seconds(row.boot),
        install_s=_seconds(row.install),
        idle_s=_seconds(row.idle),
        disk_gb=row.disk_gb,
        kept_s=_seconds(row.kept).value,
        egress_gb=row.egress_gb,
        session_limit_s=None if offer is None else offer.session_limit_s.value,
        weekly_limit_s=None if offer is None else offer.weekly_limit_s.value,
        power_w=None if row.power_w is None else _amount(row.power_w),
        pue=AT_HOME if kind == "own" else DATA_CENTRE,
        grid=job.grid if kind == "own" else prices.grid(region),
        purchase=row.purchase,
        needs=needs,
    )


def _name(row: Row, offer: Offer | None, number: int) -> str:
    name = offer.name if offer is not None else f"candidate {number}"
    return f"{name} (spot)" if row.spot else name


def _price(row: Row, offer: Offer | None) -> tuple[Reading, list[str]]:
    """The price of an hour, and what is missing for it."""
    needs = []
    if row.spot and row.interruptions_per_h is None:
        needs.append("interruptions")
    if row.price_per_h is not None:
        return Reading(value=row.price_per_h, method="listed"), needs
    if offer is None:
        return Reading(reason="not_in_source"), needs
    price = offer.spot_per_h if row.spot else offer.on_demand_per_h
    if row.spot and price.value is None:
        needs.append("spot_price")
    return price, needs


def _spot(row: Row) -> Spot | None:
    if not row.spot:
        return None
    return Spot(
        interruptions_per_h=exact(0.0) if row.interruptions_per_h is None else _amount(row.interruptions_per_h),
        checkpoint_s=None if row.checkpoint is None else duration_s(row.checkpoint, "checkpoint"),
        write_s=_seconds(row.write).value,
        restart_s=_seconds(row.restart).value,
    )


def _in_currency(terms: Terms, currency: str) -> Terms:
    """The provider's terms in the currency of the price, so that a bill has one."""
    if terms.currency == currency:
        return terms
    factor = prices.factor(terms.currency, currency)
    changes: dict[str, Any] = {"currency": currency}
    for name in ("disk_per_gb_month", "egress_per_gb"):
        reading: Reading = getattr(terms, name)
        if reading.value is not None:
            changes[name] = Reading(value=reading.value * factor, method=reading.method)
    return msgspec.structs.replace(terms, **changes)


def _time(row: Row, job: Job) -> Amount | None:
    if row.time is not None:
        return _seconds(row.time)
    return None if row.samples_per_s is None else inverse(_samples(job), _amount(row.samples_per_s))


def _samples(job: Job) -> float:
    if job.samples is None:
        raise UsageError("a speed in samples/s needs --samples or --epochs.")
    return job.samples


def _amount(figure: float | list[float]) -> Amount:
    return _ordered([figure] * 3 if isinstance(figure, (int, float)) else figure)


def _seconds(text: Duration | None) -> Amount:
    if text is None:
        return exact(0.0)
    parse: Callable[[str], float] = lambda one: duration_s(one, "a time") or 0.0  # noqa: E731 - short and local
    return _ordered([parse(one) for one in ([text] * 3 if isinstance(text, str) else text)])


def _ordered(figures: Sequence[float]) -> Amount:
    low, value, high = figures
    if not low <= value <= high:
        raise UsageError(f"an interval is written low, estimate, high; got {low:g}, {value:g}, {high:g}.")
    return between(low, value, high)


def _toml(content: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ImportError as error:
            raise MissingPartError("candidates need Python 3.11, or: pip install tomli.") from error
    return tomllib.loads(content)
