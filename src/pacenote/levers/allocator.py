"""Allocator: whether the C library gives freed memory back to the system."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pacenote.levers import Lever
from pacenote.records import Scalar


class Allocator(Lever):
    """glibc as it comes (default), or keeping what was freed (no_trim); no_trim unless asked, where there is a glibc.

    By default glibc maps large blocks anew for each tensor and returns them at once, or trims the heap; each return
    costs page faults at the next use. Measured on LeNet b256: steps of 35 or 49 ms by chance, 35-37 ms with no_trim.
    """

    name = "allocator"
    option = "--allocator"
    help = "C memory allocator: default or no_trim (keeps freed memory)."
    risk = "none"
    choices = ("default", "no_trim")
    plain = "default"

    def default(self, machine: Mapping[str, Any], workload: str) -> Scalar:
        """Keep freed memory where the C library can be told to: how often glibc trims differs between processes."""
        return "no_trim" if is_glibc() else self.plain

    def environ(self, value: Scalar) -> dict[str, str]:
        """Set glibc's thresholds (mallopt(3)): 32 MiB is the largest mmap threshold it accepts."""
        if value != "no_trim":
            return {}
        return {
            "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
            "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
            "MALLOC_TOP_PAD_": str(64 << 20),
        }

    def reason(self, asked: Scalar, observed: Mapping[str, Any]) -> str:
        """The variables did not arrive, or a preloaded allocator takes glibc's place."""
        return "allocator_replaced"


def is_glibc() -> bool:
    """Whether this system's C library is GNU's; false on macOS, Windows and musl."""
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):
        return False


PART = Allocator()
