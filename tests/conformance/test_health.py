"""Every registered health check keeps the rules of its family; a new file in the folder is held to them too."""

from __future__ import annotations

import msgspec
import pytest
from fake_trials import trial
from sick_trials import SICK, WEAK, healthy

from pacenote.findings.codes import HEALTH
from pacenote.findings.health import CHECKS, HealthCheck
from pacenote.records import Environment, EventLog, Severity, TrialRecord
from pacenote.report import locale
from pacenote.stats import summarize

EVERY = list(CHECKS)
NOTHING_KNOWN = trial([], events=EventLog(), levers={})


def run(check: HealthCheck, record: TrialRecord, environment: Environment | None = None) -> list:
    return check.check(record, summarize(record), environment)


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.name)
class TestCheck:
    def test_its_code_is_listed_and_has_words(self, check: HealthCheck) -> None:
        assert check.name in HEALTH
        for family in ("finding", "short", "fix"):
            assert locale.has(f"{family}.{check.name}")

    def test_there_is_a_trial_that_it_must_catch(self, check: HealthCheck) -> None:
        assert check.name in SICK or check.name in WEAK

    def test_it_leaves_healthy_trials_alone(self, check: HealthCheck) -> None:
        for seed in range(20):
            assert run(check, healthy(seed=seed)) == []

    def test_it_concludes_nothing_from_nothing(self, check: HealthCheck) -> None:
        found = run(check, NOTHING_KNOWN)
        assert found == [] or check.name == "cold_only"

    def test_its_findings_are_marked_and_carry_their_parameters(self, check: HealthCheck) -> None:
        for make in [*SICK.get(check.name, []), *([WEAK[check.name]] if check.name in WEAK else [])]:
            for finding in run(check, make()):
                assert finding.code == check.name
                assert finding.severity in (Severity.WARNING, Severity.UNHEALTHY)
                assert set(HEALTH[check.name]) <= set(finding.params)
                msgspec.json.encode(finding)

    def test_asking_twice_gives_the_same_and_changes_nothing(self, check: HealthCheck) -> None:
        record = (SICK.get(check.name) or [WEAK[check.name]])[0]()
        before = msgspec.json.encode(record)
        assert run(check, record) == run(check, record) != []
        assert msgspec.json.encode(record) == before

    def test_whether_it_passes_is_said(self, check: HealthCheck) -> None:
        assert isinstance(check.passing, bool)


@pytest.mark.parametrize(("code", "severity"), [(code, at) for code in SICK for at in range(3)])
def test_every_sickness_is_refused_at_every_severity(code: str, severity: int) -> None:
    found = run(CHECKS.get(code), SICK[code][severity]())
    assert [finding.severity for finding in found] == [Severity.UNHEALTHY]


@pytest.mark.parametrize("code", sorted(WEAK))
def test_what_is_only_weak_is_warned_about(code: str) -> None:
    found = run(CHECKS.get(code), WEAK[code]())
    assert [finding.severity for finding in found] == [Severity.WARNING]
