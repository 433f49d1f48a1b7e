"""The fingerprint of a measurement: machine, interpreter, framework, variables.

Only what stays the same between two runs belongs here (the state of the moment is in
:mod:`pacenote.system.snapshot`), because equal environments are stored once and resuming asks for an equal
one. Keys of ``Environment.facts``:

``machine_id`` · ``os``, ``os_version``, ``architecture`` · ``cpu_model``, ``cpu_flags``, ``l3_cache_bytes``,
``virtual`` · ``logical_cpus``, ``physical_cores``, ``affinity_cpus``, ``quota_cpus``, ``cgroup_version`` ·
``cpu_clock_max_hz``, ``cpu_governor`` · ``memory_total_bytes``, ``memory_limit_bytes``, ``swap_total_bytes``
· ``transparent_hugepages``, ``libc`` · ``accelerators`` (list of ``index``, ``name``, ``memory_total_bytes``,
``driver_version``, ``clock_max_hz``) and ``accelerators_reason`` · ``python``, ``pacenote`` · ``framework``
(what the child said about itself) · ``variables`` (allow-listed environment variables).
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import uuid
from collections.abc import Mapping
from typing import Any, Final

from pacenote._version import __version__
from pacenote.records import Environment
from pacenote.redact import redact as redact
from pacenote.system import accelerators, cgroup, cpu, load, thermal
from pacenote.system.reader import Reader

RECORDED_PREFIXES: Final = (
    "OMP_",
    "GOMP_",
    "KMP_",
    "MKL_",
    "OPENBLAS_",
    "BLIS_",
    "VECLIB_",
    "MALLOC_",
    "NUMEXPR_",
)
"""Variables that change how fast the same code runs: thread pools and the allocator."""

RECORDED_NAMES: Final = (
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_VISIBLE_DEVICES",
    "CUBLAS_WORKSPACE_CONFIG",
    "DNNL_MAX_CPU_ISA",
    "FLAGS_cudnn_deterministic",
    "FLAGS_use_mkldnn",
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "NVIDIA_TF32_OVERRIDE",
    "ONEDNN_MAX_CPU_ISA",
    "PYTHONDEVMODE",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
)
"""Single variables of the same kind. No other variable is ever recorded."""

_PATHS: Final = ("LD_PRELOAD",)  # recorded by the last part only: the folders name users and projects

_FOREIGN: Final = ("PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables that would make another interpreter load this one's packages."""


def machine_id(reader: Reader | None = None) -> str:
    """Sixteen hex digits that stay the same on this machine and do not give its serial numbers away."""
    reader = reader or Reader()
    source = reader.text("/etc/machine-id") or reader.text("/var/lib/dbus/machine-id") or _machine_serial()
    return hashlib.sha256(f"pacenote machine {source}".encode()).hexdigest()[:16]


def machine_facts(reader: Reader | None = None) -> dict[str, Any]:
    """Everything about the machine that stays the same between two runs; keys in the module's text."""
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


def environment(
    framework_facts: Mapping[str, Any],
    *,
    variables: Mapping[str, str] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Environment:
    """Put the fingerprint together.

    Args:
        framework_facts: What the child said about interpreter and framework.
        variables: The child's environment; this process's own by default. Only the allow-list of it is kept.
        facts: The machine's facts, if they have been read already.
    """
    return Environment(
        facts={
            **(machine_facts() if facts is None else facts),
            "python": platform.python_version(),
            "pacenote": __version__,
            "framework": dict(framework_facts),
            "variables": recorded_variables(os.environ if variables is None else variables),
        }
    )


def recorded_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that may be stored: the allow-list, with paths cut and secrets taken out."""
    kept: dict[str, str] = {}
    for name in sorted(variables):
        if name in RECORDED_NAMES or name.startswith(RECORDED_PREFIXES):
            value = variables[name]
            if name in _PATHS:
                value = ":".join(
                    os.path.basename(part) for part in value.replace(" ", ":").split(":") if part
                )
            kept[name] = redact(value, variables)
    return kept


def child_environ(python: str | None, levers_environ: Mapping[str, str]) -> dict[str, str]:
    """The environment a child starts with: this one's, plus what the levers set.

    Args:
        python: The child's interpreter if it is another one: then variables that point into our own
            installation are left out.
        levers_environ: Variables that levers set; they win.
    """
    inherited = dict(os.environ)
    if python is not None and os.path.realpath(python) != os.path.realpath(sys.executable):
        for name in _FOREIGN:
            inherited.pop(name, None)
    return {**inherited, **levers_environ}


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
