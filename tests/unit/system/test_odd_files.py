"""Files that are cut off, malformed, absent or forbidden: an unknown, never a crash and never a made-up number."""

from __future__ import annotations

from pathlib import Path

import pytest
from composed import Machine, deny
from hypothesis import given
from hypothesis import strategies as st

from pacenote.system import cpu, load, process, thermal
from pacenote.system.machine import machine_facts
from pacenote.system.reader import Reader, cpu_list, decimal, number
from pacenote.system.snapshot import snapshot

STAT = "cpu  100 0 50 800 20 5 5 10 0 0\ncpu0 50 0 25 400 10 2 2 5 0 0\ncpu1 50 0 25 400 10 3 3 5 0 0\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@given(st.text(max_size=40))
def test_no_text_breaks_the_readers_of_words(text: str) -> None:
    for read in (number, decimal):
        found = read(text)
        assert found is None or found == found or text.strip().lower().lstrip("+-") == "nan"
    if "-" not in text:  # a huge range is what it says, and would take long to write down
        assert all(isinstance(one, int) for one in cpu_list(text))


@given(st.lists(st.integers(0, 300), max_size=30, unique=True))
def test_a_cpu_list_is_read_back(cpus: list[int]) -> None:
    assert cpu_list(",".join(str(one) for one in cpus)) == cpus


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0-x", []), ("x-3", []), ("-", []), ("3-1", []), (" 1 , 2 ", [1, 2]), ("0-1,,4", [0, 1, 4]), ("a,5", [5])],
)
def test_a_malformed_part_of_a_cpu_list_is_left_out(text: str, expected: list[int]) -> None:
    assert cpu_list(text) == expected


@pytest.mark.parametrize("path", ["/proc", "/proc/meminfo/inner"])
def test_a_folder_where_a_file_should_be(machine: Machine, path: str) -> None:
    machine.file("/proc/meminfo", "MemTotal: 1 kB")
    assert machine.reader.text(path) is None
    assert machine.reader.names("/proc/meminfo") == []


def test_bytes_that_are_no_text_do_not_stop_the_reading(machine: Machine) -> None:
    (machine.root / "f").write_bytes(b"\xff\xfe 12\nkey value\n")
    assert machine.reader.fields("/f")["key"] == "value"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STAT, (160 * load.TICK_S, 10 * load.TICK_S)),
        ("cpu  100 0 50 800 20 5 5\n", (None, None)),  # before Linux 2.6.11 there was no steal column
        ("cpu0 1 2 3 4 5 6 7 8\n", (None, None)),
        ("", (None, None)),
        ("intr 1 2 3 4 5 6 7 8 9\n", (None, None)),
    ],
)
def test_rows_of_cpu_time(machine: Machine, text: str, expected: tuple[float | None, float | None]) -> None:
    machine.file("/proc/stat", text)
    assert load.busy_and_steal_s(machine.reader) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("some avg10=12.50 avg60=0.00 avg300=0.00 total=2000000\n", {"some_s": 2.0, "some_avg10_share": 0.125}),
        ("some avg10=x avg60=0 total=y\n", {}),
        ("some\n", {}),
        ("some total=5\n\nfull avg10=1.00\n", {"some_s": 5e-6, "full_avg10_share": 0.01}),
        ("", {}),
    ],
)
def test_rows_of_pressure(machine: Machine, text: str, expected: dict[str, float]) -> None:
    machine.file("/proc/pressure/cpu", text)
    assert load.pressure(machine.reader, "cpu") == pytest.approx(expected)


def test_pressure_that_is_switched_off_answers_with_an_error(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels booted with psi=0 have the file and refuse to read it."""
    machine.file("/proc/pressure/cpu", "some avg10=0.00 total=1")
    deny(monkeypatch, lambda path: "pressure" in path)
    assert load.pressure(machine.reader, "cpu") == {}


@pytest.mark.parametrize(
    ("text", "load_1min", "running"),
    [
        ("0.50 0.4 0.3 3/900 12\n", 0.5, 3),
        ("0.50\n", 0.5, None),
        ("x y z q\n", None, None),
        ("0.1 0 0 a/b 1", 0.1, None),
    ],
)
def test_rows_of_load(machine: Machine, text: str, load_1min: float | None, running: int | None) -> None:
    machine.file("/proc/loadavg", text)
    assert load.queue(machine.reader) == {"load_1min": load_1min, "running_tasks": running}


def test_memory_rows_that_miss_are_unknown(machine: Machine) -> None:
    machine.file("/proc/meminfo", "MemTotal:  2048 kB\nSwapTotal: 100 kB\nMemAvailable: lots\n")
    assert load.memory(machine.reader) == {
        "memory_total_bytes": 2048 * 1024,
        "memory_available_bytes": None,
        "swap_total_bytes": 102400,
        "swap_used_bytes": None,
    }


def test_swap_needs_both_directions(machine: Machine) -> None:
    machine.file("/proc/vmstat", "pswpin 4\n")
    assert load.swapped_bytes(machine.reader) == (None, None)


def test_cpus_that_are_offline_do_not_count(machine: Machine) -> None:
    machine.file("/proc/stat", STAT).file("/proc/self/status", "Cpus_allowed_list:\t0-7\n")
    found = cpu.counts(machine.reader)
    assert (found["logical_cpus"], found["affinity_cpus"]) == (2, 2)


def test_an_affinity_nobody_states_is_every_cpu(machine: Machine) -> None:
    assert cpu.counts(machine.file("/proc/stat", STAT).reader)["affinity_cpus"] == 2


def test_one_core_without_topology_sends_all_to_the_other_source(machine: Machine) -> None:
    machine.file("/proc/stat", STAT)
    machine.file("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1")
    rows = "processor\t: {}\nphysical id\t: {}\ncore id\t\t: {}\n\n"
    machine.file("/proc/cpuinfo", rows.format(0, 0, 0) + rows.format(1, 1, 0))
    assert cpu.counts(machine.reader)["physical_cores"] == 2


@pytest.mark.parametrize("text", ["", "processor: x\ncore id: 0\n", "core id: 0\n", "processor: 9\ncore id: 0\n"])
def test_core_lists_that_say_nothing(machine: Machine, text: str) -> None:
    machine.file("/proc/stat", STAT).file("/proc/cpuinfo", text)
    assert cpu.counts(machine.reader)["physical_cores"] is None


@pytest.mark.parametrize(
    ("text", "size"), [("32768K", 32 << 20), ("32M", 32 << 20), ("4096", 4096), ("K", None), ("", None), ("bigK", None)]
)
def test_sizes_of_the_last_cache(machine: Machine, text: str, size: int | None) -> None:
    machine.file("/sys/devices/system/cpu/cpu0/cache/index3/size", text)
    assert cpu.describe(machine.reader)["l3_cache_bytes"] == size


def test_an_arm_cpu_names_itself_otherwise(machine: Machine) -> None:
    machine.file("/proc/cpuinfo", "processor: 0\nFeatures: fp asimd sve bf16\nModel: Board 4\n")
    found = cpu.describe(machine.reader)
    assert (found["cpu_model"], found["cpu_flags"], found["virtual"]) == ("Board 4", ["asimd", "bf16", "sve"], False)


@pytest.mark.parametrize(
    ("facts", "threads"),
    [
        ({}, 1),
        ({"quota_cpus": 0.5}, 1),
        ({"quota_cpus": 2.9, "physical_cores": 8}, 2),
        ({"physical_cores": 4, "affinity_cpus": 3}, 3),
        ({"physical_cores": None, "affinity_cpus": 0}, 1),
    ],
)
def test_default_threads_never_exceed_a_limit(facts: dict[str, float], threads: int) -> None:
    assert cpu.threads_default(facts) == threads


@pytest.mark.parametrize("text", ["", "7 (python", "7 (python) S 1 2", "7 (p) S 1 1 1 0 -1 0 a b c d e f g h"])
def test_a_process_row_that_is_cut_off_is_no_process(machine: Machine, text: str) -> None:
    machine.file("/proc/7/stat", text)
    assert process.usage(7, machine.reader) is None


def test_odd_words_among_the_children_are_passed_over(machine: Machine) -> None:
    machine.process(7, children=(8,)).process(8).file("/proc/7/task/7/children", "8 x 8 7\n")
    assert process.tree(7, machine.reader) == [7, 8]


def test_children_of_every_thread_are_found(machine: Machine) -> None:
    """A loader's workers may be forked by another thread than the first."""
    machine.process(7, threads=(7, 17), children_of_thread=(9,)).process(9, children=(10,)).process(10)
    assert process.tree(7, machine.reader) == [7, 9, 10]
    assert process.usage(7, machine.reader).voluntary_switches == 14  # type: ignore[union-attr]


def test_a_forbidden_page_table_leaves_the_other_sizes(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.process(7, rss_kib=500)
    deny(monkeypatch, lambda path: path.endswith("smaps_rollup"))
    found = process.footprint(7, machine.reader)
    assert (found.pss_bytes.value, found.pss_bytes.reason) == (None, "no_smaps_rollup")
    assert (found.rss_bytes.value, found.rss_peak_bytes.value) == (512000.0, 1024000.0)


def test_a_zombie_has_no_memory_to_speak_of(machine: Machine) -> None:
    machine.process(7).file("/proc/7/status", "Name:\tpython\nState:\tZ (zombie)\n")
    assert process.footprint(7, machine.reader).rss_bytes.reason == "process_gone"


def test_sensors_that_answer_nonsense_are_no_sensors(machine: Machine) -> None:
    for number_, text in enumerate(("0", "-5000", "x", "")):
        machine.file(f"/sys/class/hwmon/hwmon{number_}/name", "coretemp")
        machine.file(f"/sys/class/hwmon/hwmon{number_}/temp1_input", text)
        machine.file(f"/sys/class/hwmon/hwmon{number_}/temp1_crit", text.replace("-", ""))
    assert thermal.temperature_c(machine.reader) is None
    machine.file("/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp")
    machine.file("/sys/class/thermal/thermal_zone0/temp", "47000")
    assert thermal.temperature_c(machine.reader) == 47.0
    assert thermal.critical_c(machine.reader) == 5.0


def test_clocks_are_the_mean_of_those_that_answer(machine: Machine) -> None:
    folder = "/sys/devices/system/cpu/cpu{}/cpufreq/"
    for number_, text in enumerate(("1000000", "", "3000000", "x")):
        machine.file(folder.format(number_) + "scaling_cur_freq", text)
    machine.file("/sys/devices/system/cpu/cpufreq/scaling_cur_freq", "9000000")  # a folder of policies, not a CPU
    assert thermal.clock_hz(machine.reader) == (2e9, None)


def test_nothing_readable_at_all_is_a_machine_of_unknowns(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.file("/proc/stat", STAT).process(7).mount("cgroup2", "/sys/fs/cgroup").groups("0::/a")
    deny(monkeypatch, lambda path: True)
    assert {value for value in snapshot(machine.reader).values() if value != []} == {None}
    facts = machine_facts(machine.reader)
    assert (facts["cpu_model"], facts["cpu_flags"], facts["logical_cpus"]) == (None, [], None)
    assert facts["machine_id"] == machine_facts(Reader(machine.root))["machine_id"]
