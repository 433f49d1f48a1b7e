"""Optimizer hooks, the same for every framework: wrap ``step`` (and its kin) on each optimizer class.

Classes are wrapped when the first object of theirs is made, so user subclasses that do not exist yet are found too.
A subclass whose ``step`` calls its base's counts once: only the outermost call does. PyTorch has global hooks for
this, but they run inside its own wrapper, whose profiling costs would then belong to no phase.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import events
from ..recorder import PatchSet, Recorder
from .roots import Roots


class OptimizerHooks:
    """Wraps the methods of optimizer classes.

    Args:
        base: The framework's optimizer base class.
        recorder: Where spans go.
        patches: Where replaced attributes are noted.
        roots: Looks for root modules again when an optimizer steps for the first time.
        steps: Names of the methods that update weights.
        clears: Names of the methods that clear gradients.
        framework: Our name of the framework.
        ready: Whether a method of an existing class can be wrapped at once; the others are when an object is made.
    """

    def __init__(
        self,
        base: Any,
        recorder: Recorder,
        patches: PatchSet,
        roots: Roots,
        *,
        steps: tuple[str, ...],
        clears: tuple[str, ...],
        framework: str,
        ready: Callable[[Any], bool] = lambda method: True,
    ) -> None:
        self.base = base
        self.recorder = recorder
        self.patches = patches
        self.roots = roots
        self.steps = steps
        self.clears = clears
        self.framework = framework
        self.ready = ready
        self.on_hook: Callable[[Callable[..., Any]], None] = lambda hook: None  # told of each hook that is made
        self._wrapped: set[tuple[type, str]] = set()
        self._codes: dict[int, int] = {}  # id of optimizer -> its begin code
        self._depth = [0]  # of steps inside steps; a cell that the hooks share

    def install(self) -> None:
        """Wrap the classes that are ready now, and every other one when its first object is made."""
        self._wrap_tree(self.base)
        original = self.base.__init__

        @functools.wraps(original)
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - takes the place of the base's
            original(optimizer, *args, **kwargs)
            # Afterwards: PyTorch's own constructor puts a wrapper of its own on the class, and ours goes round it.
            for cls in type(optimizer).__mro__:
                if issubclass(cls, self.base):
                    self._wrap(cls)

        self.patches.set(self.base, "__init__", __init__)

    def _wrap_tree(self, cls: type) -> None:
        self._wrap(cls, self.ready)
        derived: type
        for derived in cls.__subclasses__():
            self._wrap_tree(derived)

    def _wrap(self, cls: type, ready: Callable[[Any], bool] = lambda method: True) -> None:
        for names, wrap in ((self.steps, self._stepping), (self.clears, self._clearing)):
            for name in names:
                if name in vars(cls) and (cls, name) not in self._wrapped and ready(vars(cls)[name]):
                    self._wrapped.add((cls, name))
                    hook = wrap(vars(cls)[name])
                    self.on_hook(hook)
                    self.patches.set(cls, name, hook)

    def _stepping(self, original: Callable[..., Any]) -> Callable[..., Any]:
        recorder, roots, codes = self.recorder, self.roots, self._codes
        (add, clock, mark), passed, gate, depth = recorder.hot(), recorder.passed, recorder.gate, self._depth

        @functools.wraps(original)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if depth[0]:
                return original(optimizer, *args, **kwargs)
            code = codes.get(id(optimizer))
            if code is None:
                index = recorder.index("optimizer", optimizer, framework=self.framework)
                code = codes[id(optimizer)] = events.code(events.OPTIMIZER_BEGIN, index=index)
                roots.look()  # what it trains may not have been called before
            depth[0] = 1
            if mark is not None:
                mark(code)
            began_ns = clock()
            try:
                result = original(optimizer, *args, **kwargs)
            finally:
                ended_ns = clock()
                add((code, began_ns, ended_ns))
                if mark is not None:
                    mark(code + 1)
                depth[0] = 0
            if ended_ns >= gate[0]:
                passed("optimizer", code >> events.OBJECT_SHIFT)
            return result

        return step

    def _clearing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        add, clock, mark = self.recorder.hot()
        begin, end = events.code(events.ZERO_BEGIN), events.code(events.ZERO_END)

        @functools.wraps(original)
        def clear(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if mark is not None:
                mark(begin)
            began_ns = clock()
            try:
                return original(optimizer, *args, **kwargs)
            finally:
                add((begin, began_ns, clock()))
                if mark is not None:
                    mark(end)

        return clear
