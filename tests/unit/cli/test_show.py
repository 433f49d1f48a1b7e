"""show, report and compare read the store and answer in text, JSON or a page."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures.study import make_study

from pacenote.cli import present
from pacenote.records import Status
from pacenote.stats import STATISTICS_VERSION
from pacenote.store import Store

Call = Callable[..., Any]


@pytest.fixture
def filled(store_path: Path) -> Path:
    """A store with one run, as the runner would have left it."""
    made = make_study(name="mine")
    with Store(store_path) as store:
        store.put_environment(made.environment)
        study = make_study(name="mine", environment_hash=made.environment.hash(), trial_ids=[]).study
        store.put_study(study)
        for record in made.records:
            store.put_trial(record, study.id)
        for summary in made.summaries:
            store.put_summary(summary.trial_id, STATISTICS_VERSION, summary)
    return store_path


@pytest.mark.usefixtures("filled")
def test_show_prints_tables_and_ends_with_the_verdict(call: Call) -> None:
    answer = call("show", "mine")
    assert (answer.code, answer.err) == (0, "")
    assert "pytorch b256" in answer.out
    assert "refused" in answer.out
    last = [line for line in answer.out.splitlines() if line.strip()][-2:]
    assert last[0].startswith("pytorch b256 is the fastest")
    assert not re.search(r" +$", answer.out, re.MULTILINE)


@pytest.mark.usefixtures("filled")
def test_show_speaks_chinese(call: Call) -> None:
    assert "最快" in call("show", "--lang", "zh").out


@pytest.mark.usefixtures("filled")
def test_json_carries_every_step_and_the_sentences(call: Call) -> None:
    found = json.loads(call("show", "last", "--json").out)
    assert found["format"] == present.FORMAT
    assert found["name"] == "mine"
    assert found["verdict"].startswith("pytorch b256 is the fastest")
    finished = [one for one in found["trials"] if one["status"] == Status.FINISHED.value]
    assert all(one["step_ns"] for one in finished)
    load = next(one for one in found["findings"] if one["code"] == "other_load")
    assert load["text"].startswith("Other programs used")
    assert "run again" in load["fix"]


@pytest.mark.usefixtures("filled")
def test_report_writes_one_page(call: Call, tmp_path: Path) -> None:
    page = tmp_path / "out" / "page.html"
    answer = call("report", "mine", "--output", str(page))
    assert (answer.code, answer.out) == (0, f"The page: {page}\n")
    assert "<html" in page.read_text(encoding="utf-8")
    found = json.loads(call("report", "-o", str(page), "--json").out)
    assert found["page_bytes"] == page.stat().st_size
    assert len(found["runs"]) == 1


@pytest.mark.usefixtures("filled")
def test_a_page_that_cannot_be_written_is_one_line(call: Call, tmp_path: Path) -> None:
    answer = call("report", "--output", str(tmp_path))
    assert answer.code == 2
    assert answer.err.count("\n") == 1


@pytest.mark.usefixtures("filled")
def test_without_jinja_the_extra_is_named(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("jinja2", "markupsafe")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "markupsafe", None)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    answer = call("report", "--output", str(tmp_path / "page.html"))
    assert answer.code == 3
    assert "pacenote[report]" in answer.err


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("name", ["show", "report", "compare"])
def test_an_unknown_run_lists_the_known(call: Call, name: str) -> None:
    answer = call(name, "mime")
    assert answer.code == 2
    assert "Did you mean 'mine'?" in answer.err


@pytest.mark.usefixtures("store_path")
def test_an_empty_store_says_what_to_type(call: Call) -> None:
    answer = call("show")
    assert answer.code == 2
    assert "pacenote run lenet" in answer.err


def test_compare_shows_both_runs_and_is_shown_again(call: Call, filled: Path) -> None:
    other = make_study(name="other")
    with Store(filled) as store:
        study = make_study(name="other", id="0190a1b2c3d4ffffffff", trial_ids=[], created_unix_s=1.791e9).study
        store.put_study(study)
        for record in other.records:
            store.put_trial(renamed(record), study.id)
    answer = call("compare", "mine", "other")
    assert answer.code == 0
    assert "mine: pytorch b32" in answer.out
    assert "other: pytorch b32" in answer.out
    again = call("show", "last")
    assert again.out == answer.out
    found = json.loads(call("compare", "mine", "other", "--json").out)
    assert found["question"] == "compare"
    assert {one["cell"].partition(":")[0] for one in found["trials"]} == {"mine", "other"}


def renamed(record: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(record, id=f"other-{record.id}")


def test_a_summary_that_cannot_be_read_is_made_again(call: Call, filled: Path) -> None:
    with Store(filled) as store:
        study = store.get_study("mine")
        before = present.summaries(store, store.trials(study.id))
        for trial_id in study.trial_ids:
            store.put_summary(trial_id, STATISTICS_VERSION, {"trial_id": 3})
        after = present.summaries(store, store.trials(study.id))
    assert [one.trial_id for one in after] == [one.trial_id for one in before]
    assert call("show", "mine").code == 0
