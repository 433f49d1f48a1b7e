"""Width: how many channels or hidden units, as a multiple of the article's network."""

from __future__ import annotations

import math

from pacenote.errors import UsageError
from pacenote.levers import Lever
from pacenote.records import Scalar

LARGEST = 1024.0


class Width(Lever):
    """Factor on the channels (LeNet) or the hidden layer (SimpleNet)."""

    name = "width"
    option = "--width"
    help = "Channels or hidden units, as a factor."
    risk = "training"
    outside = False  # only a workload can be built so
    plain = 1.0

    def parse(self, text: str) -> Scalar:
        """Read a positive factor."""
        wanted = f"{self.option} {text!r}: give a factor above 0 and up to {LARGEST:g}, for example 0.5 or 4."
        try:
            value = float(text.strip())
        except ValueError:
            raise UsageError(wanted) from None
        if not (math.isfinite(value) and 0 < value <= LARGEST):
            raise UsageError(wanted)
        return value


PART = Width()
