"""The store keeps what it is given, finds it again by every kind of name, and fails in one clear line."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from postgres import programs, server
from sqlalchemy.exc import OperationalError

from pacenote.errors import MissingPartError, SchemaError, StoreError, UnknownNameError, UsageError
from pacenote.records import (
    SCHEMA_VERSION,
    Effort,
    Environment,
    EventLog,
    Outcome,
    Status,
    Study,
    TrialRecord,
    TrialSpec,
)
from pacenote.store import Store, coding, default_location, short_ids
from pacenote.store.location import describe, open_engine, resolve
from pacenote.store.tables import METADATA


def a_trial(trial_id: str = "t1", **changes: object) -> TrialRecord:
    times = array("q", range(1_000_000_000, 1_000_000_000 + 400 * 31, 31))
    spec = TrialSpec(workload="lenet", framework="pytorch", levers={"batch_size": 32})
    record = TrialRecord(
        id=trial_id,
        spec=spec,
        spec_hash=spec.hash(),
        environment_hash="e" * 16,
        machine_id="m",
        replicate=0,
        version="0",
        started_unix_s=1.0,
        effort=Effort(),
        outcome=Outcome(status=Status.FINISHED, exit_code=0),
        events=EventLog(t_ns=times.tobytes(), code=array("q", [10, 11] * 200).tobytes(), objects=[{"kind": "loader"}]),
    )
    return msgspec.structs.replace(record, **changes)


def a_study(study_id: str, created: float = 0.0, **changes: object) -> Study:
    study = Study(id=study_id, question="run", created_unix_s=created, plan_hash="p")
    return msgspec.structs.replace(study, **changes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    pytest.importorskip("psycopg", reason="the PostgreSQL store needs psycopg: pip install 'pacenote[postgres]'")
    folder = programs()
    if folder is None:
        pytest.skip("PostgreSQL is not installed")
    with server(folder) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def any_store(request: pytest.FixtureRequest, path: Path) -> Iterator[Store]:
    """A fresh store in each of the databases it can live in."""
    where = str(path) if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with Store(where) as opened:
        yield opened
        METADATA.drop_all(opened._engine)


def test_a_trial_comes_back_equal_with_its_raw_events(store: Store, path: Path) -> None:
    record = a_trial()
    store.put_trial(record)
    store.close()
    with Store(path) as again:
        assert again.get_trial("t1") == record
        bare = again.get_trial("t1", events=False)
    assert bare is not None
    assert bare.events == EventLog(objects=[{"kind": "loader"}])


def test_an_unknown_trial_or_environment_is_none(any_store: Store) -> None:
    assert any_store.get_trial("none") is None
    assert any_store.get_environment("none") is None


def test_an_environment_is_kept_once(store: Store, path: Path) -> None:
    environment = Environment(facts={"cpu": "x", "cores": 2})
    assert store.put_environment(environment) == store.put_environment(environment) == environment.hash()
    assert store.get_environment(environment.hash()) == environment
    with sqlite3.connect(path) as raw:
        assert raw.execute("select count(*) from environment").fetchone() == (1,)
    raw.close()


def test_trials_join_their_study_in_order_and_survive_a_later_put_study(any_store: Store) -> None:
    study = a_study("s1")
    any_store.put_study(study)
    for name in ("b", "a", "c"):
        any_store.put_trial(a_trial(name), "s1")
    any_store.put_trial(a_trial("a"), "s1")  # the same trial twice is one trial
    assert [record.id for record in any_store.trials("s1")] == ["b", "a", "c"]
    any_store.put_study(msgspec.structs.replace(study, finished=True))  # does not know the trials
    found = any_store.get_study("s1")
    assert found.finished
    assert found.trial_ids == ["b", "a", "c"]


def test_a_study_may_use_trials_of_another(any_store: Store) -> None:
    any_store.put_trial(a_trial("t1"))
    any_store.put_study(a_study("s1", trial_ids=["t1"]))
    any_store.put_study(a_study("s2", trial_ids=["t1"]))
    assert [record.id for record in any_store.trials("s2", events=False)] == ["t1"]


def test_studies_are_found_by_every_kind_of_name(any_store: Store) -> None:
    any_store.put_study(a_study("aaaaaaaa01", 1.0, name="first"))
    any_store.put_study(a_study("aaaaaaaa02", 2.0, name="twice"))
    any_store.put_study(a_study("bbbbbbbb03", 3.0, name="twice", question="selftest"))
    assert any_store.get_study().id == "bbbbbbbb03"
    assert any_store.get_study("last~2").id == "aaaaaaaa01"
    assert any_store.get_study("first").id == "aaaaaaaa01"
    assert any_store.get_study("twice").id == "bbbbbbbb03"
    assert any_store.get_study("b").id == "bbbbbbbb03"
    assert any_store.get_study("aaaaaaaa02").id == "aaaaaaaa02"
    assert [study.id[-2:] for study in any_store.studies()] == ["03", "02", "01"]
    assert [study.id[-2:] for study in any_store.studies(1)] == ["03"]
    assert [study.id[-2:] for study in any_store.studies(None, question="run", name="twice")] == ["02"]


def test_a_name_that_fits_nothing_or_too_much_says_so(any_store: Store) -> None:
    with pytest.raises(UsageError, match="no runs yet"):
        any_store.get_study()
    any_store.put_study(a_study("aaaaaaaa01", 1.0, name="mine"))
    any_store.put_study(a_study("aaaaaaaa02", 2.0))
    with pytest.raises(UnknownNameError, match=r"mine.*Did you mean|Did you mean 'mine'"):
        any_store.get_study("mime")
    with pytest.raises(UsageError, match="2 runs begin with 'aa': aaaaaaaa02, aaaaaaaa01"):
        any_store.get_study("aa")
    with pytest.raises(UsageError, match="holds 2 run"):
        any_store.get_study("last~2")
    with pytest.raises(UnknownNameError):
        any_store.get_study("")


def test_the_newest_unfinished_study_of_a_plan_is_found(any_store: Store) -> None:
    assert any_store.unfinished("p") is None
    any_store.put_study(a_study("s1", 1.0))
    any_store.put_study(a_study("s2", 2.0))
    any_store.put_study(a_study("s3", 3.0, finished=True))
    any_store.put_study(a_study("s4", 4.0, plan_hash="other"))
    found = any_store.unfinished("p")
    assert found is not None
    assert found.id == "s2"


def test_summaries_are_cached_by_version(any_store: Store) -> None:
    assert any_store.summary("t1", 1) is None
    any_store.put_summary("t1", 1, {"steps": 3})
    any_store.put_summary("t1", 1, {"steps": 4})
    assert any_store.summary("t1", 1) == {"steps": 4}
    assert any_store.summary("t1", 2) is None


def test_calibrations_have_an_age(any_store: Store) -> None:
    assert any_store.get_calibration("k") is None
    any_store.put_calibration("k", {"gemm_flops": 1.0}, measured_unix_s=0.0)
    assert any_store.get_calibration("k") == {"gemm_flops": 1.0}
    assert any_store.get_calibration("k", max_age_s=60.0) is None
    any_store.put_calibration("k", {"gemm_flops": 2.0})
    assert any_store.get_calibration("k", max_age_s=3600.0) == {"gemm_flops": 2.0}
    any_store.put_calibration("old", {"gemm_flops": 3.0}, measured_unix_s=0.0)
    assert [kept["key"] for kept in any_store.calibrations()] == ["k", "old"]
    assert any_store.calibrations()[1]["ceilings"] == {"gemm_flops": 3.0}


def test_series_compress_and_come_back() -> None:
    raw = array("q", range(10**15, 10**15 + 10_000 * 4_350_001, 4_350_001)).tobytes()
    packed = coding.pack(raw)
    assert len(packed) < len(raw) / 10
    assert coding.unpack(packed, coding.CODING) == raw
    assert coding.unpack(coding.pack(b""), coding.CODING) == b""


def test_a_damaged_or_unknown_series_is_a_schema_error() -> None:
    with pytest.raises(SchemaError, match="upgrade"):
        coding.unpack(b"", "float7")
    with pytest.raises(SchemaError, match="damaged"):
        coding.unpack(b"junk", coding.CODING)


def test_short_ids_are_the_shortest_that_differ() -> None:
    assert short_ids(["0123456789", "0123456799", "9"]) == {
        "0123456789": "012345678",
        "0123456799": "012345679",
        "9": "9",
    }


def test_a_failed_write_leaves_what_was_there(any_store: Store) -> None:
    any_store.put_trial(a_trial())
    torn = a_trial(events=EventLog(t_ns=b"seven b"))
    with pytest.raises(ValueError, match="buffer size"):
        any_store.put_trial(torn)
    assert any_store.get_trial("t1") == a_trial()


def test_a_value_that_is_not_json_is_refused(any_store: Store) -> None:
    with pytest.raises(StoreError, match="cannot be stored"):
        any_store.put_study(a_study("s", options={"x": object()}))


def test_newer_tables_and_newer_records_ask_for_an_upgrade(store: Store, path: Path) -> None:
    store.put_study(a_study("s1", schema=SCHEMA_VERSION + 1))
    with pytest.raises(SchemaError, match=r"study s1 .* pip install -U pacenote"):
        store.get_study("s1")
    store.close()
    with sqlite3.connect(path) as raw:
        raw.execute("update meta set value = '999' where key = 'schema'")
    raw.close()
    with pytest.raises(SchemaError, match="tables 999"):
        Store(path)


def test_an_unreadable_record_names_itself(store: Store, path: Path) -> None:
    store.put_study(a_study("s1"))
    with sqlite3.connect(path) as raw:
        raw.execute("update study set body = '{\"id\": 1}'")
    raw.close()
    with pytest.raises(SchemaError, match="study s1 cannot be read"):
        store.get_study("s1")


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes, long enough to be looked at as a header " * 4)
    with pytest.raises(StoreError, match="is not a Pacenote store"):
        Store(path)
    assert path.read_text().startswith("my notes")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be made"):
        Store(tmp_path / "file" / "store.sqlite")
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path)


def test_a_locked_store_says_so(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pacenote.store.location.BUSY_TIMEOUT_S", 0.05)
    impatient = Store(path)
    holder = sqlite3.connect(path)
    holder.execute("begin immediate")
    with pytest.raises(StoreError, match="locked by another program"):
        impatient.put_study(a_study("s1"))
    holder.rollback()
    holder.close()
    impatient.put_study(a_study("s1"))
    assert store.get_study("s1").id == "s1"


@pytest.mark.parametrize(
    ("saying", "expected"),
    [
        ("attempt to write a readonly database", "is read-only"),
        ("database or disk is full", "disk is full"),
        ("disk I/O error", "disk failed"),
        ("database disk image is malformed", "is damaged"),
        ("something new\nsecond line", "failed: something new."),
    ],
)
def test_each_failure_has_its_own_line(path: Path, saying: str, expected: str) -> None:
    error = describe(resolve(path), OperationalError("select", {}, sqlite3.OperationalError(saying)))
    assert expected in str(error)
    assert "\n" not in str(error)
    assert error.exit_code == 4


def test_a_full_disk_loses_nothing_that_was_kept(store: Store, path: Path) -> None:
    store.put_trial(a_trial("kept"))
    store.close()
    small = Store(path)
    with small._transaction() as connection:
        pages = connection.exec_driver_sql("pragma page_count").scalar_one()
        connection.exec_driver_sql(f"pragma max_page_count={pages + 2}")
    big = array("q", [hash(str(number)) for number in range(20_000)]).tobytes()
    with pytest.raises(StoreError, match="disk is full"):
        small.put_trial(a_trial("big", events=EventLog(t_ns=big)))
    assert small.get_trial("kept") == a_trial("kept")
    assert small.get_trial("big") is None


def test_two_processes_may_open_a_new_store_at_once(path: Path) -> None:
    first, second = Store(path), Store(path)
    first.put_study(a_study("s1", 1.0))
    second.put_study(a_study("s2", 2.0))
    assert [study.id for study in first.studies()] == ["s2", "s1"]


def test_the_place_comes_from_the_variable_or_the_data_folder() -> None:
    assert default_location({"PACENOTE_STORE": "/tmp/x.sqlite"}) == "/tmp/x.sqlite"
    assert default_location({}).endswith("store.sqlite")


def test_a_database_url_is_understood_and_its_password_stays_out_of_messages() -> None:
    url = resolve("postgresql://me:secret-word@host/pacenote")
    assert url.drivername == "postgresql+psycopg"
    error = describe(url, OperationalError("select", {}, Exception("connection refused")))
    assert "secret-word" not in str(error)
    with pytest.raises(StoreError, match="must be a path or a database URL"):
        resolve("://")
    with pytest.raises(StoreError, match="use a path or postgresql"):
        open_engine(resolve("nosuchdatabase://host/x"))


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingPartError, match=r"pacenote\[postgres\]"):
        open_engine(resolve("postgresql://host/x"))
