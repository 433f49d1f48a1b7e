"""Finding the forward pass and the loss among module calls, with a framework of three lines."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pacenote.child import events
from pacenote.child.probe.roots import LOOK_FOR_STEPS, Roots
from pacenote.child.recorder import PatchSet, Recorder


class Module:
    """A base class with the one method that matters."""

    training = True
    parameters = False

    def __call__(self, value: Any) -> Any:
        return self.forward(value)

    def forward(self, value: Any) -> Any:
        return value


class Layer(Module):
    parameters = True


class Net(Module):
    parameters = True

    def __init__(self) -> None:
        self.inner = Layer()

    def forward(self, value: Any) -> Any:
        return self.inner(value)


class Loss(Module):
    def forward(self, value: Any) -> Any:
        return ("loss", value)


class Transform(Module):
    """Parameterless, and what it returns is no loss: like Normalize in a data pipeline."""


@pytest.fixture
def world() -> Iterator[SimpleNamespace]:
    recorder, patches = Recorder(None), PatchSet()
    state = SimpleNamespace(grad=True)
    roots = Roots(
        recorder,
        patches,
        base=Module,
        grad_enabled=lambda: state.grad,
        trainable=lambda module: module.parameters,
        is_loss=lambda result: isinstance(result, tuple),
    )
    roots.look()
    yield SimpleNamespace(recorder=recorder, patches=patches, roots=roots, state=state)
    patches.off()


def kinds(recorder: Recorder) -> list[int]:
    found = [code & events.KIND_MASK for code in recorder.code]
    recorder.clear()
    return found


FORWARD = [events.FORWARD_BEGIN, events.FORWARD_END]
LOSS = [events.LOSS_BEGIN, events.LOSS_END]


def test_the_outermost_trainable_module_is_the_forward_pass(world: SimpleNamespace) -> None:
    net = Net()
    for _ in range(LOOK_FOR_STEPS + 2):
        net("x")
        assert kinds(world.recorder) == FORWARD
        world.roots.step_done()


def test_a_loss_is_known_from_its_second_call(world: SimpleNamespace) -> None:
    loss = Loss()
    loss("x")
    assert kinds(world.recorder) == []
    loss("x")
    assert kinds(world.recorder) == LOSS


def test_after_looking_only_found_classes_stay_hooked(world: SimpleNamespace) -> None:
    net, loss, original = Net(), Loss(), vars(Layer).get("__call__")
    for _ in range(LOOK_FOR_STEPS):
        loss(net("x"))
        world.roots.step_done()
    kinds(world.recorder)
    assert "__call__" in vars(Net)
    assert "__call__" in vars(Loss)
    assert vars(Layer).get("__call__") is original
    loss(net("x"))
    assert kinds(world.recorder) == FORWARD + LOSS


def test_transforms_and_modules_in_evaluation_are_not_taken_for_the_model(world: SimpleNamespace) -> None:
    Transform()("x")
    frozen = Net()
    frozen.training = False
    frozen("x")
    assert kinds(world.recorder) == []


def test_a_pass_without_gradients_carries_no_gradient_bit(world: SimpleNamespace) -> None:
    net = Net()
    net("x")
    world.recorder.clear()
    world.state.grad = False
    net("x")
    assert [bool(code & events.GRAD_BIT) for code in world.recorder.code] == [False, False]


def test_an_exception_closes_the_span(world: SimpleNamespace) -> None:
    class Broken(Net):
        def forward(self, value: Any) -> Any:
            raise ValueError(value)

    broken = Broken()
    with pytest.raises(ValueError, match="x"):
        broken("x")
    assert kinds(world.recorder) == FORWARD
    Net()("x")
    assert kinds(world.recorder) == FORWARD


def test_off_leaves_no_trace(world: SimpleNamespace) -> None:
    original = Module.__call__
    net = Net()
    for _ in range(LOOK_FOR_STEPS):
        net("x")
        world.roots.step_done()
    world.patches.off()
    assert "__call__" not in vars(Net)
    assert Module.__call__.__qualname__ == "Module.__call__"
    del original
