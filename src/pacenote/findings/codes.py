"""Every code a finding can carry, with the parameters that come with it.

The words for each are in :mod:`pacenote.report.locale`; a test holds that both languages have a sentence for each.
A parameter may be ``None`` where it is unknown. Findings about a cell's health also carry ``trials`` (processes it was
seen in) and ``of_trials``.
"""

from __future__ import annotations

from typing import Final

HEALTH: Final[dict[str, tuple[str, ...]]] = {
    "threads_over_cores": ("threads", "cores"),
    "threads_over_quota": ("threads", "quota_cpus"),
    "debug_mode": ("flags",),
    "cgroup_throttled": ("throttled_share", "throttled_count"),
    "other_load": ("other_cpus",),
    "steal": ("steal_share",),
    "swapping": ("swap_bytes", "swapped_bytes"),
    "thermal_throttle": ("temperature_c", "clock_share"),
    "accelerator_shared": ("process_count",),
    "allocator_trimming": ("fault_share", "minor_faults_per_step", "low_s", "high_s", "share_high"),
    "cpu_starved": ("cpu_share", "expected_share"),
    "cold_only": ("steps",),
    "unsteady": ("drift_share",),
    "few_steps": ("steps",),
    "major_faults": ("major_faults",),
}
"""Causes stand before their symptoms: the first finding of a cell is the one whose fix is offered."""

_RATIO: Final = (
    "baseline",
    "cell",
    "axis",
    "speedup",
    "low",
    "high",
    "level",
    "rounds",
    "paired",
    "estimator",
    "distinct",
    "reason",
)

COMPARISON: Final[dict[str, tuple[str, ...]]] = {
    "ratio": _RATIO,
    "ratio_forced": (*_RATIO, "reasons"),
    "ratio_refused": ("baseline", "cell", "axis", "side", "reasons"),
}

SCRIPT: Final[dict[str, tuple[str, ...]]] = {
    "ranks_missing": ("ranks", "count", "world_size"),
    "script_failed": ("exit_code", "error"),
    "unattributed_place": ("after", "before", "share", "second_after", "second_before", "second_share"),
    "unattributed_where": ("first", "first_share", "second", "second_share", "python_share"),
}

SOURCE: Final[dict[str, tuple[str, ...]]] = {
    "source_undivided_accumulation": ("script", "line", "every"),
    "source_unsynchronised_timing": ("script", "line", "began_line"),
    "source_side_stream": ("script", "line"),
    "source_pageable_copy": ("script", "line"),
    "source_build_flag": ("script", "line", "flag"),
    "source_autocast_without_scaler": ("script", "line"),
    "source_data_parallel": ("script", "line"),
    "source_tensors_in_workers": ("script", "line", "function"),
    "source_same_order": ("script", "line"),
    "source_missing_name": ("script", "line", "name"),
}
"""What is seen in the text of a script; one code for each rule of :mod:`pacenote.source`, and missing names."""

CELLS: Final[dict[str, tuple[str, ...]]] = {
    "cell_time": ("step_time_s", "low", "high", "level", "samples_per_s", "rounds", "steps", "estimator", "reason"),
    "phases": ("data_wait", "copy", "forward", "backward", "optimizer", "other"),
    "dominant_phase": ("phase", "share"),
    "unattributed_high": ("share",),
    "flops": ("achieved_flops", "ceiling_flops", "mfu_share", "reason"),
    "lever_not_applied": ("lever", "asked", "observed", "reason"),
    "trial_failed": ("status", "count", "error_type", "error_text", "where"),
    "cold_start": ("process_s", "import_s", "device_init_s", "build_s", "data_s", "first_step_s", "steady_step_s"),
    "rounds_left_out": ("count", "of_trials", "reasons"),
}

STUDY: Final[dict[str, tuple[str, ...]]] = {
    "missing_part": ("part", "reason"),
    "one_device": ("device",),
    "stand_in_data": ("items",),
    "not_interleaved": (),
    "runs_differ": ("facts",),
    "budget_reached": ("target_width", "reached_width", "rounds"),
    "budget_ended": ("rounds", "wanted_rounds", "reached_width"),
    "fastest": ("cell", "samples_per_s"),
}

VERDICT: Final[dict[str, tuple[str, ...]]] = {
    "verdict_fastest": ("cell", "samples_per_s", "baseline", "speedup", "low", "high", "level"),
    "verdict_no_difference": ("count",),
    "verdict_refused": ("reasons",),
    "verdict_single": ("cell", "samples_per_s", "step_time_s"),
    "verdict_why": ("cell", "phase", "share"),
    "verdict_do": ("cell", "finding"),
}

SELFTEST: Final[dict[str, tuple[str, ...]]] = {
    "smallest_difference": ("ratio",),
    "planted_seen": ("planted", "measured", "low", "high", "covered"),
    "aa": ("low", "high", "covered"),
}

CODES: Final[dict[str, tuple[str, ...]]] = {
    **HEALTH,
    **COMPARISON,
    **SCRIPT,
    **SOURCE,
    **CELLS,
    **STUDY,
    **VERDICT,
    **SELFTEST,
}
