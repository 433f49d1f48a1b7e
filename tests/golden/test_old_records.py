"""Records of earlier schemas stay readable, with the same hashes, as plain JSON without any store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pacenote.records import SCHEMA_VERSION, Environment, Status, Study, TrialRecord
from pacenote.segment import segment

FOLDER = Path(__file__).parent / "records"
TYPES: dict[str, type[Any]] = {
    "trial": TrialRecord,
    "failed-trial": TrialRecord,
    "study": Study,
    "environment": Environment,
}
FILES = sorted(FOLDER.glob("*.json"))


def read(path: Path) -> Any:
    return msgspec.json.decode(path.read_bytes(), type=TYPES[path.stem.rpartition("-")[0]])


def test_every_kind_of_record_of_the_current_schema_is_kept() -> None:
    assert {f"{kind}-{SCHEMA_VERSION}" for kind in TYPES} <= {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_read_and_nothing_in_it_is_lost(path: Path) -> None:
    """Every key that was written is still a field and says the same; later fields may be added beside it."""
    written = json.loads(path.read_text(encoding="utf-8"))
    now = json.loads(msgspec.json.encode(read(path)))

    def compare(old: Any, new: Any, place: str) -> None:
        if isinstance(old, dict):
            for key, value in old.items():
                assert key in new, f"{place}.{key} is gone"
                compare(value, new[key], f"{place}.{key}")
        elif isinstance(old, list):
            assert len(old) == len(new), place
            for at, (first, second) in enumerate(zip(old, new, strict=True)):
                compare(first, second, f"{place}[{at}]")
        else:
            assert old == new, place

    compare(written, now, path.stem)


@pytest.mark.parametrize("path", [path for path in FILES if "trial" in path.stem], ids=lambda path: path.stem)
def test_a_trial_keeps_the_hash_of_its_question(path: Path) -> None:
    """Else a resumed study would not find its own earlier rounds."""
    record: TrialRecord = read(path)
    assert record.spec.hash() == record.spec_hash
    assert f"-{record.schema}" in path.stem


def test_the_numbers_of_a_finished_trial_are_still_there() -> None:
    record: TrialRecord = read(FOLDER / "trial-1.json")
    assert record.outcome.status is Status.FINISHED
    cut = segment(record.events)
    assert len(cut.total_s) == sum(turn.steps for turn in record.turns)
    assert cut.total_s.min() > 0
    assert all(turn.counters.wall_s > 0 for turn in record.turns)


def test_a_failed_trial_still_says_how_it_ended() -> None:
    record: TrialRecord = read(FOLDER / "failed-trial-1.json")
    assert record.outcome.status is not Status.FINISHED
    assert record.outcome.error_text or record.outcome.signal


def test_a_study_still_knows_its_cells_and_findings() -> None:
    study: Study = read(FOLDER / "study-1.json")
    assert study.baseline in [cell.label for cell in study.cells]
    assert {finding.code for finding in study.findings}
    assert study.trial_ids


def test_a_record_of_today_has_no_field_that_the_kept_ones_lack_by_accident() -> None:
    """A field that is added without raising the schema must have a default, which this reads."""
    raw = json.loads((FOLDER / "trial-1.json").read_text(encoding="utf-8"))
    required = {field.name for field in msgspec.structs.fields(TrialRecord) if field.required}
    assert required <= raw.keys()
