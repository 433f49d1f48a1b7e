"""The stand-in can be learnt: a training that learns nothing would time the same, and nobody would notice."""

from __future__ import annotations

from typing import Any

import pytest

from pacenote.child import workloads

STEPS, BATCH = 400, 32
"""A quarter of an epoch."""


class Stub:
    """As much of an adapter as a builder looks at."""

    name = "pytorch"


class Enough(BaseException):
    """Ends the loop."""


@pytest.mark.torch
def test_lenet_learns_three_in_five_within_a_quarter_epoch(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from torch.optim.optimizer import register_optimizer_step_post_hook

    torch.manual_seed(0)
    levers = {"batch_size": BATCH, "pipeline": "batched", "memory_format": "channels_last"}
    training = workloads.find("lenet").build(
        "pytorch", workloads.Request(Stub(), cache_dir=str(tmp_path), levers=levers)
    )
    hits: list[float] = []
    losses: list[float] = []
    score = torch.nn.CrossEntropyLoss.forward

    def scored(module: Any, outputs: Any, labels: Any) -> Any:
        loss = score(module, outputs, labels)
        hits.append((outputs.argmax(1) == labels).float().mean().item())
        losses.append(loss.item())
        return loss

    def stop(*_: Any) -> None:
        if len(hits) == STEPS:
            raise Enough

    monkeypatch.setattr(torch.nn.CrossEntropyLoss, "forward", scored)
    handle = register_optimizer_step_post_hook(stop)
    try:
        with pytest.raises(Enough):
            training.run()
    finally:
        handle.remove()
    assert sum(hits[-50:]) / 50 > 0.6
    assert min(losses) > 0.05, "the loss must not vanish: subnormal gradients would change the time of a step"
