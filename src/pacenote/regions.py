"""For those who like to say it in the script: what a loop waits for when no loader of a framework gives it its batches.

Nothing here needs a framework, and nothing happens unless the script runs under ``pacenote run`` or ``%%pacenote``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pacenote.child import events

Batch = TypeVar("Batch")


def track(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Iterate over batches and count the wait for each as data wait.

    ``DataLoader`` of PyTorch and PaddlePaddle, and functions that make batches, are seen without it; it is for readers
    of other kinds, for example a generator that runs through the whole training. A loader that is seen anyway is not
    counted twice.

    Args:
        batches: Anything that can be iterated over.

    Yields:
        The same batches in the same order.
    """
    recorder = _recorder()
    if recorder is None:
        yield from batches
        return
    index = recorder.index("loader", batches, batch_size=getattr(batches, "batch_size", None))
    add, clock, mark = recorder.hot()
    iterator = iter(batches)
    while True:
        code = events.code(events.DATA_BEGIN, _grad_enabled(), index=index)
        if mark is not None:
            mark(code)
        began_ns = clock()
        try:
            batch = next(iterator)
        except StopIteration:
            return
        finally:
            add((code, began_ns, clock()))
            if mark is not None:
                mark(code + 1)
        yield batch


def _recorder() -> Any:
    """The recorder of the probe in this process; ``None`` when there is none."""
    for name in ("pacenote_child.attach", "pacenote.child.attach"):  # in a script, and in a notebook
        session = getattr(sys.modules.get(name), "current", None)
        if session is not None and session.recorder is not None and not session.recorder.ended:
            return session.recorder
    return None


def _grad_enabled() -> bool:
    for name, ask in (("torch", "is_grad_enabled"), ("paddle", "is_grad_enabled")):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, ask):
            return bool(getattr(module, ask)())
    return True
