"""What stays the same about this machine between two runs."""

from __future__ import annotations

import hashlib
import platform
import sys
import uuid
from typing import Any

from pacenote.system import accelerators, cgroup, cpu, load, thermal
from pacenote.system.reader import Reader


def machine_id(reader: Reader | None = None) -> str:
    """Sixteen hex digits that stay the same on this machine and do not give its serial numbers away."""
    reader = reader or Reader()
    source = reader.text("/etc/machine-id") or reader.text("/var/lib/dbus/machine-id") or _machine_serial()
    return hashlib.sha256(f"pacenote machine {source}".encode()).hexdigest()[:16]


def machine_facts(reader: Reader | None = None) -> dict[str, Any]:
    """Describe the machine.

    Returns:
        JSON values, ``None`` where unknown: ``machine_id`` · ``os``, ``os_version``, ``architecture`` ·
        ``cpu_model``, ``cpu_flags``, ``l3_cache_bytes``, ``virtual`` · ``logical_cpus``, ``physical_cores``,
        ``affinity_cpus``, ``quota_cpus``, ``cgroup_version`` · ``cpu_clock_max_hz``, ``cpu_governor`` ·
        ``memory_total_bytes``, ``memory_limit_bytes``, ``swap_total_bytes`` · ``transparent_hugepages``,
        ``libc`` · ``accelerators`` (list of ``index``, ``name``, ``memory_total_bytes``, ``driver_version``,
        ``clock_max_hz``) and ``accelerators_reason``.
    """
    reader = reader or Reader()
    memory = load.memory(reader)
    session, reason = accelerators.connect() if reader.live else (None, "recorded_tree")
    devices = session.facts() if session is not None else []
    if session is not None:
        session.close()
    return {
        "machine_id": machine_id(reader),
        "os": platform.system(),
        "os_version": platform.release(),
        "architecture": platform.machine(),
        **cpu.describe(reader),
        **cpu.counts(reader),
        "cgroup_version": cgroup.version(reader) or None,
        "cpu_clock_max_hz": thermal.clock_hz(reader)[1],
        "cpu_governor": thermal.governor(reader),
        "memory_total_bytes": memory["memory_total_bytes"],
        "memory_limit_bytes": cgroup.memory_limit_bytes(reader),
        "swap_total_bytes": memory["swap_total_bytes"],
        "transparent_hugepages": _chosen(reader.text("/sys/kernel/mm/transparent_hugepage/enabled")),
        "libc": " ".join(platform.libc_ver()).strip() or None,
        "accelerators": devices,
        "accelerators_reason": reason,
    }


def _machine_serial() -> str:
    """What tells this machine from others without /etc/machine-id; only its hash leaves this module."""
    if sys.platform == "win32":
        import winreg

        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography") as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        except OSError:
            pass
    node = uuid.getnode()
    # A random node has the multicast bit set (RFC 9562, 6.10) and changes with each start; the name is more
    # stable.
    return platform.node() if node >> 40 & 1 else f"{node:012x}"


def _chosen(text: str | None) -> str | None:
    """Read a kernel choice: ``"always [madvise] never"`` is ``"madvise"``."""
    return text.partition("[")[2].partition("]")[0] or None if text else None
