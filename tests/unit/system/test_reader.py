from __future__ import annotations

import pytest

from pacenote.system.reader import Reader, cpu_list, number


def test_absent_files_are_none_or_empty(tmp_path):
    reader = Reader(tmp_path)
    assert reader.text("/proc/nothing") is None
    assert reader.integer("/proc/nothing") is None
    assert reader.lines("/proc/nothing") == []
    assert reader.fields("/proc/nothing") == {}
    assert reader.names("/proc") == []
    assert not reader.exists("/proc/nothing")
    assert not reader.live


def test_only_the_root_is_live():
    assert Reader().live
    assert Reader("/").live


def test_first_of_equal_keys_counts(tmp_path):
    (tmp_path / "cpuinfo").write_text("model name\t: A\n\nmodel name\t: B\n")
    assert Reader(tmp_path).fields("/cpuinfo", ":") == {"model name": "A", "": ""}


@pytest.mark.parametrize(("content", "expected"), [("max", None), ("", None), ("12 kB", 12), ("-1\n", -1)])
def test_integer_reads_the_first_word(tmp_path, content, expected):
    (tmp_path / "f").write_text(content)
    assert Reader(tmp_path).integer("/f") == expected
    assert number(content) == expected


@pytest.mark.parametrize(("text", "expected"), [("0-2,5", [0, 1, 2, 5]), ("3", [3]), ("", []), (None, [])])
def test_cpu_list(text, expected):
    assert cpu_list(text) == expected
