"""What every registered lever must do, third-party ones included."""

from __future__ import annotations

import pytest

from pacenote.child import workloads
from pacenote.errors import UsageError
from pacenote.levers import LEVERS, Lever, of_workload

ALL = list(LEVERS)
MACHINES = [{}, {"quota_cpus": 0.5, "physical_cores": 64, "affinity_cpus": 1}, {"physical_cores": 96}]


@pytest.fixture(params=ALL, ids=[lever.name for lever in ALL])
def lever(request: pytest.FixtureRequest) -> Lever:
    found: Lever = request.param
    return found


def test_no_plug_in_was_left_out() -> None:
    assert LEVERS.warnings == []


def test_the_option_is_the_name_with_dashes(lever: Lever) -> None:
    assert lever.option == "--" + lever.name.replace("_", "-")


def test_its_risk_is_one_of_three(lever: Lever) -> None:
    assert lever.risk in ("none", "numerics", "training")


def test_its_help_is_one_short_sentence(lever: Lever) -> None:
    assert lever.help.endswith(".")
    assert "\n" not in lever.help
    assert len(lever.help) <= 80


@pytest.mark.parametrize("text", ["", " ", "nonsense", "-1", "1e400", "None", "32;rm"])
def test_nonsense_is_refused_with_the_option_named(lever: Lever, text: str) -> None:
    with pytest.raises(UsageError, match=f"^{lever.option} ") as caught:
        lever.parse(text)
    assert "\n" not in str(caught.value)


def test_every_choice_is_accepted(lever: Lever) -> None:
    for choice in lever.choices:
        assert lever.parse(choice) == choice


@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("workload", workloads.names())
def test_defaults_are_values_the_levers_accept(workload: str, machine: dict[str, float]) -> None:
    for lever in of_workload(workload):
        value = lever.default(machine, workload)
        assert lever.parse(str(value)) == value


def test_its_environment_is_text(lever: Lever) -> None:
    value = lever.default({}, "lenet")
    for candidate in {value, *lever.choices}:
        for name, text in lever.environ(candidate).items():
            assert name.isupper()
            assert isinstance(text, str)
            assert text


def test_it_counts_as_applied_only_when_seen(lever: Lever) -> None:
    asked = lever.default({}, "lenet")
    assert lever.outcome(asked, {lever.name: asked}).applied is True
    unseen = lever.outcome(asked, {})
    assert (unseen.applied, unseen.observed) == (None, None)
    assert unseen.reason
    other = lever.outcome(asked, {lever.name: "something else"})
    assert other.applied is False
    assert other.reason
