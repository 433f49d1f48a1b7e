"""How option values are written: ``32,256``, ``3m``, ``2%``."""

from __future__ import annotations

import re
from typing import Final

from pacenote.errors import UsageError

_DURATION: Final = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?")
_NO_LIMIT: Final = frozenset({"none", "off"})


def items(text: str | None) -> list[str]:
    """Split ``a,b,c``; ``None`` is an empty list.

    Raises:
        UsageError: If a value between two commas is empty.
    """
    if text is None:
        return []
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"{text!r} has an empty value; write values with one comma between them, like 32,256.")
    return parts


def duration_s(text: str, option: str) -> float | None:
    """Read ``90``, ``90s``, ``3m``, ``1h30m`` as seconds; ``none`` means no limit.

    Raises:
        UsageError: If it is none of these, or zero.
    """
    word = text.strip().lower()
    if word in _NO_LIMIT:
        return None
    match = _DURATION.fullmatch(word)
    hours, minutes, seconds = match.groups(default="0") if match and word else ("0", "0", "0")
    total_s = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    if total_s <= 0:
        raise UsageError(f"{option} cannot be {text!r}; write a time like 90s, 3m or 1h30m, or none.")
    return total_s


def share(text: str, option: str) -> float:
    """Read ``2%`` or ``0.02`` as a share of one.

    Raises:
        UsageError: If it is neither, or not between 0 and 100 %.
    """
    word = text.strip()
    try:
        value = float(word[:-1]) / 100 if word.endswith("%") else float(word)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise UsageError(f"{option} cannot be {text!r}; write a share like 2% or 0.02.")
    return value
