"""The page in Chromium: both languages, both themes, sorting, charts, downloads, phone width, hostile text."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fixtures.study import make_study

from pacenote.report import page, view

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the page is not opened")

CHROMIUM = os.environ.get("PACENOTE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
HOSTILE = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1>{a|b}\"'&"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: the page is not opened"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Opened:
    """A page that remembers everything it complained about and every address it asked for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]")


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    opened: list[Opened] = []

    def make(built: Any, lang: str = "en", **options: Any) -> Opened:
        path = tmp_path / f"page {len(opened)}.html"
        page.write(built, path, lang)
        opened.append(Opened(browser, path, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.context.close()


def study() -> view.StudyView:
    return view.build(*make_study())


def test_nothing_is_loaded_and_nothing_complains(open_page: Any) -> None:
    shown = open_page(study())
    assert shown.asked == [shown.page.url]
    assert shown.complaints == []


def test_every_chart_is_drawn(open_page: Any) -> None:
    shown = open_page(study())
    charts = shown.page.locator("[data-chart]")
    assert charts.count() == 7
    for at in range(charts.count()):
        box = charts.nth(at).bounding_box()
        assert box["width"] > 600
        assert box["height"] >= 110
        assert charts.nth(at).locator("svg path, canvas").count() >= 1


def test_verdict_comes_first_and_largest(open_page: Any) -> None:
    shown = open_page(study()).page
    assert "pytorch b256 is the fastest" in shown.inner_text("h1")
    sizes = shown.evaluate(
        "[...document.querySelectorAll('h1, h2, p, td')].map(n => parseFloat(getComputedStyle(n).fontSize))"
    )
    largest = sorted(sizes)[-2:]
    assert (
        largest[0]
        < largest[1]
        == float(shown.evaluate("parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)"))
    )
    assert shown.locator("h1").bounding_box()["y"] < 300


def test_language_switch_changes_everything_and_back(open_page: Any) -> None:
    shown = open_page(study(), "zh").page
    assert "最快" in shown.inner_text("h1")
    assert shown.evaluate("document.documentElement.lang") == "zh-CN"
    assert "等待数据" in shown.inner_text(".s-phases")
    shown.click("[data-set-lang=en]")
    assert "is the fastest" in shown.inner_text("h1")
    assert "最快" not in shown.inner_text("body")
    assert shown.evaluate("document.documentElement.lang") == "en"
    legend = shown.locator("[data-chart$=phases-phases] svg text").all_text_contents()
    assert "Data wait" in legend
    shown.click("[data-set-lang=zh]")
    assert "等待数据" in shown.locator("[data-chart$=phases-phases] svg text").all_text_contents()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme_follows_the_system_and_the_switch(open_page: Any, scheme: str) -> None:
    shown = open_page(study(), color_scheme=scheme).page
    paper = "getComputedStyle(document.body).backgroundColor"
    first = shown.evaluate(paper)
    assert (max(channels(first)) < 60) is (scheme == "dark")
    shown.click("button.theme")
    assert (max(channels(shown.evaluate(paper))) < 60) is (scheme == "light")
    shown.click("button.theme")
    assert shown.evaluate(paper) == first


def channels(colour: str) -> list[int]:
    return [int(part) for part in colour.strip("rgba()").split(",")[:3]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_themes(open_page: Any, scheme: str) -> None:
    shown = open_page(study(), color_scheme=scheme).page
    for selector in (
        "h1",
        ".lead",
        "td.num",
        "thead th",
        ".because",
        "td.good",
        "td.bad",
        "td .unit",
        "td .why",
        ".range",
        ".made",
    ):
        ratio = shown.evaluate(CONTRAST, selector)
        assert ratio >= 4.5, f"{selector}: {ratio}"


CONTRAST = """selector => {
  const light = text => { const c = text.match(/[\\d.]+/g).slice(0, 3).map(v => { v /= 255;
    return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
  const node = document.querySelector(selector);
  let at = node, back = 'rgba(0, 0, 0, 0)';
  while (at && /, 0\\)$/.test(back)) { back = getComputedStyle(at).backgroundColor; at = at.parentElement; }
  const a = light(getComputedStyle(node).color), b = light(back);
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }"""


def test_every_table_sorts_by_every_column(open_page: Any) -> None:
    shown = open_page(study()).page
    tables = shown.locator("table")
    assert tables.count() >= 5
    for table in tables.all():
        for header in table.locator("thead th").all():
            header.locator("button").click()
            first = header.get_attribute("aria-sort")
            header.locator("button").click()
            assert {first, header.get_attribute("aria-sort")} == {"ascending", "descending"}
        assert table.locator("thead th[aria-sort]").count() == 1


def test_sorting_is_by_number_and_keeps_gaps_last(open_page: Any) -> None:
    shown = open_page(study()).page
    header = shown.locator("table[data-name=results] thead th").nth(1)
    values = (
        "[...document.querySelectorAll('table[data-name=results] tbody tr')].map(r => r.cells[0].textContent.trim())"
    )
    header.locator("button").click()
    fastest_first = ["pytorch b256", "paddle b256", "pytorch b32", "paddle b32", "pytorch b65536"]
    assert shown.evaluate(values) == fastest_first
    header.locator("button").click()
    assert shown.evaluate(values) == [*reversed(fastest_first[:4]), "pytorch b65536"]


def test_figures_are_right_aligned_with_their_unit(open_page: Any) -> None:
    shown = open_page(study()).page
    cells = shown.locator("table[data-name=results] td.num")
    assert {cell.evaluate("n => getComputedStyle(n).textAlign") for cell in cells.all()} == {"right"}
    assert cells.nth(0).inner_text() == "3,810\u00a0samples/s"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_phone_width_never_scrolls_sideways(open_page: Any, lang: str) -> None:
    shown = open_page(study(), lang, viewport={"width": 375, "height": 800}).page
    assert shown.evaluate("document.documentElement.scrollWidth") <= 375
    outside = shown.evaluate(
        """[...document.querySelectorAll('h1, h2, p, dd, li, figure')].filter(n => !n.closest('.scroll')
        && n.getBoundingClientRect().right > 376).map(n => n.textContent)"""
    )
    assert outside == []


def test_print_is_light_and_without_controls(open_page: Any) -> None:
    shown = open_page(study(), color_scheme="dark").page
    shown.emulate_media(media="print")
    shown.wait_for_selector("html[data-theme=light]")
    assert not shown.locator(".controls").is_visible()
    assert shown.locator("h1").is_visible()


def test_downloads_hold_the_raw_data(open_page: Any) -> None:
    built = study()
    shown = open_page(built).page
    with shown.expect_download() as waiting:
        shown.click("[data-content=json]")
    saved = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    assert waiting.value.suggested_filename == f"pacenote-{built.id}.json"
    assert [trial["step_ns"] for trial in saved["trials"]] == [trial.step_ns for trial in built.trials]
    with shown.expect_download() as waiting:
        shown.click("[data-content=csv]")
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "condition,process,round,turn,step,step_time_s"
    assert len(lines) == 1 + sum(len(trial.step_ns) for trial in built.trials)
    assert float(lines[1].split(",")[-1]) == built.trials[0].step_ns[0] / 1e9


def test_hostile_text_is_shown_and_never_runs(open_page: Any) -> None:
    plain = msgspec.json.encode(view.build(*make_study(name=HOSTILE, command=["pacenote", HOSTILE]))).decode()
    attack = json.dumps(HOSTILE)[1:-1]
    for word in ("pytorch b256", "Example CPU 2.4 GHz", "RuntimeError", "PASSIVE", "other_load", "no_sensor"):
        plain = plain.replace(word, attack)
    shown = open_page(msgspec.json.decode(plain, type=view.StudyView))
    assert shown.complaints == []
    shown.page.locator("[data-chart$=comparison-throughput] svg path").first.hover(force=True)
    shown.page.click("[data-set-lang=zh]")
    assert shown.page.evaluate("window.owned") is None
    assert HOSTILE in shown.page.inner_text("h1")
    assert shown.page.locator("img").count() == 0


def test_label_that_a_spreadsheet_would_run_is_disarmed(open_page: Any) -> None:
    plain = msgspec.json.encode(study()).decode().replace("pytorch b32", "=cmd|calc")
    shown = open_page(msgspec.json.decode(plain, type=view.StudyView)).page
    with shown.expect_download() as waiting:
        shown.click("[data-content=csv]")
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("'=cmd|calc,") for line in lines)
    assert not any(line.startswith("=") for line in lines)


def test_several_studies_in_one_page(open_page: Any) -> None:
    shown = open_page([study(), study()])
    assert shown.page.locator("article").count() == 2
    assert shown.page.evaluate("new Set([...document.querySelectorAll('[id]')].map(n => n.id)).size") == (
        shown.page.locator("[id]").count()
    )
    assert shown.complaints == []


def test_without_script_all_figures_are_still_there(open_page: Any, tmp_path: Path, browser: Any) -> None:
    page.write(study(), tmp_path / "plain.html", "zh")
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto((tmp_path / "plain.html").as_uri())
    assert "最快" in opened.inner_text("h1")
    assert "is the fastest" not in opened.inner_text("h1")
    assert "3,810" in opened.inner_text("table[data-name=results]")
    context.close()


def with_an_enormous_interval() -> view.StudyView:
    """The study with one condition of two processes whose interval reaches a hundred times its value."""
    made = make_study()
    found = [
        msgspec.structs.replace(item, params={**item.params, "low": 0.0001, "high": 0.9, "rounds": 2})
        if (item.code, item.subject) == ("cell_time", "paddle b32")
        else item
        for item in made.study.findings
    ]
    return view.build(*make_study(findings=found))


def test_enormous_whisker_is_clipped_and_marked_and_said_in_words(open_page: Any) -> None:
    shown = open_page(with_an_enormous_interval())
    chart = shown.page.locator("[data-chart$=comparison-throughput]")
    ticks = [
        float(text.replace(",", "")) for text in chart.locator("svg text").all_text_contents() if text[:1].isdigit()
    ]
    assert max(ticks) < 4 * 5664
    option = shown.page.evaluate(
        "() => echarts.getInstanceByDom(document.querySelector('[data-chart$=comparison-throughput]')).getOption()"
    )
    arrows = [series for series in option["series"] if series.get("symbol") == "triangle"]
    assert [len(series["data"]) for series in arrows] == [1]
    assert option["xAxis"][0]["max"] == pytest.approx(3 * 256 / 0.0452, rel=1e-3)
    assert "too wide to say (2 processes)" in shown.page.inner_text(".s-comparison")
    assert shown.complaints == []


def test_axis_of_ordinary_intervals_has_no_arrow(open_page: Any) -> None:
    shown = open_page(study())
    for name in ("throughput", "speedup"):
        option = shown.page.evaluate(
            "name => echarts.getInstanceByDom(document.querySelector(`[data-chart$=comparison-${name}]`)).getOption()",
            name,
        )
        assert [len(one["data"]) for one in option["series"] if one.get("symbol") == "triangle"] == [0]


@pytest.mark.parametrize("width", [390, 1200])
def test_words_in_a_column_of_numbers_sort_behind_the_numbers(open_page: Any, width: int) -> None:
    shown = open_page(with_an_enormous_interval(), viewport={"width": width, "height": 900}).page
    header = shown.locator("[data-name=results] thead th").nth(1)
    for _ in range(2):
        header.locator("button").click()
        last = shown.locator("[data-name=results] tbody tr").last.inner_text()
        assert "out of memory" in last
