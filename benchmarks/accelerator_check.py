"""Every device path of the child on whatever accelerator this machine has; one JSON, in under six minutes.

    PYTHONPATH=src python benchmarks/accelerator_check.py [--out FILE] [--device cuda]

Standard library and torch only, so it runs where nothing else is installed. After each section the JSON so far is
written, so a machine that is taken away leaves what was found. Without an accelerator every section says so.
Sections: facts, timeline (device events against wall time and torch.profiler), memory (against the allocator), copies
(pageable and pinned, bytes and overlap), out_of_memory, dtypes (fp32, tf32, bf16, fp16), ceilings, articles (both nets
cold and warm).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pacenote.child import boot, events, frameworks
from pacenote.child.protocol import CONTROL_FD_VARIABLE, RESULT_FD_VARIABLE

LIMIT_S = 340.0
TURN_S = 1.0
SPANS = {
    events.DATA_BEGIN: "data_wait",
    events.COPY_BEGIN: "copy",
    events.FORWARD_BEGIN: "forward",
    events.LOSS_BEGIN: "forward",
    events.BACKWARD_BEGIN: "backward",
    events.OPTIMIZER_BEGIN: "optimizer",
    events.ZERO_BEGIN: "optimizer",
}


class Child:
    """One measured process, driven by hand."""

    def __init__(self, job: dict[str, Any]) -> None:
        control_read, control_write = os.pipe()
        result_read, result_write = os.pipe()
        environment = {**os.environ, CONTROL_FD_VARIABLE: str(control_read), RESULT_FD_VARIABLE: str(result_write)}
        command = [sys.executable, str(boot.__file__)]
        self.process = subprocess.Popen(command, pass_fds=(control_read, result_write), env=environment)
        os.close(control_read)
        os.close(result_write)
        self._control, self._result = os.fdopen(control_write, "w"), os.fdopen(result_read)
        self.hello = self._answer()
        cache = Path(tempfile.gettempdir()) / "pacenote-benchmarks"
        self.first = self.ask({"cmd": "job", "action": "train", "cache_dir": str(cache), **job})

    def ask(self, command: dict[str, Any]) -> dict[str, Any]:
        """Send one command and wait for its answer."""
        self._control.write(json.dumps(command) + "\n")
        self._control.flush()
        return self._answer()

    def turn(self, number: int, seconds: float) -> dict[str, Any]:
        """One turn."""
        return self.ask({"cmd": "turn", "turn": number, "seconds": seconds})

    def finish(self) -> dict[str, Any]:
        """End it, and give back its last word."""
        done = self.ask({"cmd": "finish"})
        self._control.close()
        self._result.close()
        self.process.wait(60)
        return done

    def _answer(self) -> dict[str, Any]:
        line = self._result.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"msg": "gone"}
        return answer


def phases(t_ns: array[int], codes: array[int]) -> dict[str, float]:
    """Mean milliseconds per step and phase: spans of one timeline, the innermost counted (no numpy here)."""
    open_spans: list[str] = []
    sums: dict[str, float] = dict.fromkeys([*SPANS.values(), "other"], 0.0)
    steps, before = 0, t_ns[0]
    for now, code in zip(t_ns, codes, strict=True):
        kind = code & events.KIND_MASK
        sums[open_spans[-1] if open_spans else "other"] += (now - before) / 1e6
        before = now
        if kind in SPANS:
            open_spans.append(SPANS[kind])
        elif kind - 1 in SPANS and open_spans:
            open_spans.pop()
            steps += kind == events.OPTIMIZER_END
    return {name: value / max(1, steps) for name, value in sums.items()} | {"steps": float(steps)}


def run_turn(device: str, workload: str, levers: dict[str, Any], **job: Any) -> dict[str, Any]:
    """A child's cold start, one warm-up turn and one measured turn, with both timelines reduced."""
    child = Child({"framework": "pytorch", "workload": workload, "device": device, "levers": levers, **job})
    if child.first["msg"] == "error":
        return {"error": {name: child.first[name] for name in ("kind", "type", "text", "where")}}
    warm = child.turn(0, 0.5)
    if warm["msg"] != "turn":
        return {"error": {name: warm.get(name) for name in ("kind", "type", "text", "where")}}
    turn = child.turn(1, TURN_S)
    done = child.finish()
    first = events.unpack(warm["t_ns"])
    answer = {
        "cold_start": child.first["cold_start"],
        "first_turn_first_event_ms": (first[1] - first[0]) / 1e6 if len(first) > 1 else None,
        "steps": turn["steps"],
        "step_ms": 1e3 * turn["wall_s"] / turn["steps"],
        "samples_per_s": turn["steps"] * done["samples_per_step"] / turn["wall_s"],
        "host_ms": phases(events.unpack(turn["t_ns"]), events.unpack(turn["code"])),
        "copied_bytes_per_step": turn["copied_bytes"] / turn["steps"],
        "device_memory": turn["device_memory"],
        "observed": done["observed"],
    }
    if "device_t_ns" in turn:
        answer["device_ms"] = phases(events.unpack(turn["device_t_ns"]), events.unpack(turn["device_code"]))
    return answer


def facts(torch: Any, device: str) -> dict[str, Any]:
    """What the adapter says of build, driver and device."""
    adapter = frameworks.create("pytorch")
    adapter.load()
    return {"facts": adapter.facts(), "devices": adapter.devices()}


def timeline(torch: Any, device: str) -> dict[str, Any]:
    """The device timeline's step against wall time per step, and against kernel time by torch.profiler."""
    seen = run_turn(device, "lenet", {"batch_size": 256}, data_mode="device")
    if "device_ms" in seen:
        device_step = sum(value for name, value in seen["device_ms"].items() if name != "steps")
        seen["device_step_over_wall_step"] = device_step / seen["step_ms"]
    return seen | {"profiler": profiled(torch, device)}


def profiled(torch: Any, device: str) -> dict[str, Any]:
    """Kernel time per step of the same shapes under torch.profiler."""
    model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(256, 1024, device=device), torch.randint(0, 10, (256,), device=device)
    steps = 50

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    for _ in range(10):
        step()
    torch.accelerator.synchronize()
    with torch.profiler.profile() as profile:
        for _ in range(steps):
            step()
        torch.accelerator.synchronize()
    total_us = sum(getattr(row, "self_device_time_total", 0.0) for row in profile.key_averages())
    return {"kernel_ms_per_step": total_us / 1e3 / steps}


def memory(torch: Any, device: str) -> dict[str, Any]:
    """What the child reports against the allocator's own counters, to the byte."""
    adapter = frameworks.create("pytorch")
    adapter.load()
    adapter.reset_peak(device)
    held = torch.empty(64 << 20, dtype=torch.uint8, device=device)
    seen = adapter.device_memory(device)
    backend = getattr(torch, device.partition(":")[0])
    own = {"allocated_bytes": backend.memory_allocated(), "reserved_bytes": backend.memory_reserved()}
    del held
    return {"adapter": seen, "allocator": own, "equal": bool(seen) and all(seen[name] == own[name] for name in own)}


def copies(torch: Any, device: str) -> dict[str, Any]:
    """Copy speed from pageable and pinned memory, and bytes counted in a real training."""
    result: dict[str, Any] = {}
    for pinned in (False, True):
        source = torch.empty(256 << 20, dtype=torch.uint8, pin_memory=pinned)
        times = []
        for _ in range(5):
            torch.accelerator.synchronize()
            began = time.perf_counter()
            source.to(device, non_blocking=pinned)
            torch.accelerator.synchronize()
            times.append(time.perf_counter() - began)
        result["pinned" if pinned else "pageable"] = {"gb_per_s": source.numel() / statistics.median(times) / 1e9}
    training = run_turn(device, "lenet", {"batch_size": 256})
    result["training"] = training
    result["expected_bytes_per_step"] = 256 * (3 * 32 * 32 * 4 + 8)
    return result


def out_of_memory(torch: Any, device: str) -> dict[str, Any]:
    """A net that cannot fit is told apart from a crash."""
    return run_turn(device, "simplenet", {"batch_size": 64, "width": 60_000, "depth": 4})


def dtypes(torch: Any, device: str) -> dict[str, Any]:
    """Each dtype lever: applied as seen, and its speed."""
    return {
        name: run_turn(device, "lenet", {"batch_size": 256, "dtype": name}, data_mode="device")
        for name in ("fp32", "tf32", "bf16", "fp16")
    }


def ceilings(torch: Any, device: str) -> dict[str, Any]:
    """The calibration job on the device."""
    child = Child({"framework": "pytorch", "device": device, "action": "calibrate", "dtypes": ["fp32", "bf16", "fp16"]})
    child.process.wait(120)
    return child.first


def articles(torch: Any, device: str) -> dict[str, Any]:
    """Both articles' nets, cold and warm."""
    return {
        "simplenet b64": run_turn(device, "simplenet", {"batch_size": 64}),
        "lenet b32": run_turn(device, "lenet", {"batch_size": 32}),
        "lenet b256": run_turn(device, "lenet", {"batch_size": 256}),
        "lenet b256 batched": run_turn(device, "lenet", {"batch_size": 256, "pipeline": "batched"}),
    }


SECTIONS: tuple[Callable[[Any, str], dict[str, Any]], ...] = (
    facts, timeline, memory, copies, out_of_memory, dtypes, ceilings, articles,
)  # fmt: skip


def accelerator(torch: Any) -> str | None:
    """Name of this machine's accelerator, or None."""
    current = torch.accelerator.current_accelerator() if hasattr(torch, "accelerator") else None
    if current is not None and torch.accelerator.is_available():
        return str(current.type)
    return "cuda" if torch.cuda.is_available() else None


def main() -> int:
    """Run the sections in order until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--device", default=None)
    chosen = parser.parse_args()
    import torch

    began = time.monotonic()
    device = chosen.device or accelerator(torch)
    result: dict[str, Any] = {"benchmark": "accelerator_check", "torch": str(torch.__version__), "device": device}
    for section in SECTIONS:
        if device is None and section is not facts:
            result[section.__name__] = {"not_measured": "no accelerator on this machine"}
            continue
        if time.monotonic() - began > LIMIT_S:
            result[section.__name__] = {"not_measured": "time is over"}
            continue
        started = time.monotonic()
        try:
            result[section.__name__] = section(torch, device or "cpu")
        except Exception as error:  # noqa: BLE001 - one broken section must not cost the others
            result[section.__name__] = {"error": f"{type(error).__name__}: {error}"}
        result[section.__name__]["seconds"] = round(time.monotonic() - started, 2)
        if chosen.out is not None:
            chosen.out.write_text(json.dumps(result, indent=1, default=str) + "\n", encoding="utf-8")
    result["seconds"] = round(time.monotonic() - began, 1)
    sys.stdout.write(json.dumps(result, indent=1, default=str) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
