"""How users name a study: ``last``, ``last~1``, an id, the beginning of one, or a name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, select

from pacenote.errors import UnknownNameError, UsageError
from pacenote.store.tables import STUDY

SHORTEST: Final = 8
"""Digits a shortened id has at least; the first eight change about once a minute."""

_LAST: Final = re.compile(r"last(?:~(\d{1,6}))?")
_LISTED: Final = 8


def find(connection: Connection, ref: str) -> str:
    """Return the id that ``ref`` names.

    Raises:
        UnknownNameError: If nothing matches.
        UsageError: If the store is empty, or several ids begin with ``ref``.
    """
    newest = STUDY.c.created_unix_s.desc(), STUDY.c.id.desc()
    rows = connection.execute(select(STUDY.c.id, STUDY.c.name).order_by(*newest)).all()
    if not rows:
        raise UsageError("there are no runs yet; make one with: pacenote run lenet.")
    ids = [str(row.id) for row in rows]
    back = _LAST.fullmatch(ref)
    if back is not None:
        return _nth_last(ids, int(back.group(1) or 0), ref)
    named = [str(row.id) for row in rows if row.name == ref]
    if named:
        return named[0]  # the newest of that name
    begun = [found for found in ids if ref and found.startswith(ref)]
    if len(begun) == 1 or ref in begun:
        return ref if ref in begun else begun[0]
    short = short_ids(ids)
    if begun:
        fits = ", ".join(short[found] for found in begun[:_LISTED])
        raise UsageError(f"{len(begun)} runs begin with {ref!r}: {fits}. Write more digits.")
    names = dict.fromkeys(row.name for row in rows if row.name)
    known = ["last", *list(names)[:_LISTED], *(short[found] for found in ids[:_LISTED])]
    raise UnknownNameError("run", ref, known)


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Map each id to its shortest beginning, of at least eight digits, that no other id has."""
    ordered = sorted(set(ids))
    short = {}
    for index, one in enumerate(ordered):
        beside = ordered[max(0, index - 1) : index] + ordered[index + 1 : index + 2]
        length = max((_shared(one, other) + 1 for other in beside), default=0)
        short[one] = one[: max(SHORTEST, length)]
    return short


def _nth_last(ids: list[str], back: int, ref: str) -> str:
    if back >= len(ids):
        raise UsageError(f"{ref!r} goes back further than the store does: it holds {len(ids)} run(s).")
    return ids[back]


def _shared(one: str, other: str) -> int:
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return length
