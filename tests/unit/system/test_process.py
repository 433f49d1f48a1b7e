from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from pacenote.system import process


def test_tree_and_usage_of_a_recorded_process(tree):
    reader = tree()
    assert process.tree(4242, reader) == [4242, 4243]
    used = process.usage(4242, reader)
    assert used is not None
    assert used.cpu_s == pytest.approx(0.91)
    assert (used.minor_faults, used.major_faults) == (1368, 0)
    assert used.involuntary_switches is not None


def test_footprint_sums_the_tree(tree):
    found = process.footprint(4242, tree())
    assert found.processes == 2
    assert found.pss_bytes.method == "measured"
    assert 0 < found.pss_bytes.value < found.rss_bytes.value
    assert found.swap_bytes.value == 0


def test_swapped_process(tree):
    assert process.footprint(4242, tree("swap", "swap_severe")).swap_bytes.value == 524288 * 1024


def test_a_name_with_blanks_and_brackets_does_not_shift_the_fields(tree):
    reader = tree()
    path = f"{reader.root}/proc/4242/stat"
    with open(path) as stream:
        text = stream.read().replace("(python)", "(a b) c) 7 7")
    with open(path, "w") as stream:
        stream.write(text)
    assert process.usage(4242, reader).cpu_s == pytest.approx(0.91)


def test_a_process_that_is_gone(tree):
    reader = tree()
    assert process.usage(99, reader) is None
    assert process.tree(99, reader) == [99]
    assert process.footprint(99, reader).pss_bytes.reason == "process_gone"


def test_no_rollup_is_a_reason_not_a_zero(tree):
    reader = tree()
    for pid in (4242, 4243):
        os.unlink(f"{reader.root}/proc/{pid}/smaps_rollup")
    assert process.footprint(4242, reader).pss_bytes.reason == "no_smaps_rollup"
    assert process.footprint(4242, reader).pss_bytes.value is None


def test_live_process_tree_is_seen():
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 20
        while len(process.tree(child.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(process.tree(child.pid)) == 2
        assert child.pid in process.tree(os.getpid())
        assert process.usage(child.pid).cpu_s > 0
        assert process.footprint(child.pid).rss_bytes.value > 1e6
    finally:
        child.communicate(b"\n")
    assert process.usage(child.pid) is None


def test_live_cpu_time_grows_in_steps_below_ten_milliseconds():
    first = process.usage(os.getpid()).cpu_s
    sum(range(20_000))
    assert process.usage(os.getpid()).cpu_s > first
