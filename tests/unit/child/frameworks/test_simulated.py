"""The framework without a framework: its script, its noise, and its virtual clock."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child import events, frameworks
from pacenote.child.faults import Fault
from pacenote.child.frameworks import simulated
from pacenote.child.recorder import Finish, Recorder


class Steps:
    """Ends the program after some steps; stands where the channel stands."""

    def __init__(self, steps: int) -> None:
        self.commands: list[dict[str, Any]] = [{"cmd": "turn", "turn": 0, "steps": steps}, {"cmd": "finish"}]
        self.sent: list[dict[str, Any]] = []

    def receive(self) -> dict[str, Any]:
        return self.commands.pop(0)

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


def run(steps: int, seed: int = 0, ratio: float = 1.0, **levers: Any) -> tuple[list[int], list[int], dict[str, Any]]:
    """Return times, kinds and the turn's message."""
    adapter, channel = simulated.Adapter(), Steps(steps)
    recorder = Recorder(channel)  # type: ignore[arg-type]
    recorder.planted_slowdown_ratio = ratio
    adapter.install_probe(recorder, "cpu")
    adapter.seed(seed)
    training = simulated.Training(adapter, levers)
    recorder.pause()
    with pytest.raises(Finish):
        training.run()
    [turn] = channel.sent
    kinds = [code & events.KIND_MASK for code in events.unpack(turn["code"])]
    return list(events.unpack(turn["t_ns"])), kinds, turn


def test_a_script_is_read_in_order_with_its_units() -> None:
    assert simulated.parse("forward=2ms other=3us data_wait=0.5s") == [
        ("forward", 2e6),
        ("other", 3e3),
        ("data_wait", 5e8),
    ]


@pytest.mark.parametrize("script", ["forward=2", "sleep=2ms", "forward", "forward=ms", "forward=2min", "=2ms"])
def test_a_script_that_cannot_be_read_is_refused(script: str) -> None:
    with pytest.raises(ValueError, match=r"cannot read|could not convert"):
        simulated.parse(script)


@given(st.lists(st.tuples(st.sampled_from(sorted(simulated._SPANS)), st.integers(1, 999)), min_size=1, max_size=6))
def test_every_scripted_phase_becomes_a_span_of_its_length(parts: list[tuple[str, int]]) -> None:
    times, kinds, _ = run(1, script=" ".join(f"{name}={amount}us" for name, amount in parts))
    spans = list(zip(kinds[1:-1:2], times[1:-1:2], times[2:-1:2], strict=True))
    assert [(kind, end - begin) for kind, begin, end in spans] == [
        (simulated._SPANS[name], amount * 1000) for name, amount in parts
    ]


def test_other_is_time_in_no_span() -> None:
    times, kinds, _ = run(1, script="forward=1ms other=4ms optimizer=1ms")
    assert kinds[1:-1] == [
        events.FORWARD_BEGIN,
        events.FORWARD_END,
        events.OPTIMIZER_BEGIN,
        events.OPTIMIZER_END,
    ]
    assert times[3] - times[2] == 4_000_000


def test_a_turn_has_the_steps_asked_and_their_virtual_time() -> None:
    _, _, turn = run(7, script="forward=10ms")
    assert (turn["steps"], turn["wall_s"]) == (7, pytest.approx(0.07))


@pytest.mark.parametrize("ratio", [1.0, 1.05, 2.0])
def test_a_planted_slowdown_scales_every_step(ratio: float) -> None:
    assert run(4, ratio=ratio, script="forward=10ms")[2]["wall_s"] == pytest.approx(0.04 * ratio)


def test_noise_is_repeatable_by_seed_and_never_negative() -> None:
    first, second, other = (run(50, seed=seed, noise=2.0)[0] for seed in (1, 1, 2))
    assert first == second
    assert first != other
    assert first == sorted(first)


def test_a_fault_breaks_at_its_step() -> None:
    adapter, channel = simulated.Adapter(), Steps(100)
    recorder = Recorder(channel)  # type: ignore[arg-type]
    adapter.install_probe(recorder, "cpu")
    training = simulated.Training(adapter, {}, Fault({"kind": "memory_error", "step": 5}))
    recorder.pause()
    with pytest.raises(MemoryError):
        training.run()
    assert recorder.step == 5


def test_the_adapter_answers_like_any_other() -> None:
    adapter = frameworks.create("simulated")
    adapter.load()
    adapter.set_threads(3)
    adapter.synchronize("cpu")
    adapter.reset_peak("cpu")
    assert adapter.get_threads() == adapter.facts()["threads"] == 3
    assert [device["name"] for device in adapter.devices()] == ["cpu"]
    assert adapter.device_memory("cpu") is None
    assert adapter.is_out_of_memory(MemoryError())
    assert not adapter.is_out_of_memory(RuntimeError("out of memory"))


def test_adapters_are_found_by_the_names_of_their_files() -> None:
    assert list(frameworks.names()) == ["paddle", "pytorch", "simulated"]
    for name in frameworks.names():
        assert frameworks.create(name).name == name


def test_an_unknown_framework_lists_the_known() -> None:
    with pytest.raises(LookupError, match="unknown framework 'jax'; known: paddle, pytorch, simulated"):
        frameworks.create("jax")
