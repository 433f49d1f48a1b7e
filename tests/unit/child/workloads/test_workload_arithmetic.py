"""Parameters and FLOP by formula, against the published figures and PyTorch's own counter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pacenote.child import workloads
from pacenote.child.workloads import lenet, simplenet

LEVERS = [{}, {"width": 2.0}, {"depth": 3}, {"width": 0.3, "depth": 2}]


class Stub:
    """As much of an adapter as a builder looks at."""

    name = "pytorch"


class Enough(BaseException):
    """Ends the loop."""


def test_lenet_is_the_articles_network() -> None:
    assert lenet.parameters({}) == 62_006
    assert lenet.flop_per_sample({}) == pytest.approx(3.205e6, rel=1e-3)


def test_simplenet_is_the_articles_network() -> None:
    assert simplenet.parameters({}) == 784 * 512 + 512 + 512 * 10 + 10
    assert 64 * simplenet.flop_per_sample({}) == pytest.approx(104.7e6, rel=1e-3)


def test_width_never_reaches_zero_units() -> None:
    assert simplenet.sizes({"width": 1e-6}) == [784, 1, 10]
    assert lenet.channels({"width": 1e-6}) == (1, 1)


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("cache"))


@pytest.mark.torch
@pytest.mark.parametrize("levers", LEVERS, ids=str)
@pytest.mark.parametrize("name", ["lenet", "simplenet"])
def test_the_formulas_agree_with_pytorch(name: str, levers: dict[str, Any], stand_in: str) -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    batch = 8
    workload = workloads.find(name)
    asked = {**levers, "batch_size": batch, "pipeline": "batched"}
    training = workload.build(
        "pytorch", workloads.Request(Stub(), cache_dir=stand_in, levers=asked, data_mode="device")
    )
    assert training.parameters == training.expected_parameters == workload.parameters(levers)
    with FlopCounterMode(display=False) as counter, one_step(torch):
        training.run()
    assert counter.get_total_flops() == batch * workload.flop_per_sample(levers)


class one_step:  # noqa: N801 - reads as a context manager
    """Ends the endless loop after the first optimizer step."""

    def __init__(self, torch: Any) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self.handle = register_optimizer_step_post_hook(self.stop)

    @staticmethod
    def stop(*_: Any) -> Iterator[None]:
        raise Enough

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        self.handle.remove()
        return kind is Enough
