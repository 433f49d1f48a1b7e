"""Ceilings of this machine, measured through the framework itself in at most three seconds.

Two numbers per device: how fast it multiplies matrices (per dtype), and how fast it moves memory. They are what
achieved FLOP/s is divided by, so both are the best of several sizes and repeats: a ceiling is the least disturbed
measurement, not the average one.
"""

from __future__ import annotations

import importlib
import time
from typing import Any, Callable

BUDGET_S = 2.5
"""Time for all measurements together; making the operands comes on top and is short."""

CPU_SIZES = (256, 512, 1024, 2048)
ACCELERATOR_SIZES = (1024, 4096, 8192)
"""Sides of the square matrices: a few hundred fill a CPU core's vector units (measured on one Zen 4 core: the rate is
flat from 512 on), an accelerator needs thousands."""

MINIMUM_SPAN_S = 2e-3
"""One timing lasts at least this long, so that launch and clock cost less than a thousandth of it."""

TRIAD_BYTES = {"cpu": 64 << 20, "accelerator": 256 << 20}
"""Size of one operand: at least twice the largest last-level cache share usual today (32 MiB a core complex; 50 MiB
on an H100), so that the traffic reaches memory."""


def ceilings(adapter: Any, device: str, threads: int, dtypes: tuple[str, ...] = ("fp32",)) -> dict[str, Any]:
    """Measure the ceilings of one device.

    Args:
        adapter: The loaded framework adapter, its threads already set.
        device: Device in the framework's words.
        threads: Threads the adapter was set to; recorded beside the numbers they belong to.
        dtypes: Which of fp32, tf32, bf16, fp16 to multiply in.

    Returns:
        ``gemm_flops`` (dtype → FLOP/s or None), ``triad_bytes_per_s``, ``reasons`` (what could not be measured →
        reason code), ``threads``, ``device`` and ``took_s``.
    """
    began = time.perf_counter()
    maker = importlib.import_module(f"{__package__}.ceilings_{adapter.name}").Operations(device)
    share_s = BUDGET_S / (len(dtypes) + 1)
    wait = _waiter(adapter, device)
    reasons: dict[str, str] = {}
    gemm: dict[str, float | None] = {}
    for dtype in dtypes:
        gemm[dtype] = None
        reason = maker.unavailable(dtype)
        if not reason:
            try:
                gemm[dtype] = _gemm_flops(maker, dtype, device, wait, share_s)
            except Exception as error:  # a dtype that a build cannot multiply in raises many things
                if adapter.is_out_of_memory(error):
                    raise
                reason = "dtype_unsupported"
        if reason:
            reasons[f"gemm_flops.{dtype}"] = reason
    triad = _triad_bytes_per_s(maker, device, wait, share_s)
    return {
        "gemm_flops": gemm,
        "triad_bytes_per_s": triad,
        "reasons": reasons,
        "threads": threads,
        "device": device,
        "took_s": time.perf_counter() - began,
    }


def _waiter(adapter: Any, device: str) -> Callable[[], None]:
    def wait() -> None:
        adapter.synchronize(device)

    return wait


def _gemm_flops(maker: Any, dtype: str, device: str, wait: Callable[[], None], limit_s: float) -> float:
    """Best rate over the sizes that fit the time."""
    best = 0.0
    sizes = CPU_SIZES if device == "cpu" else ACCELERATOR_SIZES
    end = time.perf_counter() + limit_s
    for position, size in enumerate(sizes):
        remaining_s = end - time.perf_counter()
        flop = 2.0 * size**3
        # A first call at this size costs a warm-up besides the timed one; skip sizes that would overrun.
        if best and 3 * flop / best > remaining_s:
            break
        multiply = maker.gemm(size, dtype)
        span_s = best_span_s(multiply, wait, remaining_s / (len(sizes) - position))
        best = max(best, flop / span_s)
    return best


def _triad_bytes_per_s(maker: Any, device: str, wait: Callable[[], None], limit_s: float) -> float:
    """Rate of ``b += s * c``: two operands read and one written."""
    size_bytes = TRIAD_BYTES["cpu" if device == "cpu" else "accelerator"]
    return 3.0 * size_bytes / best_span_s(maker.triad(size_bytes // 4), wait, limit_s)


def best_span_s(call: Callable[[], Any], wait: Callable[[], None], limit_s: float) -> float:
    """Shortest time of one call, over as many repeats as fit ``limit_s`` (at least three after a warm-up)."""
    began = time.perf_counter()
    call()
    wait()
    call_s = time_s(call, wait, 1)
    inner = max(1, int(MINIMUM_SPAN_S / max(call_s, 1e-9)))
    best = call_s
    repeats = 0
    while repeats < 3 or time.perf_counter() - began < limit_s:
        best = min(best, time_s(call, wait, inner) / inner)
        repeats += 1
        if repeats >= 3 and time.perf_counter() - began + best * inner > limit_s:
            break
    return best


def time_s(call: Callable[[], Any], wait: Callable[[], None], count: int) -> float:
    """Time ``count`` calls until the device is done with all of them."""
    began = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return time.perf_counter() - began
