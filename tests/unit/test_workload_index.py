"""Third-party workloads are files named by entry points; a broken one is a warning that names it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pacenote import plan, workload_index
from pacenote.errors import UnknownNameError
from pacenote.levers import defaults, of_workload
from pacenote.records import TrialSpec

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin" / "src"
GOOD = ("tinymlp", "pacenote_tinymlp.workload")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    workload_index._third_party.cache_clear()
    yield
    workload_index._third_party.cache_clear()


def installed(monkeypatch: pytest.MonkeyPatch, *declared: tuple[str, str]) -> None:
    """As if packages with these entry points were installed."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    found = [EntryPoint(name, value, workload_index.GROUP) for name, value in declared]
    monkeypatch.setattr(workload_index, "entry_points", lambda group: found)


def test_built_in_workloads_need_no_file() -> None:
    assert {"lenet", "simplenet"} <= set(workload_index.names())
    assert workload_index.file_of("lenet") is None
    assert workload_index.find("lenet").name == "lenet"


def test_a_third_party_workload_is_found_by_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, GOOD)
    workload = workload_index.find("tinymlp")
    assert workload.parameters({}) == 64 * 128 + 128 + 128 * 4 + 4
    assert [lever.name for lever in of_workload("tinymlp")] == list(workload.axes)
    assert defaults("tinymlp", {})["batch_size"] == 64
    spec = TrialSpec(workload="tinymlp", framework="pytorch")
    assert plan.job(spec)["workload_file"] == str(EXAMPLE / "pacenote_tinymlp" / "workload.py")
    assert workload_index.warnings() == ()


def test_finding_it_imports_no_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, GOOD)
    monkeypatch.setitem(sys.modules, "torch", None)  # an import would fail
    assert workload_index.find("tinymlp").data_modes == ("device",)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("lenet", "pacenote_tinymlp.workload", "that name is taken"),
        ("absent", "no_such_package.workload", "no file"),
        ("other", "pacenote_tinymlp.workload", "holds no WORKLOAD called 'other'"),
        ("empty", "pacenote_tinymlp", "holds no WORKLOAD"),
    ],
)
def test_a_broken_one_is_a_warning_that_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    installed(monkeypatch, GOOD, (name, value))
    assert "tinymlp" in workload_index.names()
    [warning] = workload_index.warnings()
    assert warning.startswith(f"workload plug-in {name!r} was left out: ")
    assert reason in warning


def test_an_unknown_name_lists_third_party_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, GOOD)
    with pytest.raises(UnknownNameError, match=r"Did you mean 'tinymlp'\?.*lenet"):
        workload_index.find("tinymlpp")
