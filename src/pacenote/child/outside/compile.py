"""The root model compiled with ``torch.compile``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..forwards import go_round
from . import NotApplicable, Outside


def apply(outside: Outside, value: Any) -> None:
    """Compile each root's forward at its first call.

    Raises:
        NotApplicable: In PaddlePaddle, or where torch.compile has no backend that works.
    """
    if value != "on":
        return
    if outside.framework != "pytorch":
        raise NotApplicable("not_in_this_framework")
    torch = outside.module

    def on_root(module: Any, _device: str) -> None:
        if type(module).__name__ == "OptimizedModule":
            outside.refuse("compile", "compiled_already")
            return
        compiled: list[Callable[..., Any]] = []

        def around(_root: Any, inner: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not compiled:
                compiled.append(torch.compile(inner))
            try:
                result = compiled[0](*args, **kwargs)
            except Exception as error:  # whatever the compiler cannot do runs as it was
                if compiled[0] is inner:
                    raise
                outside.refuse("compile", "compiler_failed")
                outside.failure = f"{type(error).__name__}: {error}"[:500]
                outside.counts.pop("compile", None)
                compiled[0] = inner
                return inner(*args, **kwargs)
            if compiled[0] is not inner:
                outside.count("compile")
            return result

        go_round(outside, module, around)

    outside.on_root.append(on_root)


def seen(outside: Outside) -> Any:
    """Whether the compiled forward ran, and compiled anything."""
    if outside.framework != "pytorch":
        return None
    return "on" if outside.counts.get("compile") else "off"
