"""Functions that make batches, found by what they return; without a framework."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from typing import Any

import pytest

from pacenote.child import events
from pacenote.child.probe import data_functions
from pacenote.child.probe.data_functions import DataFunctions
from pacenote.child.recorder import Recorder


class Tensor:
    """A value with an address; views share it."""

    def __init__(self, address: int | None = None) -> None:
        self.address = address or id(self)


class Module:
    def __init__(self, functions: DataFunctions) -> None:
        self.functions = functions

    def __call__(self, *inputs: Any) -> Tensor:
        self.functions.called_with(inputs)
        return self.forward(*inputs)

    def forward(self, *_inputs: Any) -> Tensor:
        return Tensor()


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(None)


def make(recorder: Recorder, name: str = "") -> DataFunctions:
    return DataFunctions(
        recorder,
        address_of=lambda value: value.address if type(value) is Tensor else None,
        grad_enabled=lambda: True,
        base=Module,
        foreign=(),
        name=name,
    )


@pytest.fixture
def functions(recorder: Recorder) -> Iterator[DataFunctions]:
    made = make(recorder)
    made.look()
    yield made
    made.stop()
    assert sys.getprofile() is None


def kinds(recorder: Recorder) -> list[int]:
    return [code & events.KIND_MASK for code in recorder.code]


PAIR = [events.DATA_BEGIN, events.DATA_END]


def test_a_local_function_is_found_by_what_it_returns_and_timed(functions: DataFunctions, recorder: Recorder) -> None:
    size = 4

    def get_batch(count: int = 2, *, more: int = 1) -> tuple[Tensor, int]:
        return Tensor(), size * count + more

    model = Module(functions)
    sums = []
    for _ in range(5):
        batch, number = get_batch(more=3)
        sums.append(number)
        model(Tensor(batch.address))  # a view of it
    assert sums == [11] * 5  # what it does stays the same
    assert recorder.objects == [{"kind": "data_function", "name": "function", "function": get_batch.__qualname__}]
    assert kinds(recorder) == PAIR * 3  # not seen in the first round, recognised in the second


def test_the_outermost_of_several_counts(functions: DataFunctions, recorder: Recorder) -> None:
    def load() -> Tensor:
        return Tensor()

    def batch() -> dict[str, list[Tensor]]:
        return {"inputs": [load()]}

    model = Module(functions)
    for _ in range(3):
        model(*batch()["inputs"])
    assert [one["function"] for one in recorder.objects] == [batch.__qualname__]


def test_a_generator_is_timed_at_each_batch_from_its_next_call_on(functions: DataFunctions, recorder: Recorder) -> None:
    def batches() -> Iterator[Tensor]:
        for _ in range(3):
            yield Tensor()

    model = Module(functions)
    for batch in batches():
        model(batch)
    assert recorder.objects[-1] == {"kind": "running_generator", "name": "batches"}
    assert kinds(recorder) == []
    for batch in batches():
        model(batch)
    assert kinds(recorder) == PAIR * 4  # three batches, and finding that there is no fourth


def test_what_a_module_computes_is_no_batch(functions: DataFunctions, recorder: Recorder) -> None:
    generator, critic = Module(functions), Module(functions)
    for _ in range(3):
        critic(generator(Tensor()))
    assert recorder.objects == []


def test_what_is_made_of_a_loaders_batch_is_no_data_function(
    functions: DataFunctions, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def __next__() -> Tensor:  # noqa: N807 - stands for our hook on a loader
        return Tensor()

    monkeypatch.setattr(functions, "own", __file__)

    def normalised(batch: Tensor) -> Tensor:
        return Tensor()

    model = Module(functions)
    for _ in range(3):
        model(normalised(__next__()))
    assert recorder.objects == []


def test_a_function_is_timed_by_name_from_its_first_call_on(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    space: dict[str, Any] = {"Tensor": Tensor}
    exec("class Data:\n    def next(self): return Tensor()", space)
    monkeypatch.setattr(sys.modules["__main__"], "Data", space["Data"], raising=False)
    functions = make(recorder, "Data.next")
    functions.look()
    space["Data"]().next()
    assert kinds(recorder) == PAIR
    functions.stop()


def test_an_error_passes_through(functions: DataFunctions, recorder: Recorder) -> None:
    broken = array("b", [0])

    def get_batch() -> Tensor:
        if broken[0]:
            raise KeyError("no more")
        return Tensor()

    model = Module(functions)
    for _ in range(2):
        model(get_batch())
    broken[0] = 1
    with pytest.raises(KeyError, match="no more"):
        get_batch()
    assert kinds(recorder)[-2:] == PAIR


def test_a_profile_hook_of_the_scripts_stays(functions: DataFunctions) -> None:
    def own(*_: Any) -> None: ...

    sys.setprofile(own)
    try:
        Module(functions)(Tensor())
        functions.stop()
        assert sys.getprofile() is own
    finally:
        sys.setprofile(None)


def test_free_variables_keep_their_order() -> None:
    beta, alpha = 1, 2

    def function() -> int:
        return alpha + beta

    code = data_functions._trampoline(function.__code__, lambda: 7)
    assert code is not None
    function.__code__ = code
    assert function() == 7
