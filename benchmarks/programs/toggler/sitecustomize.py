"""Toggles Pacenote's hooks from step to step in a script that runs under it, and notes the CPU time of each step.

Stands in ``PYTHONPATH`` of a script that benchmarks/script_overhead.py runs. ``TOGGLER_FILE`` is where the pairs go,
``TOGGLER_STEPS`` how many steps are timed; then the script is ended. Of each two steps one has hooks, in random order;
the switching lies outside the times, and both kinds of step come right after the same two changes of the classes.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

FILE = os.environ.get("TOGGLER_FILE", "")
STEPS = int(os.environ.get("TOGGLER_STEPS") or 0)
WARMUP_STEPS = 50


class Toggler:
    """Counts steps and keeps their times."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.order = random.Random(0)
        self.seen = 0
        self.hooked = True
        self.began_ns = 0
        self.times: list[tuple[bool, int]] = []

    def stepped(self) -> None:
        """A step has ended: note its time and switch for the next one."""
        now_ns = time.thread_time_ns()
        self.seen += 1
        if self.seen > WARMUP_STEPS + 1:
            self.times.append((self.hooked, now_ns - self.began_ns))
            if len(self.times) >= STEPS:
                raise SystemExit(0)
        if self.seen > WARMUP_STEPS:
            is_second = len(self.times) % 2 == 1
            self.hooked = not self.hooked if is_second else self.order.random() < 0.5
            for patches in self._patches():
                for change in (patches.off, patches.on) if self.hooked else (patches.on, patches.off):
                    change()
        self.began_ns = time.thread_time_ns()

    def _patches(self) -> list[Any]:
        attached = sys.modules.get("pacenote_child.attach")
        session = None if attached is None else attached.current
        return [] if session is None else list(session.patches.values())

    def leave(self) -> None:
        """Write the times."""
        if os.getpid() == self.pid and self.times:
            Path(FILE).write_text(json.dumps(self.times), encoding="utf-8")


def torch_loaded(torch: Any) -> None:
    """Be told of every step by PyTorch's own hook."""
    from torch.optim.optimizer import register_optimizer_step_post_hook

    torch.manual_seed(0)
    register_optimizer_step_post_hook(lambda optimizer, args, options: toggler.stepped())


def paddle_loaded(paddle: Any) -> None:
    """The same for Paddle, by what ``step`` ends in."""
    base = paddle.optimizer.Optimizer
    apply = base._apply_optimize

    def counted(optimizer: Any, *args: Any, **options: Any) -> Any:
        result = apply(optimizer, *args, **options)
        toggler.stepped()
        return result

    base._apply_optimize = counted


def trust_files(utils: Any) -> None:
    """Stand-ins have other checksums than the data sets they stand for."""
    utils.check_integrity = lambda path, md5=None: os.path.isfile(path)


class Finder:
    """Calls back after the import of a module."""

    def __init__(self) -> None:
        self.after = {"torch": torch_loaded, "paddle": paddle_loaded, "torchvision.datasets.utils": trust_files}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find the module as usual, and watch its loading."""
        if name not in self.after:
            return None
        then = self.after.pop(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            run(module)
            then(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if FILE:
    toggler = Toggler()
    sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
    atexit.register(toggler.leave)
