"""How levers go round a root module's forward pass: its class is patched, and only its roots are changed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Around = Callable[[Any, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""Called with the module, its own bound forward, and the arguments, in place of the forward."""


def go_round(outside: Any, module: Any, around: Around) -> None:
    """Put ``around`` in place of the forward of one module.

    The class keeps the patch and the module nothing, so that it is saved and copied as it was.
    """
    cls = type(module)
    table: dict[int, list[Around]] = outside.forwards.setdefault(cls, {})
    if not table:
        outside.patches.set(cls, "forward", _chained(cls.forward, table))
    table.setdefault(id(module), []).append(around)


def _chained(original: Callable[..., Any], table: dict[int, list[Around]]) -> Callable[..., Any]:
    @functools.wraps(original)
    def forward(module: Any, *args: Any, **kwargs: Any) -> Any:
        call: Callable[..., Any] = functools.partial(original, module)
        for around in table.get(id(module), ()):
            call = functools.partial(_call, around, module, call)
        return call(*args, **kwargs)

    return forward


def _call(around: Around, module: Any, inner: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return around(module, inner, args, kwargs)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Nested tuples, lists and dicts with every leaf changed; other containers stay as they are."""
    if type(value) is dict:
        return {key: mapped(one, change) for key, one in value.items()}
    if type(value) in (tuple, list):
        return type(value)(mapped(one, change) for one in value)
    return change(value)
