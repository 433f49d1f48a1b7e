"""Accelerators: figures of specification sheets, each row with its source and the date it was read.

TFLOPS are *dense* and, for fp16 and bf16, with fp32 accumulation (on GeForce half of the figure that is advertised);
a figure is for the whole card unless ``dies`` says that a program sees one die at a time. What a source does not
state is ``None``, and whoever needs it must say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from pacenote.errors import DataError, UnknownNameError

NEEDED: Final = ("fp32_tflops", "bandwidth_gb_per_s", "multiprocessors", "tdp_w", "process_nm")
"""Figures without which no time is predicted."""


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One accelerator; ``None`` is a figure that no source states."""

    name: str
    vendor: str
    device_class: str
    source: str
    read: str
    architecture: str | None = None
    year: int | None = None
    fp16_tflops: float | None = None
    bf16_tflops: float | None = None
    tf32_tflops: float | None = None
    fp32_tflops: float | None = None
    memory_gb: float | None = None
    bandwidth_gb_per_s: float | None = None
    multiprocessors: int | None = None
    cores: int | None = None
    boost_mhz: float | None = None
    l2_mb: float | None = None
    tdp_w: float | None = None
    process_nm: int | None = None
    tensor_cores: bool = False
    dies: int = 1
    aliases: tuple[str, ...] = ()
    note: str = ""

    def missing(self) -> tuple[str, ...]:
        """Names of the figures a prediction of time needs and no source states."""
        return tuple(name for name in NEEDED if getattr(self, name) is None)


FP16_OVER_FP32: Final[dict[tuple[str, str], tuple[float, ...]]] = {
    ("Volta", "geforce"): (7.4, 8.0),
    ("Volta", "datacentre"): (8.0,),
    ("Turing", "geforce"): (4.0, 8.0),
    ("Turing", "pro"): (8.0,),
    ("Turing", "datacentre"): (8.0,),
    ("Ampere", "geforce"): (2.0,),
    ("Ampere", "pro"): (4.0,),
    ("Ampere", "datacentre"): (4.0, 16.0),
    ("Ada Lovelace", "geforce"): (2.0,),
    ("Ada Lovelace", "pro"): (4.0,),
    ("Ada Lovelace", "datacentre"): (2.0, 4.0),
    ("Hopper", "datacentre"): (14.8, 13.9),
    ("Blackwell 2.0", "geforce"): (2.0,),
    ("Blackwell 2.0", "pro"): (4.0,),
    ("Blackwell", "datacentre"): (28.0,),
    ("CDNA 1.0", "datacentre"): (8.0,),
    ("CDNA 2.0", "datacentre"): (8.0,),
    ("CDNA 3.0", "datacentre"): (8.0,),
    ("CDNA 4.0", "datacentre"): (16.0,),
}
"""Dense matrix rate over plain fp32 rate of each design (white papers of the architectures)."""

OPS_PER_CORE: Final = {"CDNA 3.0": 4.0, "CDNA 4.0": 4.0}
"""fp32 operations a core and cycle; 2 (one multiply-add) elsewhere, 4 where two can be issued."""

TOLERANCE: Final = 0.08


@cache
def devices() -> tuple[Device, ...]:
    """Every accelerator of the built-in file."""
    text = files("pacenote.catalog").joinpath("devices.json").read_bytes()
    return msgspec.json.decode(text, type=tuple[Device, ...])


def read(path: Path) -> tuple[Device, ...]:
    """Accelerators of the user's own JSON file, in the same form.

    Raises:
        DataError: If it cannot be read, or a figure contradicts the others.
    """
    try:
        found = msgspec.json.decode(path.read_bytes(), type=tuple[Device, ...])
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(f"{path}: {error}") from error
    wrong = [line for device in found for line in contradictions(device)]
    if wrong:
        raise DataError(f"{path}: {wrong[0]}")
    return found


def find(name: str, among: Iterable[Device] = ()) -> Device:
    """Return the accelerator of that name or alias, upper and lower case alike; ``among`` goes first.

    Raises:
        UnknownNameError: If there is none; another device's figures are never used in its place.
    """
    known: dict[str, Device] = {}
    for device in (*among, *devices()):
        for word in (device.name, *device.aliases):
            known.setdefault(word.casefold(), device)
    found = known.get(name.strip().casefold())
    if found is None:
        raise UnknownNameError(
            "device", name, (device.aliases[0] if device.aliases else device.name for device in known.values())
        )
    return found


def contradictions(device: Device) -> list[str]:
    """What cannot be true of one row: sparse or per-die rates, a clock that does not give the fp32 rate."""
    wrong = []
    fp32, fp16, tf32 = device.fp32_tflops, device.fp16_tflops, device.tf32_tflops
    if fp32 and device.cores and device.boost_mhz and device.dies == 1:
        made = OPS_PER_CORE.get(device.architecture or "", 2.0) * device.cores * device.boost_mhz / 1e6
        if abs(made / fp32 - 1) > TOLERANCE:
            wrong.append(f"{device.name}: cores × boost clock give {made:.1f} TFLOPS of fp32, the row says {fp32}.")
    allowed = FP16_OVER_FP32.get((device.architecture or "", device.device_class))
    if fp32 and fp16 and allowed and all(abs(fp16 / fp32 / ratio - 1) > TOLERANCE for ratio in allowed):
        wrong.append(f"{device.name}: fp16 is {fp16 / fp32:.1f} times fp32, not {allowed}: a sparse or per-die rate?")
    if fp16 and tf32 and abs(fp16 / tf32 / 2 - 1) > TOLERANCE:
        wrong.append(f"{device.name}: fp16 is {fp16 / tf32:.1f} times tf32, not 2: is one of them sparse?")
    return wrong
