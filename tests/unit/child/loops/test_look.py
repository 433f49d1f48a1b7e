"""Looking at a live training: what went in and out of the model, for our own workloads and for a third party's."""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pacenote.child import lever_hooks, workloads
from pacenote.child.workloads import Request, Training


class Adapter:
    """As much of an adapter as is looked at."""

    name = "pytorch"

    def get_threads(self) -> int:
        return 1


def build(name: str, levers: dict[str, Any], data_mode: str = "device") -> Training:
    return workloads.find(name).build("pytorch", Request(Adapter(), data_mode=data_mode, levers=levers))


def image_training(levers: dict[str, Any]) -> Training:
    """A small convolution in the usual loop."""
    import torch

    from pacenote.child.loops import pytorch

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.LazyLinear(10))
    batch = torch.zeros(6, 3, 8, 8), torch.zeros(6, dtype=torch.int64)
    model(batch[0])
    return pytorch.training(
        Request(Adapter(), levers=levers),
        model,
        torch.optim.SGD(model.parameters(), lr=0.1),
        itertools.repeat(batch),
        samples_per_step=6,
        data={},
        expected_parameters=0,
    )


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Lazy modules")
class TestOurs:
    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        pytest.importorskip("torch")

    @pytest.mark.parametrize("batch", [1, 5])
    @pytest.mark.parametrize("data_mode", ["real", "device"])
    def test_simplenet_in_both_data_modes(self, batch: int, data_mode: str) -> None:
        levers = {"batch_size": batch, "width": 0.125, "depth": 2}
        seen = lever_hooks.observe(Adapter(), build("simplenet", levers, data_mode), levers)
        assert {name: seen[name] for name in ("batch_size", "dtype", "width", "depth")} == {**levers, "dtype": "fp32"}
        assert seen["parameters"] == seen["expected_parameters"]
        assert "memory_format" not in seen, "nothing is convolved"
        assert "loader_workers" not in seen, "there is no loader"

    @pytest.mark.parametrize("dtype", ["fp32", "bf16"])
    def test_autocast_is_seen_in_what_comes_out(self, dtype: str) -> None:
        levers = {"batch_size": 2, "dtype": dtype, "width": 0.125}
        assert lever_hooks.observe(Adapter(), build("simplenet", levers), levers)["dtype"] == dtype

    def test_without_a_gpu_tf32_is_seen_as_fp32(self) -> None:
        from pacenote.child.loops import pytorch

        levers = {"batch_size": 2, "dtype": "tf32", "width": 0.125}
        pytorch.set_precision("tf32")
        try:
            assert lever_hooks.observe(Adapter(), build("simplenet", levers), levers)["dtype"] == "fp32"
        finally:
            pytorch.set_precision("fp32")

    @pytest.mark.parametrize("layout", ["default", "channels_last"])
    def test_the_layout_is_seen_where_the_convolution_gets_it(self, layout: str) -> None:
        from pacenote.child.loops import pytorch

        seen = pytorch.look(image_training({"memory_format": layout}))
        assert (seen["memory_format"], seen["batch_size"]) == (layout, 6)

    def test_looking_twice_sees_the_same_and_leaves_no_hook(self) -> None:
        from pacenote.child.loops import pytorch

        training = image_training({})
        assert pytorch.look(training) == pytorch.look(training)
        assert not any(part._forward_hooks or part._forward_pre_hooks for part in training.model.modules())

    def test_looking_changes_no_weight(self) -> None:
        import torch

        from pacenote.child.loops import pytorch

        training = image_training({})
        before = [weight.clone() for weight in training.model.parameters()]
        pytorch.look(training)
        after = training.model.parameters()
        assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))

    def test_an_error_in_the_loop_still_takes_the_hooks_away(self) -> None:
        from pacenote.child.loops import pytorch

        training = image_training({})

        def broken() -> None:
            raise ZeroDivisionError

        training.run = broken
        with pytest.raises(ZeroDivisionError):
            pytorch.look(training)
        assert not any(part._forward_hooks or part._forward_pre_hooks for part in training.model.modules())

    @pytest.mark.parametrize(("dtype", "scaled"), [("fp32", False), ("bf16", False), ("fp16", True)])
    def test_only_fp16_scales_its_loss(self, dtype: str, scaled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        import torch

        class Enough(BaseException):
            pass

        made: list[str] = []
        stepped: list[bool] = []

        class Scaler:
            def __init__(self, device: str) -> None:
                made.append(device)

            def scale(self, loss: Any) -> Any:
                return loss

            def step(self, optimizer: Any) -> None:
                optimizer.step()

            def update(self) -> None:
                raise Enough

        monkeypatch.setattr(torch.amp, "GradScaler", Scaler)
        training = image_training({"dtype": dtype})
        step = torch.optim.SGD.step

        def counted(optimizer: Any) -> None:
            step(optimizer)
            stepped.append(True)
            if not scaled:
                raise Enough

        monkeypatch.setattr(torch.optim.SGD, "step", counted)
        with pytest.raises(Enough):
            training.run()
        assert made == (["cpu"] if scaled else [])
        assert stepped == [True]

    @pytest.mark.parametrize(("dtype", "allowed"), [("tf32", True), ("fp32", False), ("bf16", False)])
    def test_tf32_is_allowed_exactly_when_asked_for(
        self, dtype: str, allowed: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pacenote.child.loops import pytorch

        matmul, cudnn = SimpleNamespace(allow_tf32=None), SimpleNamespace(allow_tf32=None)
        fake = SimpleNamespace(cuda=SimpleNamespace(matmul=matmul), cudnn=cudnn)
        monkeypatch.setattr(pytorch.torch, "backends", fake)
        pytorch.set_precision(dtype)
        assert (matmul.allow_tf32, cudnn.allow_tf32) == (allowed, allowed)

    @pytest.mark.parametrize(
        ("kind", "allowed", "word"), [("cuda", True, "tf32"), ("cuda", False, "fp32"), ("cpu", True, "fp32")]
    )
    def test_fp32_on_a_gpu_that_may_use_tf32_is_said_to_be_tf32(
        self, kind: str, allowed: bool, word: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pacenote.child.loops import pytorch

        switch = SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=allowed)))
        monkeypatch.setattr(pytorch.torch, "backends", switch)
        output: Any = SimpleNamespace(dtype=pytorch.torch.float32, device=SimpleNamespace(type=kind))
        assert pytorch._dtype(output) == word

    def test_a_type_without_a_short_word_is_told_in_full(self) -> None:
        import torch

        from pacenote.child.loops import pytorch

        assert pytorch._dtype(torch.zeros(1, dtype=torch.float64)) == "torch.float64"


def _third_party(forward: Callable[..., Any], call: Callable[[Any], Any]) -> Training:
    import torch

    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return forward(*args, **kwargs)

    model = Model()

    def run() -> None:
        while True:
            call(model)

    return Training(run, samples_per_step=4, data={}, model=model)


@pytest.mark.torch
class TestThirdParties:
    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        pytest.importorskip("torch")

    def test_a_model_that_takes_keywords_and_answers_with_a_dict(self) -> None:
        import torch

        from pacenote.child.loops import pytorch

        batch = torch.zeros(4, 2)
        assert pytorch.look(_third_party(lambda x: {"logits": x}, lambda model: model(x=batch))) == {}

    def test_a_model_that_takes_a_dict(self) -> None:
        import torch

        from pacenote.child.loops import pytorch

        batch = {"x": torch.zeros(4, 2)}
        assert pytorch.look(_third_party(lambda found: found["x"], lambda model: model(batch))) == {"dtype": "fp32"}

    def test_a_model_that_takes_a_single_number(self) -> None:
        import torch

        from pacenote.child.loops import pytorch

        seen = pytorch.look(_third_party(lambda x: x, lambda model: model(torch.tensor(1.0))))
        assert seen == {"dtype": "fp32"}


class TestLoaders:
    """In data mode ``loader`` there is no model: the loader itself is looked at."""

    def observe(self, loader: Any) -> dict[str, Any]:
        training = Training(lambda: None, samples_per_step=4, data={}, loader=loader)
        return lever_hooks.observe(Adapter(), training, {})

    def test_neither_model_nor_loader(self) -> None:
        seen = self.observe(None)
        assert seen["threads"] == 1
        assert not {"batch_size", "loader_workers", "pipeline"} & set(seen)

    @pytest.mark.parametrize("by_batch", [True, False])
    def test_our_datasets_say_how_they_are_read(self, by_batch: bool) -> None:
        class Loader(list[Any]):
            dataset = SimpleNamespace(by_batch=by_batch)

        seen = self.observe(Loader([(SimpleNamespace(shape=(4, 3, 32, 32)), None)]))
        assert seen["pipeline"] == ("batched" if by_batch else "tutorial")
        assert (seen["batch_size"], seen["loader_workers"]) == (4, 0)

    @pytest.mark.parametrize(
        ("batch", "size"),
        [
            ([SimpleNamespace(shape=[7, 2])], 7),
            (SimpleNamespace(shape=(5,)), 5),
            ((SimpleNamespace(shape=(2, 1)), 0, 0), 2),
            (SimpleNamespace(shape=()), None),
            ({"x": 1}, None),
            ([], None),
        ],
        ids=str,
    )
    def test_a_third_partys_batch_of_any_form(self, batch: Any, size: int | None) -> None:
        seen = self.observe([batch])
        assert seen.get("batch_size") == size
        assert "pipeline" not in seen
        assert seen["loader_workers"] == 0


PADDLE = """
import itertools, json
import paddle
from pacenote.child import lever_hooks, workloads
from pacenote.child.loops import paddle as loop
from pacenote.child.ceilings_paddle import Operations
from pacenote.child.workloads import Request, Training

class Adapter:
    name = "paddle"
    def get_threads(self):
        return 1

def image(layout):
    conv = paddle.nn.Conv2D(3, 4, 3, data_format="NHWC" if layout == "channels_last" else "NCHW")
    model = paddle.nn.Sequential(conv, paddle.nn.Flatten(), paddle.nn.Linear(144, 10))
    shape = [6, 8, 8, 3] if layout == "channels_last" else [6, 3, 8, 8]
    batch = paddle.zeros(shape), paddle.zeros([6], dtype="int64")
    optimizer = paddle.optimizer.SGD(parameters=model.parameters())
    return loop.training(Request(Adapter()), model, optimizer, itertools.repeat(batch),
                         samples_per_step=6, data={}, expected_parameters=112 + 1450)

class Odd(paddle.nn.Layer):
    def forward(self, batch):
        return {"logits": batch["x"]}

odd = Odd()
def run():
    while True:
        odd({"x": 1})

levers = {"batch_size": 3, "width": 0.125, "depth": 2, "dtype": "bf16"}
simplenet = workloads.find("simplenet").build("paddle", Request(Adapter(), levers=levers))
lever_hooks.apply(Adapter(), {"dtype": "tf32"})
operations = Operations("cpu")
triad = operations.triad(10)
triad()
print(json.dumps({
    "default": loop.look(image("default")),
    "channels_last": loop.look(image("channels_last")),
    "whole": lever_hooks.observe(Adapter(), image("default"), {}),
    "odd": loop.look(Training(run, samples_per_step=1, data={}, model=odd)),
    "simplenet": lever_hooks.observe(Adapter(), simplenet, levers),
    "unavailable": {dtype: operations.unavailable(dtype) for dtype in ("fp32", "bf16", "tf32")},
    "gemm": list(operations.gemm(8, "fp32")().shape),
    "triad": [float(triad()[0])],
}))
"""


@pytest.mark.paddle
def test_paddles_trainings_are_looked_at_alike() -> None:
    """In a process of its own: importing paddle warns, and it changes the process."""
    if importlib.util.find_spec("paddle") is None:
        pytest.skip("paddle is not installed")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PADDLE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert found["default"] == {"batch_size": 6, "dtype": "fp32", "memory_format": "default"}
    assert found["channels_last"] == {"batch_size": 6, "dtype": "fp32", "memory_format": "channels_last"}
    assert found["whole"]["parameters"] == found["whole"]["expected_parameters"] == 1562
    assert (found["whole"]["width"], found["whole"]["depth"]) == (1.0, 1)
    assert found["odd"] == {}
    simplenet = found["simplenet"]
    assert (simplenet["batch_size"], simplenet["width"], simplenet["depth"]) == (3, 0.125, 2)
    assert simplenet["dtype"] == "fp32", "Paddle's CPU build accepts auto_cast and ignores it"
    assert found["unavailable"] == {"fp32": "", "bf16": "paddle_cpu_fp32_only", "tf32": "no_tf32_switch"}
    assert found["gemm"] == [8, 8]
    assert found["triad"] == [2.0], "two calls have each added one"
