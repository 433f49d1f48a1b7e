"""PaddlePaddle as the child sees it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Optional

from ..openmp import max_threads
from ..recorder import PatchSet, Recorder


class Adapter:
    """PaddlePaddle 3.0 and newer."""

    name = "paddle"

    def __init__(self) -> None:
        self.module: Any = None
        self._threads_set = 1

    def load(self) -> None:
        """Import paddle."""
        import paddle

        self.module = paddle

    def facts(self) -> dict[str, Any]:
        """Version, build and flags that change speed."""
        paddle = self.module
        return {
            "name": self.name,
            "version": str(paddle.__version__),
            # Paddle answers "False" (a string) where it was built without.
            "build": {
                name: None if answer == "False" else answer
                for name, answer in (("cuda", str(paddle.version.cuda())), ("cudnn", str(paddle.version.cudnn())))
            },
            "threads": self.get_threads(),
            "interop_threads": None,
            "cpu_capability": None,
            "onednn": bool(paddle.is_compiled_with_onednn()) if hasattr(paddle, "is_compiled_with_onednn") else None,
            "debug_flags": self.debug_flags(),
        }

    def debug_flags(self) -> dict[str, bool]:
        """Switches that make training slower on purpose."""
        flags = {}
        for name in ("FLAGS_check_nan_inf", "FLAGS_benchmark", "FLAGS_cudnn_deterministic"):
            try:
                flags[name[len("FLAGS_") :]] = bool(self.module.get_flags(name)[name])
            except ValueError:
                continue  # this build does not have the flag
        flags["cuda_launch_blocking"] = os.environ.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0")
        return flags

    def devices(self) -> list[dict[str, Any]]:
        """The CPU, and each kind of accelerator with build, driver and device answered apart."""
        paddle = self.module
        found = [{"name": "cpu", "kind": "cpu", "available": True, "build": True, "driver": None, "reason": ""}]
        for kind, built in (("gpu", paddle.is_compiled_with_cuda()), ("xpu", paddle.is_compiled_with_xpu())):
            found.extend(self._accelerators(kind, bool(built)))
        for kind in paddle.device.get_all_custom_device_type():
            found.extend(self._accelerators(kind, True))
        return found

    def _accelerators(self, kind: str, built: bool) -> list[dict[str, Any]]:
        absent = {"name": kind, "kind": kind, "available": False, "build": built, "driver": None}
        if not built:
            return [{**absent, "reason": "build_without_device"}]
        # Being compiled for a device says nothing about its presence: count the devices.
        count = self._count(kind)
        if count == 0:
            linux_gpu = kind == "gpu" and sys.platform.startswith("linux")
            driver = os.path.exists("/proc/driver/nvidia/version") if linux_gpu else None
            return [{**absent, "driver": driver, "reason": "no_driver" if driver is False else "no_device"}]
        return [
            {
                "name": f"{kind}:{index}" if count > 1 else kind,
                "kind": kind,
                "available": True,
                "build": True,
                "driver": True,
                "model": self._model(kind, index),
                "reason": "",
            }
            for index in range(count)
        ]

    def _count(self, kind: str) -> int:
        paddle = self.module
        if kind == "gpu":
            return int(paddle.device.cuda.device_count())
        if kind == "xpu":
            return int(paddle.device.xpu.device_count())
        names = paddle.device.get_available_custom_device()
        return sum(1 for name in names if name.partition(":")[0] == kind)

    def _model(self, kind: str, index: int) -> str:
        return str(self.module.device.cuda.get_device_name(index)) if kind == "gpu" else kind

    def get_threads(self) -> int:
        """Threads of the operator pool, as its OpenMP runtime answers; Paddle itself has no getter."""
        found = max_threads()
        return found if found is not None else self._threads_set

    def set_threads(self, count: int) -> None:
        """Set the operator pool's threads. Paddle starts with one unless OMP_NUM_THREADS says otherwise."""
        self.module.base.core.set_num_threads(count)
        self._threads_set = count

    def seed(self, value: int) -> None:
        """Seed every generator, Python's and numpy's included: Paddle's sampler draws from numpy."""
        import random

        import numpy as np

        self.module.seed(value)
        np.random.seed(value)
        random.seed(value)

    def synchronize(self, device: str) -> None:
        """Wait until the device is idle."""
        if device.partition(":")[0] != "cpu":
            self.module.device.synchronize(device)

    def device_memory(self, device: str) -> Optional[dict[str, int]]:
        """What the allocator holds; None on the CPU, where Paddle does not count."""
        if device.partition(":")[0] != "gpu":
            return None
        cuda = self.module.device.cuda
        return {
            "allocated_bytes": int(cuda.memory_allocated()),
            "reserved_bytes": int(cuda.memory_reserved()),
            "peak_bytes": int(cuda.max_memory_allocated()),
        }

    def reset_peak(self, device: str) -> None:
        """Start the allocator's peak anew."""
        if device.partition(":")[0] == "gpu":
            self.module.device.cuda.reset_max_memory_allocated()

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Host MemoryError and Paddle's ResourceExhausted."""
        if isinstance(error, MemoryError):
            return True
        text = str(error)
        return "ResourceExhausted" in text or "Out of memory error" in text or "can't allocate memory" in text

    def install_probe(self, recorder: Recorder, device: str) -> PatchSet:
        """Hook loader, transfer, root forward, loss, backward and optimizer."""
        from ..probe import paddle

        return paddle.install(self.module, recorder, device)

    def attach_probe(
        self, recorder: Recorder, noticed: Callable[[Any, str], None], data_function: str = ""
    ) -> PatchSet:
        """Hook loader, transfer, root forward, loss, backward and optimizer of a running program."""
        from ..probe import paddle

        return paddle.attach(self.module, recorder, noticed, data_function)

    def ranks(self) -> dict[str, int]:
        """What ``paddle.distributed`` says, once its group exists."""
        distributed = self.module.distributed
        if not distributed.is_available() or not distributed.is_initialized():
            return {}
        return {"rank": int(distributed.get_rank()), "world_size": int(distributed.get_world_size())}
