"""The table of prices that commands use: what ships, what was fetched, and the user's own files over both."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from pacenote.catalog.prices.offers import Offer, merge, parse, read, shipped, write
from pacenote.errors import DataError, MissingPartError, PacenoteError
from pacenote.records import Reading, Record

VARIABLE: Final = "PACENOTE_PRICES"
"""Environment variable with the folder of the user's own price files."""

FETCHED: Final = "fetched-"
"""Beginning of the names of files that an update wrote. The user's own files count more, whatever their age."""

PROVIDERS: Final[dict[str, str]] = {
    "aws": "aws",
    "azure": "azure",
    "gcp": "gcp",
    "lambda": "lambdalabs",
    "nebius": "nebius",
    "oci": "oci",
    "runpod": "runpod",
    "verda": "verda",
    "vast": "vastai",
}
"""Our short name → gpuhunt's. The last one is asked live, the others from the tables that its project publishes."""

LIVE: Final = "vastai"
"""A market place: its prices are those of the moment and are asked for when they are wanted."""

PATIENCE_S: Final = 30.0
"""Longest silence of a server, in seconds."""

Query = Callable[[str], Iterable[Any]]


class Table(Record, frozen=True, kw_only=True):
    """All offers, and which files could not be used.

    Attributes:
        offers: The offers.
        warnings: One line for each file that was left out.
    """

    offers: list[Offer]
    warnings: list[str] = []


class Fetched(Record, frozen=True, kw_only=True):
    """How an update went.

    Attributes:
        counts: Provider → offers that were written.
        failures: Provider → why it failed; its older prices stay.
    """

    counts: dict[str, int] = {}
    failures: dict[str, str] = {}


def folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where the user's price files are: ``PACENOTE_PRICES``, else beside the store."""
    named = (os.environ if environ is None else environ).get(VARIABLE, "")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_data_path

    return user_data_path("pacenote", appauthor=False) / "prices"


def load(where: Path | None = None) -> Table:
    """Put the table together; a file of the user that cannot be read becomes a warning."""
    place = folder() if where is None else where
    paths = sorted(place.glob("*.csv")) if place.is_dir() else []
    layers: list[list[Offer]] = [shipped()]
    warnings = []
    for path in sorted(paths, key=lambda path: (not path.name.startswith(FETCHED), path.name)):
        try:
            layers.append(read(path))
        except DataError as error:
            warnings.append(str(error))
    return Table(offers=merge(*layers), warnings=warnings)


def add(path: Path, where: Path | None = None) -> tuple[Path, int]:
    """Check a user's own file and keep a copy of it.

    Returns:
        Where the copy is, and how many offers it holds.

    Raises:
        DataError: If it is no file of offers; nothing is kept then.
    """
    offers = read(path)
    return _keep(offers, f"{path.stem.removeprefix(FETCHED)}.csv", where), len(offers)


def update(providers: Iterable[str], today: date, *, query: Query | None = None, where: Path | None = None) -> Fetched:
    """Fetch prices through gpuhunt, provider by provider; one that fails keeps its older prices.

    Args:
        providers: Short names; keys of :data:`PROVIDERS`.
        today: The day that is written beside each price.
        query: Gives the items of a provider by gpuhunt's name; gpuhunt itself unless given.
        where: Folder of the user's price files.

    Raises:
        MissingPartError: If gpuhunt is not installed.
    """
    ask = _Gpuhunt() if query is None else query
    counts: dict[str, int] = {}
    failures: dict[str, str] = {}
    for provider in providers:
        try:
            offers = _offers(provider, ask(PROVIDERS[provider]), today)
            if not offers:
                raise DataError("no offers came")
            _keep(offers, f"{FETCHED}{provider}.csv", where)
        except Exception as error:  # noqa: BLE001 - whatever a provider's code raises must not stop the others
            failures[provider] = f"{type(error).__name__}: {' '.join(str(error).split())}"
        else:
            counts[provider] = len(offers)
    return Fetched(counts=counts, failures=failures)


def _keep(offers: list[Offer], name: str, where: Path | None) -> Path:
    place = folder() if where is None else where
    target = place / name
    text = write(offers)
    parse(text, name, {})  # what cannot be read back is never kept
    try:
        place.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PacenoteError(f"prices cannot be written to {target}: {error.strerror}; set {VARIABLE}.") from error
    return target


class _Gpuhunt:
    """Asks gpuhunt, which loads the tables of all its offline providers at once: so once, and without its own log."""

    def __init__(self) -> None:
        try:
            import gpuhunt
        except ImportError as error:
            raise MissingPartError("prices update needs gpuhunt: pip install 'pacenote[prices]'") from error
        logging.getLogger("gpuhunt").setLevel(logging.CRITICAL + 1)  # failures are told by us, one line each
        self._catalog = gpuhunt.Catalog(auto_reload=False)
        self._error: Exception | None = None
        self._loaded = False

    def __call__(self, name: str) -> Iterable[Any]:
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(PATIENCE_S)  # gpuhunt sets none, and a silent server would hold the command for good
        try:
            if name == LIVE:
                return self._live()
            self._load()
            found: Iterable[Any] = self._catalog.query(provider=name)
            return found
        finally:
            socket.setdefaulttimeout(before)

    def _load(self) -> None:
        if self._error is not None:
            raise self._error
        if self._loaded:
            return
        try:
            self._catalog.load()
        except Exception as error:
            self._error = error
            raise
        self._loaded = True

    def _live(self) -> Iterable[Any]:
        from gpuhunt.providers.vastai import VastAIProvider

        self._catalog.add_provider(VastAIProvider())
        found: Iterable[Any] = self._catalog.query(provider=LIVE)
        return found


def _offers(provider: str, items: Iterable[Any], today: date) -> list[Offer]:
    """One offer for each instance, in its cheapest region; its spot price, where there is one, of the same region."""
    firm: dict[str, Any] = {}
    spare: dict[tuple[str, str], float] = {}
    for item in items:
        name = item.instance_name
        if item.spot:
            key = (name, item.location)
            spare[key] = min(item.price, spare.get(key, item.price))
        elif name not in firm or item.price < firm[name].price:
            firm[name] = item
    return [_offer(provider, item, spare.get((name, item.location)), today) for name, item in firm.items()]


def _offer(provider: str, item: Any, spot: float | None, today: date) -> Offer:
    memory = f" {item.gpu_memory:g}GB" if item.gpu_name and item.gpu_memory else ""
    return Offer(
        provider=provider,
        instance=item.instance_name,
        accelerator=f"{item.gpu_name}{memory}" if item.gpu_name else "",
        accelerator_count=item.gpu_count or 0,
        vcpu=item.cpu,
        memory_gb=item.memory,
        region=item.location,
        on_demand_per_h=Reading(value=float(item.price), method="listed"),
        spot_per_h=Reading(reason="not_in_source") if spot is None else Reading(value=float(spot), method="listed"),
        read_on=today.isoformat(),
        source=f"gpuhunt, {PROVIDERS[provider]}, cheapest region",
    )
