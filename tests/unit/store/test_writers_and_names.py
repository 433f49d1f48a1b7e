"""Several writers at once, and every way to name a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_trials import trial
from hypothesis import given
from hypothesis import strategies as st

from pacenote.errors import SchemaError, StoreError, UnknownNameError, UsageError
from pacenote.records import Environment, Study
from pacenote.store import Store, short_ids, tables
from pacenote.store.location import resolve
from pacenote.store.reference import SHORTEST

WRITERS = 4
EACH = 6


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as opened:
        yield opened


def a_study(study_id: str, created: float = 0.0, name: str | None = None) -> Study:
    return Study(id=study_id, question="run", created_unix_s=created, name=name)


def together(work: Callable[[int], None]) -> None:
    """Run ``work`` in several threads that start at the same moment, and raise what one of them raised."""
    start, failed = threading.Barrier(WRITERS), list[BaseException]()

    def run(number: int) -> None:
        try:
            start.wait(timeout=30)
            work(number)
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=run, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failed == []


def test_writers_with_a_store_of_their_own_lose_nothing(path: Path) -> None:
    def work(number: int) -> None:
        with Store(path) as own:
            own.put_study(a_study(f"study-{number}", float(number)))
            for at in range(EACH):
                own.put_trial(trial([[0.1] * 5], id=f"{number}-{at}"), f"study-{number}")

    together(work)
    with Store(path) as store:
        for number in range(WRITERS):
            assert [one.id for one in store.trials(f"study-{number}")] == [f"{number}-{at}" for at in range(EACH)]


def test_writers_of_one_study_all_join_it(store: Store, path: Path) -> None:
    store.put_study(a_study("shared"))

    def work(number: int) -> None:
        with Store(path) as own:
            for at in range(EACH):
                own.put_trial(trial([[0.1]], id=f"{number}-{at}"), "shared")

    together(work)
    expected = {f"{number}-{at}" for number in range(WRITERS) for at in range(EACH)}
    assert set(store.get_study("shared").trial_ids) == expected
    for number in range(WRITERS):
        mine = [one for one in store.get_study("shared").trial_ids if one.startswith(f"{number}-")]
        assert mine == sorted(mine)


def test_the_same_environment_and_summary_from_everybody_are_kept_once(store: Store, path: Path) -> None:
    environment = Environment(facts={"cpu": "x"})

    def work(number: int) -> None:
        with Store(path) as own:
            for _ in range(EACH):
                own.put_environment(environment)
                own.put_summary("t", 1, {"steps": 3})
                own.put_calibration("key", {"flops": 1.0})

    together(work)
    assert store.get_environment(environment.hash()) == environment
    assert store.summary("t", 1) == {"steps": 3}
    assert len(store.calibrations()) == 1


def test_a_reader_sees_whole_studies_while_another_writes(store: Store, path: Path) -> None:
    store.put_study(a_study("s"))

    def work(number: int) -> None:
        with Store(path) as own:
            for at in range(EACH):
                if number == 0:
                    own.put_trial(trial([[0.1] * 20], id=f"t{at}"), "s")
                else:
                    found = own.trials("s")
                    assert [one.id for one in found] == [f"t{known}" for known in range(len(found))]
                    assert all(one.events.t_ns for one in found)

    together(work)


def test_a_store_whose_version_cannot_be_read_is_told_as_one(store: Store, path: Path) -> None:
    with store._transaction() as connection:
        connection.execute(tables.META.update().values(value="nine"))
    with pytest.raises(SchemaError, match="nine"):
        Store(path)


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        ("last", "c3"),
        ("last~0", "c3"),
        ("last~1", "b2"),
        ("last~2", "a1"),
        ("a", "a1"),
        ("a1", "a1"),
        ("twice", "c3"),
        ("b2", "a1"),  # a name stands before an id
    ],
)
def test_a_run_has_many_names(store: Store, ref: str, found: str) -> None:
    store.put_study(a_study("a1", 1.0, "b2"))
    store.put_study(a_study("b2", 2.0, "twice"))
    store.put_study(a_study("c3", 3.0, "twice"))
    assert store.get_study(ref).id == found


def test_an_id_that_begins_another_is_itself(store: Store) -> None:
    store.put_study(a_study("abc"))
    store.put_study(a_study("abcdef"))
    assert store.get_study("abc").id == "abc"
    assert store.get_study("abcd").id == "abcdef"


def test_of_equal_age_the_larger_id_is_the_last(store: Store) -> None:
    for name in ("b", "c", "a"):
        store.put_study(a_study(name, 5.0))
    assert [store.get_study(f"last~{back}").id for back in range(3)] == ["c", "b", "a"]


@pytest.mark.parametrize("ref", ["", "last~", "last~x", "last~-1", "LAST", "nope", "%", "_"])
def test_what_names_nothing_is_an_unknown_name(store: Store, ref: str) -> None:
    store.put_study(a_study("0123456789ab", name="mine"))
    with pytest.raises(UnknownNameError):
        store.get_study(ref)


def test_too_many_fits_are_listed_in_part(store: Store) -> None:
    for number in range(12):
        store.put_study(a_study(f"aaaa{number:08x}", float(number)))
    with pytest.raises(UsageError, match="12 runs begin with 'aaaa'") as refused:
        store.get_study("aaaa")
    assert str(refused.value).count("aaaa0") == 8


@given(st.sets(st.text("0123456789abcdef", min_size=20, max_size=20), max_size=30))
def test_a_short_id_names_exactly_its_run(ids: set[str]) -> None:
    short = short_ids(ids)
    assert set(short) == ids
    for whole, beginning in short.items():
        assert whole.startswith(beginning)
        assert len(beginning) >= SHORTEST
        assert [one for one in ids if one.startswith(beginning)] == [whole]


def test_limits_and_filters_of_the_list(store: Store) -> None:
    for number in range(5):
        store.put_study(a_study(f"s{number}", float(number), "even" if number % 2 == 0 else "odd"))
    assert [one.id for one in store.studies(2)] == ["s4", "s3"]
    assert [one.id for one in store.studies(None, name="even")] == ["s4", "s2", "s0"]
    assert [one.id for one in store.studies(1, name="odd")] == ["s3"]
    assert store.studies(None, question="selftest") == []
    assert len(store.studies()) == 5


def test_a_closed_or_unreadable_place_fails_in_one_line(tmp_path: Path) -> None:
    blocked = tmp_path / "folder"
    blocked.mkdir()
    with pytest.raises(StoreError) as refused:
        Store(blocked)
    assert "\n" not in str(refused.value)


def test_the_place_of_a_store_never_shows_a_password(store: Store, path: Path) -> None:
    assert store.place == str(path)
    remote = Store.__new__(Store)
    remote._url = resolve("postgresql://me:secret-word@host/pacenote")
    assert remote.place == "postgresql+psycopg://me:***@host/pacenote"
