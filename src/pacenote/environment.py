"""The fingerprint of a measurement: machine, interpreter, framework, variables.

Only what stays the same between two runs belongs here (the state of the moment is in
:mod:`pacenote.system.snapshot`), because equal environments are stored once and resuming asks for an equal
one. ``Environment.facts`` holds the keys of :func:`pacenote.system.machine.machine_facts` and ``python``,
``pacenote`` (versions of the measuring side), ``framework`` (what the child said about itself), ``variables``
(allow-listed environment variables of the child).
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from typing import Any, Final

from pacenote._version import __version__
from pacenote.records import Environment
from pacenote.redact import redact as redact
from pacenote.system.interpreter import child_environ as child_environ
from pacenote.system.machine import machine_facts as machine_facts
from pacenote.system.machine import machine_id as machine_id

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
                value = ":".join(os.path.basename(part) for part in value.replace(" ", ":").split(":") if part)
            kept[name] = redact(value, variables)
    return kept
