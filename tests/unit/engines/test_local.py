"""The local engine against real processes that speak the protocol, each written for one way to end."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pacenote.engines import ENGINES, ChildEndedError
from pacenote.engines.local import LocalChild, LocalEngine
from pacenote.launchers import single
from pacenote.records import Outcome, Status

SPEAKER = """
import json, os, signal, sys, time
control = int(os.environ["PACENOTE_CONTROL_FD"])
result = int(os.environ["PACENOTE_RESULT_FD"])
commands = os.fdopen(control, "r")
def say(**message):
    os.write(result, json.dumps(message).encode() + b"\\n")
def hear():
    return json.loads(commands.readline())
job = hear()
say(msg="hello", pid=os.getpid())
"""

Start = Callable[[str], LocalChild]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    children: list[LocalChild] = []

    def begin(body: str) -> LocalChild:
        script = tmp_path / f"child{len(children)}.py"
        script.write_text(SPEAKER + textwrap.dedent(body))
        monkeypatch.setattr(single, "BOOT", script)
        children.append(LocalEngine().start({"action": "train"}, python=sys.executable, environ=dict(os.environ)))
        return children[-1]

    yield begin
    for child in children:
        child.kill()


def ending(child: LocalChild, kind: str = "ready", timeout_s: float = 60) -> Outcome:
    with pytest.raises(ChildEndedError) as caught:
        child.answer(kind, timeout_s)
    return caught.value.outcome


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


def test_a_whole_conversation(start: Start) -> None:
    child = start(
        """
        say(msg="ready", job=job["action"])
        turn = hear()
        say(msg="turn", turn=turn["turn"], seconds=turn["seconds"], padding="x" * 500000)
        assert hear()["cmd"] == "finish"
        say(msg="done", objects=[])
        """
    )
    assert child.answer("ready", 60)["job"] == "train"
    child.begin_turn(3, seconds=0.25, steps=None)
    message = child.answer("turn", 60)
    assert (message["turn"], message["seconds"], len(message["padding"])) == (3, 0.25, 500000)
    child.begin_finish()
    done, outcome = child.finish(60)
    assert done["objects"] == []
    assert outcome == Outcome(status=Status.FINISHED, exit_code=0)
    assert not alive(child.pid)


def test_a_fault_after_the_last_word_costs_nothing(start: Start) -> None:
    child = start('hear(); say(msg="done"); os.kill(os.getpid(), signal.SIGSEGV)')
    child.begin_finish()
    outcome = child.finish(60)[1]
    assert outcome.status is Status.FINISHED
    assert outcome.exit_code == -signal.SIGSEGV


def test_a_child_that_does_not_leave_is_ended_and_has_no_exit_code(start: Start) -> None:
    child = start('hear(); say(msg="done"); time.sleep(600)')
    child.begin_finish()
    assert child.finish(60, grace_s=0.0)[1] == Outcome(status=Status.FINISHED, exit_code=None)
    assert not alive(child.pid)


@pytest.mark.parametrize(
    ("kind", "type_", "status"),
    [
        ("out_of_memory", "RuntimeError", Status.OUT_OF_MEMORY),
        ("exception", "MemoryError", Status.OUT_OF_MEMORY),
        ("missing_framework", "ImportError", Status.MISSING),
        ("missing_device", "DeviceError", Status.MISSING),
        ("unsupported", "Unsupported", Status.UNSUPPORTED),
        ("exception", "ValueError", Status.CRASHED),
    ],
)
def test_an_error_message_names_the_end(start: Start, kind: str, type_: str, status: Status) -> None:
    child = start(f'say(msg="error", kind="{kind}", type="{type_}", text="no\\nway", where="net.py:7"); sys.exit(1)')
    outcome = ending(child)
    assert (outcome.status, outcome.error_type, outcome.error_text) == (status, type_, "no way")
    assert outcome.where == "net.py:7"


def test_bad_data_is_told_apart(start: Start) -> None:
    outcome = ending(start('say(msg="error", kind="bad_data", type="X", text="data_batch_1.bin is short")'))
    assert (outcome.status, outcome.error_type) == (Status.CRASHED, "DataError")


@pytest.mark.parametrize(
    ("name", "status"), [("SIGKILL", Status.KILLED), ("SIGTERM", Status.KILLED), ("SIGSEGV", Status.CRASHED)]
)
def test_a_signal_is_named(start: Start, name: str, status: Status) -> None:
    child = start('say(msg="ready"); hear()')
    child.answer("ready", 60)
    os.kill(child.pid, getattr(signal, name))
    outcome = ending(child, "turn")
    assert (outcome.status, outcome.signal) == (status, name)


def test_silence_is_a_hang_and_is_ended(start: Start) -> None:
    child = start("time.sleep(600)")
    outcome = ending(child, timeout_s=0.2)
    assert outcome.status is Status.HUNG
    assert not alive(child.pid)


def test_a_crash_tells_what_it_printed_last(start: Start) -> None:
    outcome = ending(start('raise ValueError("shape 3 against 4")'))
    assert outcome.status is Status.CRASHED
    assert outcome.error_text == "ValueError: shape 3 against 4"
    assert outcome.where is not None
    assert outcome.where.startswith("child0.py:")


def test_an_unreadable_answer_ends_the_trial(start: Start) -> None:
    assert ending(start('os.write(result, b"{not json\\n")')).status is Status.CRASHED


def test_the_kernels_memory_killer_is_recognised(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([3, 4])
    monkeypatch.setattr("pacenote.engines.outcome.memory_kills", lambda: next(counts))
    assert ending(start("os.kill(os.getpid(), signal.SIGKILL)")).status is Status.OUT_OF_MEMORY


def test_workers_die_with_their_child_and_do_not_hide_its_end(start: Start) -> None:
    child = start(
        """
        worker = os.fork()
        if worker == 0:
            time.sleep(600)
        say(msg="ready", worker=worker)
        os._exit(3)
        """
    )
    worker = child.answer("ready", 60)["worker"]
    assert ending(child, "turn").exit_code == 3
    deadline = time.monotonic() + 30  # the signal has been sent; dying and being reaped takes the system a moment
    while alive(worker) and state_of(worker) != "Z" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(worker) or state_of(worker) == "Z"


def test_kill_is_harmless_twice_and_ends_the_group(start: Start) -> None:
    child = start('say(msg="ready"); hear()')
    child.answer("ready", 60)
    child.kill()
    child.kill()
    assert not alive(child.pid)


def test_the_registry_finds_the_engine() -> None:
    assert ENGINES.names() == ("local",)
