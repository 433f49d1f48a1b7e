from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from pacenote import catalog
from pacenote.errors import DataError, UnknownNameError


def planted(name: str, **figures: float) -> catalog.Device:
    return msgspec.structs.replace(catalog.find(name), **figures)


@pytest.mark.parametrize("device", catalog.devices(), ids=lambda device: device.name)
def test_no_row_contradicts_itself(device: catalog.Device) -> None:
    assert catalog.contradictions(device) == []
    assert device.source
    assert device.read


def test_the_file_reaches_from_pascal_to_blackwell_and_beyond_one_vendor() -> None:
    devices = catalog.devices()
    assert len(devices) >= 40
    assert {"Pascal", "Volta", "Turing", "Ampere", "Ada Lovelace", "Hopper", "Blackwell"} <= {
        d.architecture for d in devices
    }
    assert {"NVIDIA", "AMD", "Apple"} <= {d.vendor for d in devices}


@pytest.mark.parametrize(
    ("name", "figures", "word"),
    [
        ("RTX 3090", {"fp16_tflops": 142.0}, "sparse"),
        ("A100-80GB", {"fp16_tflops": 624.0}, "sparse"),
        ("L40", {"fp16_tflops": 362.0}, "sparse"),
        ("MI250X", {"fp16_tflops": 191.5}, "per-die"),
        ("RTX 4090", {"fp32_tflops": 41.3}, "boost clock"),
        ("T4", {"boost_mhz": 900.0}, "boost clock"),
    ],
)
def test_a_planted_wrong_figure_is_caught(name: str, figures: dict[str, float], word: str) -> None:
    assert any(word in line for line in catalog.contradictions(planted(name, **figures)))


def test_names_and_aliases_lead_to_one_device() -> None:
    assert catalog.find("rtx 4090") is catalog.find("GeForce RTX 4090")
    assert catalog.find("T4").name == "Tesla T4"
    names = [word.casefold() for device in catalog.devices() for word in (device.name, *device.aliases)]
    assert len(names) == len(set(names))


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean"):
        catalog.find("RTX 4091")


def test_missing_figures_are_named() -> None:
    assert "bandwidth_gb_per_s" in catalog.find("Ascend 910B").missing()
    assert catalog.find("A100").missing() == ()


def test_a_file_of_ones_own_is_read_and_checked(tmp_path: Path) -> None:
    own = msgspec.structs.replace(catalog.find("RTX 3090"), name="Mine", aliases=())
    path = tmp_path / "mine.json"
    path.write_bytes(msgspec.json.encode([own]))
    assert catalog.find("mine", catalog.read(path)) == own
    path.write_bytes(msgspec.json.encode([msgspec.structs.replace(own, fp16_tflops=142.0)]))
    with pytest.raises(DataError, match="sparse"):
        catalog.read(path)
    with pytest.raises(DataError):
        catalog.read(tmp_path / "none.json")
