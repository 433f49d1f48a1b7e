"""The built-in workloads: what is trained, with a builder per framework.

A module of this folder that holds ``WORKLOAD`` is one workload. Importing it needs the standard library only;
a builder imports its framework when called, and is written as a user of that framework would write the script:
no timer, no call to the probe.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from typing import Any, Callable

from ..errors import UnsupportedError

DATA_MODES = ("real", "device", "loader")


class Request:
    """What a builder is asked for.

    Args:
        adapter: The framework adapter (``name``, ``seed`` …) that was loaded.
        device: Device in the framework's own words: ``"cpu"``, ``"cuda:0"``, ``"gpu:0"``.
        data_mode: ``"real"``, ``"device"`` (one batch, already there) or ``"loader"`` (no training).
        data_dir: Folder of the user's data set, or ``None`` for the stand-in.
        cache_dir: Where the stand-in is kept, or ``None`` for the user's cache folder.
        seed: Seed of weights and order.
        levers: Lever name to value; an absent lever means its default.
    """

    def __init__(
        self,
        adapter: Any,
        device: str = "cpu",
        *,
        data_mode: str = "real",
        data_dir: str | None = None,
        cache_dir: str | None = None,
        seed: int = 0,
        levers: dict[str, Any] | None = None,
    ) -> None:
        self.adapter = adapter
        self.device = device
        self.data_mode = data_mode
        self.data_dir = data_dir
        self.cache_dir = cache_dir
        self.seed = seed
        self.levers = dict(levers or {})

    def lever(self, name: str, default: Any) -> Any:
        """Value of one lever."""
        value = self.levers.get(name)
        return default if value is None else value


class Training:
    """A training that is ready to run.

    Attributes:
        run: Runs ordinary training code for ever; something outside ends it with an exception.
        samples_per_step: Items in one step (every step is a full batch).
        data: What the input is: source, items, transforms …
        model: The root module; ``None`` in data mode ``"loader"``.
        parameters: Trainable parameters counted in the live model.
        expected_parameters: The same by the workload's formula for the levers asked; equal exactly when width
            and depth took effect.
        loader: The framework's loader, if there is one.
    """

    def __init__(
        self,
        run: Callable[[], None],
        *,
        samples_per_step: int,
        data: dict[str, Any],
        model: Any = None,
        parameters: int = 0,
        expected_parameters: int = 0,
        loader: Any = None,
    ) -> None:
        self.run = run
        self.samples_per_step = samples_per_step
        self.data = data
        self.model = model
        self.parameters = parameters
        self.expected_parameters = expected_parameters
        self.loader = loader
        self.flop_per_sample: float | None = None  # by the workload's formula for the levers asked, set after building


class Workload:
    """One workload.

    Attributes:
        name: What users type.
        builders: Framework name to ``build(Request) -> Training``.
        defaults: Lever name to the values a plain ``pacenote run`` uses; the first is the baseline.
        axes: Names of the levers that apply.
        data_modes: The data modes it has.
        flop_per_sample: ``fn(levers)``: FLOP of one training sample, forward and backward, matrix products and
            convolutions only, two FLOP a multiply-add.
        parameters: ``fn(levers)``: number of trainable parameters.
        articles: Which of the published measurements it repeats (keys of docs/articles.md).
    """

    def __init__(
        self,
        name: str,
        builders: dict[str, Callable[[Request], Training]],
        *,
        defaults: dict[str, list[Any]],
        axes: tuple[str, ...],
        flop_per_sample: Callable[[dict[str, Any]], float],
        parameters: Callable[[dict[str, Any]], int],
        data_modes: tuple[str, ...] = DATA_MODES,
        articles: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.builders = builders
        self.defaults = defaults
        self.axes = axes
        self.flop_per_sample = flop_per_sample
        self.parameters = parameters
        self.data_modes = data_modes
        self.articles = articles

    def build(self, framework: str, request: Request) -> Training:
        """Build the training for one framework.

        Raises:
            UnsupportedError: If this workload has no such builder, data mode or lever.
        """
        if framework not in self.builders:
            raise UnsupportedError(f"{self.name} is not written for {framework}; it has {sorted(self.builders)}.")
        if request.data_mode not in self.data_modes:
            raise UnsupportedError(f"{self.name} has no data mode {request.data_mode!r}; it has {self.data_modes}.")
        return self.builders[framework](request)


def layer_sizes(widths: list[int]) -> list[tuple[int, int]]:
    """Inputs and outputs of each fully connected layer, from the widths between them."""
    return [(widths[at], widths[at + 1]) for at in range(len(widths) - 1)]


def names() -> tuple[str, ...]:
    """Names of the built-in workloads, sorted."""
    return tuple(sorted(_scan()))


def find(name: str, file: str | None = None) -> Workload:
    """Return the workload called ``name``: a built-in one, or the one that ``file`` holds.

    Args:
        name: What users type.
        file: A third party's Python file with a module-level ``WORKLOAD``.

    Raises:
        UnsupportedError: If there is none.
    """
    if file is not None:
        return _from_file(name, file)
    found = _scan()
    if name not in found:
        raise UnsupportedError(f"unknown workload {name!r}; known: {', '.join(sorted(found))}.")
    return found[name]


def _scan() -> dict[str, Workload]:
    found: dict[str, Workload] = {}
    for module in pkgutil.iter_modules(__path__):
        workload = getattr(importlib.import_module(f"{__name__}.{module.name}"), "WORKLOAD", None)
        if workload is not None:
            found[workload.name] = workload
    return found


def _from_file(name: str, file: str) -> Workload:
    spec = importlib.util.spec_from_file_location(f"pacenote_workload_{name}", file)
    if spec is None or spec.loader is None or not os.path.isfile(file):
        raise UnsupportedError(f"workload {name!r}: {file} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    workload = getattr(module, "WORKLOAD", None)
    if workload is None or workload.name != name:
        raise UnsupportedError(f"{file} holds no WORKLOAD called {name!r}.")
    return workload  # type: ignore[no-any-return]  # a third party's object, used by its attributes
