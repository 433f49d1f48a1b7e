"""``track`` counts the wait for a batch once, and does nothing when nobody measures."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import pacenote
from pacenote.child import events
from pacenote.child.freerun import FreeRecorder, Stop
from pacenote.child.spool import SpoolWriter


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FreeRecorder:
    made = FreeRecorder(SpoolWriter(str(tmp_path / "1.spool")), Stop(str(tmp_path)))
    module = types.ModuleType("pacenote_child.attach")
    module.current = types.SimpleNamespace(recorder=made)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pacenote_child.attach", module)
    return made


def kinds(recorder: FreeRecorder) -> list[int]:
    return [code & events.KIND_MASK for code in recorder.code]


def test_batches_come_as_they_are_when_nobody_measures() -> None:
    assert list(pacenote.track([1, 2, 3])) == [1, 2, 3]


def test_each_wait_is_a_span_and_so_is_the_last_one(recorder: FreeRecorder) -> None:
    assert list(pacenote.track(range(3))) == [0, 1, 2]
    assert kinds(recorder) == [events.DATA_BEGIN, events.DATA_END] * 4
    assert recorder.objects == [{"kind": "loader", "name": "range", "batch_size": None}]


def test_an_error_of_the_reader_is_its_own(recorder: FreeRecorder) -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        list(pacenote.track(broken()))
    assert kinds(recorder) == [events.DATA_BEGIN, events.DATA_END] * 2


def test_nothing_is_recorded_after_the_end(recorder: FreeRecorder) -> None:
    recorder.ended = True
    assert list(pacenote.track([1])) == [1]
    assert kinds(recorder) == []
