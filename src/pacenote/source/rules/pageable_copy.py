"""A copy is asked not to block, but its source is not pinned, so it blocks all the same.

A copy engine reads from page-locked memory only; from pageable memory the driver copies into a buffer of its own first,
and the call returns when that is done (CUDA C++ Programming Guide, "Asynchronous Concurrent Execution").
"""

from __future__ import annotations

from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot, is_true, keyword


def check(source: Source) -> Iterator[Spot]:
    """``non_blocking=True`` in a script that pins nothing; once."""
    if source.mentions("pin_memory", "pinned"):
        return
    for call in source.calls():
        if source.called(call) in ("to", "cuda", "copy_") and is_true(keyword(call, "non_blocking")):
            yield Spot(call.lineno)
            return


PART = Rule(name="pageable_copy", check=check)
