"""Depth: how many layers; 1 is the article's network."""

from __future__ import annotations

from pacenote.levers import Lever
from pacenote.records import Scalar


class Depth(Lever):
    """Hidden layers (SimpleNet), or one plus the extra fully connected layers (LeNet)."""

    name = "depth"
    option = "--depth"
    help = "Number of layers; 1 is the article's network."
    risk = "training"
    outside = False  # only a workload can be built so
    plain = 1

    def parse(self, text: str) -> Scalar:
        """Read a whole number from 1."""
        return self.whole_number(text, 1, 1000)


PART = Depth()
