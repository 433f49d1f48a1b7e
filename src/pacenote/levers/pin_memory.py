"""Batches in page-locked memory."""

from __future__ import annotations

from pacenote.levers import Switch


class PinMemory(Switch):
    """Batches in page-locked memory.

    For scripts; its hook is :mod:`pacenote.child.outside.pin_memory`.
    """

    name = "pin_memory"
    option = "--pin-memory"
    help = "Batches in page-locked memory: on or off."
    risk = "none"


PART = PinMemory()
