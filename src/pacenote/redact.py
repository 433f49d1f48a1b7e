"""Takes secrets out of anything that is stored or shown: command lines, variables, error texts.

Four nets, from sure to likely: the values of secret-named variables of this process, wherever they turn up;
values behind a secret-like name (``--token x``, ``API_KEY=x``, ``"password": "x"``); the published forms of
well-known tokens; and long runs of letters and digits too irregular to be words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, overload

MARK: Final = "<redacted>"

_SECRET_NAME: Final = (
    # A tokenizer is no secret, nor is a number of tokens, nor an author.
    r"(?:token(?!i[sz]|s[\"']?[\s=:]+\d{1,7}(?![\w.]))|secret|passw(?:or)?d|passwd|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|"
    r"auth(?:orization)?(?!ors?\b)|signature|cookie|pwd|session[-_]?key|[-_]key\b|\bkey\b)"
)
_NAME: Final = re.compile(_SECRET_NAME, re.IGNORECASE)

_KNOWN: Final = re.compile(
    r"\b(?:"
    r"(?:AKIA|ASIA)[0-9A-Z]{16}"  # AWS access key id
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}"  # GitHub
    r"|glpat-[\w-]{16,}"  # GitLab
    r"|hf_[A-Za-z0-9]{16,}"  # Hugging Face
    r"|sk-[\w-]{16,}|sk_(?:live|test)_\w{16,}"  # model and payment services
    r"|xox[abeprs]-[\w-]{10,}"  # Slack
    r"|AIza[\w-]{30,}|ya29\.[\w-]{16,}"  # Google
    r"|npm_[A-Za-z0-9]{16,}|pypi-[\w-]{16,}"  # package indexes
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # JSON web token
    r")"
)
_URL: Final = re.compile(
    r"(\b[a-z][a-z0-9+.-]{0,31}://)([^\s/@:]{0,256}:[^\s@]{0,256}|[^\s/@:]{8,256})@", re.IGNORECASE
)
_BEARER: Final = re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE)
_PEM: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
# A name is looked at once, from its first character on: patterns that may start anywhere inside a run take hours on
# a long line of hostile output.
_NAMED: Final = re.compile(r"""(?<![\w.-])(?P<name>[\w.-]+)(?P<mark>["']?\s*[=:]\s*|\s+)""")
_ASSIGNED: Final = re.compile(r"""["][^"]*["]|'[^']*'|[^\s,;&"'}\])]+""")
_FOLLOWING: Final = re.compile(r"""["][^"]*["]|'[^']*'|[^\s-][^\s]*""")
_NUMBER_WIDTH: Final = 12  # what the name's pattern must see of the value to tell "max_tokens=128" from a secret
_SYMBOL: Final = re.compile(r"_ZNK?S?[\dt]")  # a C++ name as linkers print it: "undefined symbol: _ZN3c10..."
_RUN: Final = re.compile(r"[A-Za-z0-9+/=_-]{20,}")

_SHORTEST_VALUE: Final = 6  # shorter values of secret variables ("1", "true") would blank out ordinary text


@overload
def redact(what: str, environ: Mapping[str, str] | None = None) -> str: ...
@overload
def redact(what: list[str], environ: Mapping[str, str] | None = None) -> list[str]: ...
def redact(what: str | list[str], environ: Mapping[str, str] | None = None) -> str | list[str]:
    """Replace secrets by ``<redacted>``.

    Args:
        what: A text, or a command line as a list of arguments.
        environ: Variables whose secret values must not appear; those of this process by default.
    """
    values = _secret_values(os.environ if environ is None else environ)
    if isinstance(what, str):
        return _text(what, values)
    cleaned: list[str] = []
    expected = False
    for argument, following in zip(what, [*what[1:], ""], strict=False):
        is_option = argument.startswith("-") and len(argument) > 1
        cleaned.append(MARK if expected and not is_option else _text(argument, values))
        named = (found.start() < len(argument) for found in _NAME.finditer(f"{argument} {following}"))
        expected = is_option and "=" not in argument and any(named)
    return cleaned


def _secret_values(environ: Mapping[str, str]) -> list[str]:
    found = {value for name, value in environ.items() if _NAME.search(name) and len(value) >= _SHORTEST_VALUE}
    return sorted((value for value in found if not os.path.exists(value)), key=len, reverse=True)


def _text(text: str, values: Sequence[str]) -> str:
    for value in values:
        text = text.replace(value, MARK)
    text = _PEM.sub(MARK, text)
    text = _URL.sub(rf"\1{MARK}@", text)
    text = _BEARER.sub(rf"\1 {MARK}", text)
    text = _KNOWN.sub(MARK, text)
    return _RUN.sub(_irregular, _without_named(text))


def _without_named(text: str) -> str:
    """Blank the values behind secret names: ``name=value``, ``"name": "value"``, ``--name value``."""
    parts: list[str] = []
    done = 0
    for found in _NAMED.finditer(text):
        assigned = "=" in found["mark"] or ":" in found["mark"]
        if found.start() < done or not (assigned or found["name"].startswith("--")):
            continue
        name_end = found.end("name")
        secret = _NAME.search(text, found.start(), found.end() + _NUMBER_WIDTH)
        if secret is None or secret.start() >= name_end:
            continue
        value = (_ASSIGNED if assigned else _FOLLOWING).match(text, found.end())
        if value is not None:
            parts += [text[done : value.start()], MARK]
            done = value.end()
    return "".join([*parts, text[done:]])


def _irregular(match: re.Match[str]) -> str:
    """Blank a run that looks random; a path is looked at part by part."""
    run = match.group()
    if _SYMBOL.match(run):
        return run
    before = match.string[match.start() - 1 : match.start()]
    if "/" in run and (run.startswith("/") or before in (".", "~") or _is_path(run)):
        return "/".join(MARK if looks_random(part) else part for part in run.split("/"))
    return MARK if looks_random(run) else run


def _is_path(run: str) -> bool:
    """Whether most parts between slashes are words."""
    parts = [part for part in run.split("/") if part]
    return sum(_changes(part) < 0.2 for part in parts) * 2 > len(parts)


def looks_random(run: str) -> bool:
    """Whether a run of letters and digits is too irregular to be a name.

    Letters and digits that stand next to each other change between lower case, upper case and digit at 3 of 5 places
    in a random string over 62 characters, at 2 of 5 in a random hexadecimal one, and at few places in a name. Runs of
    up to 23 characters are kept: ids of records are 20 hexadecimal digits.
    """
    return len(run) >= 24 and any(character.isdigit() for character in run) and _changes(run) >= 0.25


def _changes(run: str) -> float:
    """Share of neighbouring letters and digits that are of different kinds."""
    pairs = [(left, right) for left, right in pairwise(run) if left.isalnum() and right.isalnum()]
    return sum(_kind(left) != _kind(right) for left, right in pairs) / max(1, len(pairs))


def _kind(character: str) -> str:
    return "digit" if character.isdigit() else "upper" if character.isupper() else "lower"
