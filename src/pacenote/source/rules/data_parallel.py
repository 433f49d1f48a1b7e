"""``DataParallel``: one process drives all devices, and every step copies the model to each of them.

PyTorch itself advises DistributedDataParallel even on one machine
(https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html).
"""

from __future__ import annotations

from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot


def check(source: Source) -> Iterator[Spot]:
    """Every call of ``torch.nn.DataParallel``; Paddle's class of that name is another thing."""
    for call in source.calls():
        if source.name(call.func) in ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel"):
            yield Spot(call.lineno)


PART = Rule(name="data_parallel", check=check)
