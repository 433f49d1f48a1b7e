"""What the PyTorch adapter answers, asked of a small fake torch that has or lacks each kind of device."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import fake_torch
import pytest
from fake_torch import Backend

from pacenote.child.frameworks import create, pytorch


def adapter(**options: Any) -> pytorch.Adapter:
    made = pytorch.Adapter()
    made.module = fake_torch.make(**options)
    return made


def answer(adapter: pytorch.Adapter, kind: str) -> dict[str, Any]:
    [found] = [device for device in adapter.devices() if device["kind"] == kind]
    return found


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The driver files that exist."""
    there: set[str] = set()
    monkeypatch.setattr(pytorch, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(pytorch.os.path, "exists", there.__contains__)
    return there


def test_loading_imports_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = fake_torch.make()
    fake_torch.place(monkeypatch, torch)
    made = create("pytorch")
    assert made.module is None
    made.load()
    assert made.module is torch


def test_the_cpu_is_always_there_and_comes_first() -> None:
    first = adapter().devices()[0]
    assert first == {"name": "cpu", "kind": "cpu", "available": True, "build": True, "driver": None, "reason": ""}


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps", "npu"])
def test_a_build_without_the_device_says_so(kind: str) -> None:
    found = answer(adapter(), kind)
    assert (found["available"], found["build"], found["reason"]) == (False, False, "build_without_device")


def test_cuda_build_without_driver(files: set[str]) -> None:
    found = answer(adapter(cuda="12.8"), "cuda")
    assert (found["available"], found["build"], found["driver"], found["reason"]) == (False, True, False, "no_driver")


def test_cuda_build_with_driver_but_no_device(files: set[str]) -> None:
    files.add("/proc/driver/nvidia/version")
    found = answer(adapter(cuda="12.8"), "cuda")
    assert (found["driver"], found["reason"]) == (True, "no_device")


@pytest.mark.parametrize(
    ("there", "driver", "reason"),
    [
        (set(), False, "no_driver"),
        ({"/proc/driver/nvidia/version"}, False, "no_driver"),
        ({"/dev/kfd"}, True, "no_device"),
    ],
)
def test_a_build_for_amd_looks_for_amds_driver(files: set[str], there: set[str], driver: bool, reason: str) -> None:
    files |= there
    found = answer(adapter(hip="6.4"), "cuda")
    assert (found["build"], found["driver"], found["reason"]) == (True, driver, reason)


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_without_proc_a_missing_file_says_nothing_about_the_driver(
    platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytorch, "sys", SimpleNamespace(platform=platform))
    found = answer(adapter(cuda="12.8"), "cuda")
    assert (found["driver"], found["reason"]) == (None, "no_device")


@pytest.mark.parametrize("kind", ["xpu", "mps", "npu"])
def test_other_kinds_have_no_driver_file_to_look_for(kind: str) -> None:
    found = answer(adapter(**{kind: Backend(0)}), kind)
    assert (found["build"], found["driver"], found["reason"]) == (True, None, "no_device")


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps", "npu"])
def test_an_only_device_carries_no_number(kind: str) -> None:
    made = adapter(cuda="12.8", **({} if kind == "cuda" else {kind: Backend(1)}))
    if kind == "cuda":
        made.module.cuda = Backend(1)
    found = answer(made, kind)
    assert (found["name"], found["available"], found["model"], found["reason"]) == (kind, True, "Card 0", "")


def test_several_devices_are_numbered() -> None:
    made = adapter()
    made.module.version.cuda, made.module.cuda = "12.8", Backend(3)
    found = [(device["name"], device["model"]) for device in made.devices() if device["kind"] == "cuda"]
    assert found == [("cuda:0", "Card 0"), ("cuda:1", "Card 1"), ("cuda:2", "Card 2")]


def test_a_backend_that_neither_counts_nor_names_is_one_device_named_by_its_kind() -> None:
    made = adapter()
    made.module.npu = SimpleNamespace(is_available=lambda: True)
    found = answer(made, "npu")
    assert (found["name"], found["model"], found["available"]) == ("npu", "npu", True)


class TestFacts:
    def test_a_cpu_build(self) -> None:
        facts = adapter().facts()
        assert facts["version"] == "2.9.9+fake"
        assert facts["build"] == {"cuda": None, "hip": None}
        assert facts["cudnn"] is None
        assert (facts["threads"], facts["interop_threads"]) == (4, 2)
        assert (facts["cpu_capability"], facts["onednn"], facts["blas"]) == ("AVX512", True, "other")
        assert not any(facts["debug_flags"].values())

    def test_a_cuda_build_names_its_cudnn(self) -> None:
        made = adapter()
        made.module = fake_torch.make(cuda="12.8")
        assert made.facts()["cudnn"] == 90100
        assert made.facts()["build"]["cuda"] == "12.8"

    @pytest.mark.parametrize(
        ("switch", "flag"),
        [("anomaly", "anomaly_mode"), ("deterministic", "deterministic_algorithms"), ("profiling", "profiler")],
    )
    def test_a_debug_switch_shows_in_its_flag_alone(self, switch: str, flag: str) -> None:
        made = adapter()
        setattr(made.module.state, switch, True)
        assert [name for name, on in made.facts()["debug_flags"].items() if on] == [flag]

    @pytest.mark.parametrize(("value", "blocking"), [("1", True), ("0", False), ("", False)])
    def test_blocking_launches_are_read_from_the_environment(
        self, value: str, blocking: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", value)
        assert adapter().debug_flags()["cuda_launch_blocking"] is blocking

    def test_a_torch_without_the_private_profiler_flag_is_taken_as_not_profiled(self) -> None:
        made = adapter()
        made.module._C = SimpleNamespace()
        assert made.debug_flags()["profiler"] is False


class TestDeviceMemory:
    def test_the_cpu_has_none_and_nothing_to_wait_for(self) -> None:
        made = adapter()
        made.synchronize("cpu")
        made.reset_peak("cpu")
        assert made.device_memory("cpu") is None

    def test_the_current_device(self) -> None:
        made = adapter(xpu=Backend(1, memory=(100,)))
        assert made.device_memory("xpu") == {"allocated_bytes": 100, "reserved_bytes": 200, "peak_bytes": 300}

    def test_a_numbered_device_is_read_itself_not_the_current_one(self) -> None:
        made = adapter(xpu=Backend(2, memory=(100, 7)))
        assert made.device_memory("xpu:1") == {"allocated_bytes": 7, "reserved_bytes": 14, "peak_bytes": 21}

    @pytest.mark.parametrize(("device", "which"), [("xpu", ()), ("xpu:1", ("xpu:1",))])
    def test_waiting_and_resetting_name_the_same_device(self, device: str, which: tuple[str, ...]) -> None:
        backend = Backend(2, memory=(1, 1))
        made = adapter(xpu=backend)
        made.synchronize(device)
        made.reset_peak(device)
        assert backend.calls == [("synchronize", *which), ("reset", *which)]

    def test_a_backend_that_does_not_count_has_no_memory_and_no_peak(self) -> None:
        made = adapter(mps=Backend(1))
        made.reset_peak("mps")
        assert made.device_memory("mps") is None


class TestOutOfMemory:
    @pytest.mark.parametrize(
        "error",
        [
            MemoryError(),
            fake_torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
            RuntimeError("[enforce fail at alloc_cpu.cpp:115] DefaultCPUAllocator: can't allocate memory: you tried"),
            RuntimeError("[enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried"),
            RuntimeError("MPS backend out of memory (MPS allocated: 17.00 GB, max allowed: 18.13 GB)"),
            RuntimeError("CUDA error: out of memory"),
            RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        ],
        ids=str,
    )
    def test_it_is_known_by_type_or_words(self, error: BaseException) -> None:
        assert adapter().is_out_of_memory(error)

    @pytest.mark.parametrize(
        "error",
        [
            RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
            ValueError("can't allocate memory for a joke"),
            RuntimeError("CUDA error: an illegal memory access was encountered"),
            KeyboardInterrupt(),
        ],
        ids=repr,
    )
    def test_other_errors_are_not(self, error: BaseException) -> None:
        assert not adapter().is_out_of_memory(error)


def test_threads_and_seed_reach_torch() -> None:
    made = adapter()
    made.set_threads(3)
    made.seed(17)
    assert (made.get_threads(), made.module.state.seed) == (3, 17)
