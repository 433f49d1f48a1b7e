"""Asking the loaded OpenMP runtime, found in a scripted list of mapped files."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pacenote.child import openmp

Maps = Callable[..., list[str]]


@pytest.fixture
def maps(monkeypatch: pytest.MonkeyPatch) -> Maps:
    """Script /proc/self/maps and the libraries; return the list of those that are opened."""

    def script(*paths: str, **threads: Any) -> list[str]:
        lines = [f"7f{at:04x}000-7f{at:04x}fff r-xp 00000000 08:01 {at}    {path}\n" for at, path in enumerate(paths)]
        lines.insert(0, "7ffd0000-7ffdffff rw-p 00000000 00:00 0\n")
        opened: list[str] = []

        def load(path: str) -> Any:
            opened.append(path)
            name = path.rpartition("/")[2].partition(".")[0].partition("-")[0]
            answer = threads.get(name)
            if answer is None:
                raise OSError(path)
            return SimpleNamespace(omp_get_max_threads=lambda: answer) if answer else SimpleNamespace()

        monkeypatch.setattr("builtins.open", lambda *_, **__: io.StringIO("".join(lines)))
        monkeypatch.setattr(openmp.ctypes, "CDLL", load)
        return opened

    return script


@pytest.mark.parametrize(
    "path",
    [
        "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0",
        "/env/torch/lib/libgomp-a34b3233.so.1",
        "/env/lib/libiomp5.so",
        "/env/lib/libomp.so",
        "/home/a user/my env/lib/libgomp.so.1",
    ],
)
def test_the_runtime_is_found_by_its_file(path: str, maps: Maps) -> None:
    opened = maps("/usr/bin/python3", path, libgomp=3, libiomp5=3, libomp=3)
    assert openmp.max_threads() == 3
    assert opened == [path]


def test_intels_is_asked_before_gnus(maps: Maps) -> None:
    opened = maps("/a/libgomp.so.1", "/z/libiomp5.so", libgomp=1, libiomp5=4)
    assert openmp.max_threads() == 4
    assert opened == ["/z/libiomp5.so"]


@pytest.mark.parametrize(
    "path", ["/lib/libcompress.so", "/lib/libgomp.txt", "/libgomp.so.1/other.so", "/lib/mylibgomp.so.1", "[heap]"]
)
def test_other_files_are_left_alone(path: str, maps: Maps) -> None:
    assert maps(path, libgomp=3) == []
    assert openmp.max_threads() is None


def test_one_that_cannot_answer_is_passed_over(maps: Maps) -> None:
    opened = maps("/a/libiomp5.so", "/a/libgomp.so.1", "/b/libomptarget.so", libgomp=2, libomptarget=0)
    assert openmp.max_threads() == 2
    assert opened[-1] == "/a/libgomp.so.1"


def test_none_answers(maps: Maps) -> None:
    maps("/a/libomptarget.so", libomptarget=0)
    assert openmp.max_threads() is None


def test_where_there_is_no_list_of_mapped_files_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", absent)
    assert openmp.max_threads() is None
