"""Every way a child can end or misbehave, and lines of any size and speed."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pacenote.engines import ChildEndedError, outcome
from pacenote.engines.lines import CHUNK_BYTES, SelectedLines, ThreadedLines
from pacenote.engines.local import LocalChild, LocalEngine
from pacenote.launchers import single
from pacenote.records import Outcome, Status

HEAD = """
import json, os, signal, sys, time
control = int(os.environ["PACENOTE_CONTROL_FD"])
result = int(os.environ["PACENOTE_RESULT_FD"])
commands = os.fdopen(control, "r")
def write(data):
    while data:
        data = data[os.write(result, data):]
def say(**message):
    write(json.dumps(message).encode() + b"\\n")
def hear():
    return json.loads(commands.readline())
"""

Start = Callable[..., LocalChild]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    children: list[LocalChild] = []

    def begin(body: str, head: str = HEAD) -> LocalChild:
        script = tmp_path / f"child{len(children)}.py"
        script.write_text(head + textwrap.dedent(body))
        monkeypatch.setattr(single, "BOOT", script)
        children.append(LocalEngine().start({"action": "train"}, python=sys.executable, environ=dict(os.environ)))
        return children[-1]

    yield begin
    for child in children:
        child.kill()


def ending(act: Callable[[], Any]) -> Outcome:
    with pytest.raises(ChildEndedError) as caught:
        act()
    return caught.value.outcome


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGUSR1"])
def test_signals_from_outside_are_kills(start: Start, name: str) -> None:
    restore = f"signal.signal(signal.{name}, signal.SIG_DFL); " if name == "SIGINT" else ""
    child = start(f"hear(); {restore}os.kill(os.getpid(), signal.{name}); time.sleep(600)")
    found = ending(lambda: child.answer("ready", 60))
    assert (found.status, found.signal) == (Status.KILLED, name)


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGFPE", "SIGILL", "SIGBUS"])
def test_faults_are_crashes_with_the_place(start: Start, name: str) -> None:
    child = start(f"hear()\nos.kill(os.getpid(), signal.{name})\ntime.sleep(600)")
    found = ending(lambda: child.answer("ready", 60))
    assert (found.status, found.signal) == (Status.CRASHED, name)
    assert found.where is not None
    assert found.where.startswith("child0.py:")


@pytest.mark.parametrize("code", [0, 1, 3, 134])
def test_leaving_without_a_word_is_a_crash_with_its_code(start: Start, code: int) -> None:
    child = start(f"hear(); os._exit({code})")
    found = ending(lambda: child.answer("ready", 60))
    assert (found.status, found.exit_code, found.signal) == (Status.CRASHED, code, None)
    assert found.error_text == "the process ended without an answer"


def test_one_that_is_gone_before_it_heard_its_job_says_so_at_its_first_answer(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a broken interpreter may end before the job is written."""
    launch = single.launch

    def late(python: str | None, environ: dict[str, str]) -> single.Launched:
        launched = launch(python, environ)
        os.waitid(os.P_PID, launched.process.pid, os.WEXITED | os.WNOWAIT)
        return launched

    monkeypatch.setattr("pacenote.engines.local.launch", late)
    child = start('print("cannot load libpython"); sys.exit(127)')
    for _ in range(2):
        found = ending(lambda: child.answer("hello", 60))
        assert (found.status, found.exit_code) == (Status.CRASHED, 127)
        assert found.error_text == "cannot load libpython"
    assert ending(lambda: child.begin_turn(0, seconds=1.0, steps=None)) == found
    child.kill()


def test_an_end_between_two_turns_shows_at_the_next_command(start: Start) -> None:
    child = start('hear(); say(msg="ready"); os._exit(5)')
    child.answer("ready", 60)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert ending(lambda: child.begin_turn(1, seconds=0.1, steps=None)).exit_code == 5
    assert ending(child.begin_finish).exit_code == 5


@pytest.mark.parametrize(
    "line",
    [b"\\n", b"[]\\n", b"7\\n", b"null\\n", b'{"msg": 3}\\n', b'{"other": 1}\\n', b"\\xff\\xfe\\n", b"x" * 99 + b"\\n"],
)
def test_answers_that_are_no_messages_end_the_trial(start: Start, line: str) -> None:
    child = start(f"""hear(); write(b'{line}' + bytes([10])); os._exit(0)""")
    assert ending(lambda: child.answer("ready", 60)).status is Status.CRASHED


def test_half_a_line_and_then_the_end(start: Start) -> None:
    child = start("""hear(); write(b'{"msg": "ready"')""")
    assert ending(lambda: child.answer("ready", 60)).status is Status.CRASHED


def test_noise_on_standard_output_is_no_answer(start: Start) -> None:
    body = """
    hear()
    for stream in (sys.stdout, sys.stderr):
        print('{"msg": "ready", "fake": true}\\n' * 5000, file=stream, flush=True)
    os.system("echo from a worker; echo and its errors >&2")
    say(msg="ready", fake=False)
    hear()
    """
    assert start(body).answer("ready", 60)["fake"] is False


def test_a_message_of_many_megabytes_arrives_whole(start: Start) -> None:
    child = start('hear(); say(msg="ready", x="a" * 12_000_000); say(msg="turn", x="b"); hear()')
    assert len(child.answer("ready", 60)["x"]) == 12_000_000
    assert child.answer("turn", 60)["x"] == "b"


def test_a_slow_child_is_waited_for_byte_by_byte(start: Start) -> None:
    child = start("""
        hear()
        for byte in b'{"msg": "hello"}\\n{"msg": "ready"}\\n':
            write(bytes([byte])); time.sleep(0.001)
        hear()
    """)
    assert child.answer("ready", 60) == {"msg": "ready"}


@pytest.mark.parametrize("stuck", ["time.sleep(600)", "signal.pause()", "while True: pass"])
def test_a_child_that_hangs_in_a_turn_is_ended(start: Start, stuck: str) -> None:
    child = start(f'hear(); say(msg="ready"); hear()\n{stuck}')
    child.answer("ready", 60)
    child.begin_turn(0, seconds=0.1, steps=None)
    found = ending(lambda: child.answer("turn", 0.3))
    assert (found.status, found.signal) == (Status.HUNG, "SIGKILL")
    assert "'turn'" in (found.error_text or "")
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


def test_an_error_during_the_farewell_is_the_end(start: Start) -> None:
    child = start('hear(); hear(); say(msg="error", kind="out_of_memory", type="RuntimeError", text="no more")')
    child.begin_finish()
    assert ending(lambda: child.finish(60)).status is Status.OUT_OF_MEMORY


@pytest.mark.parametrize("message", [{}, {"kind": "new_kind"}, {"kind": None, "text": None}, {"kind": 3, "text": 4}])
def test_an_account_that_is_incomplete_is_still_a_crash(message: dict[str, Any]) -> None:
    found = outcome.from_message(message)
    assert found.status is Status.CRASHED
    assert found.error_type == "Exception"
    assert json.dumps(found.error_text)


@pytest.mark.parametrize("rows", ["", "x", "0::", "4:memory", "4:memory:/job\n0::/\n"])
def test_odd_group_rows_do_not_stop_the_count_of_memory_kills(tmp_path: Path, rows: str) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(rows)
    (tmp_path / "proc/vmstat").write_text("oom_kill x\noom_kill 5\n")
    assert outcome.memory_kills(tmp_path) == 5


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for fd in (reading, writing):
        try:
            os.close(fd)
        except OSError:
            continue


def soon() -> float:
    return time.monotonic() + 60


@pytest.fixture(params=["selected", "threaded"])
def lines(request: pytest.FixtureRequest, pipe: tuple[int, int]) -> Iterator[Any]:
    made = SelectedLines(pipe[0], os.getpid()) if request.param == "selected" else ThreadedLines(pipe[0])
    yield made
    made.close()


@pytest.mark.parametrize("pieces", [[b"a\nb\n"], [b"a", b"\nb\n"], [b"a\n", b"b", b"\n"], [b"a\nb", b"\n"]])
def test_lines_however_they_are_cut(lines: Any, pipe: tuple[int, int], pieces: list[bytes]) -> None:
    for piece in pieces:
        os.write(pipe[1], piece)
    assert [lines.read(soon()), lines.read(soon())] == [b"a", b"b"]
    with pytest.raises(TimeoutError):
        lines.read(time.monotonic())


def test_the_end_of_the_pipe_comes_after_the_last_line_and_stays(lines: Any, pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"last\nhalf")
    os.close(pipe[1])
    assert lines.read(soon()) == b"last"
    assert lines.read(soon()) is None
    assert lines.read(soon()) is None


def test_many_short_lines_in_one_chunk(lines: Any, pipe: tuple[int, int]) -> None:
    count = CHUNK_BYTES // 8
    os.write(pipe[1], b"x\n" * count)
    assert sum(lines.read(soon()) == b"x" for _ in range(count)) == count


def test_waiting_for_the_end_by_thread(pipe: tuple[int, int]) -> None:
    lines = ThreadedLines(pipe[0])
    os.write(pipe[1], b"left over\n")
    assert not lines.ended(time.monotonic() + 0.05)
    os.close(pipe[1])
    assert lines.ended(soon())


def test_without_process_descriptors_the_pipe_stands_for_the_end(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Linux 5.3, and on macOS."""
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    lines = SelectedLines(pipe[0], os.getpid())
    assert not lines.ended(time.monotonic())
    os.close(pipe[1])
    assert lines.ended(soon())
    lines.close()


def test_names_of_signals_are_those_of_this_system() -> None:
    for known in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        assert outcome.signal_name(-known) == known.name
