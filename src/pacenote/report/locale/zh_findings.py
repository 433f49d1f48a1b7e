"""Simplified Chinese sentences of findings, their short forms, and what to do about them."""

from __future__ import annotations

from typing import Final

_FINDINGS: Final[dict[str, str]] = {
    "finding.threads_over_cores": "{threads} 个计算线程争用 {cores} 个核心，互相等待。",
    "finding.threads_over_quota": "{threads} 个计算线程共用 {quota_cpus} 个 CPU 的配额。",
    "finding.cgroup_throttled": "容器的 CPU 配额让进程停顿了 {throttled_share} 的时间（共 {throttled_count} 次）。",
    "finding.other_load": "测量期间其他程序占用了 {other_cpus} 个 CPU。",
    "finding.cpu_starved": "进程只有 {cpu_share} 的时间得到 CPU；不受干扰时应为 {expected_share}。",
    "finding.steal": "宿主机把本机 {steal_share} 的 CPU 时间给了其他虚拟机。",
    "finding.swapping": "发生了内存交换：测量期间换入换出 {swapped_bytes}，进程有 {swap_bytes} 在交换空间中。",
    "finding.thermal_throttle": "处理器因过热而降速：{temperature_c}，频率为最高频率的 {clock_share}。",
    "finding.thermal_throttle.without.clock_share": "处理器因过热而降速：{temperature_c}。",
    "finding.thermal_throttle.without.temperature_c": "处理器因过热而降速：由硬件报告。",
    "finding.accelerator_shared": "另有 {process_count} 个进程在使用该加速器。",
    "finding.allocator_trimming": "C 库把内存归还给系统，因此每步约有 {fault_share} 的时间花在缺页上"
    "（每步 {minor_faults_per_step:count} 次）。",
    "finding.allocator_trimming.without.fault_share": "C 库在步与步之间把内存归还给系统：每步缺页 "
    "{minor_faults_per_step:count} 次。",
    "finding.debug_mode": "调试功能处于打开状态：{flags}。",
    "finding.cold_only": "只运行了 {steps} 步，不足以走完预热。",
    "finding.unsteady": "每步耗时没有稳定：测量的前三分之一与后三分之一相差 {drift_share}。",
    "finding.unsteady.without.drift_share": "每步耗时没有稳定。",
    "finding.few_steps": "只测到 {steps} 个稳定步，数字比较粗略。",
    "finding.major_faults": "测量期间从磁盘读取了内存页（主缺页 {major_faults} 次）。",
    "finding.ratio": "按每个样本计，{cell} 的速度是 {baseline} 的 {speedup}。",
    "finding.ratio_forced": "{cell} 的速度似乎是 {baseline} 的 {speedup}，但其中一侧不正常：{reasons:findings}。",
    "finding.ratio_refused": "不给出 {cell} 与 {baseline} 的比值：{reasons:findings}。",
    "finding.cell_time": "每步 {step_time_s}，{samples_per_s}。",
    "finding.phases": "各阶段占每步的比例。",
    "finding.dominant_phase": "{phase:phase}占每步的 {share:share}。",
    "finding.unattributed_high": "每步有 {share:share} 的时间不属于任何阶段。",
    "finding.flops": "实际达到 {achieved_flops}，实测上限为 {ceiling_flops}（{mfu_share}）。",
    "finding.flops.without.achieved_flops": "实际算力未知：{reason:reason}。",
    "finding.flops.without.mfu_share": "实际达到 {achieved_flops}；没有可比的上限：{reason:reason}。",
    "finding.lever_not_applied": "{lever:lever}要求为 {asked}，实际观察到 {observed}：{reason:reason}。",
    "finding.missing_part": "本机没有 {part:part}：{reason:reason}。",
    "finding.one_device": "本机只有一个可用设备（{device}）。",
    "finding.stand_in_data": "输入是按 CIFAR-10 格式生成的 {items} 条替代数据，不是 CIFAR-10 本身；速度可比，"
    "准确率不可比。",
    "finding.not_interleaved": "两次运行没有交错进行：其间机器的漂移也包含在比值中。",
    "finding.runs_differ": "两次运行的差异不止于所比较的内容：{facts:fact}。",
    "finding.budget_reached": "时间预算在 {rounds} 轮后用完，区间为 ±{reached_width:share}；要求的是 "
    "±{target_width:share}。",
    "finding.budget_reached.without.target_width": "时间预算在 {rounds} 轮后用完，区间为 ±{reached_width:share}。",
    "finding.budget_reached.without.reached_width": "时间预算在 {rounds} 轮后用完，不足以给出区间。",
    "finding.budget_ended": "时间预算在 {wanted_rounds:count} 轮中的第 {rounds} 轮后用完；区间为 "
    "±{reached_width:share}。",
    "finding.budget_ended.without.reached_width": "时间预算在 {wanted_rounds:count} 轮中的第 {rounds} "
    "轮后用完，不足以给出区间。",
    "finding.trial_failed": "提前结束的进程：{count} 个（{status:status}）。{error_type}: {error_text}",
    "finding.trial_failed.without.error_type": "提前结束的进程：{count} 个（{status:status}）。",
    "finding.rounds_left_out": "受到干扰而剔除的进程：{of_trials} 个中的 {count} 个（{reasons:findings}）。",
    "finding.cold_start": "启动：导入 {import_s}，第一步 {first_step_s}，稳定后一步 {steady_step_s}。",
    "finding.fastest": "{cell} 最快，{samples_per_s}。",
    "finding.smallest_difference": "本机能分辨 {ratio:excess} 及以上的差别。",
    "finding.planted_seen": "人为加入的 {planted:excess} 减速，测得 {measured:excess}（{low:excess} 到 "
    "{high:excess}）。",
    "finding.aa": "同一条件测两次，相差 {low:excess} 到 {high:excess}。",
}

_SHORT: Final[dict[str, str]] = {
    "short.threads_over_cores": "线程多于核心",
    "short.threads_over_quota": "线程超过 CPU 配额",
    "short.cgroup_throttled": "CPU 配额用尽",
    "short.other_load": "有其他程序在运行",
    "short.cpu_starved": "得到的 CPU 时间太少",
    "short.steal": "CPU 时间被宿主机拿走",
    "short.swapping": "内存交换",
    "short.thermal_throttle": "过热降速",
    "short.accelerator_shared": "加速器被共用",
    "short.allocator_trimming": "内存分配器反复归还内存",
    "short.debug_mode": "调试功能打开",
    "short.cold_only": "只有预热",
    "short.unsteady": "每步耗时在漂移",
    "short.few_steps": "步数太少",
    "short.major_faults": "从磁盘读取内存页",
    "short.trial_failed": "没有进程完成",
    "short.lever_not_applied": "设置没有生效",
}

_FIXES: Final[dict[str, str]] = {
    "fix.threads_over_cores": "使用 --threads {cores}。",
    "fix.threads_over_quota": "线程数（--threads）不要超过 {quota_cpus}，或提高 CPU 上限。",
    "fix.cgroup_throttled": "减少线程（--threads），或提高容器的 CPU 上限。",
    "fix.other_load": "停掉其他程序后重新运行。",
    "fix.cpu_starved": "停掉其他程序，或减少线程（--threads），然后重新运行。",
    "fix.steal": "换个空闲时段，或在独占的主机上重新运行。",
    "fix.swapping": "释放内存，或使用更小的批（--batch-size）。",
    "fix.thermal_throttle": "等机器冷却，检查散热和电源模式，然后重新运行。",
    "fix.accelerator_shared": "停掉加速器上的其他进程，或换一个加速器（--device）。",
    "fix.allocator_trimming": "使用默认的 --allocator no_trim。",
    "fix.debug_mode": "测量时请关闭。",
    "fix.cold_only": "给更多时间（--time-budget）。",
    "fix.unsteady": "等机器稳定下来，给更多时间（--time-budget），然后重新运行。",
    "fix.few_steps": "给更多时间（--time-budget）。",
    "fix.other": "先解决这个问题：{finding:finding}。",
    "fix.major_faults": "文件已在内存中，请重新运行；或释放内存。",
}

_VERDICT: Final[dict[str, str]] = {
    "finding.verdict_fastest": "{cell} 最快：{samples_per_s}，速度是 {baseline} 的 {speedup}。",
    "finding.verdict_fastest.without.speedup": "{cell} 最快：{samples_per_s}。",
    "finding.verdict_no_difference": "看不出 {count} 个条件之间有差别。",
    "finding.verdict_refused": "无法给出对比：{reasons:findings}。",
    "finding.verdict_single": "{cell} 的训练速度为 {samples_per_s}，每步 {step_time_s}。",
    "finding.verdict_single.without.samples_per_s": "{cell} 每步 {step_time_s}。",
    "finding.ranks_missing": "{world_size} 个 rank 中有 {count} 个没有留下事件（rank {ranks}）：以下并非整个运行。",
    "finding.unattributed_place": "不属于任何阶段的时间中，"
    "{share:share} 在“{after:phase}”与下一个“{before:phase}”之间，"
    "{second_share:share} 在“{second_after:phase}”与下一个“{second_before:phase}”之间。",
    "finding.unattributed_place.without.second_share": "不属于任何阶段的时间"
    "在“{after:phase}”与下一个“{before:phase}”之间。",
    "finding.unattributed_where": "不属于任何阶段的时间中，{first} 占 {first_share}，{second} 占 {second_share}，"
    "算子之间的 Python 代码占 {python_share}。",
    "finding.unattributed_where.without.second": "不属于任何阶段的时间中，{first} 占 {first_share}，"
    "算子之间的 Python 代码占 {python_share}。",
    "finding.unattributed_where.without.first": "不属于任何阶段的时间都花在算子之间的 Python 代码上。",
    "finding.script_failed": "脚本以退出码 {exit_code} 结束（{error}）。",
    "finding.script_failed.without.error": "脚本以退出码 {exit_code} 结束。",
    "finding.verdict_why": "每步有 {share:share} 花在“{phase:phase}”上。",
    "finding.verdict_do": "针对 {cell}：{finding:fix}",
    "finding.verdict_do.without.finding": "针对 {cell}：请看其测量环境方面的结论。",
    "verdict.none": "没有测到任何结果。",
    "verdict.planted": "人为加入的 {of_count} 个减速中，有 {seen:count} 个落在测得的区间内。",
    "verdict.selftest_none": "自检没有结果：机器受到干扰。",
    "verdict.unjudged": "这次测量还没有下结论。",
}

WORDS: Final[dict[str, str]] = {**_FINDINGS, **_SHORT, **_FIXES, **_VERDICT}
