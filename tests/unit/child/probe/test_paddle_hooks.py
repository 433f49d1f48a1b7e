"""The hooks for PaddlePaddle on a fake paddle with an accelerator: what is marked where, and what leaves no mark."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import fake_paddle
import fake_torch
import pytest

from pacenote.child import events
from pacenote.child.frameworks import paddle as adapter_module
from pacenote.child.recorder import Recorder

FORWARD = [events.FORWARD_BEGIN, events.FORWARD_END]
LOSS = [events.LOSS_BEGIN, events.LOSS_END]
COPY = [events.COPY_BEGIN, events.COPY_END]
BACKWARD = [events.BACKWARD_BEGIN, events.BACKWARD_END]
OPTIMIZER = [events.OPTIMIZER_BEGIN, events.OPTIMIZER_END]
ZERO = [events.ZERO_BEGIN, events.ZERO_END]
DATA = [events.DATA_BEGIN, events.DATA_END]


class World:
    """A fake paddle with the probe in it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, device: str, anchor: str = "optimizer") -> None:
        self.paddle: Any = fake_paddle.make(gpu=1)
        fake_paddle.place(monkeypatch, self.paddle)
        self.recorder = Recorder(None)
        self.recorder.anchor = anchor
        self.recorder.pause()  # no parent: the gate stays open
        adapter = adapter_module.Adapter()
        adapter.load()
        self.patches = adapter.install_probe(self.recorder, device)

    def kinds(self) -> list[int]:
        found = [code & events.KIND_MASK for code in self.recorder.code]
        self.recorder.clear()
        return found

    def device_kinds(self) -> list[int]:
        assert self.recorder.device_clock is not None
        codes = self.recorder.device_clock.resolve()[1]
        self.recorder.device_clock.forget()
        return [code & events.KIND_MASK for code in codes]


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World(monkeypatch, "cpu")
    yield world
    world.patches.off()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World(monkeypatch, "gpu:0")
    yield world
    world.patches.off()


class TestCopies:
    @pytest.mark.parametrize(("size", "item_bytes"), [(1, 1), (3072 * 32, 4), (10, 8)])
    def test_a_copy_is_counted_in_bytes_on_both_timelines(self, gpu: World, size: int, item_bytes: int) -> None:
        gpu.paddle.Tensor(size, "cpu", item_bytes).to("gpu:0")
        assert gpu.recorder.copied_bytes == size * item_bytes
        assert gpu.kinds() == COPY
        assert gpu.device_kinds() == COPY

    def test_a_copy_that_does_nothing_leaves_no_mark_anywhere(self, gpu: World) -> None:
        tensor = gpu.paddle.Tensor(8, "gpu:0")
        assert tensor.to("gpu:0") is tensor
        assert gpu.kinds() == []
        assert gpu.device_kinds() == []
        assert gpu.recorder.copied_bytes == 0

    def test_a_copy_that_fails_leaves_no_open_span(self, gpu: World) -> None:
        with pytest.raises(MemoryError):
            gpu.paddle.Tensor().to("full:0")
        assert gpu.kinds() == []
        assert gpu.device_kinds() == []

    def test_on_the_cpu_there_is_no_device_timeline_and_no_hook_on_copies(self, cpu: World) -> None:
        cpu.paddle.Tensor().to("gpu:0")
        assert cpu.kinds() == []
        assert cpu.recorder.device_clock is None


def test_timed_events_are_made_for_the_measured_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_torch.Event, "made", [])
    world = World(monkeypatch, "gpu:1")
    world.recorder.stamp(events.code(events.RESUME))
    world.patches.off()
    assert fake_torch.Event.made == [("gpu:1", True)]


class TestOptimizers:
    @pytest.mark.parametrize("name", ["Optimizer", "SGD", "Adam"])
    def test_a_step_is_one_step_wherever_it_is_defined(self, cpu: World, name: str) -> None:
        optimizer = getattr(cpu.paddle.optimizer, name)()
        optimizer.step()
        assert cpu.kinds() == OPTIMIZER
        assert (cpu.recorder.step, optimizer.updates) == (1, 1)

    @pytest.mark.parametrize("name", ["SGD", "Adam"])
    def test_minimize_is_one_step_and_gives_back_what_it_gives(self, cpu: World, name: str) -> None:
        assert getattr(cpu.paddle.optimizer, name)().minimize(None) == (None, None)
        assert cpu.kinds() == OPTIMIZER
        assert cpu.recorder.step == 1

    def test_a_class_made_later_is_wrapped_when_its_first_object_is_made(self, cpu: World) -> None:
        class Mine(cpu.paddle.optimizer.Adam):  # type: ignore[misc, name-defined]
            def step(self) -> None:
                super().step()
                super().step()

        optimizer = Mine()
        optimizer.step()
        assert cpu.kinds() == OPTIMIZER
        assert (cpu.recorder.step, optimizer.updates) == (1, 2)

    def test_a_step_that_raises_closes_its_span_and_the_next_one_counts(self, cpu: World) -> None:
        class Broken(cpu.paddle.optimizer.SGD):  # type: ignore[misc, name-defined]
            def step(self) -> None:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            Broken().step()
        assert (cpu.kinds(), cpu.recorder.step) == (OPTIMIZER, 1)
        cpu.paddle.optimizer.SGD().step()
        assert (cpu.kinds(), cpu.recorder.step) == (OPTIMIZER, 2)

    def test_clearing_gradients_is_marked(self, cpu: World) -> None:
        cpu.paddle.optimizer.SGD().clear_grad()
        assert cpu.kinds() == ZERO

    def test_several_optimizers_are_told_apart(self, cpu: World) -> None:
        first, second = cpu.paddle.optimizer.SGD(), cpu.paddle.optimizer.Adam()
        for optimizer in (first, second):
            optimizer.step()
        assert [thing["name"] for thing in cpu.recorder.objects] == ["SGD", "Adam"]


class TestStep:
    def test_a_step_in_order_on_both_timelines(self, gpu: World) -> None:
        layer, criterion = gpu.paddle.nn.Layer(SimpleNamespace(stop_gradient=False)), gpu.paddle.nn.Layer()
        optimizer, loss = gpu.paddle.optimizer.SGD(), gpu.paddle.Tensor()
        expected = FORWARD + BACKWARD + OPTIMIZER + ZERO  # the loss is known from its second call
        for _ in range(4):
            criterion(layer(loss))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            assert gpu.kinds() == expected
            assert gpu.device_kinds() == expected
            expected = FORWARD + LOSS + BACKWARD + OPTIMIZER + ZERO

    def test_losses_are_kept_for_single_numbers_alone(self, cpu: World) -> None:
        cpu.paddle.Tensor(2).backward()
        assert cpu.recorder._losses == []
        cpu.paddle.Tensor(1).backward()
        assert cpu.recorder._count()[0] == [(0, 0.25)]

    @pytest.mark.parametrize("frozen", [True, False])
    def test_a_frozen_layer_is_not_the_model(self, cpu: World, frozen: bool) -> None:
        cpu.paddle.nn.Layer(SimpleNamespace(stop_gradient=frozen))("batch")
        assert cpu.kinds() == ([] if frozen else FORWARD)


class TestLoader:
    @pytest.mark.parametrize("workers", [0, 2])
    def test_opening_each_batch_and_the_end_are_marked(self, cpu: World, workers: int) -> None:
        assert list(cpu.paddle.io.DataLoader([1, 2], num_workers=workers)) == [1, 2]
        assert cpu.kinds() == DATA * 4

    @pytest.mark.parametrize(
        ("workers", "buffered", "ahead"), [(0, True, 3), (0, False, 0), (2, True, 6), (2, False, 6)]
    )
    def test_even_without_workers_a_buffer_reads_ahead(
        self, cpu: World, workers: int, buffered: bool, ahead: int
    ) -> None:
        list(cpu.paddle.io.DataLoader([1], num_workers=workers, use_buffer_reader=buffered))
        [loader] = cpu.recorder.objects
        assert (loader["workers"], loader["prefetched_batches"], loader["batch_size"]) == (workers, ahead, 8)

    def test_in_loader_mode_each_batch_is_a_step(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cpu = World(monkeypatch, "cpu", anchor="data")
        list(cpu.paddle.io.DataLoader([1, 2, 3]))
        assert cpu.recorder.step == 3

    def test_batches_for_validation_carry_no_gradient_bit(self, cpu: World) -> None:
        iterator = iter(cpu.paddle.io.DataLoader([1, 2]))
        cpu.paddle.state.grad = False
        cpu.kinds()
        next(iterator)
        assert [bool(code & events.GRAD_BIT) for code in cpu.recorder.code] == [False, False]


def test_off_leaves_paddle_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, "cpu")
    world.patches.off()
    paddle = world.paddle
    optimizer = paddle.optimizer.Adam()
    paddle.nn.Layer(SimpleNamespace(stop_gradient=False))(paddle.Tensor().to("gpu:0")).backward()
    optimizer.step()
    optimizer.minimize(None)
    optimizer.clear_grad()
    list(paddle.io.DataLoader([1]))
    assert world.kinds() == []
    assert "step" not in vars(paddle.optimizer.SGD)
