"""The built-in LeNet training as plain Python: no probe, no gate, no parent.

``plain_training.py FRAMEWORK STEPS [profiler]`` is called by benchmarks/overhead.py, which compares the whole command
with the same number of steps under Pacenote.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from typing import Any

from programs.child_run import CACHE

from pacenote.child import frameworks, workloads


class Enough(BaseException):
    """Ends the endless loop."""


def main() -> None:
    """Train for so many steps."""
    framework, steps = sys.argv[1], int(sys.argv[2])
    adapter = frameworks.create(framework)
    adapter.load()
    adapter.set_threads(1)
    request = workloads.Request(
        adapter=adapter, device="cpu", data_mode="real", data_dir=None, cache_dir=str(CACHE), seed=0,
        levers={"batch_size": 32},
    )  # fmt: skip
    training = workloads.find("lenet").builders[framework](request)
    left = [steps]

    def count(*_: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Enough

    with ExitStack() as stack:
        if framework == "pytorch":
            from torch.optim.optimizer import register_optimizer_step_post_hook

            register_optimizer_step_post_hook(count)
            if "profiler" in sys.argv[3:]:
                import torch

                stack.enter_context(torch.profiler.profile())
        else:
            import paddle

            clear = paddle.optimizer.Optimizer.clear_grad

            def clear_and_count(optimizer: Any, *args: Any, **kwargs: Any) -> None:
                clear(optimizer, *args, **kwargs)
                count()

            paddle.optimizer.Optimizer.clear_grad = clear_and_count
        with suppress(Enough):
            training.run()


if __name__ == "__main__":
    main()
