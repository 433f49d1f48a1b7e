"""Memory format: which dimension of an image tensor lies next to each other."""

from __future__ import annotations

from pacenote.levers import Lever


class MemoryFormat(Lever):
    """The framework's default (planes), or all channels of a pixel together."""

    name = "memory_format"
    option = "--memory-format"
    help = "Layout of images: default or channels_last."
    risk = "numerics"
    choices = ("default", "channels_last")
    plain = "default"


PART = MemoryFormat()
