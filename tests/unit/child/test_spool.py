from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child import spool


def written(path: Path) -> list[tuple[int, object, int]]:
    return list(spool.read(path.read_bytes()))


def test_what_was_written_is_read_in_order(tmp_path: Path) -> None:
    writer = spool.SpoolWriter(str(tmp_path / "a.spool"))
    writer.message({"msg": "hello", "pid": 7})
    writer.events(array("q", [1, 2, 3]), array("q", [4, 5, 6]))
    writer.message({"msg": "end"})
    kinds = [(kind, body) for kind, body, _ in written(tmp_path / "a.spool")]
    assert kinds == [
        (spool.JSON, {"msg": "hello", "pid": 7}),
        (spool.EVENTS, (array("q", [1, 2, 3]).tobytes(), array("q", [4, 5, 6]).tobytes())),
        (spool.JSON, {"msg": "end"}),
    ]


@given(st.data())
def test_a_block_whose_end_is_not_there_is_left_for_later(data: st.DataObject) -> None:
    parts: list[bytes] = []
    writer = spool.SpoolWriter("")
    writer._append = lambda kind, body: parts.append(spool._HEAD.pack(kind, len(body)) + body)  # type: ignore[method-assign]
    for number in range(3):
        writer.message({"number": number})
    whole = b"".join(parts)
    cut = data.draw(st.integers(0, len(whole)))
    first = list(spool.read(whole[:cut]))
    offset = first[-1][2] if first else 0
    rest = list(spool.read(whole[offset:]))
    assert [body["number"] for _, body, _ in first + rest] == [0, 1, 2]


@pytest.mark.parametrize(("kind", "words"), [(7, "unknown kind"), (2, "buffer"), (1, "Expecting value")])
def test_bytes_that_are_no_blocks_are_an_error(kind: int, words: str) -> None:
    data = spool._HEAD.pack(kind, 2) + b"ab"
    with pytest.raises(ValueError, match=words):
        list(spool.read(data))


def test_a_folder_that_is_gone_costs_blocks_and_nothing_else(tmp_path: Path) -> None:
    writer = spool.SpoolWriter(str(tmp_path / "gone" / "a.spool"))
    writer.message({"msg": "hello"})
    assert writer.lost == 1
