"""Copies to the accelerator that the program does not wait for."""

from __future__ import annotations

from pacenote.levers import Switch


class NonBlocking(Switch):
    """Copies to the accelerator that the program does not wait for.

    For scripts; its hook is :mod:`pacenote.child.outside.non_blocking`.
    """

    name = "non_blocking"
    option = "--non-blocking"
    help = "Copies that the program does not wait for: on or off."
    risk = "none"


PART = NonBlocking()
