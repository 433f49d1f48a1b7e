"""The CPUs: how many, which of them may be used, what they are."""

from __future__ import annotations

from typing import Any, Final

from pacenote.system import cgroup
from pacenote.system.reader import Reader, cpu_list, number

_FLAGS: Final = (
    "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512_vnni",
    "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8",
    "asimd", "asimdhp", "asimddp", "bf16", "i8mm", "sve", "sve2",
)  # fmt: skip
"""Instruction sets that deep-learning kernels choose their code path by; all other flags only add noise."""

_TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology"


def counts(reader: Reader) -> dict[str, Any]:
    """Count CPUs.

    Returns:
        ``logical_cpus`` online, ``physical_cores`` among those this process may use, ``affinity_cpus`` it may
        use, ``quota_cpus`` its control group may use (``None``: no quota).
    """
    online = [int(name[3:]) for name in _processors(reader)]
    allowed = cpu_list(reader.fields("/proc/self/status", ":").get("Cpus_allowed_list"))
    usable = [cpu for cpu in allowed if cpu in online] or online
    found: dict[str, Any] = {
        "logical_cpus": len(online) or None,
        "affinity_cpus": len(usable) or None,
        "physical_cores": _physical_cores(reader, usable),
        "quota_cpus": cgroup.quota_cpus(reader),
    }
    if reader.live and not online:
        from pacenote.system import portable

        found.update(portable.cpus())
    return found


def threads_default(facts: dict[str, Any]) -> int:
    """Threads that do not hurt: the smallest of quota, physical cores and affinity, at least one."""
    limits = [facts.get("quota_cpus"), facts.get("physical_cores"), facts.get("affinity_cpus")]
    known = [int(limit) for limit in limits if limit]  # a quota of 2.5 CPUs feeds two threads, not three
    return max(1, min(known, default=1))


def describe(reader: Reader) -> dict[str, Any]:
    """Name the CPU: ``cpu_model``, ``cpu_flags``, ``l3_cache_bytes``, ``virtual``."""
    info = reader.fields("/proc/cpuinfo", ":")
    flags = set((info.get("flags") or info.get("Features") or "").split())
    model = info.get("model name") or info.get("Model") or info.get("cpu model")
    if model is None and reader.live:
        import platform

        model = platform.processor() or None
    return {
        "cpu_model": model,
        "cpu_flags": [flag for flag in _FLAGS if flag in flags],
        "l3_cache_bytes": _cache_bytes(reader.text("/sys/devices/system/cpu/cpu0/cache/index3/size")),
        "virtual": "hypervisor" in flags if flags else None,
    }


def _processors(reader: Reader) -> list[str]:
    """The ``cpuN`` rows of /proc/stat: the CPUs that are online."""
    rows = (line.split(maxsplit=1)[0] for line in reader.lines("/proc/stat") if line.startswith("cpu"))
    return [row for row in rows if row[3:].isdigit()]


def _physical_cores(reader: Reader, usable: list[int]) -> int | None:
    """Count distinct cores: two hardware threads of one core share its arithmetic units."""
    siblings = [reader.text(f"{_TOPOLOGY.format(cpu)}/thread_siblings_list") for cpu in usable]
    if usable and all(siblings):
        return len(set(siblings))
    return _cores_of_cpuinfo(reader, usable)


def _cores_of_cpuinfo(reader: Reader, usable: list[int]) -> int | None:
    cores: set[tuple[str, str]] = set()
    processor, package = -1, "0"
    for line in reader.lines("/proc/cpuinfo"):
        key, _, value = (part.strip() for part in line.partition(":"))
        if key == "processor":
            processor = number(value) if number(value) is not None else -1  # type: ignore[assignment]
        elif key == "physical id":
            package = value
        elif key == "core id" and processor in usable:
            cores.add((package, value))
    return len(cores) or None


def _cache_bytes(text: str | None) -> int | None:
    """Read the kernel's cache size: ``"32768K"`` or ``"32M"``."""
    if not text:
        return None
    scale = {"K": 1 << 10, "M": 1 << 20}.get(text[-1].upper())
    amount = number(text[:-1] if scale else text)
    return None if amount is None else amount * (scale or 1)
