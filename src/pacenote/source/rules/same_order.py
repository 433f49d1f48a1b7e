"""A DistributedSampler whose epoch is never set: it shuffles with the same seed in every epoch.

https://docs.pytorch.org/docs/stable/data.html, "torch.utils.data.distributed.DistributedSampler".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pacenote.source.rules import Rule
from pacenote.source.text import Source, Spot, keyword


def check(source: Source) -> Iterator[Spot]:
    """A sampler that shuffles, in a script that never calls ``set_epoch``; once."""
    if source.mentions("set_epoch"):
        return
    for call in source.calls():
        if source.name(call.func).endswith("distributed.DistributedSampler"):
            shuffle = keyword(call, "shuffle")
            if not (isinstance(shuffle, ast.Constant) and shuffle.value is False):
                yield Spot(call.lineno)
                return


PART = Rule(name="same_order", check=check)
