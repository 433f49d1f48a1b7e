"""Packing of events."""

from __future__ import annotations

import sys
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child import events


@given(kind=st.integers(0, 63), grad=st.booleans(), stream=st.integers(0, 15), index=st.integers(0, 1 << 40))
def test_a_code_gives_back_what_went_in(kind: int, grad: bool, stream: int, index: int) -> None:
    code = events.code(kind, grad, stream, index)
    assert code & events.KIND_MASK == kind
    assert bool(code & events.GRAD_BIT) == grad
    assert code >> events.STREAM_SHIFT & events.STREAM_MASK == stream
    assert code >> events.OBJECT_SHIFT == index


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50))
def test_pack_and_unpack_are_inverse(values: list[int]) -> None:
    assert list(events.unpack(events.pack(array("q", values)))) == values


def test_every_span_opens_even_and_closes_with_the_next_odd() -> None:
    kinds = {name: value for name, value in vars(events).items() if name.endswith(("_BEGIN", "_END"))}
    for name, value in kinds.items():
        if name.endswith("_BEGIN"):
            assert value % 2 == 0
            assert kinds[name.replace("_BEGIN", "_END")] == value + 1


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=9))
def test_the_packed_bytes_are_little_endian_on_every_machine(values: list[int]) -> None:
    """On a machine of the other order, the same numbers lie in memory the other way round."""
    here = array("q", values)
    there = array("q", values)
    there.byteswap()
    other = "big" if sys.byteorder == "little" else "little"
    with pytest.MonkeyPatch.context() as patch:
        packed = events.pack(here)
        patch.setattr(events.sys, "byteorder", other)
        assert events.pack(there) == packed
        assert events.unpack(packed) == there
