"""What each data mode of LeNet trains on, in PyTorch, with a data set of a few items."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pacenote.child import data, lever_hooks, workloads
from pacenote.child.data.cifar10 import Cifar10Bytes
from pacenote.child.data.layout import RECORD_BYTES
from pacenote.child.errors import UnsupportedError
from pacenote.child.workloads import Request, Training

pytestmark = pytest.mark.torch

ITEMS = 24


class Adapter:
    """As much of an adapter as is looked at."""

    name = "pytorch"

    def get_threads(self) -> int:
        return 1


class Enough(BaseException):
    """Ends the loop."""


@pytest.fixture(autouse=True)
def _few_items(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    records = bytearray()
    for item in range(ITEMS):
        records += bytes([item % 10]) + bytes([item * 10]) * (RECORD_BYTES - 1)
    monkeypatch.setattr(data, "load", lambda data_dir, cache_dir: Cifar10Bytes(records, {"source": "test"}))


def build(data_mode: str, **levers: Any) -> Training:
    return workloads.find("lenet").build("pytorch", Request(Adapter(), data_mode=data_mode, levers=levers))


@pytest.fixture
def inputs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What each forward pass gets; the fourth ends the training."""
    import torch

    seen: list[Any] = []

    def before(module: Any, arguments: Any) -> None:
        if type(module).__name__ == "LeNet":
            if len(seen) == 4:
                raise Enough
            seen.append(arguments[0].clone())

    handle = torch.nn.modules.module.register_module_forward_pre_hook(before)
    yield seen
    handle.remove()


@pytest.mark.parametrize("pipeline", ["tutorial", "batched"])
@pytest.mark.parametrize(("data_mode", "same"), [("device", True), ("real", False)])
def test_one_batch_for_ever_or_another_each_step(data_mode: str, same: bool, pipeline: str, inputs: list[Any]) -> None:
    import torch

    training = build(data_mode, batch_size=8, pipeline=pipeline)
    with pytest.raises(Enough):
        training.run()
    assert [tuple(batch.shape) for batch in inputs] == [(8, 3, 32, 32)] * 4
    assert all(torch.equal(inputs[0], batch) for batch in inputs[1:]) is same


def test_the_loader_mode_has_no_model_and_goes_through_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    training = build("loader", batch_size=8)
    taken: list[int] = []

    def epoch(loader: Any) -> Iterator[int]:
        for number in range(3):
            taken.append(number)
            if len(taken) == 8:
                raise Enough
            yield number

    assert (training.model, training.parameters, training.samples_per_step) == (None, 0, 8)
    monkeypatch.setattr(type(training.loader), "__iter__", epoch)
    with pytest.raises(Enough):
        training.run()
    assert taken == [0, 1, 2, 0, 1, 2, 0, 1]


@pytest.mark.parametrize(
    ("data_mode", "levers"),
    [
        ("real", {"batch_size": 8, "pipeline": "batched", "memory_format": "channels_last"}),
        ("real", {"batch_size": 4, "pipeline": "tutorial", "memory_format": "default"}),
        ("device", {"batch_size": 2, "memory_format": "channels_last", "width": 2.0, "depth": 3}),
        ("loader", {"batch_size": 8, "pipeline": "batched", "loader_workers": 0}),
    ],
    ids=str,
)
def test_every_lever_asked_is_seen(data_mode: str, levers: dict[str, Any]) -> None:
    seen = lever_hooks.observe(Adapter(), build(data_mode, **levers), levers)
    assert {name: seen[name] for name in levers} == levers


def test_a_batch_larger_than_the_data_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"a batch of 25 is larger than the data set \(24 items\)"):
        build("real", batch_size=ITEMS + 1)


def test_torchvisions_own_transforms_are_used_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torchvision of three lines: the record says whose transforms ran."""
    image = pytest.importorskip("PIL.Image")
    from pacenote.child.data import pytorch

    vision: Any = types.ModuleType("torchvision")
    vision.__version__ = "0.99"
    vision.transforms = SimpleNamespace(
        Compose=lambda steps: lambda picture: [step(picture) for step in steps],
        ToTensor=lambda: lambda picture: picture.size,
        Normalize=lambda mean, std: lambda picture: (mean, std),
    )
    monkeypatch.setitem(sys.modules, "torchvision", vision)
    dataset = pytorch.Cifar10(data.load(None, None))
    assert dataset.transforms == "torchvision 0.99"
    picture, label = dataset[3]
    assert picture == [(32, 32), ((0.5,) * 3, (0.5,) * 3)]
    assert label == 3
    assert image is not None


@pytest.mark.parametrize("error", [RuntimeError("operator torchvision::nms does not exist"), OSError("no libtorch.so")])
def test_a_torchvision_that_does_not_fit_is_passed_over(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    from pacenote.child.data import pytorch

    class Broken:
        def find_spec(self, name: str, *_: Any) -> None:
            if name == "torchvision":
                raise error

    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    assert pytorch.Cifar10(data.load(None, None)).transforms in ("pillow", "torch")
