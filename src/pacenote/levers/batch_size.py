"""Batch size: samples in one step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pacenote.levers import Lever, find_workload
from pacenote.records import Scalar


class BatchSize(Lever):
    """Samples in one step; another batch trains differently, so times are compared per sample."""

    name = "batch_size"
    option = "--batch-size"
    help = "Samples in one step."
    risk = "training"

    def parse(self, text: str) -> Scalar:
        """Read a whole number from 1."""
        return self.whole_number(text, 1, 1_000_000)

    def default(self, machine: Mapping[str, Any], workload: str) -> Scalar:
        """The workload's own."""
        return int(find_workload(workload).defaults[self.name][0])


PART = BatchSize()
