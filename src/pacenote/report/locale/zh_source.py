"""Simplified Chinese words for what is seen in the text of a script."""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "finding.source_undivided_accumulation": "{script} 第 {line} 行：累积了 {every} 个批次的梯度，损失却没有除以 "
    "{every}；每次更新的幅度相当于学习率乘以 {every}。",
    "fix.source_undivided_accumulation": "反向传播之前先除：(loss / {every}).backward()；"
    "最后不足一组的批次也要更新一次。",
    "finding.source_unsynchronised_timing": "{script} 第 {line} 行：从第 {began_line} 行起的计时没有等待设备完成。"
    "在加速器上，这只是发出任务所用的时间。",
    "fix.source_unsynchronised_timing": "每次读取时钟之前调用 torch.cuda.synchronize() 或 "
    "paddle.device.synchronize()。",
    "finding.source_side_stream": "{script} 第 {line} 行：任务放在单独的流上，但没有任何地方等待它。"
    "使用结果的代码可能在结果写好之前就去读取。",
    "fix.source_side_stream": "使用结果之前调用 torch.cuda.current_stream().wait_stream(stream)，"
    "并用 tensor.record_stream() 保住该张量。",
    "finding.source_pageable_copy": "{script} 第 {line} 行：要求拷贝不阻塞，但源内存没有锁页，所以仍会阻塞。",
    "fix.source_pageable_copy": "给数据加载器设置 pin_memory=True；也可以不改代码直接试：--pin-memory on。",
    "finding.source_build_flag": "{script} 第 {line} 行：{flag}() 说明的是框架如何编译，而不是设备是否存在。",
    "fix.source_build_flag": "查询设备数量：paddle.device.cuda.device_count() > 0；pacenote doctor 会分别说明这两点。",
    "finding.source_autocast_without_scaler": "{script} 第 {line} 行：使用 FP16 却没有梯度缩放，较小的梯度会变成零。",
    "fix.source_autocast_without_scaler": "使用 GradScaler，或改用不需要缩放的 bfloat16。",
    "finding.source_data_parallel": "{script} 第 {line} 行：DataParallel 用一个进程驱动所有设备，"
    "每一步都把模型复制到各个设备上。",
    "fix.source_data_parallel": "改用 DistributedDataParallel，每个设备一个进程（torchrun）。",
    "finding.source_tensors_in_workers": "{script} 第 {line} 行：__getitem__ 中的 {function}() 在当前设备上创建张量，"
    "而它运行在不能使用设备的数据加载进程里。",
    "fix.source_tensors_in_workers": "让 __getitem__ 返回 NumPy 数组。",
    "finding.source_same_order": "{script} 第 {line} 行：从未调用 DistributedSampler 的 set_epoch()，"
    "因此每个 epoch 的数据顺序都相同。",
    "fix.source_same_order": "每个 epoch 开始时调用 sampler.set_epoch(epoch)。",
    "finding.source_missing_name": "{script} 第 {line} 行：这个版本的框架中没有 {name}。",
    "fix.source_missing_name": "请以框架的参考文档为准；没有同名的替代。",
}
