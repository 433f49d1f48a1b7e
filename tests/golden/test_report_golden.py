"""What people read did not change by accident: the terminal's text and the page's content, in both languages."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from fixtures.study import make_study, selftest_findings
from rich.console import Console

from pacenote.report import content, raw, text, view

STUDIES = {
    "run": view.build(*make_study()),
    "selftest": view.build(*make_study(question="selftest", findings=selftest_findings())),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", sorted(STUDIES))
def test_terminal(name: str, lang: str, golden: Callable[[str, str], None]) -> None:
    console = Console(width=100, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(*text.render(STUDIES[name], lang), sep="\n")
    lines = [line.rstrip() for line in capture.get().splitlines()]
    golden(f"terminal_{name}_{lang}.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_page(lang: str, golden: Callable[[str, str], None]) -> None:
    data = content.page_data(STUDIES["run"])[lang]
    golden(f"page_{lang}.json", json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n")


def test_raw_data_without_its_steps(golden: Callable[[str, str], None]) -> None:
    data = raw.export(STUDIES["run"])
    for trial in data["trials"]:
        trial["step_ns"] = len(trial["step_ns"])
        trial["turn"] = len(trial["turn"])
    golden("raw.json", json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
