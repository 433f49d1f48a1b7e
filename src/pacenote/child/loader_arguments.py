"""How levers change loaders: the arguments with which a script makes them, and what is seen when one is iterated."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

Change = Callable[[dict[str, Any]], None]
"""Changes the arguments of a loader, by name, before it is made."""


class Loaders:
    """The loaders of a script.

    Args:
        outside: What the levers share.
    """

    def __init__(self, outside: Any) -> None:
        self.outside = outside
        self.changes: list[Change] = []
        self.seen: list[dict[str, Any]] = []  # one entry per iteration that began: what the iterator really has
        self._installed = False

    def change(self, change: Change) -> None:
        """Change the arguments of every loader that is made from now on."""
        self.changes.append(change)
        self._install()

    def last(self, name: str) -> Any:
        """What the latest iteration of a training loader had; ``None`` when none began."""
        return next((one[name] for one in reversed(self.seen) if one["training"] and name in one), None)

    def _install(self) -> None:
        if self._installed:
            return
        self._installed = True
        loader = self._class()
        patches = self.outside.patches
        patches.set(loader, "__init__", self._making(loader.__init__))
        patches.set(loader, "__iter__", self._beginning(loader.__iter__))

    def _class(self) -> Any:
        module = self.outside.module
        return module.utils.data.DataLoader if self.outside.framework == "pytorch" else module.io.DataLoader

    def _making(self, original: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(original)

        @functools.wraps(original)
        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - takes the place of the class's
            try:
                bound = signature.bind(loader, *args, **kwargs)
            except TypeError:
                original(loader, *args, **kwargs)  # says itself what is wrong
                return
            values = dict(bound.arguments)
            for change in self.changes:
                change(values)
            positional = values.pop("self")
            more = values.pop("kwargs", {})
            original(positional, **values, **more)

        return __init__

    def _beginning(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def __iter__(loader: Any) -> Any:  # noqa: N807 - takes the place of the class's
            iterator = original(loader)
            sampler = getattr(loader, "batch_sampler", None)
            self.seen.append(
                {
                    "training": is_training(vars(loader)),
                    "batch_size": getattr(sampler, "batch_size", None) or getattr(loader, "batch_size", None),
                    "loader_workers": len(getattr(iterator, "_workers", ())),
                    "prefetch": getattr(loader, "prefetch_factor", None),
                    "persistent_workers": self._persists(loader),
                    "pin_memory": bool(getattr(iterator, "_pin_memory", False)),
                }
            )
            return iterator

        return __iter__

    def _persists(self, loader: Any) -> bool:
        return bool(getattr(loader, "persistent_workers", getattr(loader, "_persistent_workers", False)))


def is_training(arguments: dict[str, Any]) -> bool:
    """Whether a loader is one that is trained from: it shuffles, or takes a sampler that does.

    Args:
        arguments: What it is made with, or its attributes.
    """
    if arguments.get("shuffle"):
        return True
    samplers = [arguments.get("sampler"), arguments.get("batch_sampler")]
    samplers += [getattr(one, "sampler", None) for one in samplers]
    named = [type(one).__name__ for one in samplers if one is not None]
    return any("Sequence" not in name and "Sequential" not in name and name != "BatchSampler" for name in named) or any(
        getattr(one, "shuffle", False) for one in samplers
    )


def iterates(dataset: Any) -> bool:
    """Whether a data set only iterates: workers would each read all of it, so the batches would change."""
    return not hasattr(dataset, "__getitem__") or "Iterable" in "".join(cls.__name__ for cls in type(dataset).__mro__)
