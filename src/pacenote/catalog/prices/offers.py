"""Offers of instances with dated prices: the table that ships, the user's own files, and lookups over both."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Final

from pacenote.errors import DataError, UnknownNameError
from pacenote.records import Reading, Record

COLUMNS: Final = (
    "provider",
    "instance",
    "accelerator",
    "accelerator_count",
    "vcpu",
    "memory_gb",
    "region",
    "on_demand_per_h",
    "spot_per_h",
    "currency",
    "date",
    "source",
    "session_limit_h",
    "weekly_limit_h",
)
"""Columns of an offer file; the first line names those that are used."""

REQUIRED: Final = ("provider", "instance", "on_demand_per_h", "currency", "date")
"""Columns that a user's own file cannot do without."""

STALE_DAYS: Final = 180
"""From this age on a price is called stale. List prices fell by a third in sixteen months (AWS p4d.24xlarge: USD 32.77
in a table of 2025-03, 21.96 in one of 2026-07), so half a year may hide a tenth."""


class Offer(Record, frozen=True, kw_only=True):
    """One instance of one provider.

    Attributes:
        provider: Short name, for example ``"aws"``.
        instance: The provider's name of it.
        accelerator: Canonical name of the accelerator; empty for an instance without one.
        accelerator_count: How many; ``None`` where the source does not say.
        vcpu: Virtual CPUs; ``None`` where the source does not say.
        memory_gb: Memory of the host in GB as the provider counts; ``None`` where the source does not say.
        region: Where the price holds.
        on_demand_per_h: Price of one hour in ``currency``.
        spot_per_h: Price of one hour of spare capacity that can be taken away.
        currency: ISO code.
        read_on: Day on which the price was read, ISO form; empty when the source has none.
        source: Where it was read.
        session_limit_s: Longest session of a free tier, seconds.
        weekly_limit_s: Accelerator time of a free tier in a week, seconds.
    """

    provider: str
    instance: str
    accelerator: str = ""
    accelerator_count: int | None = None
    vcpu: int | None = None
    memory_gb: float | None = None
    region: str = ""
    on_demand_per_h: Reading = Reading(reason="not_in_source")
    spot_per_h: Reading = Reading(reason="not_in_source")
    currency: str = "USD"
    read_on: str = ""
    source: str = ""
    session_limit_s: Reading = Reading(reason="no_limit_known")
    weekly_limit_s: Reading = Reading(reason="no_limit_known")

    @property
    def name(self) -> str:
        """How it is typed: ``aws/g5.xlarge``."""
        return f"{self.provider}/{self.instance}"

    @property
    def free(self) -> bool:
        """Whether it costs nothing."""
        return self.on_demand_per_h.value == 0

    def age_days(self, today: date) -> int | None:
        """Days since the price was read; ``None`` when the source has no date."""
        return (today - date.fromisoformat(self.read_on)).days if self.read_on else None


def shipped() -> list[Offer]:
    """The offers that come with Pacenote."""
    return parse(_data("offers.csv"), "offers.csv", _sources())


def read(path: Path) -> list[Offer]:
    """Read a user's own file of offers.

    Raises:
        DataError: If it cannot be read, or a line is not an offer.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"prices cannot be read from {path}: {error}.") from error
    return parse(text, str(path), {})


def parse(text: str, where: str, sources: Mapping[str, str]) -> list[Offer]:
    """Read offers from CSV text.

    Args:
        text: The file; its first line names the columns.
        where: Its name in messages.
        sources: Short key → full source; a source that is no key stands for itself.

    Raises:
        DataError: If a column or a value is not as :data:`COLUMNS` has it; the message names the line.
    """
    table = csv.DictReader(io.StringIO(text))
    names = table.fieldnames or []
    missing = [name for name in REQUIRED if name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    if missing or unknown:
        wrong = f"has no column {missing[0]!r}" if missing else f"has the unknown column {unknown[0]!r}"
        raise DataError(f"{where} {wrong}; its first line may name: {', '.join(COLUMNS)}.")
    return [_offer(row, f"{where}, line {table.line_num}", sources) for row in table]


def write(offers: Iterable[Offer]) -> str:
    """The offers as CSV text that :func:`parse` reads back."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_row(offer) for offer in offers)
    return out.getvalue()


def merge(*layers: Iterable[Offer]) -> list[Offer]:
    """Put tables over each other: a later offer of the same provider, instance and region replaces an earlier one."""
    kept: dict[tuple[str, str, str], Offer] = {}
    for layer in layers:
        kept.update({(offer.provider, offer.instance, offer.region): offer for offer in layer})
    return list(kept.values())


def find(offers: Sequence[Offer], name: str) -> Offer:
    """Return the offer called ``provider/instance``, or ``instance`` where only one provider has it.

    Raises:
        UnknownNameError: If there is none, or several providers have that instance.
    """
    exact = [offer for offer in offers if offer.name == name]
    found = exact or [offer for offer in offers if offer.instance == name]
    if not found or len({offer.provider for offer in found}) > 1:
        raise UnknownNameError("offer", name, _near(offers, name))
    return min(found, key=lambda offer: (offer.on_demand_per_h.value is None, offer.on_demand_per_h.value or 0.0))


def _near(offers: Sequence[Offer], name: str) -> list[str]:
    """Names to list for one that was not found: those of the same provider, else one of each."""
    provider = name.partition("/")[0]
    own = [offer.name for offer in offers if offer.provider == provider]
    return own or list({offer.provider: offer.name for offer in offers}.values())


def _offer(row: Mapping[str, str | None], where: str, sources: Mapping[str, str]) -> Offer:
    values = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
    if not values["provider"] or not values["instance"]:
        raise DataError(f"{where}: an offer needs a provider and an instance.")
    if values["date"]:
        try:
            date.fromisoformat(values["date"])
        except ValueError as error:
            raise DataError(f"{where}: {values['date']!r} is no date like 2026-07-20.") from error
    source = values.get("source", "")
    count = _number(values, "accelerator_count", where)
    vcpu = _number(values, "vcpu", where)
    return Offer(
        provider=values["provider"],
        instance=values["instance"],
        accelerator=values.get("accelerator", ""),
        accelerator_count=None if count is None else int(count),
        vcpu=None if vcpu is None else int(vcpu),
        memory_gb=_number(values, "memory_gb", where),
        region=values.get("region", ""),
        on_demand_per_h=_listed(_number(values, "on_demand_per_h", where), "not_in_source"),
        spot_per_h=_listed(_number(values, "spot_per_h", where), "not_in_source"),
        currency=values["currency"] or "USD",
        read_on=values["date"],
        source=sources.get(source, source),
        session_limit_s=_listed(_hours(values, "session_limit_h", where), "no_limit_known"),
        weekly_limit_s=_listed(_hours(values, "weekly_limit_h", where), "no_limit_known"),
    )


def _number(values: Mapping[str, str], name: str, where: str) -> float | None:
    text = values.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise DataError(f"{where}: {name} is {text!r}, which is no number from 0 up.")
    return value


def _hours(values: Mapping[str, str], name: str, where: str) -> float | None:
    hours = _number(values, name, where)
    return None if hours is None else hours * 3600


def _listed(value: float | None, reason: str) -> Reading:
    return Reading(reason=reason) if value is None else Reading(value=value, method="listed")


def _row(offer: Offer) -> list[object]:
    hours = [
        None if limit.value is None else limit.value / 3600 for limit in (offer.session_limit_s, offer.weekly_limit_s)
    ]
    values = (
        offer.provider,
        offer.instance,
        offer.accelerator,
        offer.accelerator_count,
        offer.vcpu,
        offer.memory_gb,
        offer.region,
        offer.on_demand_per_h.value,
        offer.spot_per_h.value,
        offer.currency,
        offer.read_on,
        offer.source,
        *hours,
    )
    return ["" if value is None else value for value in values]


def _sources() -> dict[str, str]:
    return {row["key"]: row["source"] for row in csv.DictReader(io.StringIO(_data("sources.csv")))}


def _data(name: str) -> str:
    return (resources.files("pacenote.catalog.prices") / name).read_text(encoding="utf-8")
