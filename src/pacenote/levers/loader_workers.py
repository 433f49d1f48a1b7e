"""Loader workers: processes that prepare batches beside the training process."""

from __future__ import annotations

from pacenote.levers import Lever
from pacenote.records import Scalar


class LoaderWorkers(Lever):
    """How many worker processes the loader starts; 0 prepares batches in the training process."""

    name = "loader_workers"
    option = "--loader-workers"
    help = "Processes that prepare batches; 0: the training process itself."
    risk = "none"
    plain = 0

    def parse(self, text: str) -> Scalar:
        """Read a whole number from 0."""
        return self.whole_number(text, 0, 1024)


PART = LoaderWorkers()
