"""What the machine says about itself: CPUs, load, memory, heat, energy, accelerators.

Everything is read below a :class:`pacenote.system.reader.Reader` root, so recorded ``/proc`` and ``/sys``
trees go through the same code as the live machine. Where a reading does not exist the answer is ``None`` and
a reason code.
"""

from __future__ import annotations
