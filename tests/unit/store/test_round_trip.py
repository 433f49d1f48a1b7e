"""Every field of every record comes back as it was put, and what cannot is refused before anything is lost."""

from __future__ import annotations

import enum
import math
import sqlite3
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from fake_trials import trial
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from pacenote import records
from pacenote.errors import SchemaError, StoreError
from pacenote.records import EventLog, Study, TrialRecord
from pacenote.stats import TrialSummary, summarize
from pacenote.store import Store, coding

INT64 = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as opened:
        yield opened


class Filler:
    """Makes values of any type of ours, each one different, none of them a default."""

    def __init__(self) -> None:
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def struct(self, kind: type[Any]) -> Any:
        return kind(**{field.name: self.value(field.type) for field in inspect.type_info(kind).fields})

    def value(self, kind: inspect.Type) -> Any:
        number = self.number()
        if isinstance(kind, inspect.UnionType):
            return self.value(next(one for one in kind.types if not isinstance(one, inspect.NoneType)))
        if isinstance(kind, inspect.StructType):
            return self.struct(kind.cls)
        if isinstance(kind, inspect.EnumType):
            members: list[enum.Enum] = list(kind.cls)
            return members[1 + number % (len(members) - 1)]  # the first is what fields default to
        if isinstance(kind, inspect.ListType):
            return [self.value(kind.item_type) for _ in range(2)]
        if isinstance(kind, inspect.TupleType):
            return tuple(self.value(one) for one in kind.item_types)
        if isinstance(kind, inspect.DictType):
            if isinstance(kind.key_type, inspect.IntType):
                return {number: self.value(kind.value_type)}
            return {f"key {number}": self.value(kind.value_type), "ü 中文 '\"\\": self.value(kind.value_type)}
        simple = {
            inspect.StrType: f"text {number} – 中文 \x00 \U0001f600",
            inspect.IntType: number + 2**40,
            inspect.FloatType: number + 1 / 3,
            inspect.BoolType: True,
            inspect.BytesType: array("q", [number, -number, 2**62]).tobytes(),
            inspect.AnyType: {"a": [None, True, number, 0.1, "x"], "b": {}},
        }
        return simple[type(kind)]


def every_trial() -> TrialRecord:
    # The schema must be one that this version reads.
    return msgspec.structs.replace(Filler().struct(TrialRecord), schema=records.SCHEMA_VERSION)


def every_study() -> Study:
    return msgspec.structs.replace(Filler().struct(Study), schema=records.SCHEMA_VERSION)


def test_the_filler_leaves_no_default_behind() -> None:
    made, plain = every_trial(), trial([[0.1]])
    for name in TrialRecord.__struct_fields__:
        if name not in ("schema", "version"):
            assert getattr(made, name) != getattr(plain, name), name


def test_every_field_of_a_trial_comes_back(store: Store, path: Path) -> None:
    made = every_trial()
    store.put_trial(made)
    store.close()
    with Store(path) as again:
        found = again.get_trial(made.id)
    assert found is not None
    for name in TrialRecord.__struct_fields__:
        assert getattr(found, name) == getattr(made, name), name
    assert found == made


def test_every_field_of_a_study_comes_back(store: Store) -> None:
    made = every_study()
    store.put_study(made)
    assert store.get_study(made.id) == made
    assert store.get_study(made.name) == made
    assert store.studies(None) == [made]
    assert store.unfinished(made.plan_hash) is None


def test_every_field_of_an_environment_comes_back(store: Store) -> None:
    made = Filler().struct(records.Environment)
    assert store.get_environment(store.put_environment(made)) == made


def test_every_field_of_a_summary_comes_back(store: Store) -> None:
    made = summarize(trial([[0.005, 0.007] * 20] * 4))
    assert made.bimodality is not None
    store.put_summary("t", 7, made)
    assert msgspec.convert(store.summary("t", 7), TrialSummary, str_keys=True) == made
    filled = Filler().struct(TrialSummary)
    store.put_summary("t", 7, filled)
    assert msgspec.convert(store.summary("t", 7), TrialSummary, str_keys=True) == filled


@pytest.mark.parametrize("status", list(records.Status))
@pytest.mark.parametrize("kind", list(records.Kind))
def test_every_status_and_kind_comes_back(store: Store, status: records.Status, kind: records.Kind) -> None:
    made = trial([[0.1]], kind=kind, outcome=records.Outcome(status=status))
    store.put_trial(made)
    assert store.get_trial(made.id) == made


def test_columns_that_are_searched_say_what_the_record_says(store: Store, path: Path) -> None:
    made = every_trial()
    store.put_trial(made)
    store.put_study(every_study())
    with sqlite3.connect(path) as raw:
        raw.row_factory = sqlite3.Row
        row, study = raw.execute("select * from trial").fetchone(), raw.execute("select * from study").fetchone()
    raw.close()
    for name in ("id", "spec_hash", "environment_hash", "replicate", "started_unix_s", "version", "schema"):
        assert row[name] == getattr(made, name)
    assert row["status"] == made.outcome.status.value
    assert (study["name"], bool(study["finished"])) == (every_study().name, every_study().finished)


def test_a_trial_put_again_replaces_all_of_it(store: Store, path: Path) -> None:
    long, short = trial([[0.1] * 50]), trial([[0.1]], events=EventLog())
    store.put_trial(long)
    store.put_trial(short)
    assert store.get_trial(short.id) == short
    with sqlite3.connect(path) as raw:
        assert raw.execute("select count(*) from series").fetchone() == (0,)
    raw.close()


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_number_that_json_does_not_know_is_stored_as_unknown(store: Store, value: float) -> None:
    store.put_trial(trial([[0.1]], flop_per_sample=records.Reading(value=value)))
    found = store.get_trial("t0")
    assert found is not None
    assert found.flop_per_sample.value is None


@given(st.lists(INT64, max_size=50))
def test_any_series_comes_back_bit_for_bit(values: list[int]) -> None:
    raw = np.array(values, dtype="<i8").tobytes()
    assert coding.unpack(coding.pack(raw), coding.CODING) == raw


@pytest.mark.parametrize("length", [1, 7, 9, 15])
def test_half_a_number_is_no_series(length: int) -> None:
    with pytest.raises(ValueError, match="buffer size"):
        coding.pack(b"x" * length)


def test_a_series_that_lost_its_end_is_told_as_damaged(store: Store, path: Path) -> None:
    store.put_trial(trial([[0.1] * 50]))
    with sqlite3.connect(path) as raw:
        raw.execute("update series set data = substr(data, 1, length(data) - 4) where name = 't_ns'")
    raw.close()
    with pytest.raises(SchemaError, match=r"damaged .* other runs can still be read"):
        store.get_trial("t0")
    assert store.get_trial("t0", events=False) is not None


@pytest.mark.parametrize("table", ["trial", "study", "environment", "summary", "calibration"])
def test_a_body_that_is_no_json_names_what_it_belongs_to(store: Store, path: Path, table: str) -> None:
    environment = records.Environment(facts={"a": 1})
    store.put_trial(trial([[0.1]]))
    store.put_study(Study(id="s1", question="run", created_unix_s=0.0))
    store.put_summary("t0", 1, {"a": 1})
    store.put_calibration("key", {"a": 1.0})
    key = store.put_environment(environment)
    with sqlite3.connect(path) as raw:
        raw.execute(f"update {table} set body = '{{broken'")
    raw.close()
    read = {
        "trial": lambda: store.get_trial("t0"),
        "study": lambda: store.get_study("s1"),
        "environment": lambda: store.get_environment(key),
        "summary": lambda: store.summary("t0", 1),
        "calibration": lambda: store.get_calibration("key"),
    }
    with pytest.raises(SchemaError, match=rf"^{table}.* cannot be read"):
        read[table]()


@pytest.mark.parametrize("bad", [object(), {1, object()}, 1j])
def test_a_value_that_cannot_be_written_changes_nothing(store: Store, bad: Any) -> None:
    store.put_trial(trial([[0.1]], data={"kept": 1}))
    with pytest.raises(StoreError, match="cannot be stored"):
        store.put_trial(trial([[0.1]], data={"kept": bad}))
    found = store.get_trial("t0")
    assert found is not None
    assert found.data == {"kept": 1}


def test_what_a_newer_version_wrote_beside_our_fields_is_passed_over(store: Store, path: Path) -> None:
    store.put_study(Study(id="s1", question="run", created_unix_s=0.0))
    with sqlite3.connect(path) as raw:
        raw.execute("update study set body = json_set(body, '$.later', 'x')")
    raw.close()
    assert store.get_study("s1").question == "run"


def test_a_newer_trial_asks_for_an_upgrade(store: Store) -> None:
    store.put_trial(trial([[0.1]], schema=records.SCHEMA_VERSION + 1))
    with pytest.raises(SchemaError, match=r"trial t0 .*newer.*pip install -U pacenote"):
        store.get_trial("t0")
