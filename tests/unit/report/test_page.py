from __future__ import annotations

import builtins
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fixtures.study import make_study

from pacenote.errors import MissingPartError, UsageError
from pacenote.report import page, raw, view
from pacenote.report.sections import spread

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}"
ASSETS = resources.files("pacenote.report") / "assets"


class Elements(HTMLParser):
    """Collects every start tag and the text of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(text: str) -> Elements:
    elements = Elements()
    elements.feed(text)
    return elements


def hostile_view() -> view.StudyView:
    """The study with every free text replaced by an attack."""
    made = make_study(name=HOSTILE, command=["pacenote", HOSTILE])
    plain = msgspec.json.encode(view.build(*made)).decode()
    attack = json.dumps(HOSTILE)[1:-1]
    for word in ("pytorch b256", "Example CPU 2.4 GHz", "RuntimeError", "lenet.py:31", "PASSIVE"):
        plain = plain.replace(word, attack)
    return msgspec.json.decode(plain, type=view.StudyView)


def test_page_loads_nothing_from_anywhere() -> None:
    tags = parsed(page.render([view.build(*make_study())], "en")).tags
    linked = [
        value for tag, attrs in tags for name, value in attrs.items() if name in ("src", "href", "action", "srcset")
    ]
    assert linked
    assert all(value is not None and value.startswith("#") for value in linked)
    assert not [tag for tag, _ in tags if tag in ("link", "iframe", "img", "object", "embed", "base")]


def test_user_text_stays_text_everywhere() -> None:
    tags = parsed(page.render([hostile_view()], "zh")).tags
    assert len([tag for tag, _ in tags if tag == "script"]) == 4
    assert not [tag for tag, _ in tags if tag == "img"]
    assert not [name for _, attrs in tags for name in attrs if name.startswith("on")]
    assert "alert(1)" in parsed(page.render([hostile_view()], "zh")).text


def test_policy_names_exactly_the_scripts_that_run() -> None:
    text = page.render([hostile_view()], "en")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].count("sha256-") == 2
    assert "unsafe-eval" not in policy[1]
    assert "default-src &#39;none&#39;" in policy[1]


def test_json_cannot_leave_its_element() -> None:
    written = page.as_json({"a": "</script><!--\u2028&", "b": [1.5, None]})
    assert "<" not in written
    assert "&" not in written
    assert json.loads(written) == {"a": "</script><!--\u2028&", "b": [1.5, None]}


def test_both_languages_are_in_the_page_whichever_it_opens_in() -> None:
    for lang, declared in (("en", "en"), ("zh", "zh-CN")):
        text = page.render([view.build(*make_study())], lang)
        assert f'<html lang="{declared}" data-lang="{lang}">' in text
        assert "Where the time goes" in text
        assert "时间花在哪里" in text


def test_write_returns_the_size_and_replaces_whole(tmp_path: Path) -> None:
    target = tmp_path / "new folder" / "page.html"
    size = page.write(view.build(*make_study()), target, "en")
    assert target.stat().st_size == size
    assert page.write([view.build(*make_study())] * 2, target, "zh") > size
    assert [item.name for item in target.parent.iterdir()] == ["page.html"]


def test_unwritable_place_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match=r"cannot write the page to .*--output"):
        page.write(view.build(*make_study()), tmp_path / "file" / "page.html")


def test_without_jinja_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name in ("jinja2", "markupsafe"):
            raise ImportError(name)
        return genuine(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPartError, match=r"pip install 'pacenote\[report\]'"):
        page.render([view.build(*make_study())], "en")


def test_chart_library_is_the_published_file() -> None:
    text = (ASSETS / "echarts" / "README.md").read_text(encoding="utf-8")
    found = hashlib.sha256((ASSETS / "echarts" / "echarts.common.min.js").read_bytes()).hexdigest()
    assert found in text
    for name in ("LICENSE", "NOTICE"):
        assert (ASSETS / "echarts" / name).is_file()


def test_raw_data_holds_every_step_and_bounds_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    built = view.build(*make_study())
    exported = raw.export(built)
    assert sum(len(trial["step_ns"]) for trial in exported["trials"]) == raw.total_steps(built) == 4 * 3 * 48
    monkeypatch.setattr(raw, "MOST_STEPS", 100)
    reduced = raw.export(built)["trials"]
    assert [trial["step_ns"] is None for trial in reduced[:3]] == [False, False, True]
    assert raw.kept_steps(built) == 96


def test_chart_of_steps_says_when_it_is_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "_MOST_POINTS", 100)
    section = spread.build(view.build(*make_study()))
    assert section is not None
    assert "reduced" in [block.name for block in section.blocks]
    chart = next(block for block in section.blocks if block.name == "steps")
    assert sum(len(series.points) for series in chart.series) <= 100


def test_table_cell_that_is_long_wraps_and_a_short_one_does_not() -> None:
    shown = page.render([view.build(*make_study(command=["pacenote", "x"]))], "en")
    assert re.search(r'<td class="long [^"]*"[^>]*>[^<]*<span class="l-en"[^>]*>out of memory: RuntimeError', shown)
    assert not re.search(r'<td class="long [^"]*">\s*<span class="l-en"[^>]*>faster', shown)


def test_figure_and_unit_of_the_verdict_stay_on_one_line() -> None:
    shown = page.render([view.build(*make_study())], "en")
    assert "5,664\u00a0samples/s" in shown
    assert "52.0\u00a0%" in shown


def test_failed_write_leaves_the_old_page_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")

    def full(self: Path, where: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UsageError, match="No space left on device"):
        page.write(view.build(*make_study()), target)
    assert target.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["page.html"]


def test_page_of_several_studies_names_each_workload_once() -> None:
    built = view.build(*make_study())
    other = msgspec.structs.replace(built, workload="simplenet")
    shown = page.render([built, other, built], "en")
    assert "<title" in shown
    assert re.search(r"<title[^>]*>lenet, simplenet · Pacenote</title>", shown)
    assert shown.count('<article class="study"') == 3


def test_page_without_javascript_still_has_every_figure() -> None:
    shown = page.render([view.build(*make_study())], "en")
    markup = re.sub(r"<script.*?</script>", "", shown, flags=re.DOTALL)
    for figure in ("5,664", "45.2", "44.1 – 46.4", "1.49"):
        assert figure in markup
    assert "<noscript>" in markup


def test_conditions_of_a_health_entry_are_told_in_both_languages() -> None:
    made = make_study()
    labels = [cell.label for cell in made.study.cells]
    load = next(item for item in made.study.findings if item.code == "other_load")
    found = [msgspec.structs.replace(load, subject=label) for label in labels]
    shown = page.render([view.build(*make_study(findings=found))], "en")
    assert re.search(r'<b class="subject"><span class="l-en" lang="en">All conditions</span>', shown)
    assert shown.count("Stop the other programs and run again.") == 1
