"""Batches that come from the script's own functions instead of a loader: found by themselves, or by name.

During the first steps Python's profile hook sees what every function returns. A function whose returned
tensors are what the root module is then called with made the batch; of several (one calling the other) the outermost
counts. Its *code* is exchanged for a trampoline, so it is timed wherever it is called from: by its name in a module,
as a method, or as a local function that nothing else could reach. A generator function is timed at each of its batches
from its next call on; a generator that already runs cannot be reached any more, and is only noted.
"""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Optional

from .. import events
from ..recorder import Recorder

_GENERATOR = 0x20  # inspect.CO_GENERATOR
_UNFIT = 0x80 | 0x100 | 0x200  # coroutines and asynchronous generators
_DEPTH = 3
"""How deep tensors are looked for inside what a function returned: a batch is a tuple or dict, perhaps nested once."""

_CALL = "pacenote: the call stands here"


class DataFunctions:
    """Finds and times functions that make batches.

    Args:
        recorder: Where spans go.
        address_of: Address of a tensor's memory, equal for views of one tensor; ``None`` for what is no tensor, and for
            one that a gradient flows to.
        grad_enabled: Whether gradients are being recorded now.
        base: The framework's module class; what a module computes is no batch.
        foreign: Folders whose functions are never taken: the framework's own.
        name: Function to time, by name (``get_batch``, ``Data.next``); empty to find it by what it returns.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        address_of: Callable[[Any], Optional[int]],
        grad_enabled: Callable[[], bool],
        base: type,
        foreign: Iterable[str],
        name: str = "",
    ) -> None:
        self.recorder = recorder
        self.address_of = address_of
        self.grad_enabled = grad_enabled
        own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        self.base = base
        self.own = own
        self.foreign = (*foreign, own, sysconfig.get_path("stdlib") + os.sep + "importlib")
        self.name = name
        self.found: list[types.FunctionType] = []
        self._made: dict[int, types.CodeType] = {}  # address of a tensor → the code that returned it last
        self._loaded = False  # a loader delivered: what is made of its batch is no data function
        self._wanted = self._looking = False
        self._codes: set[types.CodeType] = set()

    def look(self) -> None:
        """See what functions return, from the next call of a root module until :meth:`stop`.

        Not at once: a script may work for minutes before it trains, and every call costs more under a profile hook.
        """
        self._wanted = True
        if self.name:
            self._by_name()

    def stop(self) -> None:
        """Stop looking."""
        self._wanted = False
        if self._looking:
            self._looking = False
            if sys.getprofile() == self._returned:
                sys.setprofile(None)
            self._made.clear()

    def called_with(self, inputs: Iterable[Any]) -> None:
        """The root module is called with these; time what made them."""
        if self._wanted and not self._looking and sys.getprofile() is None:  # the script may have a hook of its own
            self._looking = True
            sys.setprofile(self._returned)
        loaded, self._loaded = self._loaded, False
        if loaded or not self._looking or self.name:
            return
        for tensor in tensors_in(inputs, self.address_of):
            code = self._made.get(tensor)
            if code is not None:
                self._take(code)

    def _returned(self, frame: types.FrameType, event: str, value: Any) -> None:
        if event != "return" or value is None:
            return
        code = frame.f_code
        if code in self._codes:  # timed already; what it called for its batch is part of that
            for address in tensors_in((value,), self.address_of):
                self._made.pop(address, None)
            return
        if self.name:
            if self.name in (code.co_name, getattr(code, "co_qualname", code.co_name)):
                self._take(code)
            return
        if code.co_name == "__next__" and code.co_filename.startswith(self.own):
            self._loaded = True  # our own hook on a loader
        if code.co_flags & _UNFIT or code.co_filename.startswith(self.foreign):
            return
        addresses = list(tensors_in((value,), self.address_of))
        if addresses and not self._is_modules(frame):
            self._made.update(dict.fromkeys(addresses, code))

    def _is_modules(self, frame: types.FrameType) -> bool:
        code = frame.f_code
        return bool(code.co_argcount) and isinstance(frame.f_locals.get(code.co_varnames[0]), self.base)

    def _by_name(self) -> None:
        """Time a function before it is called for the first time, where its module has it by name."""
        first, *rest = self.name.split(".")
        for module in (sys.modules.get("__main__"), *list(sys.modules.values())):
            owner = vars(module).get(first) if isinstance(module, types.ModuleType) else None
            for part in rest:
                owner = getattr(owner, part, None)
            if isinstance(owner, types.FunctionType) and not owner.__code__.co_filename.startswith(self.foreign):
                self._take(owner.__code__)
                return

    def _take(self, code: types.CodeType) -> None:
        if code in self._codes:
            return
        self._codes.add(code)
        for one in gc.get_referrers(code):
            if isinstance(one, types.FunctionType) and one.__code__ is code:
                self._time(one)
        if code.co_flags & _GENERATOR:
            self.recorder.objects.append({"kind": "running_generator", "name": code.co_name})

    def _time(self, function: types.FunctionType) -> None:
        """Exchange a function's code for a trampoline that times it."""
        original = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        original.__kwdefaults__ = function.__kwdefaults__
        index = self.recorder.index("data_function", function, function=function.__qualname__)
        code = events.code(events.DATA_BEGIN, False, index=index)
        if function.__code__.co_flags & _GENERATOR:
            call = self._iterating(original, code)
        else:
            call = self._calling(original, code)
        trampoline = _trampoline(function.__code__, call)
        if trampoline is not None:
            self._codes.add(trampoline)
            function.__code__ = trampoline
            self.found.append(function)

    def _calling(self, original: Callable[..., Any], code: int) -> Callable[..., Any]:
        grad_enabled = self.grad_enabled
        add, clock, mark = self.recorder.hot()

        def call(*args: Any, **kwargs: Any) -> Any:
            begin = code | (events.GRAD_BIT if grad_enabled() else 0)
            if mark is not None:
                mark(begin)
            began_ns = clock()
            try:
                return original(*args, **kwargs)
            finally:
                add((begin, began_ns, clock()))
                if mark is not None:
                    mark(begin + 1)

        return call

    def _iterating(self, original: Callable[..., Any], code: int) -> Callable[..., Any]:
        step = self._calling(next, code)

        def call(*args: Any, **kwargs: Any) -> Iterator[Any]:
            return _Timed(original(*args, **kwargs), step)

        return call


class _Timed:
    """A generator whose every batch is timed; what a generator can do besides is passed on."""

    def __init__(self, generator: Any, step: Callable[..., Any]) -> None:
        self._generator = generator
        self._step = step

    def __iter__(self) -> _Timed:
        return self

    def __next__(self) -> Any:
        return self._step(self._generator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)


def tensors_in(values: Any, address_of: Callable[[Any], Optional[int]], depth: int = _DEPTH) -> Iterator[int]:
    """Addresses of the tensors in nested tuples, lists and dicts."""
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return
    for value in values:
        address = address_of(value)
        if address is not None:
            yield address
        elif depth > 1:
            yield from tensors_in(value, address_of, depth - 1)


def _trampoline(like: types.CodeType, call: Callable[..., Any]) -> Optional[types.CodeType]:
    """Code that calls ``call`` and can take the place of ``like``; None where this interpreter cannot make it.

    A function's code must have as many free variables as its closure has cells, so the trampoline names the same ones.
    """
    free = like.co_freevars
    lines = ["def outer():"]
    lines += [f"    {name} = None" for name in free]
    lines += ["    def inner(*args, **kwargs):"]
    lines += [f"        if False: {name}" for name in free]
    lines += [f"        return {_CALL!r}(*args, **kwargs)", "    return inner"]
    space: dict[str, Any] = {}
    try:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a string is not callable: the constant is exchanged below
            exec(compile("\n".join(lines), like.co_filename, "exec"), space)
    except SyntaxError:
        return None
    code: types.CodeType = space["outer"]().__code__
    if code.co_freevars != free or _CALL not in code.co_consts:
        return None
    constants = tuple(call if constant == _CALL else constant for constant in code.co_consts)
    return code.replace(co_consts=constants, co_name=like.co_name, co_firstlineno=like.co_firstlineno)
