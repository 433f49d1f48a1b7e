"""Batches that each loader worker reads ahead."""

from __future__ import annotations

from pacenote.levers import Lever
from pacenote.records import Scalar


class Prefetch(Lever):
    """Batches that each loader worker reads ahead. For scripts; its hook is :mod:`pacenote.child.outside.prefetch`."""

    name = "prefetch"
    option = "--prefetch"
    help = "Batches that each loader worker reads ahead."
    risk = "none"
    plain = 2

    def parse(self, text: str) -> Scalar:
        """Read a whole number from 1."""
        return self.whole_number(text, 1, 1024)


PART = Prefetch()
