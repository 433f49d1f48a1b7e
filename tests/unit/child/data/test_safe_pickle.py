"""The unpickler opens what CIFAR-10 needs and runs nothing."""

from __future__ import annotations

import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacenote.child.data import safe_pickle
from pacenote.child.errors import BadDataError


class Calls:
    """Pickles to a call of ``function``."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.function = function
        self.arguments = arguments

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.function, self.arguments


@pytest.mark.parametrize("protocol", range(6))
def test_plain_values_and_byte_arrays_open(protocol: int) -> None:
    array = np.arange(12, dtype=np.uint8).reshape(3, 4)
    value = safe_pickle.loads(pickle.dumps({"a": [1, "x", (2,)], "d": array}, protocol), "f")
    assert isinstance(value, dict)
    assert value["a"] == [1, "x", (2,)]
    assert value["d"].shape == (3, 4)
    assert value["d"].data == array.tobytes()


def test_a_batch_as_python_2_wrote_it_opens() -> None:
    """The published files: protocol 2, byte strings as SHORT_BINSTRING and BINSTRING, numpy.core names."""
    pixels = bytes(range(6))
    raw = (
        b"\x80\x02}(U\x04data"
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
        b"(K\x01(K\x02K\x03tcnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89T" + struct.pack("<i", len(pixels)) + pixels + b"tb"
        b"U\x06labels](K\x01K\x02eu."
    )
    value = safe_pickle.loads(raw, "data_batch_1")
    assert isinstance(value, dict)
    assert value[b"labels"] == [1, 2]
    assert (value[b"data"].shape, value[b"data"].data) == ((2, 3), pixels)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("function", [os.system, eval, exec, open, getattr, __import__, np.load, np.zeros, print])
def test_a_call_is_refused_and_not_made(tmp_path: Path, protocol: int, function: Any) -> None:
    target = tmp_path / "touched"
    argument = f"touch {target}" if function is os.system else f"open({str(target)!r}, 'w')"
    with pytest.raises(BadDataError, match="data_batch_1: refused"):
        safe_pickle.loads(pickle.dumps(Calls(function, argument), protocol), "data_batch_1")
    assert not target.exists()


def test_the_refusal_names_what_was_asked_for() -> None:
    with pytest.raises(BadDataError, match=r"it asks for posix\.system"):
        safe_pickle.loads(b"cposix\nsystem\n(S'true'\ntR.", "f")


@pytest.mark.parametrize(
    "raw",
    [
        b"cnumpy.core.multiarray\n_reconstruct\n}(S'__call__'\nI1\nsb.",  # state set on an admitted global
        b"cnumpy\nndarray\n(tR.",  # ndarray called
        b"cnumpy\ndtype\n(S'O8'\ntR.",  # array of objects
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\ndtype\ntR.",  # a subclass that is no plain array
        b"c_codecs\nencode\n(Vx\nVrot13\ntR.",  # another codec
        b"cnumpy\ndtype.__init__\n.",  # a dotted path
        b"Pid\n.",  # a reference to an outside object
        b"\x80\x02\x82\x01.",  # an extension code
    ],
)
def test_abuse_of_an_admitted_name_is_refused(raw: bytes) -> None:
    with pytest.raises(BadDataError, match="refused"):
        safe_pickle.loads(raw, "f")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2), dtype=np.float32),
        np.zeros((2, 2), dtype=np.int8),
        np.array([{}], dtype=object),
        np.asfortranarray(np.arange(6, dtype=np.uint8).reshape(2, 3)),
    ],
    ids=["float", "signed", "objects", "Fortran order"],
)
@pytest.mark.parametrize("protocol", [2, 5])
def test_arrays_of_another_kind_are_refused(array: Any, protocol: int) -> None:
    with pytest.raises(BadDataError, match="refused"):
        safe_pickle.loads(pickle.dumps(array, protocol), "f")


def test_a_shape_that_does_not_fit_the_bytes_is_refused() -> None:
    raw = pickle.dumps(np.zeros((2, 3), dtype=np.uint8), 2)
    assert raw.count(b"K\x02K\x03") == 1
    with pytest.raises(BadDataError, match=r"array of shape \(9, 3\) with 6 bytes"):
        safe_pickle.loads(raw.replace(b"K\x02K\x03", b"K\x09K\x03"), "f")


@pytest.mark.parametrize("raw", [b"", b"not a pickle", b"\x80\x05", b"\x80\xff.", os.urandom(0) + b"\x00" * 64])
def test_damage_is_bad_data(raw: bytes) -> None:
    with pytest.raises(BadDataError, match="f: refused"):
        safe_pickle.loads(raw, "f")


def test_every_cut_of_a_good_pickle_is_bad_data() -> None:
    raw = pickle.dumps({b"data": np.zeros((2, 3), dtype=np.uint8), b"labels": [1, 2]}, 2)
    for end in range(len(raw)):
        with pytest.raises(BadDataError, match="refused"):
            safe_pickle.loads(raw[:end], "f")
