"""Which module calls are a forward pass and which are a loss: found while the first steps run.

While looking, every module call passes through here. Afterwards only the classes of the modules that were found stay
hooked. A class is patched, never an instance: a hook on an instance would be saved with a checkpoint, or stop one from
being saved. Only the outermost call counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import events
from ..recorder import PatchSet, Recorder

LOOK_FOR_STEPS = 2

FORWARD, LOSS = "forward", "loss"
_BEGIN = {FORWARD: events.FORWARD_BEGIN, LOSS: events.LOSS_BEGIN}


class Roots:
    """Finds and hooks outermost modules.

    Args:
        recorder: Where spans go.
        patches: Where replaced attributes are noted.
        base: The framework's module class (``torch.nn.Module``, ``paddle.nn.Layer``).
        grad_enabled: Whether gradients are being recorded now.
        trainable: Whether a module has parameters that are trained; called only while looking.
        is_loss: Whether what a parameterless module returned can be differentiated; called only while looking.
    """

    def __init__(
        self,
        recorder: Recorder,
        patches: PatchSet,
        *,
        base: type,
        grad_enabled: Callable[[], bool],
        trainable: Callable[[Any], bool],
        is_loss: Callable[[Any], bool],
    ) -> None:
        self.recorder = recorder
        self.patches = patches
        self.base = base
        self.grad_enabled = grad_enabled
        self.trainable = trainable
        self.is_loss = is_loss
        self.steps_left = LOOK_FOR_STEPS
        self._found: dict[int, tuple[int, int]] = {}  # id of module → its begin and end codes
        self._classes: set[type] = set()
        self._depth = 0
        self._original: Any = base.__call__
        self.hooked: list[Any] = [self._make_looking(), self._make_hooked(self._original)]

    def look(self) -> None:
        """Route every module call through here until :meth:`step_done` was called often enough."""
        self.steps_left = LOOK_FOR_STEPS
        self.patches.set(self.base, "__call__", self.hooked[0])

    def step_done(self) -> None:
        """Count one optimizer step; after the last one, only the classes that were found stay hooked."""
        if self.steps_left > 0:
            self.steps_left -= 1
            if self.steps_left == 0:
                self.patches.unset(self.base, "__call__")
                for cls in self._classes:
                    self.patches.set(cls, "__call__", self._make_hooked(getattr(cls, "__call__", self._original)))

    def _note(self, module: Any, role: str) -> tuple[int, int]:
        index = self.recorder.index("module", module, role=role)
        begin = _BEGIN[role]
        codes = (events.code(begin, index=index), events.code(begin + 1, index=index))
        self._found[id(module)] = codes
        self._classes.add(type(module))
        return codes

    def _make_looking(self) -> Callable[..., Any]:
        original = self._original

        def looking(module: Any, *args: Any, **kwargs: Any) -> Any:
            outermost = self._depth == 0
            codes = self._found.get(id(module)) if outermost else None
            if outermost and codes is None and module.training and self.grad_enabled() and self.trainable(module):
                codes = self._note(module, FORWARD)
            self._depth += 1
            if codes is not None:
                self._stamp(codes[0])
            try:
                result = original(module, *args, **kwargs)
            finally:
                self._depth -= 1
                if codes is not None:
                    self._stamp(codes[1])
            if outermost and codes is None and self.grad_enabled() and self.is_loss(result):
                self._note(module, LOSS)
            return result

        return looking

    def _make_hooked(self, original: Callable[..., Any]) -> Callable[..., Any]:
        found = self._found

        def hooked(module: Any, *args: Any, **kwargs: Any) -> Any:
            codes = found.get(id(module)) if self._depth == 0 else None
            if codes is None:
                return original(module, *args, **kwargs)
            self._depth += 1
            self._stamp(codes[0])
            try:
                return original(module, *args, **kwargs)
            finally:
                self._stamp(codes[1])
                self._depth -= 1

        return hooked

    def _stamp(self, code: int) -> None:
        self.recorder.stamp(code if self.grad_enabled() else code & ~events.GRAD_BIT)
