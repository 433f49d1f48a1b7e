"""Each command's JSON document, and the exit codes that scripts rely on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fixtures.study import make_study
from sick_trials import healthy, steps_s

from pacenote.cli import present
from pacenote.cli.main import COMMANDS
from pacenote.errors import DataError, MeasurementError, MissingPartError, PacenoteError, StoreError, UsageError
from pacenote.experiments import selftest, sweep
from pacenote.records import Cell, Environment, Study, TrialSpec
from pacenote.store import Store

Call = Callable[..., Any]
SPEC = TrialSpec(workload="lenet", framework="pytorch", levers={"threads": 4})


def keep_run(store: Store, name: str, *, level_s: float = 5e-3, **changes: Any) -> str:
    """A run of one condition and three processes, kept as the runner keeps it; returns its id."""
    key = store.put_environment(Environment(facts={"cpu_model": "x"}))
    cells = [Cell(label="pytorch", spec=SPEC)]
    study = Study(id=f"{name:0<20}", name=name, question="run", created_unix_s=1.0, cells=cells, environment_hash=key)
    store.put_study(msgspec.structs.replace(study, finished=True, baseline="pytorch"))
    for number in range(3):
        steps = steps_s(level_s=level_s * (1 + number / 200), seed=number)
        made = healthy(spec=SPEC, steps=steps, round=number, id=f"{name}-{number}", environment_hash=key, **changes)
        store.put_trial(made, study.id)
    return study.id


@pytest.fixture
def runs(store_path: Path) -> Path:
    with Store(store_path) as store:
        keep_run(store, "before", level_s=6e-3)
        keep_run(store, "after")
        keep_run(store, "sick", flags={"anomaly_mode": True})
    return store_path


@pytest.mark.usefixtures("runs")
def test_runs_document(call: Call) -> None:
    found = json.loads(call("runs", "--json").out)
    assert found["in_store"] == 3
    assert {run["name"] for run in found["runs"]} == {"before", "after", "sick"}
    for run in found["runs"]:
        assert set(run) == {
            *("id", "short_id", "name", "question", "workloads"),
            *("created_unix_s", "conditions", "trials", "finished"),
        }
        assert run["id"].startswith(run["short_id"])
        assert (run["workloads"], run["trials"], run["finished"]) == (["lenet"], 3, True)


@pytest.mark.usefixtures("runs")
def test_show_document(call: Call) -> None:
    found = json.loads(call("show", "before", "--json").out)
    assert (found["format"], found["language"], found["name"]) == (present.FORMAT, "en", "before")
    assert [cell["label"] for cell in found["cells"]] == ["pytorch"]
    assert len(found["trials"]) == 3
    for one in found["trials"]:
        assert len(one["step_ns"]) == len(one["turn"]) == 350
    assert json.loads(call("show", "before", "--json", "--lang", "zh").out)["language"] == "zh"


@pytest.mark.usefixtures("runs")
def test_compare_document(call: Call) -> None:
    answer = call("compare", "before", "after", "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    assert found["question"] == "compare"
    (ratio,) = [one for one in found["findings"] if one["code"] == "ratio"]
    assert ratio["params"]["speedup"] == pytest.approx(1.2, rel=0.03)
    assert ratio["text"]
    assert "step_ns" not in found["trials"][0]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["before", "after"], 0, "ratio"),
        (["before", "sick"], 6, "ratio_refused"),
        (["sick", "before"], 6, "ratio_refused"),
        (["before", "sick", "--force"], 0, "ratio_forced"),
    ],
)
def test_a_comparison_that_is_refused_ends_with_6(call: Call, words: list[str], code: int, kind: str) -> None:
    answer = call("compare", *words, "--json")
    assert answer.code == code
    assert [one["code"] for one in json.loads(answer.out)["findings"] if one["code"].startswith("ratio")] == [kind]
    assert answer.err == ""


@pytest.mark.usefixtures("runs")
def test_report_document_of_several_runs(call: Call, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = json.loads(call("report", "before", "after", "--output", str(page), "--json").out)
    assert found == {"path": str(page), "page_bytes": page.stat().st_size, "runs": found["runs"]}
    assert [run[:5] for run in found["runs"]] == ["befor", "after"]


@pytest.mark.usefixtures("runs")
def test_a_page_beside_json_is_told_on_stderr(call: Call, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    answer = call("compare", "before", "after", "--json", "--output", str(page))
    json.loads(answer.out)
    assert str(page) in answer.err
    assert page.is_file()


def test_run_document_of_several_plans_is_a_list() -> None:
    views = [present_view(name) for name in ("a", "b")]
    one = present.document(views[0], "en", series=False)
    assert one["format"] == present.FORMAT
    assert "step_ns" not in one["trials"][0]
    assert "step_ns" in present.document(views[0], "en", series=True)["trials"][0]


def present_view(name: str) -> Any:
    from pacenote.report import view

    made = make_study(name=name)
    return view.build(made.study, made.records, made.summaries, made.environment)


def test_selftest_passes_its_options_on(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def run(store: Store, watcher: object, **arguments: Any) -> Study:
        seen.append(arguments)
        study = Study(id="1" * 20, question="selftest", created_unix_s=1.0, finished=True)
        store.put_study(study)
        return study

    monkeypatch.setattr(selftest, "run", run)
    words = ["--framework", "paddle", "--python", "/x/python", "--time-budget", "90s", "--quiet", "--json"]
    answer = call("selftest", *words)
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out)["question"] == "selftest"
    assert call("selftest", "--time-budget", "none").code == 0
    assert seen == [
        {"framework": "paddle", "python": "/x/python", "time_budget_s": 90.0},
        {"framework": None, "python": None, "time_budget_s": None},
    ]


@pytest.mark.parametrize("words", [["--time-budget", "soon"], ["--rounds", "3"], ["extra"], ["--framework"]])
def test_selftest_refuses_what_it_does_not_know(call: Call, words: list[str]) -> None:
    answer = call("selftest", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("u"), 2),
        (MissingPartError("m"), 3),
        (StoreError("s"), 4),
        (MeasurementError("x"), 5),
        (DataError("d"), 7),
        (KeyboardInterrupt(), 130),
    ],
)
def test_what_stops_a_run_is_its_exit_code(
    call: Call, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def run(*_: object) -> Study:
        raise error

    monkeypatch.setattr(sweep, "run", run)
    answer = call("run", "lenet", "--json", "--quiet")
    assert (answer.code, answer.out) == (code, "")
    assert answer.err.count("\n") == 1
    assert not isinstance(error, PacenoteError) or answer.err == f"pacenote: {error}\n"


@pytest.mark.parametrize("name", sorted(COMMANDS))
@pytest.mark.parametrize("option", ["--nonsense", "--lang=fr"])
def test_every_command_refuses_a_bad_option_in_one_line(call: Call, name: str, option: str) -> None:
    arguments = {"run": ["lenet", "--dry-run"], "compare": ["a", "b"], "import": ["trace.json"]}.get(name, [])
    answer = call(name, *arguments, option)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert re.search(r"nonsense|'fr'", answer.err)


@pytest.mark.parametrize("name", ["show", "compare", "report"])
def test_without_runs_there_is_nothing_to_read(call: Call, name: str) -> None:
    answer = call(name, *(["a"] if name == "compare" else []), "--json")
    assert (answer.code, answer.out) == (2, "")
    assert "there are no runs yet" in answer.err
