"""Energy counters of the CPU (RAPL through the kernel's powercap interface).

Only measured joules are given: nothing is derived from a nominal power.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pacenote.records import Reading
from pacenote.system.reader import Reader

_FOLDER: Final = "/sys/class/powercap"


@dataclass(frozen=True)
class Counter:
    """One running energy counter, in microjoules; it starts again at 0 after ``range_uj``."""

    energy_uj: int
    range_uj: int | None


@dataclass(frozen=True)
class RawEnergy:
    """All readable counters at one moment, by domain folder, and why there are none."""

    packages: dict[str, Counter]
    dram: dict[str, Counter]
    reason: str = ""


def read(reader: Reader | None = None) -> RawEnergy:
    """Read every RAPL domain once.

    Reasons: ``no_rapl`` (virtual machines and most non-x86 CPUs have none), ``rapl_needs_root`` (the kernel
        lets only
    root read the counters since CVE-2020-8694).
    """
    reader = reader or Reader()
    packages: dict[str, Counter] = {}
    dram: dict[str, Counter] = {}
    seen = False
    for name in reader.names(_FOLDER):
        folder = f"{_FOLDER}/{name}"
        # "intel-rapl" also on AMD; the "-mmio" twin counts the same packages a second time.
        if not name.startswith("intel-rapl:") or not reader.exists(f"{folder}/energy_uj"):
            continue
        seen = True
        energy_uj = reader.integer(f"{folder}/energy_uj")
        domain = reader.text(f"{folder}/name") or ""
        if energy_uj is None:
            continue
        counter = Counter(energy_uj, reader.integer(f"{folder}/max_energy_range_uj"))
        if domain.startswith("package"):
            packages[name] = counter
        elif domain == "dram":
            dram[name] = counter
    reason = "" if packages else "rapl_needs_root" if seen else "no_rapl"
    return RawEnergy(packages, dram, reason)


def used_j(before: dict[str, Counter], after: dict[str, Counter]) -> float | None:
    """Joules between two readings of the same domains; a counter that has wrapped once is followed."""
    if before.keys() != after.keys():
        return None  # a counter came or went, and its share of the energy with it
    total_uj = 0
    for name, end in after.items():
        change = end.energy_uj - before[name].energy_uj
        if change < 0:
            if not end.range_uj:
                return None
            change += end.range_uj
        total_uj += change
    return total_uj * 1e-6 if after else None


def reading(total_j: float | None, reason: str) -> Reading:
    """Label an energy as measured, or say why there is none."""
    if total_j is None:
        return Reading(reason=reason or "no_rapl")
    return Reading(value=total_j, method="measured")
