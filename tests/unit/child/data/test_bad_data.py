"""Data that cannot be read, written or believed: each is refused in words that name the file."""

from __future__ import annotations

import errno
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child.data import cifar10, layout, safe_pickle, standin
from pacenote.child.errors import BadDataError


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of four items instead of ten thousand."""
    for module in (cifar10, standin):
        monkeypatch.setattr(module, "BATCH_ITEMS", 4)


def refused(folder: Path) -> str:
    with pytest.raises(BadDataError) as caught:
        cifar10.load(str(folder), None)
    return str(caught.value)


@pytest.mark.usefixtures("small")
class TestBinary:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        standin.write(str(tmp_path), 4)
        return tmp_path

    def test_a_whole_set_is_read(self, folder: Path) -> None:
        found = cifar10.load(str(folder), None)
        assert (found.items, found.facts["source"], found.facts["path"]) == (20, "cifar10-binary", folder.name)
        assert found.facts["prepare_s"] >= 0

    def test_the_folder_of_the_archive_may_be_named_or_the_one_above(self, tmp_path: Path) -> None:
        inner = tmp_path / layout.BINARY_FOLDER
        inner.mkdir()
        standin.write(str(inner), 4)
        assert cifar10.load(str(tmp_path), None).records == cifar10.load(str(inner), None).records

    @pytest.mark.parametrize("number", range(1, 6))
    def test_each_missing_file_is_named(self, folder: Path, number: int) -> None:
        (folder / f"data_batch_{number}.bin").unlink()
        assert f"data_batch_{number}.bin is missing" in refused(folder)

    @pytest.mark.parametrize("change", [-1, 1, 3073, -3073 * 4])
    def test_a_file_of_another_size_is_refused(self, folder: Path, change: int) -> None:
        file = folder / "data_batch_3.bin"
        content = file.read_bytes()
        file.write_bytes(content[:change] if change < 0 else content + bytes(change))
        text = refused(folder)
        assert "data_batch_3.bin" in text
        assert f"{len(content) + change} bytes instead of {len(content)}" in text

    @pytest.mark.parametrize("label", [10, 128, 255])
    def test_a_label_that_is_none_is_refused(self, folder: Path, label: int) -> None:
        file = folder / "data_batch_5.bin"
        content = bytearray(file.read_bytes())
        content[2 * layout.RECORD_BYTES] = label
        file.write_bytes(content)
        assert f"label {label} is not one of 0-9" in refused(folder)

    def test_a_folder_in_the_place_of_a_file(self, folder: Path) -> None:
        file = folder / "data_batch_2.bin"
        file.unlink()
        file.mkdir()
        assert "data_batch_2.bin cannot be read: " in refused(folder)


def test_no_folder_and_an_empty_folder(tmp_path: Path) -> None:
    assert "no such folder" in refused(tmp_path / "absent")
    assert "holds neither data_batch_1.bin" in refused(tmp_path)


class TestPython:
    @pytest.mark.parametrize(
        "batch",
        [
            [],
            {},
            {b"data": b"", b"labels": []},
            {b"labels": [0] * 10_000},
            "text",
            7,
        ],
        ids=str,
    )
    def test_a_pickle_of_something_else(self, tmp_path: Path, batch: object) -> None:
        (tmp_path / "data_batch_1").write_bytes(pickle.dumps(batch, protocol=2))
        assert "data_batch_1: " in refused(tmp_path)

    def test_one_that_is_too_large_is_not_read_whole(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cifar10, "PYTHON_SIZE_LIMIT_BYTES", 10)
        (tmp_path / "data_batch_1").write_bytes(bytes(11))
        assert "data_batch_1: too large" in refused(tmp_path)

    def test_one_that_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "data_batch_1").mkdir()
        assert "data_batch_1 cannot be read: " in refused(tmp_path)

    @pytest.mark.usefixtures("small")
    @pytest.mark.parametrize(
        ("labels", "words"),
        [
            ([0, 1, 2], "not a CIFAR-10 batch"),
            ([0, 1, 2, 10], "a label is not one of 0-9"),
            ([0, 1, 2, -1], "a label is not one of 0-9"),
            ([0, 1, 2, True], "a label is not one of 0-9"),
            ((0, 1, 2, 3), "not a CIFAR-10 batch"),
        ],
        ids=str,
    )
    def test_labels_are_checked(self, labels: Any, words: str) -> None:
        pixels = safe_pickle.ByteArray()
        pixels.shape, pixels.data = (4, layout.IMAGE_BYTES), bytes(4 * layout.IMAGE_BYTES)
        with pytest.raises(BadDataError, match=words):
            cifar10._python_records({b"data": pixels, b"labels": labels}, "file")

    @pytest.mark.usefixtures("small")
    @pytest.mark.parametrize("keys", [(b"data", b"labels"), ("data", "labels")])
    def test_records_are_label_then_pixels(self, keys: tuple[Any, Any]) -> None:
        pixels = safe_pickle.ByteArray()
        pixels.shape = (4, layout.IMAGE_BYTES)
        pixels.data = b"".join(bytes([item + 100]) * layout.IMAGE_BYTES for item in range(4))
        records = cifar10._python_records({keys[0]: pixels, keys[1]: [9, 8, 7, 6]}, "file")
        assert [records[at * layout.RECORD_BYTES] for at in range(4)] == [9, 8, 7, 6]
        assert [records[at * layout.RECORD_BYTES + 1] for at in range(4)] == [100, 101, 102, 103]
        assert len(records) == 4 * layout.RECORD_BYTES


class TestPickles:
    @given(st.binary(max_size=200))
    def test_arbitrary_bytes_are_a_plain_value_or_refused(self, raw: bytes) -> None:
        with suppress(BadDataError):  # any other exception fails the test
            value = safe_pickle.loads(raw, "some.file")
            assert not callable(value) or isinstance(value, safe_pickle._Admitted)

    @pytest.mark.parametrize(
        "state",
        [None, (), (1, 2, 3, 4), (1, (2,), "u1", False, b"ab"), [1, 2, 3, 4, 5]],
        ids=str,
    )
    def test_an_array_of_an_unknown_form(self, state: object) -> None:
        with pytest.raises(pickle.UnpicklingError):
            safe_pickle.ByteArray().__setstate__(state)

    @pytest.mark.parametrize(
        ("shape", "data", "in_order", "words"),
        [
            ((2,), b"ab", False, "C order"),
            ([2], b"ab", True, "shape"),
            ((-2,), b"ab", True, "shape"),
            ((True,), b"a", True, "shape"),
            ((2,), [1, 2], True, "not bytes"),
            ((3,), b"ab", True, "with 2 bytes"),
            ((2, 0), b"ab", True, "with 2 bytes"),
        ],
        ids=str,
    )
    def test_an_array_that_does_not_add_up(self, shape: Any, data: Any, in_order: bool, words: str) -> None:
        with pytest.raises(pickle.UnpicklingError, match=words):
            safe_pickle.ByteArray().fill(shape, safe_pickle._ByteType(), data, in_order=in_order)

    def test_text_of_an_older_python_is_its_bytes(self) -> None:
        array = safe_pickle.ByteArray()
        array.__setstate__((1, (2,), safe_pickle._ByteType(), False, "\xff\x00"))
        assert (array.shape, array.data) == ((2,), b"\xff\x00")

    @pytest.mark.parametrize("name", ["numpy.ndarray", "numpy.core.multiarray._reconstruct"])
    def test_an_admitted_name_takes_no_state(self, name: str) -> None:
        module, _, attribute = name.rpartition(".")
        raw = f"c{module}\n{attribute}\nN}}b.".encode().replace(b"N}b", b"(K\x01tb")
        with pytest.raises(BadDataError, match="state set on a global"):
            safe_pickle.loads(raw, "file")


class TestStandIn:
    def test_a_cache_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(BadDataError, match=r"stand-in data .* cannot be written to .*file"):
            standin.ensure(str(tmp_path / "file" / "cache"))

    @pytest.mark.usefixtures("small")
    def test_a_full_disk_leaves_nothing_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(folder: str) -> None:
            Path(folder, "data_batch_1.bin").write_bytes(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(standin, "write", full)
        with pytest.raises(
            BadDataError, match=r"No space left on device; make room there or name CIFAR-10 with --data"
        ):
            standin.ensure(str(tmp_path))
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.usefixtures("small")
    def test_whoever_comes_second_uses_what_is_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write = standin.write

        def small_write(folder: str) -> None:
            write(folder, 4)

        def overtaken(folder: str) -> None:
            small_write(folder)
            other = tmp_path / f"cifar10-stand-in-v{standin.VERSION}"
            other.mkdir()
            small_write(str(other))
            (other / "first").touch()

        monkeypatch.setattr(standin, "write", overtaken)
        folder = Path(standin.ensure(str(tmp_path)))
        assert (folder / "first").exists()
        assert [path.name for path in tmp_path.iterdir()] == [folder.name], "the second one's copy is gone"

    @pytest.mark.usefixtures("small")
    def test_a_damaged_one_is_made_anew(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write = standin.write
        monkeypatch.setattr(standin, "write", lambda folder: write(folder, 4))
        folder = Path(standin.ensure(str(tmp_path)))
        whole = (folder / "data_batch_2.bin").read_bytes()
        (folder / "data_batch_2.bin").write_bytes(whole[:-1])
        assert standin.ensure(str(tmp_path)) == str(folder)
        assert (folder / "data_batch_2.bin").read_bytes() == whole

    @pytest.mark.parametrize(("xdg", "base"), [("/x", "/x"), ("", "/home/me/.cache")])
    def test_without_a_folder_it_goes_to_the_users_cache(
        self, xdg: str, base: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
        monkeypatch.setattr(standin.os.path, "expanduser", lambda path: path.replace("~", "/home/me"))
        assert standin.default_cache_dir() == os.path.join(base, "pacenote")

    def test_its_size_is_what_its_message_says(self) -> None:
        assert round(standin.size_bytes() / 1e6) == 154

    @pytest.mark.usefixtures("small")
    def test_the_same_bytes_come_out_everywhere(self, tmp_path: Path) -> None:
        for name in ("one", "other"):
            (tmp_path / name).mkdir()
            standin.write(str(tmp_path / name), 4)
        for file in (tmp_path / "one").iterdir():
            assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes()
