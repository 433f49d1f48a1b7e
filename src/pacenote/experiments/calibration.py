"""Ceilings of this machine, measured once per framework, device, threads and dtype, and kept in the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from pacenote import plan
from pacenote.engines import ChildEndedError
from pacenote.records import Reading, TrialSpec, digest
from pacenote.runner.progress import CalibrationStarted
from pacenote.runner.setting import CeilingsOf, Parts, variables
from pacenote.runner.slot import Ceilings

MAX_AGE_S: Final = 7 * 86400.0
"""Drivers, BIOS settings and neighbours change; a week keeps the cost at a few seconds per week."""

TIMEOUT_S: Final = 90.0
"""Import (up to 20 s from a cold disk) and three seconds of measuring, with room for a loaded machine."""


class CalibrationKeeper(Protocol):
    """The part of the store that keeps ceilings."""

    def get_calibration(self, key: str, max_age_s: float | None = None) -> dict[str, Any] | None:
        """Ceilings kept under a key."""
        ...

    def put_calibration(self, key: str, ceilings: dict[str, Any], measured_unix_s: float | None = None) -> None:
        """Keep ceilings."""


def ceilings_of(
    specs: Sequence[TrialSpec], keeper: CalibrationKeeper, parts: Parts, *, machine: dict[str, Any]
) -> CeilingsOf:
    """Measure what is not yet known for these specs, one device at a time.

    Args:
        specs: The cells of a study.
        keeper: Where ceilings are kept.
        parts: Starts the children.
        machine: What identifies the machine and the CPUs that may be used.
    """
    known: dict[str, Ceilings] = {}
    for spec in specs:
        key = _key(spec, machine)
        if spec.framework == "simulated" or spec.data_mode == "loader" or key in known:
            continue
        kept = keeper.get_calibration(key, MAX_AGE_S)
        if kept is None:
            parts.tell(CalibrationStarted(framework=spec.framework, device=spec.device))
            kept = measure(spec, parts)
            if kept.get("gemm_flops"):
                keeper.put_calibration(key, kept)
        known[key] = read(kept, _dtype(spec))
    return lambda spec: known.get(_key(spec, machine), Ceilings())


def measure(spec: TrialSpec, parts: Parts) -> dict[str, Any]:
    """Ask a fresh child for the ceilings; a child that fails gives only a reason."""
    job = {**plan.job(spec, action="calibrate"), "dtypes": [_dtype(spec)]}
    child = parts.engine.start(job, python=spec.python, environ=variables(spec))
    try:
        answer = child.answer("calibration", TIMEOUT_S)
        return {**answer["ceilings"], "framework": answer.get("framework", {})}
    except ChildEndedError as error:
        return {"reason": f"calibration_{error.outcome.status.value}"}
    finally:
        child.kill()


def read(kept: dict[str, Any], dtype: str) -> Ceilings:
    """Turn a child's answer into readings."""
    reasons, failed = kept.get("reasons", {}), kept.get("reason", "not_calibrated")
    flops, moved = kept.get("gemm_flops", {}).get(dtype), kept.get("triad_bytes_per_s")
    return Ceilings(
        flops=_reading(flops, reasons.get(f"gemm_flops.{dtype}", failed)),
        bytes_per_s=_reading(moved, reasons.get("triad_bytes_per_s", failed)),
    )


def _reading(value: float | None, reason: str) -> Reading:
    return Reading(reason=reason) if value is None else Reading(value=float(value), method="measured")


def _dtype(spec: TrialSpec) -> str:
    return str(spec.levers.get("dtype") or "fp32")


def _key(spec: TrialSpec, machine: dict[str, Any]) -> str:
    """Name what a ceiling depends on."""
    threads = spec.levers.get("threads")
    where = digest([machine, spec.python])
    return f"{where}/{spec.framework}/{spec.device}/t{threads}/{_dtype(spec)}"
