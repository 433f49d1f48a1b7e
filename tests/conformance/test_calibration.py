"""Every framework that workloads are written for can measure its ceilings in a real child."""

from __future__ import annotations

import importlib.util
import math
import os

import pytest

from pacenote.child import workloads
from pacenote.engines.local import LocalEngine
from pacenote.levers import LEVERS

MODULES = {"pytorch": "torch", "paddle": "paddle"}
FRAMEWORKS = sorted({framework for name in workloads.names() for framework in workloads.find(name).builders})
DTYPES = LEVERS.get("dtype").choices


@pytest.mark.parametrize(
    "framework",
    [pytest.param(name, marks=pytest.mark.torch if name == "pytorch" else pytest.mark.paddle) for name in FRAMEWORKS],
)
def test_each_ceiling_is_a_number_or_a_reason(framework: str) -> None:
    if importlib.util.find_spec(MODULES[framework]) is None:
        pytest.skip(f"{framework} is not installed")
    job = {"action": "calibrate", "framework": framework, "device": "cpu", "dtypes": DTYPES, "levers": {"threads": 1}}
    child = LocalEngine().start(job, python=None, environ=dict(os.environ))
    try:
        ceilings = child.answer("calibration", 120.0)["ceilings"]
    finally:
        child.kill()
    assert set(ceilings["gemm_flops"]) == set(DTYPES)
    for dtype, flops in ceilings["gemm_flops"].items():
        reason = ceilings["reasons"].get(f"gemm_flops.{dtype}")
        assert (flops is None) is (reason is not None)
        assert flops is None or (math.isfinite(flops) and flops > 1e8)
    assert ceilings["gemm_flops"]["fp32"] is not None
    assert ceilings["triad_bytes_per_s"] > 1e8
    assert (ceilings["threads"], ceilings["device"]) == (1, "cpu")
