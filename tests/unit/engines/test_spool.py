from __future__ import annotations

from array import array
from pathlib import Path

from pacenote.child import events
from pacenote.child.spool import SpoolWriter
from pacenote.engines.spool import Spools, gated
from pacenote.records import EventLog
from pacenote.segment import segment

MS = 1_000_000


def log(step_ms: list[int], *, away_ms: int = 0) -> EventLog:
    t_ns, code = array("q"), array("q")
    now = 5_000 * MS

    def add(kind: int) -> None:
        t_ns.append(now)
        code.append(events.code(kind))

    add(events.DATA_BEGIN)
    add(events.DATA_END)
    for length in step_ms:
        now += length * MS
        add(events.OPTIMIZER_BEGIN)
        add(events.OPTIMIZER_END)
        if away_ms:
            add(events.AWAY_BEGIN)
            now += away_ms * MS
            add(events.AWAY_END)
    return EventLog(t_ns=t_ns.tobytes(), code=code.tobytes())


def test_the_gate_splits_a_free_run_into_its_warm_up_and_the_rest() -> None:
    made, cut_ns = gated(log([200] + [100] * 19), warm_s=0.5)
    found = segment(made)
    assert len(found) == 20
    assert found.turn.tolist() == [0] * 5 + [1] * 15  # a quarter of a short run at most
    assert cut_ns == (5_000 + 200 + 4 * 100) * MS + 1
    assert found.turns.steps.tolist() == [5, 15]


def test_a_run_of_two_steps_is_all_warm_up() -> None:
    made, cut_ns = gated(log([100, 100]), warm_s=0.5)
    assert (segment(made).turn.tolist(), cut_ns) == ([0, 0], 0)


def test_an_empty_log_stays_empty() -> None:
    assert gated(EventLog(), warm_s=0.5) == (EventLog(), 0)


def test_what_we_do_ourselves_belongs_to_no_step() -> None:
    made, _ = gated(log([10] * 20, away_ms=7), warm_s=0.0)
    assert segment(made).total_s[1:].tolist() == [0.01] * 19


def test_spools_of_a_folder_are_read_as_they_grow(tmp_path: Path) -> None:
    writer = SpoolWriter(str(tmp_path / "9-1.spool"))
    writer.message({"msg": "hello", "pid": 9, "framework": "pytorch"})
    spools = Spools(tmp_path)
    (one,) = spools.read()
    assert (one.pid, one.framework, one.trained) == (9, "pytorch", False)
    writer.message({"msg": "part", "step": 3, "rank": 1, "world_size": 2})
    writer.events(array("q", [1]), array("q", [2]))
    (again,) = spools.read()
    assert again is one
    assert (one.trained, one.rank, one.world_size, len(one.log().t_ns)) == (True, 1, 2, 8)


def test_a_file_that_is_no_spool_is_broken_from_there_on(tmp_path: Path) -> None:
    SpoolWriter(str(tmp_path / "9-1.spool")).message({"msg": "hello", "pid": 9})
    with (tmp_path / "9-1.spool").open("ab") as file:
        file.write(b"\x09\0\0\0\x01\0\0\0x")
    (one,) = Spools(tmp_path).read()
    assert one.pid == 9
    assert "kind" in one.broken


def test_failures_are_told(tmp_path: Path) -> None:
    (tmp_path / "9.failed").write_text("ImportError: no")
    assert list(Spools(tmp_path).failures()) == ["ImportError: no"]
