"""Framework adapters: what the child asks of a framework, one file each.

An adapter is found by the name of its module (``pytorch``, ``paddle``, ``simulated``); the module holds a class
``Adapter``. Nothing here imports a framework before :meth:`Adapter.load`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any, Optional, Protocol

from ..recorder import PatchSet, Recorder

DeviceAnswer = dict[str, Any]


class Adapter(Protocol):
    """One framework as the child sees it."""

    name: str
    module: Any

    def load(self) -> None:
        """Import the framework. Raises ImportError when it is not installed."""
        ...

    def facts(self) -> dict[str, Any]:
        """Version, build and flags that change speed; JSON values only."""
        ...

    def devices(self) -> list[DeviceAnswer]:
        """Each kind of device with three answers: ``build``, ``driver``, ``available``, and a ``reason`` code."""
        ...

    def get_threads(self) -> int:
        """Threads of the operator pool."""
        ...

    def set_threads(self, count: int) -> None:
        """Set the operator pool's threads."""
        ...

    def seed(self, value: int) -> None:
        """Seed every generator of the framework."""
        ...

    def synchronize(self, device: str) -> None:
        """Wait until the device has done all that was queued; nothing on the CPU."""
        ...

    def device_memory(self, device: str) -> Optional[dict[str, int]]:
        """``allocated_bytes``, ``reserved_bytes``, ``peak_bytes`` of the framework's allocator; None on the CPU."""
        ...

    def reset_peak(self, device: str) -> None:
        """Start the peak anew."""
        ...

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Whether ``error`` says that host or device memory ran out."""
        ...

    def install_probe(self, recorder: Recorder, device: str) -> PatchSet:
        """Hook the framework so that training code appends to ``recorder``."""
        ...

    def attach_probe(
        self, recorder: Recorder, noticed: Callable[[Any, str], None], data_function: str = ""
    ) -> PatchSet:
        """Hook the framework inside a program of the user's.

        Args:
            recorder: Where events go.
            noticed: Told of each root module and its device when it is first called.
            data_function: Name of the function that makes batches; empty to find it.
        """
        ...

    def ranks(self) -> dict[str, int]:
        """``rank`` and ``world_size`` of this process; empty when it trains alone."""
        ...


def names() -> Iterable[str]:
    """Names of all adapters."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__))


def create(name: str) -> Adapter:
    """Make the adapter called ``name``.

    Raises:
        LookupError: If there is no such adapter.
    """
    if name not in names():
        raise LookupError(f"unknown framework {name!r}; known: {', '.join(names())}")
    adapter: Adapter = importlib.import_module(f"{__name__}.{name}").Adapter()
    return adapter
