"""Levers from outside, on a pretended framework: what they change, what is seen, and that nothing stays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pacenote.child import loader_arguments
from pacenote.child.forwards import go_round, mapped
from pacenote.child.outside import Outside, names
from pacenote.child.recorder import PatchSet
from pacenote.levers import LEVERS


class Batches:
    def __init__(self, workers: int, pins: bool) -> None:
        self._workers, self._pin_memory = [None] * workers, pins

    def __next__(self) -> Any:
        raise StopIteration


class DataLoader:
    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        if persistent_workers and not num_workers:
            raise ValueError("persistent_workers needs workers")
        self.dataset, self.batch_size, self.num_workers, self.pin_memory = dataset, batch_size, num_workers, pin_memory
        self.prefetch_factor, self.persistent_workers = prefetch_factor, persistent_workers
        self.sampler = sampler or type("RandomSampler" if shuffle else "SequentialSampler", (), {})()
        self.batch_sampler = batch_sampler

    def __iter__(self) -> Any:
        return Batches(self.num_workers, self.pin_memory)


@pytest.fixture
def loader_class() -> type[DataLoader]:
    return type("DataLoader", (DataLoader,), {"__init__": DataLoader.__init__, "__iter__": DataLoader.__iter__})


@pytest.fixture
def outside(loader_class: type[DataLoader]) -> Outside:
    module = SimpleNamespace(utils=SimpleNamespace(data=SimpleNamespace(DataLoader=loader_class)))
    return Outside(SimpleNamespace(name="pytorch", module=module), PatchSet())


def test_every_hook_belongs_to_a_lever_and_every_lever_that_needs_one_has_one() -> None:
    by_environment = {"waiting_policy", "allocator"}
    assert names() == {lever.name for lever in LEVERS if lever.outside} - by_environment


def test_the_training_loader_gets_the_batch_size_and_others_do_not(
    outside: Outside, loader_class: type[DataLoader]
) -> None:
    outside.apply({"batch_size": 64})
    train, test = loader_class([1], 16, shuffle=True), loader_class([1], 16)
    iter(train), iter(test)  # type: ignore[call-overload]
    assert (train.batch_size, test.batch_size) == (64, 16)
    assert outside.observed() == {"batch_size": 64}
    assert outside.reasons == {}


def test_a_batch_sampler_of_the_scripts_is_changed_where_it_can_be(
    outside: Outside, loader_class: type[DataLoader]
) -> None:
    outside.apply({"batch_size": 64})
    sampler = type("Mine", (), {"batch_size": 8})()
    iter(loader_class([1], batch_sampler=sampler))  # type: ignore[call-overload]
    assert sampler.batch_size == 64
    assert outside.observed() == {"batch_size": 64}
    loader_class([1], batch_sampler=type("Fixed", (), {})())
    assert outside.reasons == {"batch_size": "own_batch_sampler"}


def test_workers_are_those_that_an_iterator_really_has(outside: Outside, loader_class: type[DataLoader]) -> None:
    outside.apply({"loader_workers": 3})
    assert outside.observed() == {}
    assert outside.reasons == {"loader_workers": "no_training_loader"}
    iter(loader_class([1], shuffle=True))  # type: ignore[call-overload]
    assert outside.observed() == {"loader_workers": 3}


def test_no_workers_takes_what_goes_with_workers_too(outside: Outside, loader_class: type[DataLoader]) -> None:
    outside.apply({"loader_workers": 0})
    made = loader_class([1], shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=4)
    assert (made.num_workers, made.persistent_workers) == (0, False)


def test_a_data_set_that_only_iterates_keeps_its_workers(outside: Outside, loader_class: type[DataLoader]) -> None:
    outside.apply({"loader_workers": 2})
    assert loader_class(iter([1]), shuffle=True).num_workers == 0
    assert outside.reasons == {"loader_workers": "iterable_dataset"}


@pytest.mark.parametrize(("name", "asked", "seen"), [("prefetch", 5, 5), ("persistent_workers", "on", "on")])
def test_what_goes_with_workers_needs_some(
    name: str, asked: Any, seen: Any, outside: Outside, loader_class: type[DataLoader]
) -> None:
    outside.apply({name: asked})
    iter(loader_class([1], shuffle=True))  # type: ignore[call-overload]
    assert outside.observed() == {}
    assert outside.reasons == {name: "no_workers"}
    iter(loader_class([1], shuffle=True, num_workers=2))  # type: ignore[call-overload]
    assert outside.observed() == {name: seen}


def test_a_mistake_of_the_scripts_stays_the_loaders_to_tell(outside: Outside, loader_class: type[DataLoader]) -> None:
    outside.apply({"batch_size": 2})
    with pytest.raises(TypeError, match="colour"):
        loader_class([1], colour="red")  # type: ignore[call-arg]


def test_everything_is_put_back(outside: Outside, loader_class: type[DataLoader]) -> None:
    before = dict(vars(loader_class))
    outside.apply({"batch_size": 2, "loader_workers": 1})
    assert dict(vars(loader_class)) != before
    outside.patches.off()
    assert dict(vars(loader_class)) == before


@pytest.mark.parametrize(
    ("arguments", "training"),
    [
        ({"shuffle": True}, True),
        ({"shuffle": False}, False),
        ({"sampler": type("RandomSampler", (), {})()}, True),
        ({"sampler": type("SequentialSampler", (), {})()}, False),
        ({"batch_sampler": type("BatchSampler", (), {"sampler": type("SequentialSampler", (), {})()})()}, False),
        ({"batch_sampler": type("BatchSampler", (), {"sampler": type("RandomSampler", (), {})()})()}, True),
        ({"batch_sampler": type("DistributedBatchSampler", (), {"shuffle": True})()}, True),
        ({}, False),
    ],
)
def test_a_training_loader_is_one_that_shuffles(arguments: dict[str, Any], training: bool) -> None:
    assert loader_arguments.is_training(arguments) == training


class Model:
    def forward(self, value: int) -> int:
        return value + 1


def test_only_the_root_is_gone_round(outside: Outside) -> None:
    root, other = Model(), Model()
    go_round(outside, root, lambda module, inner, args, kwargs: inner(*args, **kwargs) * 10)
    go_round(outside, root, lambda module, inner, args, kwargs: inner(*args, **kwargs) + 5)
    assert (root.forward(1), other.forward(1)) == (25, 2)
    assert vars(root) == {}
    outside.patches.off()
    assert root.forward(1) == 2


def test_nested_values_are_changed_leaf_by_leaf() -> None:
    assert mapped({"a": [1, (2, 3)]}, lambda one: one * 2) == {"a": [2, (4, 6)]}
