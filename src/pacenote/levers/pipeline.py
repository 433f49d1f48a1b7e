"""Pipeline: how the input is prepared."""

from __future__ import annotations

from pacenote.levers import Lever


class Pipeline(Lever):
    """One transformed item at a time as tutorials write it, or whole batches of bytes normalised at once."""

    name = "pipeline"
    option = "--pipeline"
    help = "Input: tutorial (item by item) or batched (whole batches at once)."
    risk = "none"
    outside = False  # only a workload can be built so
    choices = ("tutorial", "batched")
    plain = "tutorial"


PART = Pipeline()
