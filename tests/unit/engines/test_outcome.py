"""Names of ends, without processes."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from pacenote.engines import outcome
from pacenote.records import Status

FAULT_DUMP = """Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "/somewhere/net.py", line 12 in forward
  File "/somewhere/main.py", line 99 in main
"""
TRACEBACK = """Traceback (most recent call last):
  File "/somewhere/main.py", line 99, in main
  File "/somewhere/net.py", line 12, in forward
ValueError: no
"""


@pytest.mark.parametrize("text", [FAULT_DUMP, TRACEBACK])
def test_the_innermost_frame_is_the_place(text: str) -> None:
    assert outcome.place(text) == "net.py:12"


def test_no_place_in_plain_output() -> None:
    assert outcome.place("epoch 1") is None


def test_a_failed_allocation_in_the_framework_is_out_of_memory() -> None:
    found = outcome.from_exit(-signal.SIGABRT, "terminate called after throwing an instance of 'std::bad_alloc'")
    assert found.status is Status.OUT_OF_MEMORY


def test_a_kill_is_not_blamed_on_what_was_printed_before() -> None:
    assert outcome.from_exit(-signal.SIGKILL, "caught a MemoryError, going on").status is Status.KILLED


def test_leaving_without_an_answer_is_a_crash() -> None:
    found = outcome.from_exit(0, "")
    assert (found.status, found.exit_code) == (Status.CRASHED, 0)
    assert found.error_text


def test_an_unknown_signal_still_has_a_name() -> None:
    assert outcome.signal_name(-63) == "signal 63"
    assert outcome.signal_name(1) is None


def test_long_messages_are_cut() -> None:
    text = outcome.one_line("word " * 1000)
    assert len(text) == 300
    assert text.endswith("…")


def test_memory_kills_prefers_our_cgroup(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/vmstat").write_text("pgfault 9\noom_kill 7\n")
    assert outcome.memory_kills(tmp_path) == 7
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    events = tmp_path / "sys/fs/cgroup/job/memory.events"
    events.parent.mkdir(parents=True)
    events.write_text("low 0\noom 1\noom_kill 2\n")
    assert outcome.memory_kills(tmp_path) == 2


def test_memory_kills_unknown(tmp_path: Path) -> None:
    assert outcome.memory_kills(tmp_path) is None
