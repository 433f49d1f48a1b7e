"""Whether loader workers live on from one epoch to the next."""

from __future__ import annotations

from pacenote.levers import Lever


class PersistentWorkers(Lever):
    """Whether loader workers live on from one epoch to the next.

    For scripts; its hook is :mod:`pacenote.child.outside.persistent_workers`.
    """

    name = "persistent_workers"
    option = "--persistent-workers"
    help = "Loader workers live on between epochs: on or off."
    risk = "none"
    choices = ("on", "off")
    plain = "off"


PART = PersistentWorkers()
