"""macOS and Windows as psutil shows them: what each has, lacks and refuses."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from pacenote.system import cpu, load, portable, process, thermal
from pacenote.system.reader import Reader


class NoFiles(Reader):
    """A live machine without /proc and /sys."""

    live = True  # type: ignore[assignment]


@pytest.fixture
def bare(tmp_path: Path) -> Reader:
    return NoFiles(tmp_path)


class FakeProcess:
    """One process of a system; ``refused`` names the calls that the system does not answer."""

    memory: SimpleNamespace = SimpleNamespace(rss=1000)
    refused: dict[str, Exception] = {}
    family: list[int] = []

    def __init__(self, pid: int = 1) -> None:
        self.pid = pid
        self._maybe("open")

    def _maybe(self, call: str) -> None:
        if call in self.refused:
            raise self.refused[call]

    def cpu_times(self) -> SimpleNamespace:
        self._maybe("cpu_times")
        return SimpleNamespace(user=2.0, system=0.5)

    def memory_info(self) -> SimpleNamespace:
        self._maybe("memory_info")
        return self.memory

    def num_ctx_switches(self) -> SimpleNamespace:
        self._maybe("num_ctx_switches")
        return SimpleNamespace(voluntary=40, involuntary=2)

    def children(self, recursive: bool) -> list[SimpleNamespace]:
        self._maybe("children")
        assert recursive
        return [SimpleNamespace(pid=pid) for pid in self.family]


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> type[FakeProcess]:
    class Process(FakeProcess):
        refused: dict[str, Exception] = {}
        family: list[int] = []

    monkeypatch.setattr(psutil, "Process", Process)
    return Process


def macos(system: type[FakeProcess]) -> None:
    system.memory = SimpleNamespace(rss=1000, vms=9000, pfaults=70, pageins=5)


def windows(system: type[FakeProcess]) -> None:
    system.memory = SimpleNamespace(rss=1000, peak_wset=3000, num_page_faults=90)


def test_macos_splits_faults_and_has_no_peak(system: type[FakeProcess], bare: Reader) -> None:
    macos(system)
    assert process.usage(7, bare) == process.Usage(cpu_s=2.5, minor_faults=65, major_faults=5)
    found = process.footprint(7, bare)
    assert found.rss_bytes.value == 1000
    assert found.rss_peak_bytes.reason == "not_on_this_system"


def test_windows_has_a_peak_and_only_the_sum_of_faults(system: type[FakeProcess], bare: Reader) -> None:
    windows(system)
    assert process.usage(7, bare) == process.Usage(cpu_s=2.5, minor_faults=None, major_faults=None)
    assert process.footprint(7, bare).rss_peak_bytes.value == 3000
    assert portable.process(7)["switches"] == 42


def test_switches_are_never_split_where_the_system_does_not(system: type[FakeProcess], bare: Reader) -> None:
    windows(system)
    used = process.usage(7, bare)
    assert used is not None
    assert (used.voluntary_switches, used.involuntary_switches) == (None, None)


@pytest.mark.parametrize("error", [psutil.NoSuchProcess(7), psutil.AccessDenied(7), OSError(), NotImplementedError()])
@pytest.mark.parametrize("call", ["open", "cpu_times", "memory_info"])
def test_a_process_that_cannot_be_asked_is_unknown(
    system: type[FakeProcess], bare: Reader, call: str, error: Exception
) -> None:
    macos(system)
    system.refused = {call: error}
    assert process.usage(7, bare) is None
    found = process.footprint(7, bare)
    assert (found.rss_bytes.value, found.rss_bytes.reason, found.processes) == (None, "process_gone", 0)


def test_what_was_read_before_a_refusal_stands(system: type[FakeProcess], bare: Reader) -> None:
    macos(system)
    system.refused = {"num_ctx_switches": psutil.AccessDenied(7)}
    assert process.usage(7, bare) == process.Usage(cpu_s=2.5, minor_faults=65, major_faults=5)


def test_memory_of_a_tree_is_summed_and_pss_is_never_guessed(system: type[FakeProcess], bare: Reader) -> None:
    macos(system)
    system.family = [8, 9]
    assert process.tree(7, bare) == [7, 8, 9]
    found = process.footprint(7, bare)
    assert (found.rss_bytes.value, found.processes) == (3000, 3)
    assert found.pss_bytes.reason == found.swap_bytes.reason == "not_on_this_system"


def test_a_tree_that_may_not_be_listed_is_the_process_alone(system: type[FakeProcess], bare: Reader) -> None:
    system.refused = {"children": psutil.AccessDenied(7)}
    assert process.tree(7, bare) == [7]


@pytest.mark.parametrize(
    ("times", "busy_s"),
    [
        ({"user": 10.0, "system": 5.0, "idle": 900.0, "interrupt": 0.5, "dpc": 0.25}, 15.75),  # Windows
        ({"user": 10.0, "nice": 1.0, "system": 5.0, "idle": 900.0}, 16.0),  # macOS
        ({"user": 10.0, "system": 5.0, "iowait": 30.0, "idle": 900.0, "irq": 1.0}, 16.0),
    ],
)
def test_busy_time_leaves_waiting_out(
    monkeypatch: pytest.MonkeyPatch, bare: Reader, times: dict[str, float], busy_s: float
) -> None:
    monkeypatch.setattr(psutil, "cpu_times", lambda: SimpleNamespace(**times))
    assert load.busy_and_steal_s(bare) == (pytest.approx(busy_s), None)


def refuse(*arguments: Any, **options: Any) -> Any:
    raise OSError("not here")


def test_a_system_that_refuses_everything_is_unknown(monkeypatch: pytest.MonkeyPatch, bare: Reader) -> None:
    for name in ("cpu_times", "virtual_memory", "swap_memory"):
        monkeypatch.setattr(psutil, name, refuse)
    monkeypatch.setattr(psutil, "cpu_freq", refuse, raising=False)
    assert load.busy_and_steal_s(bare) == (None, None)
    assert set(load.memory(bare).values()) == {None}
    assert load.swapped_bytes(bare) == (None, None)
    assert thermal.clock_hz(bare) == (None, None)


def test_swap_statistics_that_are_switched_off(monkeypatch: pytest.MonkeyPatch, bare: Reader) -> None:
    """psutil raises RuntimeError on Windows when performance counters are disabled."""

    def broken() -> None:
        raise RuntimeError("PdhAddEnglishCounterW failed")

    monkeypatch.setattr(psutil, "swap_memory", broken)
    assert load.memory(bare)["memory_total_bytes"] is None


def test_memory_keys_are_those_of_linux(monkeypatch: pytest.MonkeyPatch, bare: Reader, tmp_path: Path) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=8, available=4))
    monkeypatch.setattr(psutil, "swap_memory", lambda: SimpleNamespace(total=2, used=1, sin=30, sout=40))
    found = load.memory(bare)
    assert found.keys() == load.memory(Reader(tmp_path)).keys()
    assert list(found.values()) == [8, 4, 2, 1]
    assert load.swapped_bytes(bare) == (30, 40)


@pytest.mark.parametrize(("affinity", "expected"), [([0, 1, 2], 3), ([], None), (None, None)])
def test_counts_of_cpus(
    monkeypatch: pytest.MonkeyPatch, system: type[FakeProcess], bare: Reader, affinity: Any, expected: int | None
) -> None:
    if affinity is not None:
        monkeypatch.setattr(system, "cpu_affinity", lambda self: affinity, raising=False)
    monkeypatch.setattr(psutil, "cpu_count", lambda logical=True: 8 if logical else 4)
    found = cpu.counts(bare)
    assert (found["logical_cpus"], found["physical_cores"], found["affinity_cpus"]) == (8, 4, expected)
    assert found["quota_cpus"] is None


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        (SimpleNamespace(current=2400.0, max=3200.0), (2.4e9, 3.2e9)),
        (SimpleNamespace(current=2400.0, max=0.0), (2.4e9, None)),
        (None, (None, None)),
    ],
)
def test_clocks(monkeypatch: pytest.MonkeyPatch, bare: Reader, clock: Any, expected: tuple[Any, Any]) -> None:
    monkeypatch.setattr(psutil, "cpu_freq", lambda: clock, raising=False)
    assert thermal.clock_hz(bare) == expected


def test_a_recorded_tree_never_asks_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("cpu_times", "virtual_memory", "swap_memory", "cpu_count", "Process"):
        monkeypatch.setattr(psutil, name, refuse)
    reader = Reader(tmp_path)
    assert load.busy_and_steal_s(reader) == (None, None)
    assert cpu.counts(reader)["logical_cpus"] is None
    assert process.tree(7, reader) == [7]
    assert process.usage(7, reader) is None
