"""English sentences of findings, their short forms, and what to do about them."""

from __future__ import annotations

from typing import Final

_FINDINGS: Final[dict[str, str]] = {
    # Health: what is wrong with the conditions of a measurement.
    "finding.threads_over_cores": "{threads} compute threads share {cores} cores and wait for each other.",
    "finding.threads_over_quota": "{threads} compute threads share a quota of {quota_cpus} CPUs.",
    "finding.cgroup_throttled": "The container's CPU quota stopped the process for {throttled_share} of the time "
    "({throttled_count} times).",
    "finding.other_load": "Other programs used {other_cpus} CPUs while this was measured.",
    "finding.cpu_starved": "The process had a CPU for only {cpu_share} of the time; undisturbed it has one for "
    "{expected_share}.",
    "finding.steal": "The host gave {steal_share} of this machine's CPU time to other guests.",
    "finding.swapping": "Memory was swapped: {swapped_bytes} moved while measuring, {swap_bytes} of the "
    "process in swap.",
    "finding.thermal_throttle": "Heat slowed the processor down: {temperature_c}, clock at {clock_share} of "
    "its maximum.",
    "finding.thermal_throttle.without.clock_share": "Heat slowed the processor down: {temperature_c}.",
    "finding.thermal_throttle.without.temperature_c": "Heat slowed the processor down: the hardware reported it.",
    "finding.accelerator_shared": "{process_count} other processes use the accelerator.",
    "finding.allocator_trimming": "Steps spend about {fault_share} of their time on page faults "
    "({minor_faults_per_step:count} per step) because the C library returns memory to the system.",
    "finding.allocator_trimming.without.fault_share": "The C library returns memory to the system between steps: "
    "{minor_faults_per_step:count} page faults per step.",
    "finding.debug_mode": "Debugging aids are switched on: {flags}.",
    "finding.cold_only": "Only {steps} steps ran, too few to leave the warm-up behind.",
    "finding.unsteady": "Step time did not settle: it changed by {drift_share} from the first third of the "
    "measurement to the last.",
    "finding.unsteady.without.drift_share": "Step time did not settle.",
    "finding.few_steps": "Only {steps} steady steps were measured; the figure is rough.",
    "finding.major_faults": "Pages were read from disk while measuring ({major_faults} major faults).",
    # Comparison of two cells.
    "finding.ratio": "{cell} is {speedup} as fast as {baseline} per sample.",
    "finding.ratio_forced": "{cell} would be {speedup} as fast as {baseline}, but a side is unhealthy: "
    "{reasons:findings}.",
    "finding.ratio_refused": "No ratio of {cell} to {baseline}: {reasons:findings}.",
    # One cell.
    "finding.cell_time": "{step_time_s} per step, {samples_per_s}.",
    "finding.phases": "Phases as shares of the step.",
    "finding.dominant_phase": "{phase:phase} takes {share:share} of the step.",
    "finding.unattributed_high": "{share:share} of the step lies in no phase.",
    "finding.flops": "{achieved_flops} achieved of a measured ceiling of {ceiling_flops} ({mfu_share}).",
    "finding.flops.without.achieved_flops": "Achieved FLOP/s are not known: {reason:reason}.",
    "finding.flops.without.mfu_share": "{achieved_flops} achieved; no ceiling to compare with: {reason:reason}.",
    "finding.lever_not_applied": "{lever:lever} {asked} was asked for but {observed} was seen: {reason:reason}.",
    "finding.missing_part": "{part:part} is missing here: {reason:reason}.",
    "finding.one_device": "Only one device ({device}) is available on this machine.",
    "finding.stand_in_data": "The input is a generated stand-in of {items} items in the CIFAR-10 format, not "
    "CIFAR-10 itself; speed is comparable, accuracy is not.",
    "finding.not_interleaved": "The two runs were not interleaved: drift of the machine between them is part "
    "of the ratio.",
    "finding.runs_differ": "The runs differ in more than what is compared: {facts:fact}.",
    "finding.budget_reached": "The time budget ended after {rounds} rounds with intervals of ±{reached_width:share}; "
    "±{target_width:share} was asked for.",
    "finding.budget_reached.without.target_width": "The time budget ended after {rounds} rounds; intervals "
    "reach ±{reached_width:share}.",
    "finding.budget_reached.without.reached_width": "The time budget ended after {rounds} rounds, too few for "
    "an interval.",
    "finding.budget_ended": "The time budget ended after {rounds} of {wanted_rounds:count} rounds; intervals "
    "reach ±{reached_width:share}.",
    "finding.budget_ended.without.reached_width": "The time budget ended after {rounds} of "
    "{wanted_rounds:count} rounds, too few for an interval.",
    "finding.trial_failed": "Processes that ended early: {count} ({status:status}). {error_type}: {error_text}",
    "finding.trial_failed.without.error_type": "Processes that ended early: {count} ({status:status}).",
    "finding.rounds_left_out": "Disturbed and left out: {count} of {of_trials} processes ({reasons:findings}).",
    "finding.cold_start": "Start-up: import {import_s}, first step {first_step_s}, steady step {steady_step_s}.",
    "finding.fastest": "{cell} is the fastest at {samples_per_s}.",
    # Self-test.
    "finding.smallest_difference": "Differences of {ratio:excess} and more can be seen on this machine.",
    "finding.planted_seen": "A planted slow-down of {planted:excess} was measured as {measured:excess} "
    "({low:excess} to {high:excess}).",
    "finding.aa": "The same thing measured twice differs by {low:excess} to {high:excess}.",
}

_SHORT: Final[dict[str, str]] = {
    # Health findings as a phrase inside another sentence.
    "short.threads_over_cores": "more threads than cores",
    "short.threads_over_quota": "more threads than the CPU quota",
    "short.cgroup_throttled": "CPU quota exhausted",
    "short.other_load": "other programs running",
    "short.cpu_starved": "too little CPU time",
    "short.steal": "CPU time taken by the host",
    "short.swapping": "swapping",
    "short.thermal_throttle": "slowed down by heat",
    "short.accelerator_shared": "accelerator shared",
    "short.allocator_trimming": "memory allocator trimming",
    "short.debug_mode": "debugging aids on",
    "short.cold_only": "warm-up only",
    "short.unsteady": "step time drifting",
    "short.few_steps": "few steps",
    "short.major_faults": "pages read from disk",
    "short.trial_failed": "no process finished",
    "short.lever_not_applied": "a setting had no effect",
}

_FIXES: Final[dict[str, str]] = {
    "fix.threads_over_cores": "Use --threads {cores}.",
    "fix.threads_over_quota": "Use no more threads than {quota_cpus} (--threads), or raise the CPU limit.",
    "fix.cgroup_throttled": "Use fewer threads (--threads) or raise the container's CPU limit.",
    "fix.other_load": "Stop the other programs and run again.",
    "fix.cpu_starved": "Stop the other programs, or use fewer threads (--threads), and run again.",
    "fix.steal": "Run again at a quieter time or on a host of your own.",
    "fix.swapping": "Free memory or use a smaller batch (--batch-size).",
    "fix.thermal_throttle": "Let the machine cool down, check its airflow and power mode, and run again.",
    "fix.accelerator_shared": "Stop the other processes on the accelerator, or choose another one (--device).",
    "fix.allocator_trimming": "Run with --allocator no_trim, the default.",
    "fix.debug_mode": "Switch them off for a measurement.",
    "fix.cold_only": "Allow more time (--time-budget).",
    "fix.unsteady": "Let the machine settle, allow more time (--time-budget), and run again.",
    "fix.few_steps": "Allow more time (--time-budget).",
    "fix.other": "Put this right first: {finding:finding}.",
    "fix.major_faults": "Run again now that the files are in memory, or free memory.",
}

_VERDICT: Final[dict[str, str]] = {
    "finding.verdict_fastest": "{cell} is the fastest: {samples_per_s}, {speedup} as fast as {baseline}.",
    "finding.verdict_fastest.without.speedup": "{cell} is the fastest: {samples_per_s}.",
    "finding.verdict_no_difference": "No difference could be seen between the {count} variants.",
    "finding.verdict_refused": "No comparison can be made: {reasons:findings}.",
    "finding.verdict_single": "{cell} trains at {samples_per_s}, {step_time_s} per step.",
    "finding.verdict_single.without.samples_per_s": "{cell} takes {step_time_s} per step.",
    "finding.ranks_missing": "{count} of {world_size} ranks left no events (rank {ranks}): what follows is not the "
    "whole run.",
    "finding.unattributed_place": "Of the time in no phase, {share:share} lies between {after:phase} and the next "
    "{before:phase}, and {second_share:share} between {second_after:phase} and the next {second_before:phase}.",
    "finding.unattributed_place.without.second_share": "The time in no phase lies between {after:phase} and the next "
    "{before:phase}.",
    "finding.unattributed_where": "Of the time in no phase, {first} takes {first_share}, {second} {second_share}, and "
    "Python code between operators {python_share}.",
    "finding.unattributed_where.without.second": "Of the time in no phase, {first} takes {first_share}, and Python "
    "code between operators {python_share}.",
    "finding.unattributed_where.without.first": "The time in no phase is spent in Python code between operators.",
    "finding.script_failed": "The script ended with exit code {exit_code} ({error}).",
    "finding.script_failed.without.error": "The script ended with exit code {exit_code}.",
    "finding.verdict_why": "{phase:phase} takes {share:share} of its step.",
    "finding.verdict_do": "For {cell}: {finding:fix}",
    "finding.verdict_do.without.finding": "For {cell}: see the findings about its health.",
    "verdict.none": "Nothing could be measured.",
    "verdict.planted": "{seen:count} of {of_count} planted slow-downs were measured within their interval.",
    "verdict.selftest_none": "The self-test gave no result: the machine was disturbed.",
    "verdict.unjudged": "The study has not been judged yet.",
}

WORDS: Final[dict[str, str]] = {**_FINDINGS, **_SHORT, **_FIXES, **_VERDICT}
