"""The side process and its reader: one JSON object a line, whole lines only, an end that always comes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pacenote.system import accelerators, sampler, sensors
from pacenote.system.reader import Reader
from pacenote.system.sensors import Sampler, Watch, values_within

SOURCE = Path(sampler.__file__).parents[2]


class Session:
    """An open driver whose card says what it is told."""

    handles = (0, 1)

    def __init__(self, **values: Any) -> None:
        self.values = values
        self.closed = 0

    def sample(self, at: int) -> dict[str, Any]:
        return {"power_w": 100.0 + at, **self.values}

    def energy_j(self, at: int) -> float | None:
        return self.values.get("energy_j")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(os, "nice", lambda step: 0, raising=False)
    yield
    assert not Sampler._running, "a test left its side process running"


@pytest.mark.parametrize("arguments", [[], ["--index", "2"]])
def test_a_card_that_is_not_there_is_said_once(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(accelerators, "connect", lambda: (Session(), ""))
    assert sampler.main(arguments) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["reason"] == "no_such_device"


def test_it_samples_until_its_input_closes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session()
    ends = iter([False, False, False, True])
    monkeypatch.setattr(accelerators, "connect", lambda: (session, ""))
    monkeypatch.setattr(sampler, "wait_for_end", lambda interval_s: lambda: next(ends))
    assert sampler.main(["--index", "1", "--interval-s", "0.01"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["power_w"] for line in lines] == [101.0] * 4
    assert [line["t_s"] for line in lines] == sorted(line["t_s"] for line in lines)
    assert session.closed == 1


def test_each_line_is_flushed_so_that_a_kill_loses_at_most_one() -> None:
    class Counted(io.StringIO):
        flushes = 0

        def flush(self) -> None:
            self.flushes += 1

    out = Counted()
    ends = iter([False, True])
    sampler.loop(lambda: {"t_s": 1.0}, out, lambda: next(ends))
    assert out.flushes == 2


def test_the_wait_ends_early_only_by_the_end_of_input(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        wait = sampler.wait_for_end(0.001)
        assert wait() is False
        os.close(writing)
        assert wait() is True


@pytest.mark.skipif(sys.platform == "win32", reason="there the broken pipe ends it")
def test_the_real_process_ends_with_its_starter() -> None:
    environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "pacenote.system.sampler", "--index", "0", "--interval-s", "0.01"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    for line in output.splitlines():
        assert json.loads(line)["t_s"] > 0


def written(text: str) -> list[dict[str, Any]]:
    """What the reader makes of a sampler's file."""
    ours = Sampler.acquire(99)
    ours._process.communicate()
    Path(ours._path).write_text(text, encoding="utf-8")
    return ours.release()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", 0),
        ('{"t_s": 1.0}\n', 1),
        ('{"t_s": 1.0}\n{"t_s": 2.', 1),  # killed while it wrote
        ('{"t_s": 1.0}\n{"t_s": 2.0}', 1),  # whole, but nothing says so
        ('\n{"t_s": 1.0}\nwarning: something\n', 1),
    ],
)
def test_only_whole_lines_are_read(text: str, kept: int) -> None:
    assert len(written(text)) == kept


def test_the_file_goes_with_the_last_user() -> None:
    first = Sampler.acquire(99)
    assert Sampler.acquire(99) is first
    first.release()
    assert Path(first._path).exists()
    first.release()
    assert not Path(first._path).exists()


def test_two_devices_have_two_side_processes() -> None:
    first, second = Sampler.acquire(98), Sampler.acquire(99)
    assert first is not second
    first.release()
    assert 99 in Sampler._running
    second.release()


def test_a_side_process_that_was_killed_costs_only_its_samples() -> None:
    ours = Sampler.acquire(99)
    ours._process.kill()
    ours._process.wait()
    assert all("power_w" not in line for line in ours.release())


@pytest.mark.parametrize("value", [None, 0, 0.0])
def test_unknown_is_left_out_and_zero_is_not(value: float | None) -> None:
    found = values_within([{"t_s": 1.0, "power_w": value}], "power_w", [(0.0, 2.0)])
    assert found == ([] if value is None else [0.0])


def test_samples_on_the_edge_of_a_turn_count_once() -> None:
    lines = [{"t_s": float(t), "x": t} for t in range(6)]
    assert values_within(lines, "x", [(1.0, 2.0), (2.0, 3.0)]) == [1.0, 2.0, 3.0]
    assert values_within(lines, "x", []) == []


@pytest.mark.parametrize(("first", "second", "joules"), [(5.0, 8.0, 3.0), (None, 8.0, None), (5.0, None, None)])
def test_energy_of_a_card_needs_both_ends_of_a_turn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, first: float | None, second: float | None, joules: float | None
) -> None:
    session = Session()
    monkeypatch.setattr(accelerators, "connect", lambda: (session, ""))
    monkeypatch.setattr(sensors.Sampler, "acquire", classmethod(lambda cls, index: Silent()))
    watch = Watch("cuda:0", Reader(tmp_path))
    session.values["energy_j"] = first
    watch.begin()
    session.values["energy_j"] = second
    watch.end()
    found = watch.result()
    assert found.device_energy_j.value == joules
    assert found.device_power_w.reason == "no_sample_in_turns"
    watch.close()
    watch.close()
    assert session.closed == 1


class Silent:
    """A side process that never got to write."""

    def release(self) -> list[dict[str, Any]]:
        return []


def test_closing_without_a_result_ends_the_side_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(accelerators, "connect", lambda: (Session(), ""))
    watch = Watch("cuda:1", Reader(tmp_path))
    assert list(Sampler._running) == [1]
    watch.close()
    assert not Sampler._running
