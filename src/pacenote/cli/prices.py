"""Show prices of instances, with their age and source.

ACTION is list (the default), show, compare, add or update. list takes words that each line must hold, show takes one
instance, compare takes two, add a CSV file of your own prices, update the providers to ask through gpuhunt (all unless
named). What ships works without a network; every figure carries the day it was read.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pacenote.cli.options import Json, Lang
from pacenote.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from datetime import date

    from pacenote.catalog.prices import Offer

ACTIONS: Final = ("list", "show", "compare", "add", "update")


def command(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="list, show, compare, add or update.")] = "list",
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAMES]", help="Words, instances, a file, or providers.", show_default=False),
    ] = None,
    currency: Annotated[
        str | None,
        typer.Option("--currency", metavar="CODE", help="Convert prices: USD, CNY, EUR.", show_default=False),
    ] = None,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Do one thing with the table of prices."""
    from datetime import date

    from pacenote.report.locale import resolve

    language = resolve(lang)
    words = names or []
    if action not in ACTIONS:
        raise UnknownNameError("action", action, ACTIONS)
    if action == "add":
        _add(words, language, as_json=as_json)
    elif action == "update":
        _update(words, language, date.today(), as_json=as_json)
    else:
        _show(action, words, language, currency=currency, as_json=as_json)


def row(offer: Offer, today: date, currency: str | None = None) -> dict[str, Any]:
    """What is said about one offer; prices in ``currency`` where it is given."""
    from pacenote.catalog import prices

    target = currency or offer.currency
    factor = prices.factor(offer.currency, target)

    def converted(value: float | None) -> float | None:
        return None if value is None else value * factor

    return {
        "name": offer.name,
        "accelerator": offer.accelerator,
        "accelerator_count": offer.accelerator_count,
        "vcpu": offer.vcpu,
        "memory_gb": offer.memory_gb,
        "region": offer.region,
        "on_demand_per_h": converted(offer.on_demand_per_h.value),
        "spot_per_h": converted(offer.spot_per_h.value),
        "currency": target,
        "read_on": offer.read_on or None,
        "age_days": offer.age_days(today),
        "rate_read_on": prices.rate_date(offer.currency, target),
        "session_limit_s": offer.session_limit_s.value,
        "weekly_limit_s": offer.weekly_limit_s.value,
        "source": offer.source or None,
    }


def _show(action: str, words: Sequence[str], language: str, *, currency: str | None, as_json: bool) -> None:
    from datetime import date

    from pacenote.catalog import prices
    from pacenote.catalog.prices import table
    from pacenote.cli.output import print_json

    loaded = table.load()
    for line in loaded.warnings:
        print(f"pacenote: {line}", file=sys.stderr)
    counts = {"show": 1, "compare": 2}
    if action in counts and len(words) != counts[action]:
        raise UsageError(f"prices {action} needs {counts[action]} instance(s), like aws/g5.xlarge; got {len(words)}.")
    if action == "list":
        wanted = [word.lower() for word in words]
        found = [offer for offer in loaded.offers if all(word in _text(offer) for word in wanted)]
    else:
        found = [prices.find(loaded.offers, word) for word in words]
    rows = [row(offer, date.today(), currency.upper() if currency else None) for offer in found]
    if as_json:
        print_json({"offers": rows, "in_table": len(loaded.offers)})
    elif action == "list":
        _print_list(rows, language)
    else:
        _print_side_by_side(rows, language)


def _text(offer: Offer) -> str:
    return " ".join((offer.name, offer.accelerator, offer.region)).lower()


def _print_list(rows: Sequence[dict[str, Any]], language: str) -> None:
    from pacenote.cli.output import cell_text, console, plain_table
    from pacenote.cli.words import say

    if not rows:
        console().print(say(language, "prices.none"))
        return
    titles = ("name", "accelerator", "vcpu", "memory", "region", "price", "spot", "read_on")
    shown = plain_table(*(say(language, f"prices.{title}") for title in titles))
    for one in sorted(rows, key=lambda one: (one["name"].partition("/")[0], one["on_demand_per_h"] or 0.0)):
        cells = (
            one["name"],
            _accelerator(one),
            _known(one["vcpu"], language),
            _known(one["memory_gb"], language),
            one["region"],
            _price(one, "on_demand_per_h", language),
            _price(one, "spot_per_h", language),
            _age(one, language),
        )
        shown.add_row(*(cell_text(cell) for cell in cells))
    console().print(shown)
    console().print(say(language, "prices.note"))


def _print_side_by_side(rows: Sequence[dict[str, Any]], language: str) -> None:
    from pacenote.cli.output import cell_text, console, plain_table
    from pacenote.cli.words import say

    shown = plain_table("", *(one["name"] for one in rows))
    lines = {
        "accelerator": [_accelerator(one) for one in rows],
        "vcpu": [_known(one["vcpu"], language) for one in rows],
        "memory": [_known(one["memory_gb"], language) for one in rows],
        "region": [one["region"] for one in rows],
        "price": [_price(one, "on_demand_per_h", language) for one in rows],
        "spot": [_price(one, "spot_per_h", language) for one in rows],
        "session": [_hours(one["session_limit_s"], language) for one in rows],
        "weekly": [_hours(one["weekly_limit_s"], language) for one in rows],
        "read_on": [_age(one, language) for one in rows],
        "rate": [one["rate_read_on"] or "–" for one in rows],
        "source": [one["source"] or say(language, "unknown") for one in rows],
    }
    for name, values in lines.items():
        shown.add_row(say(language, f"prices.{name}"), *(cell_text(value) for value in values))
    console().print(shown)


def _accelerator(one: dict[str, Any]) -> str:
    count = one["accelerator_count"]
    return f"{count or '?'} × {one['accelerator']}" if one["accelerator"] else "–"


def _price(one: dict[str, Any], name: str, language: str) -> str:
    from pacenote.cli.words import say
    from pacenote.report.figures import figure

    value = one[name]
    return say(language, "unknown") if value is None else f"{figure(value, 'money')} {one['currency']}"


def _age(one: dict[str, Any], language: str) -> str:
    from pacenote.catalog.prices import STALE_DAYS
    from pacenote.cli.words import say

    if one["age_days"] is None:
        return say(language, "prices.undated")
    key = "prices.stale" if one["age_days"] > STALE_DAYS else "prices.age"
    return say(language, key, date=one["read_on"], days=one["age_days"])


def _hours(value_s: float | None, language: str) -> str:
    from pacenote.cli.words import say

    return say(language, "unknown") if value_s is None else f"{value_s / 3600:g} h"


def _known(value: float | None, language: str) -> str:
    from pacenote.cli.words import say

    return say(language, "unknown") if value is None else f"{value:g}"


def _add(words: Sequence[str], language: str, *, as_json: bool) -> None:
    from pacenote.catalog.prices import table
    from pacenote.cli.output import print_json
    from pacenote.cli.words import say

    if len(words) != 1:
        raise UsageError("prices add needs one CSV file; its first line names the columns.")
    path, count = table.add(Path(words[0]).expanduser())
    if as_json:
        print_json({"path": path, "offers": count})
    else:
        print(say(language, "prices.added", count=count, path=path))


def _update(words: Sequence[str], language: str, today: date, *, as_json: bool) -> None:
    from pacenote.catalog.prices import table
    from pacenote.cli.output import print_json
    from pacenote.cli.words import say
    from pacenote.errors import MissingPartError

    for word in words:
        if word not in table.PROVIDERS:
            raise UnknownNameError("provider", word, table.PROVIDERS)
    fetched = table.update(words or table.PROVIDERS, today)
    for provider, why in fetched.failures.items():
        print(say(language, "prices.failed", provider=provider, why=why), file=sys.stderr)
    if not fetched.counts:
        raise MissingPartError("no provider answered; the prices that were there stay in use.")
    if as_json:
        print_json({"offers": fetched.counts, "failures": fetched.failures})
    else:
        for provider, count in fetched.counts.items():
            print(say(language, "prices.fetched", provider=provider, count=count))
