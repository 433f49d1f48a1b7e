"""Fits the constants of the predictor on published measurements, reproducibly: ``python benchmarks/fit_predictor.py``.

Starts from the priors stated here and changes only the constants in ``FREE``; the rest stay at their priors. The fit is
Levenberg-Marquardt on the log of predicted over measured, each residual damped (pseudo-Huber), with a penalty that
pulls every free constant to its prior. Writes ``src/pacenote/predict/constants.json``.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "benchmarks")]
TARGET = ROOT / "src" / "pacenote" / "predict" / "constants.json"

PRIORS: dict[str, float] = {
    "gemm_rate": 0.8,
    "conv_rate": 0.75,
    "grouped_rate": 0.2,
    "grouped_nhwc_rate": 0.15,
    "depthwise_rate": 0.15,
    "attention_rate": 0.5,
    "fp32_rate": 0.9,
    "winograd": 1.5,
    "geforce_boost": 1.2,
    "energy_8nm": 1.0,
    "energy_5nm": 1.0,
    "k_ramp": 30.0,
    "elementwise_memory": 0.85,
    "norm_memory": 0.85,
    "softmax_memory": 0.8,
    "pool_memory": 0.5,
    "copy_memory": 0.7,
    "optimizer_memory": 0.75,
    "gemm_memory": 0.85,
    "conv_memory": 0.9,
    "depthwise_memory": 0.5,
    "depthwise_weight_memory": 0.2,
    "layout_memory": 0.85,
    "cache_gain": 0.3,
    "backward_conv": 0.9,
    "backward_memory": 0.9,
    "kernel_us": 3.0,
    "host_forward_us": 10.0,
    "host_backward_us": 8.0,
}
"""Shares of peak and of bandwidth that large kernels commonly reach, µs a kernel, µs a launch in eager PyTorch."""

FREE = (
    "gemm_rate", "conv_rate", "grouped_rate", "grouped_nhwc_rate", "fp32_rate", "winograd", "geforce_boost",
    "energy_8nm", "energy_5nm", "elementwise_memory", "norm_memory", "conv_memory", "depthwise_memory",
    "layout_memory", "cache_gain", "backward_conv", "backward_memory",
)  # fmt: skip
# The times of launches are not free here: fitted together with small batches, the time of a kernel grew to 36 µs and
# bent every other constant.

PULL = 0.3
DAMP = 0.1
ROUNDS = 12
STEP = 1e-3


def fit(table: Any, start: dict[str, float] | None = None, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the constants that fit the rows of ``table``, held to the priors."""
    prior = np.log([PRIORS[name] for name in FREE])
    place = np.log([(start or PRIORS)[name] for name in FREE])

    def constants(at: Any) -> dict[str, float]:
        return {**PRIORS, **dict(zip(FREE, np.exp(at).tolist(), strict=True))}

    def residuals(at: Any) -> Any:
        raw = np.log(table.predict_us(constants(at)) / table.true_us)
        damped = np.sign(raw) * np.sqrt(2 * DAMP**2 * (np.sqrt(1 + (raw / DAMP) ** 2) - 1))
        return np.concatenate([damped * table.weight, PULL * (at - prior)])

    now, lift = residuals(place), 1e-2
    for _ in range(rounds):
        slope = np.stack([(residuals(place + STEP * unit) - now) / STEP for unit in np.eye(len(FREE))], axis=1)
        square, pull = slope.T @ slope, slope.T @ now
        for _ in range(6):
            moved = place - np.linalg.solve(square + lift * np.diag(np.diag(square)), pull)
            then = residuals(moved)
            if then @ then < now @ now:
                break
            lift *= 4
        else:
            break
        gained = 1 - (then @ then) / (now @ now)
        place, now, lift = moved, then, lift / 3
        if gained < 1e-4:
            break
    return constants(place)


def main() -> int:
    """Fit on every row of a large batch, and write the constants."""
    import predict_rows

    rows, _ = predict_rows.load()
    rows = [row for row in rows if not row.small]
    table = predict_rows.Table(rows)
    fitted = fit(table)
    shown = {name: float(f"{value:.4g}") for name, value in fitted.items()}
    document = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {}
    document.update({"version": 1, "rows": len(rows), "free": list(FREE), "constants": shown})
    TARGET.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    error = np.abs(np.log(table.predict_us(shown) / table.true_us))
    print(f"{len(rows)} rows, in-sample median {math.expm1(np.median(error)):.1%}, {shown}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
