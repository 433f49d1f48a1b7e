"""Optimizers that update all weights in one kernel."""

from __future__ import annotations

from pacenote.levers import Switch


class FusedOptimizer(Switch):
    """Optimizers that update all weights in one kernel.

    For scripts; its hook is :mod:`pacenote.child.outside.fused_optimizer`.
    """

    name = "fused_optimizer"
    option = "--fused-optimizer"
    help = "Optimizer in one kernel: on or off."
    risk = "numerics"


PART = FusedOptimizer()
