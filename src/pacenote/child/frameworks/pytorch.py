"""PyTorch as the child sees it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Optional

from ..recorder import PatchSet, Recorder

ACCELERATORS = ("cuda", "xpu", "mps", "npu")

OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "_STATUS_ALLOC_FAILED")
"""What a plain RuntimeError says: the CPU's allocator on Linux and Windows, MPS and the CUDA driver, cuBLAS, cuDNN."""


def _numbered(device: str) -> tuple[str, ...]:
    """The device as an argument, if it has a number; without one the framework's current device is meant."""
    return (device,) if ":" in device else ()


class Adapter:
    """PyTorch 2.6 and newer."""

    name = "pytorch"

    def __init__(self) -> None:
        self.module: Any = None

    def load(self) -> None:
        """Import torch."""
        import torch

        self.module = torch

    def facts(self) -> dict[str, Any]:
        """Version, build and flags that change speed."""
        torch = self.module
        return {
            "name": self.name,
            "version": str(torch.__version__),
            "build": {"cuda": torch.version.cuda, "hip": getattr(torch.version, "hip", None)},
            "cudnn": torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None,
            "threads": torch.get_num_threads(),
            "interop_threads": torch.get_num_interop_threads(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "onednn": bool(torch.backends.mkldnn.is_available()),
            "blas": "mkl" if torch.backends.mkl.is_available() else "other",
            "debug_flags": self.debug_flags(),
        }

    def debug_flags(self) -> dict[str, bool]:
        """Switches that make training slower on purpose."""
        torch = self.module
        profiling = getattr(torch._C, "_autograd", None)
        enabled = getattr(profiling, "_profiler_enabled", None)
        return {
            "anomaly_mode": bool(torch.is_anomaly_enabled()),
            "deterministic_algorithms": bool(torch.are_deterministic_algorithms_enabled()),
            "profiler": bool(enabled()) if enabled is not None else False,
            "cuda_launch_blocking": os.environ.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0"),
        }

    def devices(self) -> list[dict[str, Any]]:
        """The CPU, and each kind of accelerator with build, driver and device answered apart."""
        found = [{"name": "cpu", "kind": "cpu", "available": True, "build": True, "driver": None, "reason": ""}]
        for kind in ACCELERATORS:
            found.extend(self._accelerators(kind))
        return found

    def _accelerators(self, kind: str) -> list[dict[str, Any]]:
        torch = self.module
        built = self._is_built(kind)
        if not built:
            return [self._absent(kind, False, "build_without_device")]
        backend = getattr(torch, kind, None) or getattr(torch.backends, kind)
        if not backend.is_available():
            driver = self._driver(kind)
            return [self._absent(kind, True, "no_driver" if driver is False else "no_device", driver)]
        count = backend.device_count() if hasattr(backend, "device_count") else 1
        return [
            {
                "name": f"{kind}:{index}" if count > 1 else kind,
                "kind": kind,
                "available": True,
                "build": True,
                "driver": True,
                "model": backend.get_device_name(index) if hasattr(backend, "get_device_name") else kind,
                "reason": "",
            }
            for index in range(count)
        ]

    def _is_built(self, kind: str) -> bool:
        torch = self.module
        if kind == "cuda":
            return torch.version.cuda is not None or getattr(torch.version, "hip", None) is not None
        if kind == "mps":
            return bool(torch.backends.mps.is_built())
        if kind == "xpu":
            return bool(getattr(torch.xpu, "_is_compiled", lambda: False)())
        return hasattr(torch, kind)

    def _driver(self, kind: str) -> Optional[bool]:
        """Whether the kernel has the driver of NVIDIA's or AMD's cards; None where no file would tell."""
        if kind != "cuda" or not sys.platform.startswith("linux"):
            return None
        return os.path.exists("/dev/kfd" if self.module.version.cuda is None else "/proc/driver/nvidia/version")

    @staticmethod
    def _absent(kind: str, build: bool, reason: str, driver: Optional[bool] = None) -> dict[str, Any]:
        return {"name": kind, "kind": kind, "available": False, "build": build, "driver": driver, "reason": reason}

    def get_threads(self) -> int:
        """Threads of the operator pool."""
        return int(self.module.get_num_threads())

    def set_threads(self, count: int) -> None:
        """Set the operator pool's threads."""
        self.module.set_num_threads(count)

    def seed(self, value: int) -> None:
        """Seed the CPU's and every accelerator's generator."""
        self.module.manual_seed(value)

    def _backend(self, device: str) -> Any:
        """The module that manages an accelerator, for example ``torch.cuda``; None for the CPU."""
        kind = device.partition(":")[0]
        return None if kind == "cpu" else getattr(self.module, kind)

    def synchronize(self, device: str) -> None:
        """Wait until the device is idle."""
        backend = self._backend(device)
        if backend is not None:
            backend.synchronize(*_numbered(device))

    def device_memory(self, device: str) -> Optional[dict[str, int]]:
        """What the caching allocator holds; None on the CPU and where the backend does not say."""
        backend = self._backend(device)
        if backend is None or not hasattr(backend, "max_memory_allocated"):
            return None
        which = _numbered(device)
        return {
            "allocated_bytes": int(backend.memory_allocated(*which)),
            "reserved_bytes": int(backend.memory_reserved(*which)),
            "peak_bytes": int(backend.max_memory_allocated(*which)),
        }

    def reset_peak(self, device: str) -> None:
        """Start the allocator's peak anew."""
        backend = self._backend(device)
        if backend is not None and hasattr(backend, "reset_peak_memory_stats"):
            backend.reset_peak_memory_stats(*_numbered(device))

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Accelerator OOM, host MemoryError, and the RuntimeErrors of other allocators."""
        if isinstance(error, (MemoryError, self.module.OutOfMemoryError)):
            return True
        text = str(error) if isinstance(error, RuntimeError) else ""
        return any(words in text for words in OUT_OF_MEMORY)

    def install_probe(self, recorder: Recorder, device: str) -> PatchSet:
        """Hook loader, transfer, root forward, loss, backward and optimizer."""
        from ..probe import pytorch

        return pytorch.install(self.module, recorder, device)

    def attach_probe(
        self, recorder: Recorder, noticed: Callable[[Any, str], None], data_function: str = ""
    ) -> PatchSet:
        """Hook loader, transfer, root forward, loss, backward and optimizer of a running program."""
        from ..probe import pytorch

        return pytorch.attach(self.module, recorder, noticed, data_function)

    def ranks(self) -> dict[str, int]:
        """What ``torch.distributed`` says, once its group exists."""
        distributed = sys.modules.get("torch.distributed")
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            return {}
        return {"rank": int(distributed.get_rank()), "world_size": int(distributed.get_world_size())}
