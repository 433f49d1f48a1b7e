"""The report as one HTML file: no network, both languages, light and dark.

Text of users (names, labels, errors, paths) meets three walls: Jinja2 escapes it in markup, JSON for the script is
written without ``<``, ``>`` and ``&``, and the page's content security policy runs only the two scripts whose
checksums it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

from pacenote._version import __version__
from pacenote.errors import MissingPartError, UsageError
from pacenote.report.blocks import Chart, Message, say
from pacenote.report.content import block_id, chart_data, study_content, unit_word
from pacenote.report.model import StudyView
from pacenote.report.raw import export
from pacenote.report.sections import compose
from pacenote.report.words import Shown, speak

_JSON_ESCAPES: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def write(view_or_views: StudyView | Sequence[StudyView], path: str | Path, lang: str = "en") -> int:
    """Write the page of one or several studies and return its size in bytes.

    Raises:
        MissingPartError: If the extra ``report`` is not installed.
        UsageError: If the file cannot be written.
    """
    views = [view_or_views] if isinstance(view_or_views, StudyView) else list(view_or_views)
    content = render(views, lang).encode()
    target = Path(path)
    try:
        _replace(target, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"cannot write the page to {str(target)!r}: {reason}. Choose another --output.") from error
    return len(content)


def render(views: Sequence[StudyView], lang: str) -> str:
    """Make the page's text; ``lang`` is the language it opens in."""
    composed = [(view, compose(view)) for view in views]
    studies = [study_content(at, view, sections) for at, (view, sections) in enumerate(composed)]
    charts = {
        block_id(at, section, block.name): chart_data(block)
        for at, (_, sections) in enumerate(composed)
        for section in sections
        for block in section.blocks
        if isinstance(block, Chart)
    }
    script, library = _asset("page.js"), _asset("echarts/echarts.common.min.js")
    markup = _markup()
    title = say("page.title", workload=", ".join(dict.fromkeys(view.workload for view in views)))
    template = _template()
    return str(
        template.render(
            lang=lang,
            title=title,
            version=__version__,
            policy=_policy(library, script),
            css=markup(_asset("page.css")),
            script=markup(script),
            echarts=markup(library),
            charts=markup(as_json(charts)),
            raw=markup(as_json([export(view) for view in views])),
            studies=studies,
            say=speak,
            word=lambda key: Message(key=key),
            unit=unit_word,
            long=_long,
        )
    )


def as_json(value: Any) -> str:
    """Write JSON that can stand inside a script element whatever text it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    for character, escape in _JSON_ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _policy(*scripts: str) -> str:
    sums = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {sums}; "
        "base-uri 'none'; form-action 'none'"
    )


def _asset(name: str) -> str:
    return (resources.files("pacenote.report") / "assets" / name).read_text(encoding="utf-8")


def _markup() -> Any:
    try:
        from markupsafe import Markup
    except ImportError as error:
        raise MissingPartError(_MISSING) from error
    return Markup


_MISSING: Final = "the page needs Jinja2, which is not installed: pip install 'pacenote[report]'."


def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise MissingPartError(_MISSING) from error
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["bind"] = _bind
    return environment.from_string(_asset("page.html"))


def _long(shown: Shown) -> bool:
    """Whether a table cell's text should wrap instead of making its column wide."""
    return shown.text is not None and len(speak("en", shown.text)) > _WRAP_FROM


_WRAP_FROM: Final = 36
"""Characters; about a third of a table's width at its font size."""


def _bind(markup: Any) -> Any:
    """Keep figure and unit on one line in large type."""
    return type(markup)(_FIGURE_AND_UNIT.sub("\u00a0", str(markup)))


_FIGURE_AND_UNIT: Final = re.compile(r"(?<=\d) (?=(?:samples/s|样本/s|[mµn]?s|%|[KMGT]iB|倍)(?![a-z]))")


def _replace(target: Path, content: bytes) -> None:
    """Write beside the target and move into place, so a reader never sees half a page."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
