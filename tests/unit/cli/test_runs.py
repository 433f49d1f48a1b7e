from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pacenote.records import Cell, Study, TrialSpec
from pacenote.store import Store

Call = Callable[..., Any]


@pytest.fixture
def filled(store_path: Path) -> Path:
    spec = TrialSpec(workload="lenet", framework="pytorch")
    with Store(store_path) as store:
        for number in range(3):
            store.put_study(
                Study(
                    id=f"{number:012x}aaaa{number:04x}",
                    question="run",
                    name="[bold]mine[/bold]" if number == 1 else None,
                    created_unix_s=1.7e9 + number,
                    cells=[Cell(label="pytorch b32", spec=spec)],
                    trial_ids=["a", "b"],
                    finished=number != 2,
                )
            )
    return store_path


@pytest.mark.usefixtures("store_path")
def test_an_empty_store_says_how_to_fill_it(call: Call) -> None:
    answer = call("runs")
    assert answer.code == 0
    assert "pacenote run lenet" in answer.out
    assert json.loads(call("runs", "--json").out) == {"runs": [], "in_store": 0}


@pytest.mark.usefixtures("filled")
def test_runs_are_listed_newest_first_with_ids_that_show_takes(call: Call) -> None:
    rows = [line for line in call("runs").out.splitlines() if "lenet" in line]
    assert [row.split()[0] for row in rows] == ["000000000002", "000000000001", "000000000000"]
    assert "unfinished" in rows[0]
    assert "[bold]mine[/bold]" in rows[1]  # a name is text, never markup


@pytest.mark.usefixtures("filled")
def test_json_and_limits(call: Call) -> None:
    found = json.loads(call("runs", "--limit", "1", "--json").out)
    assert found["in_store"] == 3
    assert [run["conditions"] for run in found["runs"]] == [["pytorch b32"]]
    assert found["runs"][0]["trials"] == 2
    assert len(json.loads(call("runs", "-n", "1", "--all", "--json").out)["runs"]) == 3


@pytest.mark.usefixtures("filled")
def test_the_list_speaks_chinese(call: Call) -> None:
    assert "未完成" in call("runs", "--lang", "zh").out
