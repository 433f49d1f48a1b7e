"""The CIFAR-10 reader: both published formats, and every way a folder can be wrong."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pacenote.child.data import cifar10, layout
from pacenote.child.errors import BadDataError

ITEMS = 20


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar10, "BATCH_ITEMS", ITEMS)


def records(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    made = generator.integers(0, 256, (ITEMS, layout.RECORD_BYTES), dtype=np.uint8)
    made[:, 0] %= layout.CLASSES
    return made


def write_binary(folder: Path) -> np.ndarray:
    folder.mkdir(parents=True, exist_ok=True)
    batches = [records(number) for number in range(layout.BATCHES)]
    for path, batch in zip(layout.binary_files(str(folder)), batches, strict=True):
        Path(path).write_bytes(batch.tobytes())
    return np.concatenate(batches)


def write_python(folder: Path, protocol: int = 2, **changes: Any) -> np.ndarray:
    folder.mkdir(parents=True, exist_ok=True)
    batches = [records(number) for number in range(layout.BATCHES)]
    for path, batch in zip(layout.python_files(str(folder)), batches, strict=True):
        content = {b"data": np.ascontiguousarray(batch[:, 1:]), b"labels": batch[:, 0].tolist(), **changes}
        Path(path).write_bytes(pickle.dumps(content, protocol))
    return np.concatenate(batches)


def test_binary_records_arrive_unchanged(tmp_path: Path) -> None:
    written = write_binary(tmp_path)
    source = cifar10.load(str(tmp_path), None)
    assert bytes(source.records) == written.tobytes()
    assert source.items == ITEMS * layout.BATCHES
    assert source.facts["source"] == "cifar10-binary"
    assert source.facts["prepare_s"] > 0


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_python_format_gives_the_same_records_as_binary(tmp_path: Path, protocol: int) -> None:
    written = write_python(tmp_path, protocol)
    source = cifar10.load(str(tmp_path), None)
    assert bytes(source.records) == written.tobytes()
    assert source.facts["source"] == "cifar10-python"


@pytest.mark.parametrize(
    ("folder", "write"), [("cifar-10-batches-bin", write_binary), ("cifar-10-batches-py", write_python)]
)
def test_the_folder_of_the_archive_is_found_below_and_only_its_name_is_recorded(
    tmp_path: Path, folder: str, write: Any
) -> None:
    write(tmp_path / folder)
    assert cifar10.load(str(tmp_path), None).facts["path"] == folder


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"nowhere: no such folder; --data names"):
        cifar10.load(str(tmp_path / "nowhere"), None)


def test_an_empty_folder_says_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"neither data_batch_1\.bin .* nor data_batch_1 "):
        cifar10.load(str(tmp_path), None)


def test_a_missing_batch_is_named(tmp_path: Path) -> None:
    write_binary(tmp_path)
    (tmp_path / "data_batch_4.bin").unlink()
    with pytest.raises(BadDataError, match=r"data_batch_4\.bin is missing"):
        cifar10.load(str(tmp_path), None)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_of_another_size_is_refused(tmp_path: Path, change: int) -> None:
    write_binary(tmp_path)
    path = tmp_path / "data_batch_2.bin"
    raw = path.read_bytes()
    path.write_bytes(raw[:change] if change < 0 else raw + b"\0")
    with pytest.raises(BadDataError, match=r"data_batch_2\.bin: \d+ bytes instead of"):
        cifar10.load(str(tmp_path), None)


def test_a_label_above_nine_is_refused(tmp_path: Path) -> None:
    write_binary(tmp_path)
    path = tmp_path / "data_batch_3.bin"
    path.write_bytes(b"\x0a" + path.read_bytes()[1:])
    with pytest.raises(BadDataError, match=r"data_batch_3\.bin: label 10 is not one of 0-9"):
        cifar10.load(str(tmp_path), None)


def test_a_folder_in_place_of_a_file_is_bad_data(tmp_path: Path) -> None:
    write_binary(tmp_path)
    path = tmp_path / "data_batch_1.bin"
    path.unlink()
    path.mkdir()
    with pytest.raises(BadDataError, match=r"cannot be read"):
        cifar10.load(str(tmp_path), None)


@pytest.mark.parametrize(
    "changes",
    [
        {b"labels": list(range(ITEMS))},
        {b"labels": [True] * ITEMS},
        {b"labels": [0] * (ITEMS - 1)},
        {b"labels": "0" * ITEMS},
        {b"data": np.zeros((ITEMS, 3071), dtype=np.uint8)},
        {b"data": np.zeros((ITEMS, 3072), dtype=np.uint8).tobytes()},
    ],
    ids=["label 19", "bool", "too few", "text", "narrow", "bytes"],
)
def test_python_content_that_is_no_batch_is_refused(tmp_path: Path, changes: dict[bytes, Any]) -> None:
    write_python(tmp_path, **{})
    batch = {b"data": np.zeros((ITEMS, 3072), dtype=np.uint8), b"labels": [0] * ITEMS, **changes}
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps(batch, 2))
    with pytest.raises(BadDataError, match="CIFAR-10"):
        cifar10.load(str(tmp_path), None)


def test_a_pickle_of_another_kind_is_refused(tmp_path: Path) -> None:
    write_python(tmp_path)
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps([1, 2, 3]))
    with pytest.raises(BadDataError, match="not a CIFAR-10 batch"):
        cifar10.load(str(tmp_path), None)


def test_an_oversized_pickle_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_python(tmp_path)
    monkeypatch.setattr(cifar10, "PYTHON_SIZE_LIMIT_BYTES", 100)
    with pytest.raises(BadDataError, match="too large"):
        cifar10.load(str(tmp_path), None)
