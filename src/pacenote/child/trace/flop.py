"""FLOP of matrix products, convolutions and attention, from their shapes alone; two FLOP a multiply-add.

``torch.utils.flop_counter`` is not used: it over-counts grouped convolution about fourteen-fold in training and has
no formula for the attention kernel that a CPU trace shows.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

CONVOLUTIONS = ("convolution", "_convolution")
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm")

ATTENTION_BACKWARD = 2.5
"""Products in the backward pass of fused attention for each one in the forward pass: five for two (Dao et al. 2022,
FlashAttention, appendix B: the scores are computed again)."""


def convolution(
    inputs: Sequence[int], weight: Sequence[int], outputs: Sequence[int], *, transposed: bool = False
) -> float:
    """FLOP of one convolution, or of one of its two gradients.

    Args:
        inputs: Shape of the input, batch and channels first.
        weight: Shape of the weight; its second extent is the channels of one group already.
        outputs: Shape of the output.
        transposed: Whether it is a transposed convolution, where each *input* position meets the kernel.
    """
    places = inputs if transposed else outputs
    return 2.0 * inputs[0] * math.prod(places[2:]) * math.prod(weight)


def product(name: str, shapes: Sequence[Sequence[int]]) -> tuple[float, list[int]]:
    """FLOP of a matrix product and its extents ``[batch, m, n, k]``."""
    left, right = shapes[-2], shapes[-1]
    flat = name in ("mm", "addmm")
    extents = [1, left[0], right[1], left[1]] if flat else [left[0], left[1], right[2], left[2]]
    return 2.0 * math.prod(extents), extents


def attention(query: Sequence[int], key: Sequence[int], *, backward: bool) -> float:
    """FLOP of fused attention on ``(batch, heads, length, width)``: scores and weighted sum."""
    forward = 4.0 * math.prod(query) * key[-2]
    return forward * ATTENTION_BACKWARD if backward else forward


def of(
    name: str, shapes: list[list[int]], outputs: list[list[int]], arguments: Sequence[Any]
) -> tuple[float, dict[str, Any]]:
    """FLOP of one operation, and the facts about it that its shapes do not say."""
    if name in PRODUCTS and len(shapes) >= 2:
        flop, extents = product(name, shapes)
        return flop, {"gemm": extents}
    if name in CONVOLUTIONS:
        transposed = bool(arguments[6])
        facts = {"groups": int(arguments[8]), "stride": list(arguments[3]), "transposed": transposed}
        return convolution(shapes[0], shapes[1], outputs[0], transposed=transposed), facts
    if name == "convolution_backward":
        transposed = bool(arguments[7])
        mask = [bool(wanted) for wanted in arguments[10]]
        facts = {
            "groups": int(arguments[9]),
            "stride": list(arguments[4]),
            "transposed": transposed,
            "gradients": mask,
        }
        one = convolution(shapes[1], shapes[2], shapes[0], transposed=transposed)
        return one * (mask[0] + mask[1]), facts
    if "scaled_dot_product" in name:
        backward = "backward" in name
        query, key = (shapes[1], shapes[2]) if backward else (shapes[0], shapes[1])
        return attention(query, key, backward=backward), {}
    return 0.0, {}
