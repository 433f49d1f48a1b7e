"""The child's life: read the job, do it, answer."""

from __future__ import annotations

import os
import sys
import time
import traceback
from typing import Any, Callable, Optional

from . import frameworks
from .channel import Channel
from .errors import ChildError, MissingDeviceError, MissingFrameworkError, UnsupportedError
from .faults import Fault
from .recorder import Finish, Recorder

EXIT_OK, EXIT_FAILED = 0, 1


def main() -> int:
    """Run one job; the exit code says only whether it was answered."""
    began_ns = time.perf_counter_ns()
    channel = Channel.from_environment()
    channel.send(
        {
            "msg": "hello",
            "pid": os.getpid(),
            "python": ".".join(map(str, sys.version_info[:3])),
            "executable": sys.executable,
            "t_ns": began_ns,
        }
    )
    job = channel.receive()
    if job is None:
        return EXIT_OK
    adapter: Optional[frameworks.Adapter] = None
    try:
        action = ACTIONS[job["action"]]
        adapter = frameworks.create(job["framework"]) if "framework" in job else None
        action(job, channel, adapter)
    except Finish:
        return EXIT_OK
    except BaseException as error:  # noqa: BLE001 - whatever ends the job is told to the parent, which decides
        channel.send(describe_error(error, adapter))
        return EXIT_FAILED
    return EXIT_OK


def describe_error(error: BaseException, adapter: Optional[frameworks.Adapter]) -> dict[str, Any]:
    """Say what ended the job: its kind, type, text, and the place in the user's or our code it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return {
        "msg": "error",
        "kind": _kind_of(error, adapter),
        "type": type(error).__name__,
        "text": _text(error)[:2000],
        "where": where,
        "traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__))[-8000:],
    }


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception of the user's that cannot even be printed
        return ""


def _kind_of(error: BaseException, adapter: Optional[frameworks.Adapter]) -> str:
    if isinstance(error, ChildError):
        return error.kind
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if adapter is not None and adapter.module is not None and adapter.is_out_of_memory(error):
        return "out_of_memory"
    return "exception"


class Stopwatch:
    """Times the parts of a cold start."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}

    def time(self, name: str, call: Callable[[], Any]) -> Any:
        """Run ``call`` and keep its duration in seconds under ``name``."""
        began = time.perf_counter()
        result = call()
        self.parts[name] = time.perf_counter() - began
        return result


def train(job: dict[str, Any], channel: Channel, adapter: Optional[frameworks.Adapter]) -> None:
    """Build the workload under the probe and run it turn by turn until the parent says finish."""
    assert adapter is not None
    fault = Fault(job.get("fault"))
    fault.at("start")
    device = job.get("device", "cpu")
    watch = Stopwatch()
    watch.time("import_s", lambda: load(adapter))
    fault.at("import")
    check_device(adapter, device)
    watch.time("device_init_s", lambda: adapter.synchronize(device))
    recorder = Recorder(channel, lambda: {"device_memory": adapter.device_memory(device)})
    recorder.anchor = "data" if job.get("data_mode") == "loader" else "optimizer"
    recorder.planted_slowdown_ratio = float(job.get("planted_slowdown_ratio", 1.0))
    if adapter.name != "simulated":  # its script is the only lever it has
        from . import lever_hooks

        lever_hooks.apply(adapter, job.get("levers", {}))
    if job.get("probe", True):
        adapter.install_probe(recorder, device)
    adapter.seed(int(job.get("seed", 0)))
    fault.at("build")
    training = watch.time("build_s", lambda: build(job, adapter, fault))
    watch.parts["data_s"] = float(training.data.get("prepare_s", 0.0))
    adapter.reset_peak(device)
    channel.send({"msg": "ready", "cold_start": watch.parts, "framework": adapter.facts(), "data": training.data})
    try:
        recorder.pause()
        training.run()
    except Finish:
        channel.send(conclude(job, adapter, recorder, training))
    else:
        raise UnsupportedError(f"the training ended by itself after {recorder.step} steps; its run() must not return.")


def observe(adapter: frameworks.Adapter, training: Any, levers: dict[str, Any]) -> dict[str, Any]:
    """What was really seen of each lever."""
    if adapter.name == "simulated":
        return dict(levers)
    from . import lever_hooks

    return dict(lever_hooks.observe(adapter, training, levers))


def conclude(job: dict[str, Any], adapter: frameworks.Adapter, recorder: Recorder, training: Any) -> dict[str, Any]:
    """Make the last message: what was seen of the program once it had run."""
    recorder.anchor = "none"  # the gate stays open while the levers are looked at
    observed = observe(adapter, training, job.get("levers", {}))
    observed["debug_flags"] = adapter.facts()["debug_flags"]
    return {
        "msg": "done",
        "objects": recorder.objects,
        "observed": observed,
        "flop_per_sample": getattr(training, "flop_per_sample", None),
        "samples_per_step": training.samples_per_step,
        "parameters": training.parameters,
        "devices": adapter.devices(),
    }


def load(adapter: frameworks.Adapter) -> None:
    """Import the framework.

    Raises:
        MissingFrameworkError: If it is not installed, or broken.
    """
    try:
        adapter.load()
    except (ImportError, OSError) as error:  # a shared library that is not there is an OSError
        raise MissingFrameworkError(str(error)) from error


def check_device(adapter: frameworks.Adapter, device: str) -> None:
    """Stop early when the device is not there.

    Raises:
        MissingDeviceError: With the reason code of the framework's own answer.
    """
    answers = adapter.devices()
    kind = device.partition(":")[0]
    for answer in answers:
        if answer["available"] and device in _names(answer):
            return
    for answer in answers:
        if answer["kind"] == kind and not answer["available"]:
            raise MissingDeviceError(answer["reason"])
    raise MissingDeviceError("no_device" if any(answer["kind"] == kind for answer in answers) else "unknown_device")


def _names(answer: dict[str, Any]) -> tuple[str, ...]:
    """What one device may be called: its kind alone, and an only accelerator also by number."""
    name, kind = str(answer["name"]), str(answer["kind"])
    return (name, kind) if kind == "cpu" or ":" in name else (name, f"{name}:0")


def build(job: dict[str, Any], adapter: frameworks.Adapter, fault: Fault) -> Any:
    """Build the workload the job names, for the job's framework.

    Raises:
        UnsupportedError: If there is no such workload, or it lacks this framework or data mode.
    """
    if adapter.name == "simulated":
        from .frameworks import simulated

        assert isinstance(adapter, simulated.Adapter)
        return simulated.Training(adapter, job.get("levers", {}), fault)
    from . import workloads

    workload = workloads.find(job["workload"], file=job.get("workload_file"))
    request = workloads.Request(
        adapter=adapter,
        device=job.get("device", "cpu"),
        data_mode=job.get("data_mode", "real"),
        data_dir=job.get("data_dir"),
        cache_dir=job.get("cache_dir"),
        seed=int(job.get("seed", 0)),
        levers=job.get("levers", {}),
    )
    training = workload.build(adapter.name, request)
    training.flop_per_sample = workload.flop_per_sample(request.levers)
    return training


def calibrate(job: dict[str, Any], channel: Channel, adapter: Optional[frameworks.Adapter]) -> None:
    """Measure the ceilings of this device: matrix product per dtype, and memory traffic."""
    from . import calibrate as calibration

    assert adapter is not None
    load(adapter)
    device = job.get("device", "cpu")
    check_device(adapter, device)
    threads = int(job.get("levers", {}).get("threads") or adapter.get_threads())
    adapter.set_threads(threads)
    ceilings = calibration.ceilings(adapter, device, threads, tuple(job.get("dtypes", ("fp32",))))
    channel.send({"msg": "calibration", "ceilings": ceilings, "framework": adapter.facts()})


def facts(job: dict[str, Any], channel: Channel, adapter: Optional[frameworks.Adapter]) -> None:
    """Answer what this interpreter's framework can use, and why not."""
    assert adapter is not None
    watch = Stopwatch()
    try:
        watch.time("import_s", lambda: load(adapter))
    except MissingFrameworkError as error:
        answer: dict[str, Any] = {"installed": False, "reason": "not_installed", "text": str(error)[:500]}
    else:
        answer = {"installed": True, "facts": adapter.facts(), "devices": adapter.devices(), **watch.parts}
    channel.send({"msg": "facts", "frameworks": {adapter.name: answer}})


ACTIONS: dict[str, Callable[[dict[str, Any], Channel, Optional[frameworks.Adapter]], None]] = {
    "train": train,
    "calibrate": calibrate,
    "facts": facts,
}
