"""After the looking: modules inside modules, classes found together with their bases, passes without gradients."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.child import events
from pacenote.child.probe.roots import LOOK_FOR_STEPS, Roots
from pacenote.child.recorder import PatchSet, Recorder

FORWARD = [events.FORWARD_BEGIN, events.FORWARD_END]


def world() -> SimpleNamespace:
    """A framework of one base class, under the probe."""

    class Module:
        training = True

        def __init__(self, *inner: Any) -> None:
            self.inner = inner

        def __call__(self, value: Any) -> Any:
            for part in self.inner:
                value = part(value)
            return value

    recorder, patches, state = Recorder(None), PatchSet(), SimpleNamespace(grad=True)
    roots = Roots(
        recorder,
        patches,
        base=Module,
        grad_enabled=lambda: state.grad,
        trainable=lambda module: True,
        is_loss=lambda result: False,
    )
    roots.look()

    def kinds() -> list[int]:
        found = [code & events.KIND_MASK for code in recorder.code]
        recorder.clear(), recorder.t_ns[:]
        return found

    def settle(*modules: Any) -> None:
        for _ in range(LOOK_FOR_STEPS):
            for module in modules:
                module(0)
            roots.step_done()
        kinds()

    return SimpleNamespace(
        Module=Module, recorder=recorder, patches=patches, roots=roots, state=state, kinds=kinds, settle=settle
    )


@pytest.fixture
def here() -> Iterator[SimpleNamespace]:
    made = world()
    yield made
    made.patches.off()


def test_a_module_inside_one_of_its_own_class_is_not_marked_again(here: SimpleNamespace) -> None:
    outer = here.Module(here.Module(), here.Module(here.Module()))
    here.settle(outer)
    outer(1)
    assert here.kinds() == FORWARD


def test_another_object_of_a_found_class_is_left_alone(here: SimpleNamespace) -> None:
    found, other = here.Module(), here.Module()
    here.settle(found)
    other(1)
    assert here.kinds() == []


def test_a_validation_pass_after_the_looking_carries_no_gradient_bit(here: SimpleNamespace) -> None:
    model = here.Module()
    here.settle(model)
    here.state.grad = False
    model(1)
    assert [bool(code & events.GRAD_BIT) for code in here.recorder.code] == [False, False]
    here.kinds()
    here.state.grad = True
    model(1)
    assert [bool(code & events.GRAD_BIT) for code in here.recorder.code] == [True, True]


def test_a_class_found_together_with_its_base_is_marked_once(here: SimpleNamespace) -> None:
    class Base(here.Module):  # type: ignore[misc, name-defined]
        def __call__(self, value: Any) -> Any:
            return super().__call__(value)

    class Derived(Base):
        pass

    base, derived = Base(), Derived()
    here.settle(base, derived)
    for model in (base, derived):
        model(1)
        assert here.kinds() == FORWARD


def test_a_call_that_raises_after_the_looking_closes_its_span(here: SimpleNamespace) -> None:
    class Odd(here.Module):  # type: ignore[misc, name-defined]
        def __call__(self, value: Any) -> Any:
            return super().__call__(1 // value if value is not None else 0)

    odd = Odd()
    for _ in range(LOOK_FOR_STEPS):
        odd(None)
        here.roots.step_done()
    here.kinds()
    with pytest.raises(ZeroDivisionError):
        odd(0)
    odd(None)
    assert here.kinds() == FORWARD * 2


def test_more_steps_than_looked_for_change_nothing(here: SimpleNamespace) -> None:
    model = here.Module()
    here.settle(model)
    for _ in range(5):
        here.roots.step_done()
    model(1)
    assert here.kinds() == FORWARD


@given(
    st.recursive(st.just(()), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=12), st.integers(1, 5)
)
def test_any_tree_of_modules_is_one_forward_pass(tree: tuple[Any, ...], calls: int) -> None:
    made = world()

    def build(node: tuple[Any, ...]) -> Any:
        return made.Module(*map(build, node))

    model = build(tree)
    for _ in range(calls):
        model(1)
        assert made.kinds() == FORWARD
        made.roots.step_done()
    made.patches.off()
    model(1)
    assert made.kinds() == []
