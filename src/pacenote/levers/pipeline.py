"""Pipeline: how the input is prepared."""

from __future__ import annotations

from pacenote.levers import Lever


class Pipeline(Lever):
    """One transformed item at a time as tutorials write it, or whole batches of bytes normalised at once."""

    name = "pipeline"
    option = "--pipeline"
    risk = "none"
    choices = ("tutorial", "batched")
    plain = "tutorial"


PART = Pipeline()
