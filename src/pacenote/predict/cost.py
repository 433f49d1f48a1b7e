"""The formula: time of each operation from its FLOP and bytes, and a handful of constants that are the same everywhere.

For one operation::

    t = launch + ( (FLOP / (peak · e_kind · shape))³ + (bytes / (bandwidth · m_kind))³ )^(1/3)

``peak`` is the rate of the precision's path on the specification sheet, bent towards what the card's power allows:
TDP divided by the energy one FLOP takes on that process node. ``shape`` is how well the product fills tiles and
multiprocessors (the roofline with wave quantisation: Williams et al. 2009; NVIDIA, "Matrix Multiplication Background").
A step cannot be shorter than the host needs to launch it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pacenote.catalog import Device
from pacenote.predict.operators import NUMBER

Array = npt.NDArray[Any]

PJ_HALF: Final = {28: 8.0, 16: 8.0, 12: 2.4, 8: 2.0, 7: 0.95, 6: 1.0, 5: 0.72, 4: 0.72, 3: 0.6}
"""Stated prior of the energy of one FLOP on a matrix unit, pJ, by process node: TDP ÷ dense fp16 rate of the largest
cards (V100 300 W ÷ 125, A40 300 ÷ 150, A100 400 ÷ 312 less memory, H100 700 ÷ 989); older nodes have no such unit."""

PJ_FP32: Final = {28: 30.0, 16: 20.0, 12: 18.5, 8: 9.5, 7: 14.0, 6: 10.0, 5: 7.0, 4: 7.0, 3: 6.0}
"""The same for plain fp32 units (V100 300 W ÷ 15.7, A40 300 ÷ 37, A100 400 ÷ 19.5 less memory, H100 700 ÷ 67)."""


def figures(device: Device) -> dict[str, float]:
    """What the formula needs to know of a device: FLOP/µs, bytes/µs, W. Missing figures must have been refused."""
    assert device.fp32_tflops and device.bandwidth_gb_per_s and device.tdp_w and device.process_nm
    assert device.multiprocessors
    fp32 = device.fp32_tflops
    tensor = device.fp16_tflops if device.tensor_cores and device.fp16_tflops else None
    split = device.dies if device.vendor == "AMD" else 1  # a program sees one die of such a card
    return {
        "half": (tensor or device.fp16_tflops or fp32) * 1e6 / split,
        "tf32": (device.tf32_tflops or fp32) * 1e6 / split,
        "fp32": fp32 * 1e6 / split,
        "bandwidth": device.bandwidth_gb_per_s * 1e3 / split,
        "sm": float(device.multiprocessors) / split,
        "l2": (device.l2_mb or 0.0) * 1e6,
        "tdp": float(device.tdp_w) / split,
        "pj_half": PJ_HALF[device.process_nm],
        "pj_fp32": PJ_FP32[device.process_nm],
        "node": float(device.process_nm),
        "geforce": float(device.device_class == "geforce" and device.tensor_cores),
        "tensor": float(tensor is not None),
        "has_tf32": float(device.tf32_tflops is not None),
    }


def _blend(first: Array, second: Array, power: float) -> Array:
    """Smooth maximum (power > 0) or minimum (power < 0) of two positive columns."""
    return (first**power + second**power) ** (1 / power)


def fill(ops: Mapping[str, Array], sm: Array, k0: float) -> Array:
    """Share of the peak that the shape of a product leaves: tiles, last wave, length of the sum."""
    best = np.zeros_like(ops["m"])
    for tile, worth in ((128, 1.0), (64, 0.85), (32, 0.6)):
        down, across = np.ceil(ops["m"] / tile), np.ceil(ops["n"] / tile)
        waves = ops["batch"] * down * across / sm
        used = ops["m"] / (down * tile) * ops["n"] / (across * tile)
        split = np.minimum(1.0, waves * np.clip(ops["k"] / 512, 1, 8))  # long sums are split over multiprocessors
        best = np.maximum(best, worth * used * np.where(waves >= 1, waves / np.ceil(waves), split))
    aligned = (ops["n"] % 8 == 0) & ((ops["k"] % 8 == 0) | (ops["k"] > 256))
    best = best / (1 + k0 / np.maximum(ops["k"], 1)) * np.where((ops["half"] > 0) & ~aligned, 0.5, 1.0)
    return np.maximum(best, 0.02)


def peaks(dev: Mapping[str, Array], c: Mapping[str, float]) -> tuple[Array, Array, Array]:
    """Sustained rates of the half, TF32 and fp32 paths, FLOP/µs, each bent towards what the power allows."""
    boost = np.where(dev["geforce"] > 0, c["geforce_boost"], 1.0)
    node = dev["node"]
    scale = np.where(node == 8, c["energy_8nm"], np.where(node <= 5, c["energy_5nm"], 1.0))
    half = np.where(
        dev["tensor"] > 0, _blend(dev["half"] * boost, dev["tdp"] / (dev["pj_half"] * scale) * 1e6, -4), dev["half"]
    )
    tf32 = _blend(dev["tf32"] * boost, dev["tdp"] / (2 * dev["pj_half"] * scale) * 1e6, -4)
    fp32 = _blend(dev["fp32"] * boost, dev["tdp"] / dev["pj_fp32"] * 1e6, -4) * c["fp32_rate"]
    half = np.where(dev["tensor"] > 0, half, np.minimum(half * c["fp32_rate"], 2 * fp32))
    return half, tf32, fp32


def operation_times(
    ops: Mapping[str, Array], dev: Mapping[str, Array], flags: Mapping[str, Array], c: Mapping[str, float]
) -> Array:
    """Microseconds of each row of ``ops``, all its repetitions, on the device alone.

    Args:
        ops: Columns of :func:`pacenote.predict.operators.columns`.
        dev: The figures of the device, one value or a column.
        flags: ``nhwc``, ``tf32_conv`` and ``tf32_gemm`` as 0 or 1.
        c: The constants.
    """
    kind = ops["kind"]
    half, tf32, fp32 = peaks(dev, c)
    is_half = ops["half"] > 0
    gemm, conv = kind == NUMBER["gemm"], kind == NUMBER["conv"]
    grouped, depthwise = kind == NUMBER["conv_grouped"], kind == NUMBER["conv_depthwise"]
    attention = kind == NUMBER["attention"]
    wants_tf32 = np.where(gemm | attention, flags["tf32_gemm"], flags["tf32_conv"]) * dev["has_tf32"] > 0
    plain = ~is_half & ~wants_tf32 | (is_half & (dev["tensor"] <= 0))
    rate = np.where(is_half, half, np.where(wants_tf32, tf32, fp32))
    shape = fill(ops, dev["sm"], c["k_ramp"])
    nhwc = flags["nhwc"] > 0
    lanes = np.sqrt(np.minimum(np.minimum(ops["n"], ops["m"]), 64) / 32)
    share = np.where(
        gemm, c["gemm_rate"] * shape, c["conv_rate"] * shape * np.where(plain & (ops["three"] > 0), c["winograd"], 1)
    )
    share = np.where(grouped, np.where(nhwc, c["grouped_nhwc_rate"], c["grouped_rate"]) * lanes, share)
    share = np.where(attention, c["attention_rate"], share)
    rate = np.where(depthwise, fp32 / c["fp32_rate"], rate)
    share = np.where(depthwise, c["depthwise_rate"], share)
    compute = ops["flop"] / (rate * np.maximum(share, 1e-4))
    traffic = ops["bytes"] / (dev["bandwidth"] * _memory_share(ops, dev, c))
    time = _blend(np.maximum(compute, 1e-9), np.maximum(traffic, 1e-9), 3)
    layout = (conv | grouped) & ~nhwc & (is_half | wants_tf32) & (dev["tensor"] > 0)
    time = time + np.where(layout, 2 * ops["io"] / (dev["bandwidth"] * c["layout_memory"]), 0.0)
    back = np.where(
        conv | grouped, c["backward_conv"], np.where(gemm, 0.95, np.where(depthwise, 1.0, c["backward_memory"]))
    )
    time = time / np.where(ops["backward"] > 0, back, 1.0)
    return np.asarray((time + c["kernel_us"] * ops["launches"]) * ops["count"])


def _memory_share(ops: Mapping[str, Array], dev: Mapping[str, Array], c: Mapping[str, float]) -> Array:
    """Share of the bandwidth each kind reaches; what fits the L2 cache is written and read there in part."""
    table = np.zeros(len(NUMBER))
    names = {
        "gemm": "gemm_memory",
        "conv": "conv_memory",
        "conv_grouped": "conv_memory",
        "conv_depthwise": "depthwise_memory",
        "attention": "gemm_memory",
        "elementwise": "elementwise_memory",
        "norm": "norm_memory",
        "softmax": "softmax_memory",
        "pool": "pool_memory",
        "copy": "copy_memory",
        "lookup": "copy_memory",
        "optimizer": "optimizer_memory",
    }
    for kind, name in names.items():
        table[NUMBER[kind]] = c[name]
    share = table[ops["kind"].astype(int)]
    thin = (ops["kind"] == NUMBER["conv_depthwise"]) & (ops["weight_gradient"] > 0)
    share = np.where(thin, c["depthwise_weight_memory"], share)
    cached = dev["l2"] / (dev["l2"] + ops["bytes"] + 1.0)
    return np.asarray(share * (1 + c["cache_gain"] * cached))


def host_times(ops: Mapping[str, Array], c: Mapping[str, float]) -> Array:
    """Microseconds the host needs to launch each row, all its repetitions, in eager mode."""
    each = np.where(ops["backward"] > 0, c["host_backward_us"], c["host_forward_us"])
    return np.asarray(each * ops["launches"] * ops["count"])


def step_time(device_us: Array, host_us: Array) -> Array:
    """The longer of the two, smoothly: they overlap except at the ends of the step."""
    return _blend(device_us, np.maximum(host_us, 1e-9), 6)
