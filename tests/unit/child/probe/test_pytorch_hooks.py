"""The hooks for PyTorch on a fake torch with an accelerator: what is marked where, and what leaves no mark."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import fake_torch
import pytest

from pacenote.child import events
from pacenote.child.frameworks import pytorch as adapter_module
from pacenote.child.recorder import PatchSet, Recorder

FORWARD = [events.FORWARD_BEGIN, events.FORWARD_END]
COPY = [events.COPY_BEGIN, events.COPY_END]
BACKWARD = [events.BACKWARD_BEGIN, events.BACKWARD_END]
OPTIMIZER = [events.OPTIMIZER_BEGIN, events.OPTIMIZER_END]
ZERO = [events.ZERO_BEGIN, events.ZERO_END]
DATA = [events.DATA_BEGIN, events.DATA_END]


class World:
    """A fake torch with the probe in it."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, device: str, compiler: Any = None, anchor: str = "optimizer"
    ) -> None:
        self.torch: Any = fake_torch.make(cuda="12.8")
        fake_torch.place(monkeypatch, self.torch, compiler)
        self.recorder = Recorder(None)
        self.recorder.anchor = anchor
        self.recorder.pause()  # no parent: the gate stays open
        adapter = adapter_module.Adapter()
        adapter.load()
        self.patches: PatchSet = adapter.install_probe(self.recorder, device)

    def kinds(self) -> list[int]:
        """Kinds on the host's timeline since the last look."""
        found = [code & events.KIND_MASK for code in self.recorder.code]
        self.recorder.clear()
        return found

    def device_kinds(self) -> list[int]:
        """Kinds on the device's timeline since the last look."""
        assert self.recorder.device_clock is not None
        codes = self.recorder.device_clock.resolve()[1]
        self.recorder.device_clock.forget()
        return [code & events.KIND_MASK for code in codes]

    def model(self) -> Any:
        return self.torch.nn.Module(SimpleNamespace(requires_grad=True))

    def tensor(self, size: int = 1, device: str = "cpu", item_bytes: int = 4) -> Any:
        return self.torch.Tensor(size, device, item_bytes)


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World(monkeypatch, "cpu")
    yield world
    world.patches.off()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    world = World(monkeypatch, "cuda:0")
    yield world
    world.patches.off()


class TestCopies:
    @pytest.mark.parametrize(("size", "item_bytes"), [(1, 1), (3072 * 32, 4), (10, 8)])
    def test_a_copy_is_counted_in_bytes(self, gpu: World, size: int, item_bytes: int) -> None:
        gpu.tensor(size, "cpu", item_bytes).to("cuda:0")
        assert gpu.recorder.copied_bytes == size * item_bytes
        assert gpu.kinds() == COPY

    def test_copies_add_up(self, gpu: World) -> None:
        for size in (2, 3, 5):
            gpu.tensor(size).to("cuda:0")
        assert gpu.recorder.copied_bytes == 4 * 10

    def test_the_way_back_counts_as_well(self, gpu: World) -> None:
        gpu.tensor(8, "cuda:0").to("cpu")
        assert gpu.recorder.copied_bytes == 32

    @pytest.mark.parametrize("device", ["cpu", "cuda:0"])
    def test_a_copy_that_does_nothing_leaves_no_mark_anywhere(self, gpu: World, device: str) -> None:
        tensor = gpu.tensor(8, device)
        assert tensor.to(device) is tensor
        assert gpu.kinds() == []
        assert gpu.device_kinds() == []
        assert gpu.recorder.copied_bytes == 0

    def test_both_timelines_see_a_copy_once(self, gpu: World) -> None:
        gpu.tensor().to("cuda:0")
        assert gpu.kinds() == COPY
        assert gpu.device_kinds() == COPY

    def test_a_copy_that_fails_leaves_no_open_span(self, gpu: World) -> None:
        with pytest.raises(fake_torch.OutOfMemoryError):
            gpu.tensor().to("full:0")
        assert gpu.kinds() == []
        assert gpu.device_kinds() == []
        assert gpu.recorder.copied_bytes == 0

    def test_on_the_cpu_there_is_no_device_timeline_and_no_hook_on_copies(self, cpu: World) -> None:
        cpu.tensor().to("cuda:0")
        assert cpu.kinds() == []
        assert cpu.recorder.device_clock is None

    def test_times_of_a_copy_are_in_order(self, gpu: World) -> None:
        gpu.recorder.stamp(events.code(events.RESUME))
        gpu.tensor().to("cuda:0")
        assert list(gpu.recorder.t_ns) == sorted(gpu.recorder.t_ns)


def test_timed_events_are_made_for_the_measured_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_torch.Event, "made", [])
    world = World(monkeypatch, "cuda:1")
    world.recorder.stamp(events.code(events.RESUME))
    world.patches.off()
    assert fake_torch.Event.made == [("cuda:1", True)]


class TestStep:
    def train(self, world: World, model: Any, optimizer: Any, loss: Any) -> None:
        optimizer.zero_grad()
        model(loss)
        world.torch.autograd.backward(loss)
        optimizer.step()

    def test_a_step_in_order_on_both_timelines(self, gpu: World) -> None:
        model, optimizer = gpu.model(), gpu.torch.optim.Optimizer()
        for _ in range(4):  # the hooks change after two steps
            self.train(gpu, model, optimizer, gpu.tensor())
            assert gpu.kinds() == ZERO + FORWARD + BACKWARD + OPTIMIZER
            assert gpu.device_kinds() == ZERO + FORWARD + BACKWARD + OPTIMIZER

    def test_steps_are_counted_at_the_optimizers_end(self, cpu: World) -> None:
        optimizer = cpu.torch.optim.Optimizer()
        for _ in range(3):
            optimizer.step()
        assert cpu.recorder.step == 3

    def test_each_optimizer_has_its_own_index(self, cpu: World) -> None:
        first, second = (cpu.torch.optim.Optimizer() for _ in range(2))
        for optimizer in (first, second, first, second):
            optimizer.step()
        indices = [code >> events.OBJECT_SHIFT for code in cpu.recorder.code]
        assert indices == [0, 0, 1, 1, 0, 0, 1, 1]
        assert [thing["kind"] for thing in cpu.recorder.objects] == ["optimizer", "optimizer"]

    def test_clearing_gives_back_what_torch_gives(self, cpu: World) -> None:
        assert cpu.torch.optim.Optimizer().zero_grad() == "cleared"
        assert cpu.kinds() == ZERO

    def test_a_users_step_that_calls_its_base_is_one_step(self, cpu: World) -> None:
        class Mine(cpu.torch.optim.Optimizer):  # type: ignore[misc, name-defined]
            def step(self) -> None:
                super().step()

        for optimizer in (Mine(), Mine()):
            optimizer.step()
            assert cpu.kinds() == OPTIMIZER
        assert cpu.recorder.step == 2
        assert [thing["name"] for thing in cpu.recorder.objects] == ["Mine", "Mine"]

    def test_a_step_that_raises_ends_all_the_same(self, cpu: World) -> None:
        class Broken(cpu.torch.optim.Optimizer):  # type: ignore[misc, name-defined]
            def update(self) -> None:
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            Broken().step()
        assert cpu.recorder.step == 1

    def test_a_backward_that_raises_closes_its_span(self, monkeypatch: pytest.MonkeyPatch) -> None:
        world = World(monkeypatch, "cpu")
        world.patches.off()

        def broken(tensors: Any) -> None:
            raise RuntimeError("no graph")

        world.torch.autograd.backward = broken
        adapter = adapter_module.Adapter()
        adapter.module = world.torch
        patches = adapter.install_probe(world.recorder, "cpu")
        with pytest.raises(RuntimeError, match="no graph"):
            world.torch.autograd.backward(world.tensor())
        patches.off()
        assert world.kinds() == BACKWARD

    def test_a_model_in_evaluation_is_marked_without_gradients(self, cpu: World) -> None:
        model = cpu.model()
        model(1)
        cpu.kinds()
        cpu.torch.state.grad = False
        model(1)
        assert [bool(code & events.GRAD_BIT) for code in cpu.recorder.code] == [False, False]


class TestLosses:
    def test_the_first_ten_and_then_each_tenth_are_kept(self, cpu: World) -> None:
        optimizer, loss = cpu.torch.optim.Optimizer(), cpu.tensor()
        for _ in range(31):
            cpu.torch.autograd.backward(loss)
            optimizer.step()
        assert [step for step, _ in cpu.recorder._count()[0]] == [*range(10), 10, 20, 30]

    @pytest.mark.parametrize("size", [0, 2, 10])
    def test_what_is_no_single_number_is_not_kept(self, cpu: World, size: int) -> None:
        cpu.torch.autograd.backward(cpu.tensor(size))
        assert cpu.recorder._losses == []

    def test_several_outputs_at_once_are_not_kept(self, cpu: World) -> None:
        cpu.torch.autograd.backward([cpu.tensor(), cpu.tensor()])
        assert cpu.recorder._losses == []
        assert cpu.kinds() == BACKWARD


class TestLoader:
    def test_opening_and_each_batch_are_marked_and_so_is_the_end(self, cpu: World) -> None:
        loader = cpu.torch.utils.data.DataLoader([1, 2])
        assert list(loader) == [1, 2]
        assert cpu.kinds() == DATA * 4  # opening, two batches, and finding that there is no third

    @pytest.mark.parametrize(("workers", "prefetch", "ahead"), [(0, None, 0), (2, 2, 4), (3, 4, 12)])
    def test_a_loader_is_described_with_what_it_reads_ahead(
        self, cpu: World, workers: int, prefetch: int | None, ahead: int
    ) -> None:
        list(cpu.torch.utils.data.DataLoader([1], num_workers=workers, prefetch_factor=prefetch))
        [loader] = cpu.recorder.objects
        assert loader == {
            "kind": "loader",
            "name": "DataLoader",
            "dataset": "list",
            "batch_size": 8,
            "workers": workers,
            "prefetched_batches": ahead,
        }

    def test_two_loaders_are_told_apart(self, cpu: World) -> None:
        train, validate = (cpu.torch.utils.data.DataLoader([1]) for _ in range(2))
        for loader in (train, validate):
            next(iter(loader))
        assert [code >> events.OBJECT_SHIFT for code in cpu.recorder.code] == [0, 0, 0, 0, 1, 1, 1, 1]

    def test_batches_for_validation_carry_no_gradient_bit(self, cpu: World) -> None:
        iterator = iter(cpu.torch.utils.data.DataLoader([1, 2]))
        next(iterator)
        cpu.torch.state.grad = False
        cpu.kinds()
        next(iterator)
        assert [bool(code & events.GRAD_BIT) for code in cpu.recorder.code] == [False, False]

    def test_in_loader_mode_each_batch_is_a_step_but_the_end_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        cpu = World(monkeypatch, "cpu", anchor="data")
        list(cpu.torch.utils.data.DataLoader([1, 2, 3]))
        assert cpu.recorder.step == 3

    def test_an_iterator_made_before_the_probe_is_still_marked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        world = World(monkeypatch, "cpu")
        world.patches.off()
        iterator = iter(world.torch.utils.data.DataLoader([1, 2]))
        world.patches.on()
        next(iterator)
        world.patches.off()
        assert world.kinds() == DATA


class TestTakingOff:
    def test_off_leaves_torch_as_it_was(self, monkeypatch: pytest.MonkeyPatch) -> None:
        world = World(monkeypatch, "cpu")
        world.patches.off()
        torch = world.torch
        optimizer, model = torch.optim.Optimizer(), world.model()
        model(world.tensor().to("cuda:0"))
        torch.autograd.backward(world.tensor())
        optimizer.step()
        optimizer.zero_grad()
        list(torch.utils.data.DataLoader([1]))
        assert world.kinds() == []

    def test_it_can_be_put_back(self, cpu: World) -> None:
        cpu.patches.off()
        cpu.patches.on()
        cpu.torch.optim.Optimizer().step()
        assert cpu.kinds() == OPTIMIZER


def test_every_hook_is_hidden_from_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped: list[tuple[str, Any]] = []
    world = World(monkeypatch, "cuda:0", compiler=lambda code, strategy: skipped.append((code.co_name, strategy)))
    world.torch.optim.Optimizer()
    world.patches.off()
    assert {name for name, _ in skipped} == {
        "looking",
        "hooked",
        "__iter__",
        "__next__",
        "copy",
        "backward",
        "step",
        "clear",
    }
    assert {strategy for _, strategy in skipped} == {("skip", "default")}
