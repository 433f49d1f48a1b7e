"""What the PaddlePaddle adapter answers, asked of a small fake paddle that has or lacks each kind of device."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import fake_paddle
import pytest

from pacenote.child.frameworks import create, paddle


def adapter(**options: Any) -> paddle.Adapter:
    made = paddle.Adapter()
    made.module = fake_paddle.make(**options)
    return made


def answers(adapter: paddle.Adapter, kind: str) -> list[dict[str, Any]]:
    return [device for device in adapter.devices() if device["kind"] == kind]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    there: set[str] = set()
    monkeypatch.setattr(paddle, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(paddle.os.path, "exists", there.__contains__)
    return there


def test_loading_imports_paddle(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = fake_paddle.make()
    fake_paddle.place(monkeypatch, fake)
    made = create("paddle")
    made.load()
    assert made.module is fake


@pytest.mark.parametrize("kind", ["gpu", "xpu"])
def test_a_build_without_the_device_says_so(kind: str) -> None:
    [found] = answers(adapter(), kind)
    assert (found["available"], found["build"], found["reason"]) == (False, False, "build_without_device")


@pytest.mark.parametrize(
    ("there", "driver", "reason"),
    [(set(), False, "no_driver"), ({"/proc/driver/nvidia/version"}, True, "no_device")],
)
def test_a_gpu_build_counts_devices_rather_than_trusting_the_build(
    files: set[str], there: set[str], driver: bool, reason: str
) -> None:
    files |= there
    [found] = answers(adapter(gpu=0), "gpu")
    assert (found["available"], found["build"]) == (False, True)
    assert (found["driver"], found["reason"]) == (driver, reason)


def test_elsewhere_a_missing_file_says_nothing_about_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paddle, "sys", SimpleNamespace(platform="win32"))
    [found] = answers(adapter(gpu=0), "gpu")
    assert (found["driver"], found["reason"]) == (None, "no_device")


def test_an_xpu_build_without_device() -> None:
    [found] = answers(adapter(xpu=0), "xpu")
    assert (found["build"], found["driver"], found["reason"]) == (True, None, "no_device")


def test_an_only_gpu_carries_no_number() -> None:
    [found] = answers(adapter(gpu=1), "gpu")
    assert (found["name"], found["model"], found["available"]) == ("gpu", "Card 0", True)


def test_several_devices_are_numbered() -> None:
    assert [found["name"] for found in answers(adapter(gpu=2), "gpu")] == ["gpu:0", "gpu:1"]
    assert [found["name"] for found in answers(adapter(xpu=2), "xpu")] == ["xpu:0", "xpu:1"]


def test_custom_devices_are_counted_by_their_type() -> None:
    made = adapter(custom_types=("npu", "mlu"), custom=("npu:0", "npu:1", "npux:0"))
    assert [found["name"] for found in answers(made, "npu")] == ["npu:0", "npu:1"]
    assert {found["model"] for found in answers(made, "npu")} == {"npu"}
    [missing] = answers(made, "mlu")
    assert (missing["available"], missing["build"], missing["reason"]) == (False, True, "no_device")


class TestFacts:
    def test_false_as_a_word_is_no_version(self) -> None:
        facts = adapter().facts()
        assert facts["version"] == "3.3.9+fake"
        assert facts["build"] == {"cuda": None, "cudnn": None}

    def test_a_gpu_build_names_its_versions(self) -> None:
        assert adapter(gpu=1).facts()["build"] == {"cuda": "12.6", "cudnn": "9.1"}

    def test_onednn_is_unknown_where_there_is_no_question_for_it(self) -> None:
        made = adapter()
        assert made.facts()["onednn"] is None
        made.module.is_compiled_with_onednn = lambda: True
        assert made.facts()["onednn"] is True

    def test_flags_the_build_does_not_have_are_left_out(self) -> None:
        assert set(adapter().debug_flags()) == {"benchmark", "cuda_launch_blocking"}

    @pytest.mark.parametrize("flag", ["check_nan_inf", "benchmark", "cudnn_deterministic"])
    def test_a_debug_switch_shows_in_its_flag_alone(self, flag: str) -> None:
        made = adapter()
        made.module.state.flags[f"FLAGS_{flag}"] = 1
        assert [name for name, on in made.facts()["debug_flags"].items() if on] == [flag]

    @pytest.mark.parametrize(("value", "blocking"), [("1", True), ("0", False), ("", False)])
    def test_blocking_launches_are_read_from_the_environment(
        self, value: str, blocking: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", value)
        assert adapter().debug_flags()["cuda_launch_blocking"] is blocking


class TestThreads:
    def test_the_runtime_is_asked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(paddle, "max_threads", lambda: 6)
        made = adapter()
        made.set_threads(3)
        assert made.module.state.threads == [3]
        assert made.get_threads() == 6

    def test_where_none_answers_it_is_what_was_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(paddle, "max_threads", lambda: None)
        made = adapter()
        assert made.get_threads() == 1
        made.set_threads(3)
        assert made.get_threads() == 3


def test_the_seed_reaches_paddle_numpy_and_python() -> None:
    numpy = pytest.importorskip("numpy")
    made = adapter()
    drawn = []
    for _ in range(2):
        made.seed(5)
        drawn.append((numpy.random.random(), random.random()))
    assert drawn[0] == drawn[1]
    assert made.module.state.seed == 5


class TestDeviceMemory:
    @pytest.mark.parametrize("device", ["cpu", "xpu", "npu:0"])
    def test_only_gpus_are_counted(self, device: str) -> None:
        made = adapter(gpu=1)
        made.reset_peak(device)
        assert made.device_memory(device) is None
        assert made.module.device.cuda.resets == 0

    @pytest.mark.parametrize("device", ["gpu", "gpu:0"])
    def test_a_gpu(self, device: str) -> None:
        made = adapter(gpu=1)
        made.reset_peak(device)
        assert made.device_memory(device) == {"allocated_bytes": 11, "reserved_bytes": 22, "peak_bytes": 33}
        assert made.module.device.cuda.resets == 1

    def test_the_cpu_is_not_waited_for(self) -> None:
        made = adapter(gpu=1)
        for device in ("cpu", "gpu:0"):
            made.synchronize(device)
        assert made.module.state.waited == ["gpu:0"]


@pytest.mark.parametrize(
    ("error", "memory"),
    [
        (MemoryError(), True),
        (RuntimeError("ResourceExhaustedError: \n\nOut of memory error on GPU 0."), True),
        (SystemError("(Fatal) Out of memory error on GPU 0. Cannot allocate 2GB"), True),
        (RuntimeError("can't allocate memory: 274877906944 bytes"), True),
        (ValueError("(InvalidArgument) The shape is wrong"), False),
        (KeyboardInterrupt(), False),
    ],
    ids=repr,
)
def test_out_of_memory_is_known_by_type_or_words(error: BaseException, memory: bool) -> None:
    assert adapter().is_out_of_memory(error) is memory
