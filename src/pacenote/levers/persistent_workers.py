"""Whether loader workers live on from one epoch to the next."""

from __future__ import annotations

from pacenote.levers import Switch


class PersistentWorkers(Switch):
    """Whether loader workers live on from one epoch to the next.

    For scripts; its hook is :mod:`pacenote.child.outside.persistent_workers`.
    """

    name = "persistent_workers"
    option = "--persistent-workers"
    help = "Loader workers live on between epochs: on or off."
    risk = "none"


PART = PersistentWorkers()
