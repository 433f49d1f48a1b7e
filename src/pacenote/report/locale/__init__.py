"""All words of Pacenote, in English and Simplified Chinese, and how a key becomes a sentence.

``text(lang, key, **params)`` fills the template of ``key``. A placeholder shows its parameter in the unit that the
parameter's name carries (``{step_time_s}`` → ``4.35 ms``); a format word after a colon overrides that:
``{low:ratio}``, ``{phase:phase}``, ``{reasons:findings}``, ``{finding:fix}`` (what to do about the finding of that
code, in its own figures). Templates come from the two word files only, never
from a record, so no stored text can become a template.
"""

from __future__ import annotations

import os
import re
import string
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pacenote.errors import UnknownNameError
from pacenote.report.figures import UNITS, Span, figure, span, unit_of
from pacenote.report.locale.en import WORDS as _ENGLISH
from pacenote.report.locale.zh import WORDS as _CHINESE

LANGUAGES: Final = ("en", "zh")
_WORDS: Final[dict[str, dict[str, str]]] = {"en": _ENGLISH, "zh": _CHINESE}
_LISTS: Final = {"en": ", ", "zh": "、"}
_FAMILIES: Final = {
    "phase": "phase",
    "lever": "lever",
    "fact": "fact",
    "reason": "reason",
    "finding": "short",
    "status": "status",
    "part": "part",
    "figure": "figure",
    "team": "team",
    "strategy": "strategy",
}


def resolve(lang: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Choose the language: what was asked, else ``PACENOTE_LANG``, else the locale, else English.

    Raises:
        UnknownNameError: If ``lang`` names neither English nor Chinese.
    """
    if lang is not None:
        found = _family(lang)
        if found is None:
            raise UnknownNameError("language", lang, LANGUAGES)
        return found
    environment = os.environ if environ is None else environ
    for name in ("PACENOTE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name)
        if value:  # as in POSIX: the first that is set decides
            return _family(value) or "en"
    return "en"


def has(key: str) -> bool:
    """Say whether a key has words."""
    return key in _WORDS["en"]


def keys() -> tuple[str, ...]:
    """Every key, sorted."""
    return tuple(sorted(_WORDS["en"]))


def template(lang: str, key: str) -> str:
    """Return the raw template of a key."""
    return _WORDS[lang][key]


def placeholders(text: str) -> tuple[str, ...]:
    """Names of the parameters that a template uses, in order."""
    return tuple(dict.fromkeys(name for _, name, _, _ in string.Formatter().parse(text) if name))


def text(lang: str, key: str, **params: Any) -> str:
    """Write the sentence of ``key`` in ``lang``.

    A finding, reason or short form that has no words (a third party's, or one written by a later version) is shown
    by its code and parameters instead of failing.
    """
    if key == "literal":
        return str(params.get("text", ""))
    found = _WORDS[lang].get(_variant(key, params))
    if found is None:
        return _unknown(lang, key, params)
    return _Words(lang, params).vformat(found, (), params)


def _variant(key: str, params: Mapping[str, Any]) -> str:
    """A sentence that works around its unknown parameter (``<key>.without.<name>``), where there is one."""
    if key.startswith("finding."):
        for name in placeholders(_WORDS["en"].get(key, "")):
            if params.get(name) is None and f"{key}.without.{name}" in _WORDS["en"]:
                return f"{key}.without.{name}"
    return key


class _Words(string.Formatter):
    """Fills one template in one language."""

    def __init__(self, lang: str, params: Mapping[str, Any]) -> None:
        self.lang = lang
        self.params = params
        self._name = ""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        """Look a plain name up; attribute and index paths are not part of the language."""
        self._name = field_name
        return kwargs.get(field_name), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        """Show one parameter."""
        if format_spec == "fix" and isinstance(value, str):
            return _remedy(self.lang, value, self.params)
        return _shown(self.lang, self._name, value, format_spec)


def _remedy(lang: str, code: str, params: Mapping[str, Any]) -> str:
    """What to do about a finding; one without advice (a third party's) is named by its short form."""
    return text(lang, f"fix.{code}" if has(f"fix.{code}") else "fix.other", **{**params, "finding": code})


def _shown(lang: str, name: str, value: Any, spec: str) -> str:
    if spec == "findings":
        return _LISTS[lang].join(_short(lang, item) for item in value or [])
    if value is None:
        return _WORDS[lang]["unknown"]
    if isinstance(value, (list, tuple)) and not isinstance(value, Span):
        return _LISTS[lang].join(_shown(lang, name, item, spec) for item in value)
    if spec in _FAMILIES:
        return text(lang, f"{_FAMILIES[spec]}.{value}")
    if isinstance(value, bool):
        return _WORDS[lang]["yes" if value else "no"]
    if isinstance(value, (int, float)):
        return localise(lang, figure(float(value), spec if spec in UNITS else unit_of(name)))
    if isinstance(value, Span):
        unit = spec if spec in UNITS else unit_of(name)
        return localise(lang, span(value, unit))
    if isinstance(value, Mapping):
        return _LISTS[lang].join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, Iterable) and not isinstance(value, str):
        return _LISTS[lang].join(_shown(lang, name, item, spec) for item in value)
    return str(value)


def _short(lang: str, item: Any) -> str:
    """Short form of a reason inside a list: a code, or a mapping with ``code`` and ``params``."""
    if isinstance(item, Mapping):
        return text(lang, f"short.{item.get('code', '')}", **dict(item.get("params") or {}))
    return text(lang, f"short.{item}")


def localise(lang: str, shown: str) -> str:
    """Turn the unit words of a figure into ``lang``; SI symbols stay as they are."""
    if lang == "en":
        return shown
    shown = re.sub(r"^(\d+) h (\d\d) min$", r"\1 小时 \2 分", shown)
    shown = re.sub(r"^(\d+) min (\d\d) s$", r"\1 分 \2 秒", shown)
    return shown.replace("samples/s", "样本/s").replace("×", " 倍")


def _unknown(lang: str, key: str, params: Mapping[str, Any]) -> str:
    code = key.split(".", 1)[-1]
    if not params:
        return code.replace("_", " ")
    listed = ", ".join(f"{name}={_shown(lang, name, value, '')}" for name, value in params.items())
    return f"{code}: {listed}"


def _family(lang: str) -> str | None:
    """Language of a locale name; ``C`` and ``POSIX`` are English."""
    short = re.split(r"[-_.@]", lang.strip().lower())[0]
    if short in ("zh", "chinese"):
        return "zh"
    return "en" if short in ("en", "c", "posix", "english") else None
