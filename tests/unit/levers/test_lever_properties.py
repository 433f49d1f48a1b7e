"""What holds for every lever: reading back what it accepts, refusing the rest in one sentence, judging honestly."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.errors import UsageError
from pacenote.levers import LEVERS, Lever, allocator, defaults, of_workload

NAMES = sorted(LEVERS.names())
CHOICES = [(name, choice) for name in NAMES for choice in LEVERS.get(name).choices]
WHOLE = {"batch_size": (1, 1_000_000), "threads": (1, 4096), "loader_workers": (0, 1024), "depth": (1, 1000)}


@pytest.mark.parametrize("name", NAMES)
def test_a_lever_describes_itself(name: str) -> None:
    lever = LEVERS.get(name)
    assert lever.name == name
    assert lever.option == "--" + name.replace("_", "-")
    assert lever.risk in ("none", "numerics", "training")
    assert lever.help.endswith(".")


@pytest.mark.parametrize("workload", ["lenet", "simplenet"])
@pytest.mark.parametrize("machine", [{}, {"physical_cores": 8}, {"quota_cpus": 0.1}, {"affinity_cpus": None}], ids=str)
def test_a_default_is_a_value_the_lever_accepts(workload: str, machine: dict[str, Any]) -> None:
    for name, value in defaults(workload, machine).items():
        assert LEVERS.get(name).parse(str(value)) == value


@pytest.mark.parametrize(("name", "choice"), CHOICES)
def test_choices_are_read_in_any_case_and_with_blanks(name: str, choice: str) -> None:
    for text in (choice, choice.upper(), f"  {choice}\n"):
        assert LEVERS.get(name).parse(text) == choice


@pytest.mark.parametrize("name", [name for name in NAMES if LEVERS.get(name).choices])
@given(text=st.text(max_size=12))
def test_any_other_word_is_refused_and_the_choices_are_named(name: str, text: str) -> None:
    lever = LEVERS.get(name)
    if text.strip().lower() in lever.choices:
        return
    with pytest.raises(UsageError) as refused:
        lever.parse(text)
    assert all(choice in str(refused.value) for choice in lever.choices)


@pytest.mark.parametrize("name", WHOLE)
@given(value=st.integers(-(10**9), 10**9))
def test_whole_numbers_are_accepted_exactly_within_bounds(name: str, value: int) -> None:
    low, high = WHOLE[name]
    lever = LEVERS.get(name)
    if low <= value <= high:
        assert lever.parse(str(value)) == value
    else:
        with pytest.raises(UsageError, match=rf"^{lever.option} '-?[0-9]+': give a whole number from {low} to "):
            lever.parse(str(value))


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("text", ["", " ", "1.0", "1e3", "0x10", "one", "1 2", "--1", "nan"])
def test_what_is_no_whole_number_is_refused(name: str, text: str) -> None:
    with pytest.raises(UsageError):
        LEVERS.get(name).parse(text)


@given(value=st.floats())
def test_a_width_is_a_positive_factor_within_reason(value: float) -> None:
    lever = LEVERS.get("width")
    if 0 < value <= 1024:
        assert lever.parse(repr(value)) == value
    else:
        with pytest.raises(UsageError, match=r"^--width"):
            lever.parse(repr(value))


@pytest.mark.parametrize("name", NAMES)
class TestOutcome:
    """No lever counts as applied unless it was seen to be as asked."""

    def test_seen_as_asked(self, name: str) -> None:
        lever = LEVERS.get(name)
        asked = lever.choices[-1] if lever.choices else 2
        outcome = lever.outcome(asked, {name: asked, "other": 1})
        assert (outcome.name, outcome.applied, outcome.observed, outcome.reason) == (name, True, asked, "")

    def test_seen_otherwise(self, name: str) -> None:
        lever = LEVERS.get(name)
        asked, seen = (lever.choices[-1], lever.choices[0]) if lever.choices else (2, 1)
        outcome = lever.outcome(asked, {name: seen})
        assert (outcome.applied, outcome.observed) == (False, seen)
        assert outcome.reason

    @pytest.mark.parametrize("observed", [{}, {"other": 1}, None])
    def test_not_seen(self, name: str, observed: dict[str, Any] | None) -> None:
        seen = {name: None} if observed is None else observed
        outcome = LEVERS.get(name).outcome(2, seen)
        assert (outcome.applied, outcome.observed, outcome.reason) == (None, None, "not_observable")


@pytest.mark.parametrize("name", NAMES)
def test_what_a_lever_puts_into_the_environment_is_words(name: str) -> None:
    lever = LEVERS.get(name)
    for value in lever.choices or (1, 2):
        environ = lever.environ(value)
        assert all(isinstance(word, str) and word for pair in environ.items() for word in pair)


@given(count=st.integers(1, 4096))
def test_every_runtime_gets_the_same_thread_count(count: int) -> None:
    assert set(LEVERS.get("threads").environ(count).values()) == {str(count)}


@given(
    quota=st.one_of(st.none(), st.floats(0.01, 512)),
    cores=st.one_of(st.none(), st.integers(1, 512)),
    allowed=st.one_of(st.none(), st.integers(1, 512)),
)
def test_default_threads_never_exceed_any_limit(quota: float | None, cores: int | None, allowed: int | None) -> None:
    machine = {"quota_cpus": quota, "physical_cores": cores, "affinity_cpus": allowed}
    threads = LEVERS.get("threads").default(machine, "lenet")
    assert isinstance(threads, int)
    assert threads >= 1
    assert all(threads <= max(1, limit) for limit in machine.values() if limit is not None)


class TestGlibc:
    @pytest.mark.parametrize(
        ("answer", "default"),
        [
            ("glibc 2.36", "no_trim"),
            (None, "default"),
            (ValueError("unrecognized configuration name"), "default"),
            (OSError(22, "Invalid argument"), "default"),
        ],
        ids=repr,
    )
    def test_freed_memory_is_kept_by_default_only_where_glibc_can_be_told(
        self, answer: Any, default: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def confstr(name: str) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(os, "confstr", confstr, raising=False)
        assert LEVERS.get("allocator").default({}, "lenet") == default

    def test_a_system_without_confstr(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(os, "confstr", raising=False)
        assert not allocator.is_glibc()


def test_levers_of_a_workload_come_in_its_order() -> None:
    assert [lever.name for lever in of_workload("simplenet")] == [
        "batch_size",
        "threads",
        "dtype",
        "width",
        "depth",
        "waiting_policy",
        "allocator",
    ]


def test_a_lever_of_a_few_lines_has_what_it_needs() -> None:
    class Nice(Lever):
        name, option, help, risk, plain = "nice", "--nice", "How nice.", "none", "low"
        choices = ("low", "high")

    lever = Nice()
    assert (lever.parse("HIGH"), lever.default({}, "lenet"), lever.environ("high")) == ("high", "low", {})
    assert lever.outcome("high", {"nice": "low"}).reason == "no_effect"
