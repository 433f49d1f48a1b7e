"""Hold Ctrl-C back over the few lines that must happen as a whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def shielded() -> Iterator[None]:
    """Delay an interrupt until the block has ended, then raise it.

    Outside the main thread signals never arrive, so there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal arrived
        arrived = True

    earlier = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        # A handler installed from outside Python reads back as None and cannot be restored; Python's own serves.
        signal.signal(signal.SIGINT, signal.default_int_handler if earlier is None else earlier)
    if arrived:
        signal.raise_signal(signal.SIGINT)
