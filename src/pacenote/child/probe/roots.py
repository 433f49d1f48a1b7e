"""Which module calls are a forward pass and which are a loss: found while the first steps run.

While looking, every module call passes through here. Afterwards only the classes of the modules that were found stay
hooked. A class is patched, never an instance: a hook on an instance would be saved with a checkpoint, or stop one from
being saved. Only the outermost call counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, Protocol

from .. import events
from ..recorder import PatchSet, Recorder

LOOK_FOR_STEPS = 2

FORWARD, LOSS = "forward", "loss"
_BEGIN = {FORWARD: events.FORWARD_BEGIN, LOSS: events.LOSS_BEGIN}


class Watcher(Protocol):
    """Looks at the program while root modules are looked for."""

    def look(self) -> None:
        """Root modules are looked for from now on."""
        ...

    def stop(self) -> None:
        """They have been found."""
        ...

    def called_with(self, inputs: tuple[Any, ...]) -> None:
        """A root module is about to be called with these."""
        ...


class Roots:
    """Finds and hooks outermost modules.

    Args:
        recorder: Where spans go.
        patches: Where replaced attributes are noted.
        base: The framework's module class (``torch.nn.Module``, ``paddle.nn.Layer``).
        grad_enabled: Whether gradients are being recorded now.
        trainable: Whether a module has parameters that are trained; called only while looking.
        is_loss: Whether what a parameterless module returned can be differentiated; called only while looking.
        noticed: Told of each module whose outermost calls are found to be a forward pass.
        batch_of: Number of samples in what such a module is called with, if that can be told.
        watcher: Looks at the program meanwhile.
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
        noticed: Callable[[Any], None] = lambda module: None,
        batch_of: Callable[[tuple[Any, ...]], Optional[int]] = lambda inputs: None,
        watcher: Optional[Watcher] = None,
    ) -> None:
        self.recorder = recorder
        self.patches = patches
        self.base = base
        self.grad_enabled = grad_enabled
        self.trainable = trainable
        self.is_loss = is_loss
        self.noticed = noticed
        self.batch_of = batch_of
        self.watcher = watcher
        self.steps_left = LOOK_FOR_STEPS
        self._looking = False
        self._found: dict[int, int] = {}  # id of module → its begin code
        self._classes: set[type] = set()
        self._depth = [0]  # of hooked calls; a cell that the hooks share
        self._original: Any = base.__call__
        self.hooked: list[Any] = [self._make_looking(), self._make_hooked(self._original)]

    def look(self) -> None:
        """Route every module call through here until two more optimizer steps have ended.

        May be called again, when something new begins to train.
        """
        self.steps_left = LOOK_FOR_STEPS
        if self._looking:
            return
        for cls in self._classes:
            self.patches.unset(cls, "__call__")
        self._looking = True
        if self.watcher is not None:
            self.watcher.look()
        self.patches.set(self.base, "__call__", self.hooked[0])
        self.recorder.each_step.append(self.step_done)
        self.recorder.arm()

    def step_done(self) -> None:
        """Count one optimizer step; after the last one, only the classes that were found stay hooked."""
        if not self._looking:
            return
        self.steps_left -= 1
        if self.steps_left > 0:
            return
        self._looking = False
        self.recorder.each_step.remove(self.step_done)
        self.recorder.arm()
        if self.watcher is not None:
            self.watcher.stop()
        self.patches.unset(self.base, "__call__")
        for cls in self._classes:
            self.patches.set(cls, "__call__", self._make_hooked(getattr(cls, "__call__", self._original)))

    def _note(self, module: Any, role: str, inputs: tuple[Any, ...] = ()) -> int:
        facts = {"batch": self.batch_of(inputs)} if role == FORWARD else {}
        index = self.recorder.index("module", module, role=role, **facts)
        code = self._found[id(module)] = events.code(_BEGIN[role], index=index)
        self._classes.add(type(module))
        if role == FORWARD:
            self.noticed(module)
        return code

    def _make_looking(self) -> Callable[..., Any]:
        original, stamp, depth = self._original, self.recorder.stamp, self._depth

        def looking(module: Any, *args: Any, **kwargs: Any) -> Any:
            outermost = depth[0] == 0
            code = self._found.get(id(module)) if outermost else None
            if outermost and code is None and module.training and self.grad_enabled() and self.trainable(module):
                code = self._note(module, FORWARD, (*args, *kwargs.values()))
            if code is not None and self.watcher is not None:
                self.watcher.called_with((*args, *kwargs.values()))
            if code is not None and not self.grad_enabled():
                code &= ~events.GRAD_BIT
            depth[0] += 1
            if code is not None:
                stamp(code)
            try:
                result = original(module, *args, **kwargs)
            finally:
                depth[0] -= 1
                if code is not None:
                    stamp(code + 1)
            if outermost and code is None and self.grad_enabled() and self.is_loss(result):
                self._note(module, LOSS)
            return result

        return looking

    def _make_hooked(self, original: Callable[..., Any]) -> Callable[..., Any]:
        found, depth, grad_enabled = self._found, self._depth, self.grad_enabled
        is_loss = events.FORWARD_BEGIN ^ events.LOSS_BEGIN  # the bit that tells one from the other
        add, clock, mark = self.recorder.hot()

        def hooked(module: Any, *args: Any, **kwargs: Any) -> Any:
            code = None if depth[0] else found.get(id(module))
            if code is None:
                return original(module, *args, **kwargs)
            if not code & is_loss and not grad_enabled():  # of a loss nobody asks, and in Paddle it takes 1 µs
                code &= ~events.GRAD_BIT
            depth[0] = 1
            if mark is not None:
                mark(code)
            began_ns = clock()
            try:
                return original(module, *args, **kwargs)
            finally:
                add((code, began_ns, clock()))
                if mark is not None:
                    mark(code + 1)
                depth[0] = 0

        return hooked
