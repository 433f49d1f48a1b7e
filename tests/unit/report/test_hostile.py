"""Text that came from elsewhere, in a terminal and on a page: it stays text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from fixtures.study import make_study
from fixtures.views import cell, ratio, sick, study, trial, warned
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from pacenote.records import Status
from pacenote.report import page, raw, text, view
from pacenote.report.model import StudyView

ATTACKS = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"' onmouseover=alert(1) x='",
    "{{ 7*7 }}{% raw %}",
    "{cell.__class__}{0}",
    "javascript:alert(1)",
    "<!--",
    "]]>",
    "&lt;script&gt;",
    "\u2028\u2029\x00\x7f",
    "\x1b]0;owned\x07\x1b[2J",
    "[bold red]x[/bold red][link=http://x]y[/link]",
    "‮gnp.exe",
    "=cmd|' /C calc'!A0",
    "界" * 200,
]


class Seen(HTMLParser):
    """The tags of a page, its text outside scripts and styles, and what stands in its scripts."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []
        self.text: list[str] = []
        self.data: dict[str, str] = {}
        self._inside = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self._inside = str(dict(attrs).get("id", tag)) if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.data[self._inside] = self.data.get(self._inside, "") + data
        else:
            self.text.append(data)


def attacked(attack: str) -> StudyView:
    """A study whose every free text is the attack."""
    failure = warned("trial_failed", attack, count=1, status="crashed", error_type=attack, error_text=attack)
    return study(
        cell(attack, framework=attack, framework_facts={attack: attack}, findings=[sick("steal", attack)]),
        cell("b", data={"source": attack}),
        name=attack,
        workload=attack,
        command=["pacenote", attack],
        environment={"cpu_model": attack, attack: [attack], "variables": {attack: attack}},
        trials=[trial(attack, status=Status.CRASHED, error_type=attack, error_text=attack, where=attack)],
        findings=[failure, sick("steal", attack), sick(attack, attack), ratio(baseline=attack, cell="b")],
        machine_id=attack,
    )


def plain_tags() -> list[str]:
    return Seen(page.render([attacked("plain")], "en")).tags


def printed(built: StudyView, lang: str) -> str:
    console = Console(width=90, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(*text.render(built, lang), sep="\n")
    return capture.get()


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_adds_no_element_and_no_handler(attack: str) -> None:
    seen = Seen(page.render([attacked(attack)], "en"))
    assert [tag for tag in seen.tags if tag != "span"] == [tag for tag in plain_tags() if tag != "span"]
    assert seen.handlers == []


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.isprintable()])
def test_attack_is_shown_to_the_reader_as_it_is(attack: str) -> None:
    seen = Seen(page.render([attacked(attack)], "zh"))
    assert attack in "".join(seen.text)


@pytest.mark.parametrize("attack", ATTACKS)
def test_data_in_the_page_is_the_data_of_the_study(attack: str) -> None:
    built = attacked(attack)
    seen = Seen(page.render([built], "en"))
    (carried,) = json.loads(seen.data["raw"])
    assert carried == json.loads(json.dumps(raw.export(built), default=str))
    assert carried["name"] == attack
    assert json.loads(seen.data["charts"])


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_terminal_gets_no_control_character_but_its_own_colours(attack: str, lang: str) -> None:
    shown = re.sub(r"\x1b\[[\d;]*m", "", printed(attacked(attack), lang))
    assert all(character.isprintable() or character == "\n" for character in shown)


@pytest.mark.parametrize("attack", ["[bold red]x[/bold red]", "[link=http://x]y[/link]", ":smile:", r"\[red]"])
def test_terminal_shows_markup_as_text(attack: str) -> None:
    assert attack in printed(attacked(attack), "en")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(min_size=1, max_size=40))
def test_no_text_adds_an_element(attack: str) -> None:
    tags = Seen(page.render([attacked(attack)], "en")).tags
    assert tags.count("script") == 4
    assert {tag for tag in tags} <= set(plain_tags()) | {"span"}


@settings(max_examples=25, deadline=None)
@given(st.text(min_size=1, max_size=40))
def test_no_text_steers_the_terminal(attack: str) -> None:
    shown = re.sub(r"\x1b\[[\d;]*m", "", printed(attacked(attack), "en"))
    assert all(character.isprintable() or character == "\n" for character in shown)


@given(st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.text()), st.lists, max_leaves=8))
def test_json_of_anything_is_inert_and_complete(value: Any) -> None:
    written = page.as_json(value)
    assert not re.search("[<>&\u2028\u2029]", written)
    assert json.loads(written) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_that_no_browser_could_read_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        page.as_json([value])


def test_step_times_of_a_hostile_study_survive_the_journey() -> None:
    built = view.build(*make_study(name="</script>"))
    (carried,) = json.loads(Seen(page.render([built], "en")).data["raw"])
    again = msgspec.convert({key: value for key, value in carried.items() if key != "format"}, StudyView)
    assert [one.step_ns for one in again.trials] == [one.step_ns for one in built.trials]
