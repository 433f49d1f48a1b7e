"""An independent witness of a training script: counts its optimizer steps and takes a fingerprint of its weights.

Stands in ``PYTHONPATH`` of a script that benchmarks/scripts.py runs with and without Pacenote, the same both times. It
shares nothing with Pacenote: PyTorch's own hook after every optimizer step, and Paddle's ``_apply_optimize``. It also
seeds the generators of scripts that do not, ends a script whose length nobody can choose, and lets stand-in files pass
for the data sets that a script would download.

Environment: ``WITNESS_FOLDER`` is where each process leaves ``<pid>.json``; ``WITNESS_STEPS`` is the step (of the
optimizer that steps least often) after which the script is ended; without ``WITNESS_FOLDER`` nothing happens.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import importlib.util
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("WITNESS_FOLDER", "")
LAST_STEP = int(os.environ.get("WITNESS_STEPS") or 0)


class Witness:
    """What one process did."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.framework = ""
        self.optimizers: dict[int, Any] = {}
        self.steps: dict[int, int] = {}
        self.after: dict[str, Any] = {"torch": self.torch, "paddle": self.paddle}
        self.after["torchvision.datasets.utils"] = trust_files
        self.after["paddle.dataset.common"] = trust_downloads

    def torch(self, torch: Any) -> None:
        """Seed, and count every step of every optimizer by PyTorch's own hook."""
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self.framework = "pytorch"
        seed()
        torch.manual_seed(0)
        register_optimizer_step_post_hook(lambda optimizer, args, options: self.stepped(optimizer))

    def paddle(self, paddle: Any) -> None:
        """Seed, and count what ``step`` and ``minimize`` both end in."""
        self.framework = "paddle"
        seed()
        paddle.seed(0)
        base = paddle.optimizer.Optimizer
        apply = base._apply_optimize

        def counted(optimizer: Any, *args: Any, **options: Any) -> Any:
            result = apply(optimizer, *args, **options)
            self.stepped(optimizer)
            return result

        base._apply_optimize = counted

    def stepped(self, optimizer: Any) -> None:
        """One more step; ends the script when it was the last one wanted."""
        key = id(optimizer)
        self.optimizers[key] = optimizer  # kept, so that its id stays its own
        self.steps[key] = self.steps.get(key, 0) + 1
        if LAST_STEP and self.steps[key] >= LAST_STEP and self.steps[key] == min(self.steps.values()):
            raise SystemExit(0)

    def leave(self) -> None:
        """Write what was seen, if this process trained."""
        if os.getpid() != self.pid or not self.framework:
            return
        digest, count = self.weights()
        if not self.steps and not count:
            return
        told = {
            "framework": self.framework,
            "rank": int(os.environ.get("RANK", os.environ.get("PADDLE_TRAINER_ID", 0))),
            "steps": sorted(self.steps.values()),
            "weights": digest,
            "tensors": count,
        }
        Path(FOLDER, f"{self.pid}.json").write_text(json.dumps(told), encoding="utf-8")

    def weights(self) -> tuple[str, int]:
        """Fingerprint of all weights that were optimized; of all modules where nothing was."""
        digest, count = hashlib.sha256(), 0
        for tensor in self.tensors():
            tensor = tensor.detach().cpu().double() if self.framework == "pytorch" else tensor.astype("float64")
            digest.update(tensor.numpy().tobytes())
            count += 1
        return digest.hexdigest()[:16], count

    def tensors(self) -> list[Any]:
        """The weights, in the order of the optimizers' first steps."""
        found = []
        for optimizer in self.optimizers.values():
            groups = optimizer.param_groups if self.framework == "pytorch" else [{"params": optimizer._parameter_list}]
            for group in groups:
                params = group["params"]
                found += list(params) if isinstance(params, (list, tuple)) else [params]
        if found or self.framework != "pytorch":
            return found
        import torch

        modules = [one for one in gc.get_objects() if isinstance(one, torch.nn.Module)]
        held = {id(child) for module in modules for child in module.children()}
        roots = [module for module in modules if id(module) not in held]
        named = sorted((repr(root), root) for root in roots if any(True for _ in root.parameters()))
        return [parameter for _, root in named for parameter in root.parameters()]


def seed() -> None:
    """Seed what a script may draw from."""
    random.seed(0)
    try:
        import numpy as np

        np.random.seed(0)
    except ImportError:
        pass


def trust_files(utils: Any) -> None:
    """A file that is there is the right one: stand-ins have other checksums than the data sets they stand for."""
    utils.check_integrity = lambda path, md5=None: os.path.isfile(path)


def trust_downloads(common: Any) -> None:
    """The same for Paddle, whose files lie in its cache folder."""
    download = common.download

    def kept(url: str, module_name: str, md5sum: str, save_name: str | None = None) -> Any:
        path = os.path.join(common.DATA_HOME, module_name, save_name or url.split("/")[-1])
        return path if os.path.exists(path) else download(url, module_name, md5sum, save_name)

    common.download = kept


class Finder:
    """Calls back after the import of a module."""

    def __init__(self, after: dict[str, Any]) -> None:
        self.after = dict(after)

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


if FOLDER:
    witness = Witness()
    sys.meta_path.insert(0, Finder(witness.after))  # type: ignore[arg-type]
    atexit.register(witness.leave)
