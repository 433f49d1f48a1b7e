from __future__ import annotations

import pytest

from pacenote.system import cgroup


@pytest.mark.parametrize(
    ("trees", "version", "quota_cpus", "limit_bytes"),
    [
        ((), 1, None, None),
        (("v1_throttled_before",), 1, 0.5, None),
        (("v1_container",), 1, 2.5, 2 << 30),
        (("v2_plain",), 2, None, None),
        (("v2_nested",), 2, 1.5, 8 << 30),
    ],
)
def test_quota_and_limit_are_the_tightest_of_the_path(tree, trees, version, quota_cpus, limit_bytes):
    reader = tree(*trees)
    assert cgroup.version(reader) == version
    assert cgroup.quota_cpus(reader) == quota_cpus
    assert cgroup.memory_limit_bytes(reader) == limit_bytes


def test_without_control_groups_there_is_no_quota(tree):
    reader = tree(without=("proc/self",))
    assert cgroup.version(reader) == 0
    assert cgroup.quota_cpus(reader) is None
    assert cgroup.throttling(reader) == {}


def test_levels_go_from_the_process_to_the_mount(tree):
    version, folders = cgroup.levels(tree("v2_nested"), "cpu", 4242)
    assert version == 2
    assert [folder.rpartition("/")[2] for folder in folders] == ["job.scope", "pod7.slice", "kubepods.slice", "cgroup"]


def test_both_versions_count_throttling_in_seconds(tree):
    first = cgroup.throttling(tree("v1_throttled_before", "v1_throttled_after"), 4242)
    held = first["/sys/fs/cgroup/cpu/pacenote_recording/job"]
    assert held.count > 10
    assert 0.5 < held.seconds < 5
    second = cgroup.throttling(tree("v2_nested"), 4242)
    assert second["/sys/fs/cgroup/kubepods.slice/pod7.slice"] == cgroup.Throttling(4.25, 310)


def test_a_path_outside_the_mount_falls_back_to_the_mount(tree):
    reader = tree("v1_container")
    with open(f"{reader.root}/proc/self/cgroup", "w") as stream:
        stream.write("5:cpu,cpuacct:/elsewhere\n")
    assert cgroup.quota_cpus(reader) == 2.5
