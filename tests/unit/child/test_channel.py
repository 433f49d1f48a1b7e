"""The child's two pipes: lines that arrive in pieces, ends, forks, and a parent that has gone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child import channel as module
from pacenote.child.channel import Channel
from pacenote.child.protocol import CONTROL_FD_VARIABLE, RESULT_FD_VARIABLE


class Exit(BaseException):
    """Stands for the end of the process."""


class Pipes:
    """Both pipes with the parent's ends."""

    def __init__(self) -> None:
        self.control_read, self.control_write = os.pipe()
        self.result_read, self.result_write = os.pipe()

    def channel(self) -> Channel:
        return Channel(self.control_read, self.result_write)

    def say(self, data: bytes) -> None:
        os.write(self.control_write, data)

    def hear(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in os.read(self.result_read, 1 << 16).splitlines()]

    def close(self, *names: str) -> None:
        for name in names:
            fd = getattr(self, name)
            if fd >= 0:
                os.close(fd)
                setattr(self, name, -1)


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes()
    yield made
    made.close("control_read", "control_write", "result_read", "result_write")


@pytest.fixture
def no_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(code: int) -> None:
        raise Exit(code)

    monkeypatch.setattr(module.os, "_exit", leave)


def test_a_message_is_one_line(pipes: Pipes) -> None:
    pipes.channel().send({"msg": "hello", "text": "two\nlines", "name": "naïve 名"})
    raw = os.read(pipes.result_read, 1 << 16)
    assert raw.count(b"\n") == 1
    assert json.loads(raw) == {"msg": "hello", "text": "two\nlines", "name": "naïve 名"}


def test_what_json_cannot_hold_is_sent_as_its_words(pipes: Pipes) -> None:
    pipes.channel().send({"build": {1}, "path": object})
    [message] = pipes.hear()
    assert message["build"] == "{1}"
    assert "object" in message["path"]


def test_commands_arrive_in_order(pipes: Pipes) -> None:
    channel = pipes.channel()
    pipes.say(b'{"cmd":"turn","turn":0}\n{"cmd":"turn","turn":1}\n')
    assert [channel.receive(), channel.receive()] == [{"cmd": "turn", "turn": 0}, {"cmd": "turn", "turn": 1}]


@pytest.mark.parametrize("rest", [b"", b'{"cmd":"fin'])
def test_the_end_of_the_pipe_is_none_even_in_the_middle_of_a_line(pipes: Pipes, rest: bytes) -> None:
    channel = pipes.channel()
    pipes.say(b'{"cmd":"turn"}\n' + rest)
    pipes.close("control_write")
    assert channel.receive() == {"cmd": "turn"}
    assert channel.receive() is None
    assert channel.receive() is None


@given(
    commands=st.lists(
        st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=9), st.none()), max_size=3),
        min_size=1,
        max_size=6,
    ),
    data=st.data(),
)
def test_lines_may_arrive_in_any_pieces(commands: list[dict[str, Any]], data: st.DataObject) -> None:
    whole = b"".join(json.dumps(command).encode() + b"\n" for command in commands)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    waiting = [piece for piece in pieces if piece]
    channel = Channel(-1, -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.os, "read", lambda fd, size: waiting.pop(0) if waiting else b"")
        assert [channel.receive() for _ in commands] == commands
        assert channel.receive() is None


def test_a_long_message_is_written_whole_though_the_pipe_takes_little(monkeypatch: pytest.MonkeyPatch) -> None:
    written = bytearray()

    def write(fd: int, data: memoryview) -> int:
        written.extend(data[:7])
        return min(7, len(data))

    monkeypatch.setattr(module.os, "write", write)
    Channel(-1, -1).send({"t_ns": "x" * 1000})
    assert json.loads(written) == {"t_ns": "x" * 1000}
    assert written.endswith(b"\n")


@pytest.mark.usefixtures("no_exit")
def test_a_parent_that_has_gone_ends_the_child_without_a_word(pipes: Pipes) -> None:
    pipes.close("result_read")
    with pytest.raises(Exit) as left:
        pipes.channel().send({"msg": "turn"})
    assert left.value.args == (0,)


@pytest.mark.usefixtures("no_exit")
def test_a_pipe_that_was_closed_by_the_program_ends_the_child_as_well(pipes: Pipes) -> None:
    channel = pipes.channel()
    pipes.close("result_write")
    with pytest.raises(Exit):
        channel.send({"msg": "turn"})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
class TestFork:
    """A forked worker is the same object under another process number."""

    def test_a_worker_says_nothing(self, pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
        channel = pipes.channel()
        monkeypatch.setattr(module.os, "getpid", lambda: -1)
        channel.send({"msg": "error"})
        monkeypatch.undo()
        channel.send({"msg": "turn"})
        assert pipes.hear() == [{"msg": "turn"}]

    def test_a_worker_lets_go_of_both_pipes(self, pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
        channel = pipes.channel()
        closed: list[int] = []
        monkeypatch.setattr(module.os, "getpid", lambda: -1)
        monkeypatch.setattr(module.os, "close", closed.append)
        channel.close_in_fork()
        assert closed == [pipes.control_read, pipes.result_write]

    def test_pipes_the_program_closed_itself_are_no_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tried: list[int] = []

        def close(fd: int) -> None:
            tried.append(fd)
            raise OSError("bad file descriptor")

        channel = Channel(70, 71)
        monkeypatch.setattr(module.os, "getpid", lambda: -1)
        monkeypatch.setattr(module.os, "close", close)
        channel.close_in_fork()
        assert tried == [70, 71]

    def test_the_process_itself_keeps_them(self, pipes: Pipes) -> None:
        channel = pipes.channel()
        channel.close_in_fork()
        channel.send({"msg": "turn"})
        assert pipes.hear() == [{"msg": "turn"}]


class TestFromEnvironment:
    @pytest.fixture
    def hooks(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        """What would be called after a fork; registering for good would outlive this test."""
        registered: list[Any] = []
        monkeypatch.setattr(
            module.os, "register_at_fork", lambda *, after_in_child: registered.append(after_in_child), raising=False
        )
        return registered

    def test_descriptors_are_taken_and_the_variables_removed(
        self, pipes: Pipes, hooks: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(CONTROL_FD_VARIABLE, str(pipes.control_read))
        monkeypatch.setenv(RESULT_FD_VARIABLE, str(pipes.result_write))
        os.set_inheritable(pipes.control_read, True)
        os.set_inheritable(pipes.result_write, True)
        channel = Channel.from_environment()
        assert (channel.control_fd, channel.result_fd) == (pipes.control_read, pipes.result_write)
        assert CONTROL_FD_VARIABLE not in os.environ
        assert RESULT_FD_VARIABLE not in os.environ
        assert not os.get_inheritable(pipes.control_read)
        assert not os.get_inheritable(pipes.result_write)
        assert hooks == [channel.close_in_fork]

    def test_without_the_variables_it_is_no_child(self, hooks: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(CONTROL_FD_VARIABLE, raising=False)
        with pytest.raises(KeyError, match=CONTROL_FD_VARIABLE):
            Channel.from_environment()
