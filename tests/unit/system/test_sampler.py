from __future__ import annotations

import io
import json
import subprocess
import sys

from pacenote.system import sampler
from pacenote.system.sensors import Sampler


def test_loop_writes_one_json_line_each_until_the_end():
    out = io.StringIO()
    answers = iter([False, False, True])
    sampler.loop(lambda: {"t_s": 1.0}, out, lambda: next(answers))
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [{"t_s": 1.0}] * 3


def test_loop_ends_when_nobody_reads():
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    sampler.loop(dict, Closed(), lambda: False)  # would go on for ever


def test_without_a_device_it_says_why_and_ends(capsys, monkeypatch):
    monkeypatch.setattr(sampler.os, "nice", lambda step: 0)  # this is the test's own process
    assert sampler.main(["--index", "99"]) == 0
    assert json.loads(capsys.readouterr().out)["reason"]


def test_trials_on_one_device_share_the_side_process():
    first, second = Sampler.acquire(99), Sampler.acquire(99)
    assert first is second
    first.release()
    assert Sampler.acquire(99) is second
    second.release()
    lines = second.release()
    assert len(lines) == 1
    assert "reason" in lines[0]
    third = Sampler.acquire(99)
    assert third is not second
    third.release()


def test_wait_ends_when_input_closes(monkeypatch):
    with subprocess.Popen(["true"], stdout=subprocess.PIPE, text=True) as ended:
        ended.wait()
        monkeypatch.setattr(sys, "stdin", ended.stdout)
        assert sampler.wait_for_end(60.0)() is True
