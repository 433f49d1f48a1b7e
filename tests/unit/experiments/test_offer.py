"""Which frameworks and devices a plan runs on, from scripted answers."""

from __future__ import annotations

from typing import Any

import pytest

from pacenote.errors import MissingPartError, UnknownNameError
from pacenote.experiments import offer
from pacenote.plan import RunOptions

CPU = {"name": "cpu", "kind": "cpu", "available": True, "reason": ""}
CUDA = {"name": "cuda:0", "kind": "cuda", "available": True, "reason": ""}
SECOND = {"name": "cuda:1", "kind": "cuda", "available": True, "reason": ""}
GPU = {"name": "gpu", "kind": "gpu", "available": True, "reason": ""}
NO_GPU = {"name": "gpu", "kind": "gpu", "available": False, "reason": "build_without_it"}


def answers(**devices: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: {"installed": True, "devices": found} for name, found in devices.items()}


def asked(**options: Any) -> RunOptions:
    return RunOptions(workload="lenet", **options)


def test_every_kind_of_device_is_used_once_by_default() -> None:
    found = offer.match(asked(), [], answers(pytorch=[CPU, CUDA, SECOND], paddle=[CPU, GPU]))
    assert found.devices == {"pytorch": ["cpu", "cuda:0"], "paddle": ["cpu", "cuda"]}
    assert found.absent == []


def test_named_devices_are_used_even_two_of_a_kind() -> None:
    found = offer.match(asked(devices=["cuda:1", "cuda:0"]), [], answers(pytorch=[CPU, CUDA, SECOND]))
    assert found.devices == {"pytorch": ["cuda:1", "cuda:0"]}


@pytest.mark.parametrize("name", ["gpu", "cuda", "cuda:0", "gpu:0"])
def test_both_frameworks_words_for_a_device_are_understood(name: str) -> None:
    found = offer.match(asked(devices=[name]), [], answers(pytorch=[CPU, CUDA], paddle=[CPU, GPU]))
    assert found.devices == {"pytorch": ["cuda:0"], "paddle": ["cuda"]}


def test_a_framework_without_the_device_is_left_out_and_told() -> None:
    found = offer.match(asked(devices=["cuda"]), [], answers(pytorch=[CPU, CUDA], paddle=[CPU, NO_GPU]))
    assert found.frameworks == ["pytorch"]
    assert found.absent == [offer.Absent(framework="paddle", device="gpu", reason="build_without_it")]


def test_a_device_nobody_has_is_one_clear_error() -> None:
    with pytest.raises(MissingPartError, match=r"'cuda'.*paddle: build_without_it.*pacenote doctor"):
        offer.match(asked(devices=["cuda"]), [], answers(paddle=[CPU, NO_GPU]))
    with pytest.raises(MissingPartError, match="no framework knows it"):
        offer.match(asked(devices=["abacus"]), [], answers(paddle=[CPU]))


def test_a_framework_that_was_asked_for_must_be_there() -> None:
    there = {**answers(pytorch=[CPU]), "paddle": {"installed": False, "text": "No module named 'paddle'\nmore"}}
    with pytest.raises(MissingPartError, match=r"paddle is not installed \(No module.*pacenote\[paddle\]"):
        offer.match(asked(), ["paddle"], there)
    assert offer.match(asked(), [], there).frameworks == ["pytorch"]


def test_no_framework_at_all_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offer.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPartError, match="pip install"):
        offer.find(asked())


def test_without_a_driver_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offer.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(offer, "may_have_accelerator", lambda: False)

    def refuse(python: str | None, names: list[str]) -> offer.Answers:
        raise AssertionError("asked")

    assert offer.find(asked(), refuse).devices == {"pytorch": ["cpu"], "paddle": ["cpu"]}


def test_another_interpreter_is_always_asked() -> None:
    seen: list[Any] = []

    def answer(python: str | None, names: list[str]) -> offer.Answers:
        seen.append((python, names))
        return answers(pytorch=[CPU])

    assert offer.find(asked(python="/other/python"), answer).frameworks == ["pytorch"]
    assert seen == [("/other/python", ["pytorch", "paddle"])]


def test_names_of_frameworks() -> None:
    assert offer.framework_names(["torch", "PyTorch", "paddlepaddle"]) == ["pytorch", "paddle"]
    with pytest.raises(UnknownNameError, match="Did you mean 'pytorch'"):
        offer.framework_names(["pytorhc"])


def test_signs_of_an_accelerator() -> None:
    assert offer.may_have_accelerator(lambda path: path == "/dev/kfd", "Linux")
    assert not offer.may_have_accelerator(lambda path: False, "Linux")
    assert offer.may_have_accelerator(lambda path: False, "Darwin")
