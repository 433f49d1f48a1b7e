"""English words for what is seen in the text of a script."""

from __future__ import annotations

from typing import Final

WORDS: Final[dict[str, str]] = {
    "finding.source_undivided_accumulation": "{script}, line {line}: gradients of {every} batches are added up, but "
    "the loss is not divided by {every}: each step is as long as with {every} times the learning rate.",
    "fix.source_undivided_accumulation": "Divide the loss before the backward pass: (loss / {every}).backward(); step "
    "once more after the last batches.",
    "finding.source_unsynchronised_timing": "{script}, line {line}: the time since line {began_line} is taken without "
    "waiting for the device. On an accelerator it tells how long launching took.",
    "fix.source_unsynchronised_timing": "Call torch.cuda.synchronize() or paddle.device.synchronize() before each "
    "reading of the clock.",
    "finding.source_side_stream": "{script}, line {line}: work is put on a stream of its own, and nothing waits for "
    "it. What uses its result may read it before it is there.",
    "fix.source_side_stream": "Call torch.cuda.current_stream().wait_stream(stream) before the result is used, and "
    "keep the tensor with tensor.record_stream().",
    "finding.source_pageable_copy": "{script}, line {line}: the copy is asked not to block, but its source is not "
    "pinned, so it blocks.",
    "fix.source_pageable_copy": "Give the loader pin_memory=True, or try it without a change: --pin-memory on.",
    "finding.source_build_flag": "{script}, line {line}: {flag}() says how the framework was built, not whether "
    "a device is there.",
    "fix.source_build_flag": "Ask for the devices: paddle.device.cuda.device_count() > 0; pacenote doctor tells the "
    "two apart.",
    "finding.source_autocast_without_scaler": "{script}, line {line}: FP16 without a gradient scaler: small gradients "
    "become zero.",
    "fix.source_autocast_without_scaler": "Use a GradScaler, or bfloat16, which needs none.",
    "finding.source_data_parallel": "{script}, line {line}: DataParallel drives all devices from one process and "
    "copies the model to each of them in every step.",
    "fix.source_data_parallel": "Use DistributedDataParallel with one process per device (torchrun).",
    "finding.source_tensors_in_workers": "{script}, line {line}: {function}() in __getitem__ makes a tensor on the "
    "current device, in a loader worker that cannot use one.",
    "fix.source_tensors_in_workers": "Return NumPy arrays from __getitem__.",
    "finding.source_same_order": "{script}, line {line}: set_epoch() of the DistributedSampler is never called, so the "
    "data come in the same order in every epoch.",
    "fix.source_same_order": "Call sampler.set_epoch(epoch) at the start of each epoch.",
    "finding.source_missing_name": "{script}, line {line}: {name} does not exist in this version of the framework.",
    "fix.source_missing_name": "Take the name from the framework's reference; nothing of its own replaces it.",
}
