"""Both pipelines of both frameworks hand out the same numbers, each item once an epoch, in the layout asked for."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

import pytest

from pacenote.child.data.cifar10 import Cifar10Bytes
from pacenote.child.data.layout import RECORD_BYTES
from pacenote.child.errors import UnsupportedError
from pacenote.child.workloads import Request

ITEMS = 50


def source() -> Cifar10Bytes:
    """Records whose pixels tell item, plane and position apart."""
    records = bytearray()
    for item in range(ITEMS):
        records.append(item % 10)
        records += bytes((item * 5 + at * 7) % 256 for at in range(RECORD_BYTES - 1))
    return Cifar10Bytes(records, {"source": "test"})


def request(**levers: Any) -> Request:
    return Request(None, levers=levers)


@pytest.fixture(params=["pillow", "torch"])
def transforms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The tutorial's transforms with and without Pillow; torchvision is kept out of both."""
    pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "torchvision", None)
    if request.param == "torch":
        monkeypatch.setitem(sys.modules, "PIL", None)
    else:
        pytest.importorskip("PIL")
    return str(request.param)


@pytest.mark.torch
def test_the_tutorials_item_is_scaled_to_one_and_minus_one(transforms: str) -> None:
    import torch

    from pacenote.child.data import pytorch

    loader, facts = pytorch.loader(request(), source(), 8)
    assert facts["transforms"] == transforms
    image, label = loader.dataset[3]
    pixels = torch.frombuffer(source().records, dtype=torch.uint8).view(ITEMS, RECORD_BYTES)[3, 1:].view(3, 32, 32)
    assert label == 3
    assert torch.allclose(image, pixels.float() / 127.5 - 1, atol=1e-6)


@pytest.mark.torch
@pytest.mark.parametrize("memory_format", ["default", "channels_last"])
def test_a_whole_batch_equals_its_items(memory_format: str) -> None:
    torch = pytest.importorskip("torch")
    from pacenote.child.data import pytorch

    items, _ = pytorch.loader(request(), source(), 8)
    batches, facts = pytorch.loader(request(pipeline="batched", memory_format=memory_format), source(), 8)
    indices = torch.tensor([7, 0, 49])
    images, labels = batches.dataset[indices]
    assert facts["transforms"] == "whole batches"
    assert torch.allclose(images, torch.stack([items.dataset[int(index)][0] for index in indices]), atol=1e-6)
    assert labels.tolist() == [7, 0, 9]
    assert labels.dtype == torch.int64
    assert images.is_contiguous(memory_format=torch.channels_last) is (memory_format == "channels_last")


@pytest.mark.torch
@pytest.mark.parametrize("pipeline", ["tutorial", "batched"])
def test_an_epoch_has_full_batches_of_different_items_in_a_new_order(pipeline: str) -> None:
    torch = pytest.importorskip("torch")
    from pacenote.child.data import pytorch

    torch.manual_seed(0)
    loader, _ = pytorch.loader(request(pipeline=pipeline), source(), 8)
    epochs = [[image for images, _ in loader for image in images] for _ in range(2)]
    assert [len(epoch) for epoch in epochs] == [ITEMS // 8 * 8] * 2
    first_pixels = {image[0, 0, 0].item() for image in epochs[0]}
    assert len(first_pixels) == len(epochs[0]), "the first pixel tells every item apart"
    assert not torch.equal(torch.stack(epochs[0]), torch.stack(epochs[1]))


@pytest.mark.torch
@pytest.mark.parametrize("pipeline", ["tutorial", "batched"])
def test_a_batch_larger_than_the_data_is_refused(pipeline: str) -> None:
    """Without the refusal the endless loop over an empty loader would spin for ever."""
    pytest.importorskip("torch")
    from pacenote.child.data import pytorch

    with pytest.raises(UnsupportedError, match=r"a batch of 51 is larger than the data set \(50 items\)"):
        pytorch.loader(request(pipeline=pipeline), source(), 51)


PADDLE = """
import json, sys
import numpy as np, paddle
sys.path.insert(0, sys.argv[1])
from test_loaders import ITEMS, request, source
from pacenote.child.data import paddle as loaders
from pacenote.child.errors import UnsupportedError

found = {}
pixels = np.frombuffer(source().records, dtype=np.uint8).reshape(ITEMS, -1)[:, 1:].reshape(-1, 3, 32, 32) / 127.5 - 1
for layout in ("default", "channels_last"):
    truth = pixels if layout == "default" else pixels.transpose(0, 2, 3, 1)
    tutorial, _ = loaders.loader(request(memory_format=layout), source(), 8)
    image, label = tutorial.dataset[3]
    found[f"item {layout}"] = bool(np.allclose(image, truth[3], atol=1e-6)) and int(label) == 3
    batched, facts = loaders.loader(request(memory_format=layout, pipeline="batched"), source(), 8)
    images, labels = batched.dataset[np.array([7, 0, 49])]
    found[f"batch {layout}"] = bool(np.allclose(images, truth[[7, 0, 49]], atol=1e-6)) and labels.tolist() == [7, 0, 9]
    for name, loader in (("tutorial", tutorial), ("batched", batched)):
        epochs = [[batch[0].numpy() for batch in loader] for _ in range(2)]
        found[f"full batches {name} {layout}"] = {batch.shape[0] for batch in epochs[0]} == {8} and len(epochs[0]) == 6
        found[f"new order {name} {layout}"] = not np.array_equal(np.concatenate(epochs[0]), np.concatenate(epochs[1]))
        found[f"layout {name} {layout}"] = epochs[0][0].shape == (8, *truth.shape[1:])
for pipeline in ("tutorial", "batched"):
    try:
        loaders.loader(request(pipeline=pipeline), source(), 51)
    except UnsupportedError:
        found[f"too large {pipeline}"] = True
print(json.dumps(found))
"""


@pytest.mark.paddle
def test_paddles_loaders_do_the_same() -> None:
    """In a process of its own: importing paddle warns, and it changes the process."""
    if importlib.util.find_spec("paddle") is None:
        pytest.skip("paddle is not installed")
    folder = __file__.rpartition("/")[0]
    command = [sys.executable, "-W", "ignore", "-c", PADDLE, folder]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout.splitlines()[-1])
    assert found == dict.fromkeys(found, True)
    assert len(found) == 18
