"""Stores written by earlier versions stay readable: each is kept here, and read in full."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pacenote.cli import present
from pacenote.cli.main import execute
from pacenote.records import SCHEMA_VERSION, Status
from pacenote.segment import segment
from pacenote.store import Store
from pacenote.store.tables import STORE_SCHEMA

STORES = sorted((Path(__file__).parent / "stores").glob("*.sqlite"))


def test_the_current_schema_has_its_golden_store() -> None:
    assert f"records-{SCHEMA_VERSION}-tables-{STORE_SCHEMA}.sqlite" in [path.name for path in STORES]


@pytest.fixture(params=STORES, ids=lambda path: path.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(request.param, tmp_path / "store.sqlite"))


def test_every_record_is_read(old: Path) -> None:
    with Store(old) as store:
        study = store.get_study("golden")
        trials = store.trials(study.id)
        assert store.get_environment(study.environment_hash) is not None
        assert store.calibrations()[0]["ceilings"] == {"gemm_flops": {"fp32": 96.4e9}}
    finished = [record for record in trials if record.outcome.status is Status.FINISHED]
    assert len(trials) == 13
    assert len(finished) == 12
    # 4 turns of 12 steps; the record also says how many steps each turn had.
    for record in finished:
        assert len(segment(record.events)) == sum(turn.steps for turn in record.turns) == 48


def test_it_says_the_same_as_when_it_was_written(
    old: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PACENOTE_STORE", str(old))
    assert execute(["show", "golden", "--json", "--lang", "en"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == present.FORMAT
    assert found["verdict"].startswith("pytorch b256 is the fastest")
    assert [cell["label"] for cell in found["cells"]][-1] == "pytorch b65536"
    assert len(found["trials"][0]["step_ns"]) == 48
