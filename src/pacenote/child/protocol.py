"""The words spoken over the two pipes between parent and child: one JSON object a line.

Parent → child (control pipe)::

    {"cmd": "job",    ...Job...}                     first line, see below
    {"cmd": "turn",   "turn": 3, "seconds": 0.25, "steps": null}
                                                     run until a step ends after ``seconds`` or ``steps`` steps
    {"cmd": "finish"}                                end cleanly; the child answers "done"

Child → parent (result pipe)::

    {"msg": "hello", "pid": 1, "python": "3.11.7", "executable": "...", "t_ns": 0}
    {"msg": "ready", "cold_start": {"import_s": .., "device_init_s": .., "build_s": .., "data_s": ..},
                     "framework": {"name": .., "version": .., ...}, "data": {...}}
                                                     everything is built; the child waits for its first turn
    {"msg": "turn",  "turn": 3, "t_ns": "<packed>", "code": "<packed>", "steps": 41,
                     "cpu_s": .., "wall_s": .., "minor_faults": .., "major_faults": ..,
                     "voluntary_switches": .., "involuntary_switches": .., "threads": ..,
                     "losses": [[step, value], ...], "copied_bytes": 0,
                     "device_memory": {"allocated_bytes": .., "reserved_bytes": .., "peak_bytes": ..} | null}
                                                     a turn has ended; the child is paused
    {"msg": "calibration", "ceilings": {...}}        answer to a job with action "calibrate"
    {"msg": "facts", "frameworks": {"pytorch": {...}}}  answer to a job with action "facts"
    {"msg": "done",  "objects": [...], "observed": {...}, "flop_per_sample": .., "samples_per_step": ..}
    {"msg": "error", "kind": "out_of_memory" | "missing_framework" | "missing_device" | "bad_data" | "unsupported"
                             | "exception",
                     "type": "RuntimeError", "text": "...", "where": "file.py:12"}

A Job (values are plain JSON; absent keys mean the default)::

    {"action": "train" | "calibrate" | "facts",
     "workload": "lenet", "framework": "pytorch" | "paddle", "device": "cpu",
     "workload_file": "/…/workload.py" | null,       a third party's workload; null for a built-in one
     "data_mode": "real" | "device" | "loader", "data_dir": "/…" | null, "seed": 0,
     "levers": {"batch_size": 32, "threads": 2, "loader_workers": 0, "dtype": "fp32",
                "memory_format": "default", "pipeline": "tutorial", "width": 1.0, "depth": 1, ...},
     "planted_slowdown_ratio": 1.0,                  selftest only: after each step spin until it lasted that many
                                                     times as long
     "probe": true, "fault": null}                   fault: fault-injection benchmarks only
"""

from __future__ import annotations

COMMANDS = ("job", "turn", "finish")
MESSAGES = ("hello", "ready", "turn", "calibration", "facts", "done", "error")
ERROR_KINDS = ("out_of_memory", "missing_framework", "missing_device", "bad_data", "unsupported", "exception")

CONTROL_FD_VARIABLE = "PACENOTE_CONTROL_FD"
RESULT_FD_VARIABLE = "PACENOTE_RESULT_FD"
