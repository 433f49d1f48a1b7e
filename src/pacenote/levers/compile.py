"""torch.compile round the model of a script."""

from __future__ import annotations

from pacenote.levers import Switch


class Compile(Switch):
    """torch.compile round the model of a script.

    For scripts; its hook is :mod:`pacenote.child.outside.compile`.
    """

    name = "compile"
    option = "--compile"
    help = "Compile the model: on or off."
    risk = "numerics"


PART = Compile()
