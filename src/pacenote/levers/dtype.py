"""Data type: in what precision forward and backward compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacenote.levers import Lever
from pacenote.records import Scalar


class DType(Lever):
    """fp32, or mixed precision by the framework's autocast (bf16, fp16), or fp32 with TF32 products (tf32)."""

    name = "dtype"
    option = "--dtype"
    help = "Precision: fp32, tf32, bf16 or fp16."
    risk = "numerics"
    choices = ("fp32", "tf32", "bf16", "fp16")
    plain = "fp32"

    def reason(self, asked: Scalar, observed: Mapping[str, Any]) -> str:
        """The device or framework computes in another type."""
        return "no_tf32_here" if asked == "tf32" else "autocast_no_effect"


PART = DType()
