"""advise: a stored run against a file of candidates, in text and JSON, in both languages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fixtures.study import make_study

from pacenote.records import Finding, Severity
from pacenote.stats import STATISTICS_VERSION
from pacenote.store import Store

Call = Callable[..., Any]

CANDIDATES = """
[[candidate]]
offer = "aws/g4dn.xlarge"
samples_per_s = [30000, 40000, 50000]
loader_samples_per_s = 12000
memory_need_gib = 2
memory_gib = 16
boot = "2m"
install = "5m"
disk_gb = 100
power_w = 150

[[candidate]]
offer = "gcp/g2-standard-8"
spot = true
samples_per_s = 70000
loader_samples_per_s = 25000
interruptions_per_h = 0.05
checkpoint = "30m"
restart = "5m"
memory_need_gib = 2
memory_gib = 24

[[candidate]]
offer = "alibaba/ecs.gn6i-c4g1.xlarge"
time = ["3h", "4h", "5h"]
"""


@pytest.fixture(autouse=True)
def no_own_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACENOTE_PRICES", str(tmp_path / "prices"))


def fill(store_path: Path, *, sick: bool = False, items: int | None = 50_000) -> None:
    made = make_study(name="mine")
    study = make_study(name="mine", environment_hash=made.environment.hash(), trial_ids=[]).study
    if sick:
        extra = [
            Finding(code="other_load", severity=Severity.UNHEALTHY, subject=cell.label, params={"other_cpus": 1.0})
            for cell in study.cells
        ]
        study = msgspec.structs.replace(study, findings=[*study.findings, *extra])
    with Store(store_path) as store:
        store.put_environment(made.environment)
        store.put_study(study)
        for record in made.records:
            store.put_trial(msgspec.structs.replace(record, data={} if items is None else {"items": items}), study.id)
        for summary in made.summaries:
            store.put_summary(summary.trial_id, STATISTICS_VERSION, summary)


@pytest.fixture
def filled(store_path: Path) -> Path:
    fill(store_path)
    return store_path


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "candidates.toml"
    path.write_text(CANDIDATES, encoding="utf-8")
    return str(path)


@pytest.mark.usefixtures("filled")
def test_the_answer_stands_last_after_list_bill_and_turns(call: Call, file: str) -> None:
    answer = call("advise", "mine", "--samples", "5e8", "-c", file)
    assert answer.code == 0
    assert answer.err == ""
    order = ["Short list", "The bill of gcp/g2-standard-8 (spot)", "What would change the answer", "\nRent gcp/g2"]
    places = [answer.out.index(words) for words in order]
    assert places == sorted(places)
    assert "an hour of waiting is worth" in answer.out
    assert "days old" in answer.out  # the Chinese price is of 2024


@pytest.mark.usefixtures("filled")
def test_in_chinese_no_english_sentence_is_left(call: Call, file: str) -> None:
    answer = call("advise", "mine", "--samples", "5e8", "-c", file, "--lang", "zh")
    assert "候选" in answer.out
    assert "租用 gcp/g2-standard-8 (spot)：整个任务" in answer.out
    told = [line for line in answer.out.splitlines() if not re.search("github|Daly|Google|2006|billing", line)]
    assert [line for line in told if re.search(r"\b(the|costs|takes|then)\b", line)] == []


@pytest.mark.usefixtures("filled")
def test_json_has_everything_with_its_sentences(call: Call, file: str) -> None:
    found = json.loads(call("advise", "mine", "--samples", "5e8", "-c", file, "--json").out)
    assert found["format"] == "pacenote-advice-1"
    assert found["verdict"]["code"] == "rent"
    assert found["choice"] == "gcp/g2-standard-8 (spot)"
    assert found["text"].startswith("Rent gcp/g2-standard-8 (spot)")
    assert {one["candidate"]["name"] for one in found["ranked"]} >= {"here", "aws/g4dn.xlarge"}
    lines = {line["code"] for line in found["ranked"][0]["bill"]["lines"]}
    assert "spot_loss" in lines
    assert all(turn["text"] and turn["at"] != turn["now"] for turn in found["turns"])
    assert found["tornado"][0]["input"] in ("time", "loader", "interruptions")


@pytest.mark.usefixtures("filled")
def test_this_machine_takes_the_time_of_its_fastest_healthy_condition(call: Call) -> None:
    """pytorch b256 makes 5,664 samples/s; paddle b256, unhealthy, is not asked."""
    found = json.loads(call("advise", "mine", "--samples", "5664000", "--json").out)
    (here,) = found["ranked"]
    assert here["work_s"]["value"] == pytest.approx(1000, rel=0.01)
    assert here["work_s"]["low"] < here["work_s"]["value"] < here["work_s"]["high"]
    assert found["verdict"]["code"] == "stay_only"


@pytest.mark.usefixtures("filled")
def test_epochs_count_the_data_of_the_run(call: Call) -> None:
    by_epochs = json.loads(call("advise", "mine", "--epochs", "10", "--json").out)
    by_samples = json.loads(call("advise", "mine", "--samples", "500000", "--json").out)
    assert by_epochs["ranked"][0]["work_s"] == by_samples["ranked"][0]["work_s"]


def test_epochs_need_a_run_that_knows_its_data(call: Call, store_path: Path) -> None:
    fill(store_path, items=None)
    answer = call("advise", "mine", "--epochs", "10")
    assert answer.code == 2
    assert "use --samples" in answer.err


@pytest.mark.usefixtures("filled")
def test_the_goal_follows_from_the_limits(call: Call, file: str) -> None:
    def goal(*limits: str) -> str:
        found = json.loads(call("advise", "mine", "--samples", "5e8", "-c", file, "--json", *limits).out)
        return str(found["question"]["goal"])

    assert goal() == "balanced"
    assert goal("--deadline", "8h") == "cheapest"
    assert goal("--money", "9") == "fastest"
    assert goal("--money", "9", "--goal", "balanced") == "balanced"


@pytest.mark.usefixtures("filled")
def test_a_deadline_that_cannot_be_met_is_no_error(call: Call, file: str) -> None:
    answer = call("advise", "mine", "--samples", "5e8", "-c", file, "--deadline", "10m")
    assert answer.code == 0
    assert "The deadline cannot be met" in answer.out


@pytest.mark.usefixtures("filled")
def test_money_is_told_in_the_currency_asked_for(call: Call, file: str) -> None:
    dollars = json.loads(call("advise", "mine", "--samples", "5e8", "-c", file, "--json").out)
    yuan = json.loads(call("advise", "mine", "--samples", "5e8", "-c", file, "--json", "--currency", "cny").out)

    def money(found: Any, name: str) -> float:
        one = next(one for one in found["ranked"] if one["candidate"]["name"] == name)
        return float(one["money"]["value"])

    name = "aws/g4dn.xlarge"
    assert money(yuan, name) == pytest.approx(money(dollars, name) * 7.1884)
    chinese = "alibaba/ecs.gn6i-c4g1.xlarge"
    assert money(yuan, chinese) == pytest.approx(4 * 10.46)


@pytest.mark.usefixtures("filled")
def test_a_spot_price_without_a_rate_is_left_out(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[[candidate]]\noffer = "gcp/g2-standard-8"\nspot = true\ntime = "1h"\n', encoding="utf-8")
    answer = call("advise", "mine", "--samples", "5e8", "-c", str(path))
    assert "rate of interruptions" in answer.out
    assert "Left out" in answer.out


@pytest.mark.usefixtures("filled")
def test_a_model_that_fits_nowhere_says_how_many_cards_would_do(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        "[model]\nparameters = 7e9\nrest_gib = 4\n"
        '[[candidate]]\noffer = "gcp/a2-ultragpu-1g"\nmemory_gib = 80\ntime = "1m"\n',
        encoding="utf-8",
    )
    answer = call("advise", "mine", "--samples", "5e8", "-c", str(path), "--deadline", "1h")
    assert "needs 108 GiB, a card has 80.0 GiB" in answer.out
    chinese = call("advise", "mine", "--samples", "5e8", "-c", str(path), "--deadline", "1h", "--lang", "zh", "--json")
    (one,) = [one for one in json.loads(chinese.out)["ranked"] if one["candidate"]["name"] != "here"]
    assert "2 张这样的卡即可" in " ".join(note["text"] for note in one["cautions"])


@pytest.mark.usefixtures("filled")
def test_a_purchase_is_told_with_its_break_even(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        '[[candidate]]\nname = "desk"\naccelerator = "card"\ncount = 1\ntime = "1h"\n'
        "purchase = { price = 3600, life_months = 36 }\n"
        '[[candidate]]\nname = "cloud"\naccelerator = "card"\ncount = 1\ntime = "1h"\nprice_per_h = 2\n',
        encoding="utf-8",
    )
    bought = call("advise", "mine", "--samples", "5e8", "-c", str(path), "--jobs-per-month", "60")
    assert "Buy desk: 1.67 USD a job" in bought.out
    rented = call("advise", "mine", "--samples", "5e8", "-c", str(path), "--jobs-per-month", "30")
    assert "Buying desk pays from 50 such jobs a month on" in rented.out


def test_a_disturbed_run_is_refused_and_its_cause_named(call: Call, store_path: Path) -> None:
    fill(store_path, sick=True)
    answer = call("advise", "mine", "--samples", "5e8")
    assert answer.code == 6
    assert answer.out == ""
    assert "fix the cause first" in answer.err
    assert "other load" in answer.err
    assert call("advise", "mine", "--samples", "5e8", "--force").code == 0


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--samples N or --epochs N"),
        (("--samples", "1", "--epochs", "1"), "one of them"),
        (("--samples", "5", "--currency", "XXX"), "unknown currency"),
        (("--samples", "5", "--team", "wizards"), "unknown team"),
        (("--samples", "5", "--goal", "nicest"), "unknown goal"),
        (("--samples", "5", "--deadline", "soon"), "--deadline cannot be 'soon'"),
        (("--samples", "5", "--grid", "atlantis"), "no figure for the grid"),
        (("--samples", "5", "-c", "/nowhere.toml"), "cannot be read"),
    ],
)
def test_what_cannot_be_asked_is_one_line(call: Call, arguments: tuple[str, ...], words: str) -> None:
    answer = call("advise", "mine", *arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert words in answer.err


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[candidate]]\noffer = 'aws/none'\ntime = '1h'\n", "unknown offer"),
        ("[[candidate]]\nspeed = 3\n", "unknown field"),
        ("[[candidate]]\nname = 'x'\nsamples_per_s = [3, 2, 1]\n", "candidate x: an interval is written low"),
        ("[[candidate]]\nname = 'x'\nsamples_per_s = -1\n", "not usable"),
        ("[[candidate]]\nname = 'x'\ntime = 'long'\n", "candidate x: a time cannot be 'long'"),
        ("[[candidate]]\nname = 'x'\n[[candidate]]\nname = 'x'\n", "two candidates are called 'x'"),
        ("[[candidate]]\nname = 'x'\ncurrency = 'ZZZ'\n", "unknown currency"),
        ("nonsense", "not usable"),
        ("", "not usable"),
    ],
)
def test_a_wrong_file_is_one_line(call: Call, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text, encoding="utf-8")
    answer = call("advise", "mine", "--samples", "5", "-c", str(path))
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert words in answer.err


@pytest.mark.usefixtures("filled")
def test_names_of_candidates_are_text_and_never_markup(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        '[[candidate]]\nname = "[bold]x[/bold]\\u001b[31m"\ntime = "1m"\nprice_per_h = 0.01\naccelerator = "c"\n',
        encoding="utf-8",
    )
    answer = call("advise", "mine", "--samples", "5e8", "-c", str(path))
    assert "[bold]x[/bold]" in answer.out
    assert "\x1b[31m" not in answer.out
