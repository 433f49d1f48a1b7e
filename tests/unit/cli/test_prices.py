"""prices: list, show, compare, add and update on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def own_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "prices"
    monkeypatch.setenv("PACENOTE_PRICES", str(place))
    return place


def test_every_line_of_the_list_holds_all_the_words(call: Call) -> None:
    answer = call("prices", "list", "aws", "v100")
    assert answer.code == 0
    lines = [line for line in answer.out.splitlines() if "aws/" in line]
    assert lines
    assert all("V100" in line and "USD" in line and "days ago" in line for line in lines)
    assert "p3.2xlarge" in answer.out


def test_the_list_is_the_default_and_json_has_the_source(call: Call) -> None:
    found = json.loads(call("prices", "--json").out)
    assert found["in_table"] == len(found["offers"]) > 60
    offer = next(offer for offer in found["offers"] if offer["name"] == "aws/g5.xlarge")
    assert offer["on_demand_per_h"] == 1.006
    assert offer["spot_per_h"] is None
    assert offer["read_on"] == "2026-07-20"
    assert "karpenter" in offer["source"]


def test_words_that_no_offer_has(call: Call) -> None:
    answer = call("prices", "list", "abacus")
    assert answer.code == 0
    assert "No offer" in answer.out


def test_one_offer_with_its_source(call: Call) -> None:
    answer = call("prices", "show", "colab/free")
    assert "12 h" in answer.out
    assert "colaboratory/faq" in answer.out
    assert "no date in its source" in answer.out


def test_two_offers_side_by_side_in_one_currency(call: Call) -> None:
    answer = call("prices", "compare", "g5.xlarge", "ecs.gn6i-c4g1.xlarge", "--currency", "cny")
    assert "7.23 CNY" in answer.out  # 1.006 times 7.1884
    assert "10.46 CNY" in answer.out
    assert "2024-12-31" in answer.out


def test_in_chinese(call: Call) -> None:
    answer = call("prices", "show", "g5.xlarge", "--lang", "zh")
    assert "每小时" in answer.out
    assert "天前" in answer.out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("burn",), 2, "unknown action 'burn'"),
        (("show",), 2, "needs 1 instance"),
        (("compare", "g5.xlarge"), 2, "needs 2 instance"),
        (("show", "aws/none"), 2, "unknown offer"),
        (("show", "g5.xlarge", "--currency", "XXX"), 2, "unknown currency"),
        (("add",), 2, "one CSV file"),
        (("add", "/nowhere/none.csv"), 7, "cannot be read"),
        (("update", "nobody"), 2, "unknown provider"),
    ],
)
def test_what_cannot_be_done_is_one_line(call: Call, arguments: tuple[str, ...], code: int, words: str) -> None:
    answer = call("prices", *arguments)
    assert answer.code == code
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert words in answer.err


def test_own_prices_are_added_and_used(call: Call, tmp_path: Path) -> None:
    own = tmp_path / "contract.csv"
    own.write_text(
        "provider,instance,region,on_demand_per_h,currency,date,source\n"
        "aws,g5.xlarge,us-east-1,0.75,USD,2026-12-01,contract 7\n",
        encoding="utf-8",
    )
    assert "1 offers are kept" in call("prices", "add", str(own)).out
    assert "contract 7" in call("prices", "show", "aws/g5.xlarge").out


def test_a_broken_own_file_does_not_stop_the_list(call: Call, own_prices: Path) -> None:
    own_prices.mkdir()
    (own_prices / "bad.csv").write_text("what\n", encoding="utf-8")
    answer = call("prices", "list", "g5")
    assert answer.code == 0
    assert "bad.csv" in answer.err
    assert "g5.xlarge" in answer.out


def catalog(working: set[str]) -> Any:
    class Catalog:
        def __init__(self, *, auto_reload: bool) -> None:
            assert not auto_reload

        def load(self) -> None:
            pass

        def query(self, *, provider: str) -> list[Any]:
            if provider not in working:
                raise TimeoutError("gave no answer")
            return [
                SimpleNamespace(
                    instance_name="new",
                    price=1.0,
                    location="x",
                    spot=False,
                    gpu_name="T4",
                    gpu_count=1,
                    gpu_memory=16.0,
                    cpu=4,
                    memory=16.0,
                )
            ]

    return SimpleNamespace(Catalog=Catalog)


def test_an_update_says_who_failed_and_goes_on(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gpuhunt", catalog({"aws"}))
    answer = call("prices", "update", "gcp", "aws")
    assert answer.code == 0
    assert "aws: 1 offers" in answer.out
    assert "gcp failed" in answer.err
    assert "aws/new" in call("prices", "list", "new").out


def test_an_update_in_which_all_fail_ends_with_3(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gpuhunt", catalog(set()))
    answer = call("prices", "update", "gcp")
    assert answer.code == 3
    assert "gcp failed" in answer.err
    assert answer.out == ""
