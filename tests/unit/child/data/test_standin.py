"""The stand-in: same bytes everywhere, in the published layout, made once."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pacenote.child.data import layout, standin
from pacenote.child.errors import BadDataError

ITEMS = 60


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standin, "BATCH_ITEMS", ITEMS)
    write = standin.write
    monkeypatch.setattr(standin, "write", lambda folder: write(folder, ITEMS))


def bytes_of(folder: str) -> bytes:
    return b"".join(Path(path).read_bytes() for path in layout.binary_files(folder))


def test_the_bytes_are_the_same_on_every_machine(tmp_path: Path) -> None:
    standin.write(str(tmp_path), 10)
    assert hashlib.sha256(bytes_of(str(tmp_path))).hexdigest() == (
        "c4c26a63106e76c2f3a7eab287f6dded268d52ed628ba0b47fd7994347cb9877"
    ), "the stand-in changed: raise standin.VERSION and this digest together"


def test_records_have_the_published_form(tmp_path: Path) -> None:
    standin.write(str(tmp_path), ITEMS)
    raw = bytes_of(str(tmp_path))
    assert len(raw) == layout.BATCHES * ITEMS * layout.RECORD_BYTES
    assert set(raw[:: layout.RECORD_BYTES]) == set(range(layout.CLASSES))


def test_most_items_of_a_label_share_their_prototype_and_some_do_not(tmp_path: Path) -> None:
    """Noise averages to 63.5 a block, so block means of two items of one prototype differ little."""
    standin.write(str(tmp_path), ITEMS)
    raw = bytes_of(str(tmp_path))
    patterns: dict[int, list[tuple[float, ...]]] = {}
    for at in range(0, len(raw), layout.RECORD_BYTES):
        image = raw[at + 1 : at + layout.RECORD_BYTES]
        rows = tuple(sum(image[row * 32 : row * 32 + 8]) / 8 for row in range(0, 96, 8))
        patterns.setdefault(raw[at], []).append(rows)
    near = total = 0
    for items in patterns.values():
        middle = [sorted(values)[len(values) // 2] for values in zip(*items, strict=True)]
        near += sum(max(abs(a - b) for a, b in zip(item, middle, strict=True)) < 60 for item in items)
        total += len(items)
    assert 0.6 < near / total < 0.95


@pytest.mark.usefixtures("small")
def test_it_is_made_once_and_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = standin.ensure(str(tmp_path))
    monkeypatch.setattr(standin, "write", lambda folder: pytest.fail("made again"))
    assert standin.ensure(str(tmp_path)) == folder
    assert os.listdir(tmp_path) == [os.path.basename(folder)], "no scratch folder stays behind"


@pytest.mark.usefixtures("small")
def test_a_damaged_one_is_made_again(tmp_path: Path) -> None:
    folder = standin.ensure(str(tmp_path))
    whole = bytes_of(folder)
    path = Path(layout.binary_files(folder)[2])
    path.write_bytes(path.read_bytes()[:-1])
    assert bytes_of(standin.ensure(str(tmp_path))) == whole


@pytest.mark.usefixtures("small")
def test_whoever_comes_second_uses_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = standin.write
    other = tmp_path / f"cifar10-stand-in-v{standin.VERSION}"

    def overtaken(folder: str) -> None:
        write(folder)
        other.mkdir()
        write(str(other))

    monkeypatch.setattr(standin, "write", overtaken)
    assert standin.ensure(str(tmp_path)) == str(other)
    assert os.listdir(tmp_path) == [other.name]


@pytest.mark.usefixtures("small")
def test_a_full_disk_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(folder: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(standin, "write", full)
    with pytest.raises(BadDataError, match=r"cannot be written to .*: No space left on device; make room"):
        standin.ensure(str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_the_cache_folder_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert standin.default_cache_dir() == os.path.join("/somewhere", "pacenote")


def test_reading_and_making_data_needs_the_standard_library_only() -> None:
    program = (
        "import sys; from pacenote.child import data; from pacenote.child.data import standin; "
        "assert not {'numpy', 'torch', 'paddle', 'PIL'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
