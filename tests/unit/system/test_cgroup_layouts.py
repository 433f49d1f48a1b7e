"""Control groups as distributions, containers and odd kernels lay them out."""

from __future__ import annotations

from pathlib import Path

import pytest
from composed import Machine, deny

from pacenote.system import cgroup

V1 = "/sys/fs/cgroup/cpu,cpuacct"
V2 = "/sys/fs/cgroup"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def version_1(machine: Machine, path: str, *, root: str = "/") -> Machine:
    machine.mount("cgroup", V1, root=root, options="rw,cpu,cpuacct")
    machine.mount("cgroup", "/sys/fs/cgroup/memory", root=root, options="rw,memory")
    return machine.groups(f"4:memory:{path}", f"3:cpu,cpuacct:{path}", f"1:name=systemd:{path}")


def version_2(machine: Machine, path: str, *, root: str = "/") -> Machine:
    return machine.mount("cgroup2", V2, root=root, options="rw,nsdelegate").groups(f"0::{path}")


def test_version_1_has_a_folder_per_controller(machine: Machine) -> None:
    version_1(machine, "/user.slice/job")
    assert cgroup.levels(machine.reader, "cpu") == (1, [f"{V1}/user.slice/job", f"{V1}/user.slice", V1])
    assert cgroup.levels(machine.reader, "memory")[1][0] == "/sys/fs/cgroup/memory/user.slice/job"


@pytest.mark.parametrize(
    ("quota", "period", "expected"),
    [
        ("50000", "100000", 0.5),
        ("400000", "100000", 4.0),
        ("-1", "100000", None),  # the kernel's word for no quota
        ("0", "100000", None),
        ("50000", "0", None),
        ("50000", "", None),
        ("", "100000", None),
        ("nonsense", "100000", None),
    ],
)
def test_quotas_of_version_1(machine: Machine, quota: str, period: str, expected: float | None) -> None:
    version_1(machine, "/job").file(f"{V1}/job/cpu.cfs_quota_us", quota + "\n")
    machine.file(f"{V1}/job/cpu.cfs_period_us", period + "\n")
    assert cgroup.quota_cpus(machine.reader) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 100000", None),
        ("150000 100000", 1.5),
        ("1000 1000000", 0.001),
        ("max", None),
        ("150000", None),
        ("150000 0", None),
        ("150000 x", None),
        ("1 2 3", None),
        ("", None),
    ],
)
def test_quotas_of_version_2(machine: Machine, text: str, expected: float | None) -> None:
    version_2(machine, "/job").file(f"{V2}/job/cpu.max", text + "\n")
    assert cgroup.quota_cpus(machine.reader) == expected


def test_the_tightest_level_counts_wherever_it_is(machine: Machine) -> None:
    version_2(machine, "/a/b/c")
    for folder, text in (("/a", "200000 100000"), ("/a/b", "75000 100000"), ("/a/b/c", "max 100000")):
        machine.file(f"{V2}{folder}/cpu.max", text)
    assert cgroup.quota_cpus(machine.reader) == 0.75


def test_both_hierarchies_at_once_as_systemd_mounts_them(machine: Machine) -> None:
    """The hybrid layout: version 2 is mounted, but version 1 owns the CPU controller."""
    machine.mount("cgroup2", "/sys/fs/cgroup/unified").mount("cgroup", V1, options="rw,cpu,cpuacct")
    machine.groups("3:cpu,cpuacct:/job", "0::/other")
    machine.file("/sys/fs/cgroup/unified/other/cpu.max", "10000 100000")
    machine.file(f"{V1}/job/cpu.cfs_quota_us", "300000").file(f"{V1}/job/cpu.cfs_period_us", "100000")
    assert cgroup.version(machine.reader) == 1
    assert cgroup.quota_cpus(machine.reader) == 3.0


def test_version_1_that_holds_other_controllers_leaves_the_cpu_to_version_2(machine: Machine) -> None:
    machine.mount("cgroup", "/sys/fs/cgroup/systemd", options="rw,name=systemd").mount("cgroup2", "/mnt/unified")
    machine.groups("1:name=systemd:/x", "0::/job").file("/mnt/unified/job/cpu.max", "50000 100000")
    assert cgroup.version(machine.reader) == 2
    assert cgroup.quota_cpus(machine.reader) == 0.5


@pytest.mark.parametrize("path", ["/docker/0a1b", "/docker/0a1b/inner"])
def test_a_container_that_sees_the_hosts_path(machine: Machine, path: str) -> None:
    version_1(machine, path, root="/docker/0a1b")
    machine.file(f"{V1}/cpu.cfs_quota_us", "250000").file(f"{V1}/cpu.cfs_period_us", "100000")
    version, folders = cgroup.levels(machine.reader, "cpu")
    assert (version, folders[-1]) == (1, V1)
    assert len(folders) == 1 + path.count("inner")
    assert cgroup.quota_cpus(machine.reader) == 2.5


def test_a_longer_name_with_the_same_start_is_another_group(machine: Machine) -> None:
    version_1(machine, "/docker/0a1bff", root="/docker/0a1b")
    assert cgroup.levels(machine.reader, "cpu") == (1, [V1])


@pytest.mark.parametrize(("path", "root"), [("/", "/"), ("/../../outside", "/"), ("/../sibling", "/kubepods/pod1")])
def test_a_namespace_ends_at_the_mount(machine: Machine, path: str, root: str) -> None:
    version_2(machine, path, root=root).file(f"{V2}/cpu.max", "50000 100000")
    assert cgroup.levels(machine.reader, "cpu") == (2, [V2])
    assert cgroup.quota_cpus(machine.reader) == 0.5


def test_another_process_has_its_own_path(machine: Machine) -> None:
    version_2(machine, "/mine").groups("0::/its", pid=77)
    machine.file(f"{V2}/its/cpu.max", "100000 100000")
    assert cgroup.quota_cpus(machine.reader, 77) == 1.0
    assert cgroup.quota_cpus(machine.reader) is None
    assert cgroup.quota_cpus(machine.reader, 78) is None


@pytest.mark.parametrize(
    "rows",
    ["", "garbage\n", "30 1 0:3 /\n", "30 1 0:3 / /sys/fs/cgroup rw - \n", "30 1 0:3 / /mnt rw - ext4 /dev/a rw\n"],
)
def test_mount_tables_without_groups(machine: Machine, rows: str) -> None:
    machine.file("/proc/self/mountinfo", rows).groups("0::/job")
    assert cgroup.levels(machine.reader, "cpu") == (0, [])
    assert cgroup.memory_limit_bytes(machine.reader) is None


@pytest.mark.parametrize("rows", [(), ("garbage",), ("0:",), ("7:memory:/job",), (":",)])
def test_malformed_rows_of_a_process_name_no_group(machine: Machine, rows: tuple[str, ...]) -> None:
    machine.mount("cgroup2", V2).groups(*rows).file(f"{V2}/cpu.max", "50000 100000")
    assert cgroup.levels(machine.reader, "cpu") == (0, [])
    assert cgroup.quota_cpus(machine.reader) is None


def test_a_path_may_hold_colons(machine: Machine) -> None:
    version_2(machine, "/sys:1:x").file(f"{V2}/sys:1:x/cpu.max", "50000 100000")
    assert cgroup.quota_cpus(machine.reader) == 0.5


@pytest.mark.parametrize(
    ("text", "expected"), [("max", None), ("1073741824", 1 << 30), ("", None), ("9223372036854771712", None), ("0", 0)]
)
def test_memory_limits_of_version_2(machine: Machine, text: str, expected: int | None) -> None:
    version_2(machine, "/job").file(f"{V2}/job/memory.max", text)
    assert cgroup.memory_limit_bytes(machine.reader) == expected


def test_memory_limits_of_version_1_leave_out_the_unlimited_levels(machine: Machine) -> None:
    version_1(machine, "/a/b")
    for folder, text in (("", "9223372036854771712"), ("/a", "2147483648"), ("/a/b", "4294967296")):
        machine.file(f"/sys/fs/cgroup/memory{folder}/memory.limit_in_bytes", text)
    assert cgroup.memory_limit_bytes(machine.reader) == 2 << 30


def test_throttling_units_differ_between_the_versions(machine: Machine) -> None:
    version_1(machine, "/job")
    machine.file(f"{V1}/job/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 2500000000\n")
    assert cgroup.throttling(machine.reader) == {f"{V1}/job": cgroup.Throttling(2.5, 4)}


@pytest.mark.parametrize(
    "text", ["", "usage_usec 5\n", "nr_throttled 4\n", "throttled_usec 9\n", "nr_throttled x\nthrottled_usec 9\n"]
)
def test_a_group_without_whole_counters_is_left_out(machine: Machine, text: str) -> None:
    """The root of version 2 has cpu.stat without the bandwidth rows."""
    version_2(machine, "/job").file(f"{V2}/cpu.stat", text)
    machine.file(f"{V2}/job/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_usec 1500000\n")
    assert cgroup.throttling(machine.reader) == {f"{V2}/job": cgroup.Throttling(1.5, 2)}


def test_files_that_may_not_be_read_are_as_good_as_absent(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    version_2(machine, "/a/b").file(f"{V2}/a/cpu.max", "50000 100000").file(f"{V2}/a/b/cpu.max", "150000 100000")
    deny(monkeypatch, lambda path: path.endswith("/a/cpu.max"))
    assert cgroup.quota_cpus(machine.reader) == 1.5
    deny(monkeypatch, lambda path: path.endswith("mountinfo"))
    assert cgroup.quota_cpus(machine.reader) is None
