"""Traces of torch.profiler are read: on the CPU and with a device, old and new spellings, and files that are none.

The traces here are written by hand after the format that torch.profiler exports; a real one is read in tests/e2e.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pacenote.depth import copies, devices, operators
from pacenote.errors import UsageError
from pacenote.interchange import kineto, trace_file
from pacenote.segment import segment

MAIN, AUTOGRAD, STREAM = 100, 101, 7


def span(name: str, ts: float, dur: float, tid: Any = MAIN, cat: str = "cpu_op", **args: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


def step(at: float, number: int, *, on_device: bool) -> list[dict[str, Any]]:
    """One step of 1000 µs: data 100, forward 200, backward 300, optimizer 100."""
    external = 100 * number
    found = [
        span(f"ProfilerStep#{number}", at, 1000, cat="user_annotation"),
        span("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 100, cat="user_annotation"),
        span("aten::stack", at + 10, 50, **{"External id": external + 9}),
        span("Optimizer.zero_grad#SGD.zero_grad", at + 110, 20, cat="user_annotation"),
        span("aten::linear", at + 200, 100, **{"Sequence number": number, "External id": external + 1,
             "Input Dims": [[4, 8], [2, 8]], "Input type": ["float", "float"]}),
        span("aten::addmm", at + 220, 60, **{"Sequence number": number, "External id": external + 2}),
        span("aten::empty", at + 320, 10, **{"External id": external + 8}),
        span("aten::nll_loss", at + 350, 50, **{"Sequence number": number + 1, "External id": external + 3}),
        span("aten::ones_like", at + 410, 10, **{"External id": external + 7}),
        span("Optimizer.step#SGD.step", at + 800, 100, cat="user_annotation"),
        span("aten::_foreach_add_", at + 820, 60, **{"External id": external + 6}),
    ]  # fmt: skip
    backward = AUTOGRAD if on_device else MAIN
    prefix = "autograd::engine::evaluate_function: "
    found += [
        span(f"{prefix}NllLossBackward0", at + 450, 150, backward, **{"External id": external + 4}),
        span("aten::mm", at + 480, 60, backward, **{"External id": external + 40}),
        span(f"{prefix}AddmmBackward0", at + 610, 140, backward, **{"External id": external + 5}),
    ]
    if on_device:
        correlation = 1000 * number
        found += [
            span("cudaLaunchKernel", at + 240, 5, cat="cuda_runtime", correlation=correlation,
                 **{"External id": external + 2}),
            span("gemm", at + 260, 300, STREAM, "kernel", correlation=correlation, stream=7, device=0,
                 **{"External id": external + 2}),
            span("cudaLaunchKernel", at + 500, 5, AUTOGRAD, "cuda_runtime", correlation=correlation + 1,
                 **{"External id": external + 40}),
            span("gemm_back", at + 565, 200, STREAM, "kernel", correlation=correlation + 1, stream=7, device=0,
                 **{"External id": external + 40}),
            span("aten::to", at + 140, 40, **{"External id": external + 20}),
            span("cudaMemcpyAsync", at + 150, 20, cat="cuda_runtime", correlation=correlation + 2,
                 **{"External id": external + 20}),
            span("Memcpy HtoD (Pageable -> Device)", at + 160, 30, STREAM, "gpu_memcpy", correlation=correlation + 2,
                 stream=7, device=0, bytes=4096, **{"External id": external + 20}),
        ]  # fmt: skip
    return found


def written(path: Path, found: list[dict[str, Any]], **more: Any) -> Path:
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": found, **more}), encoding="utf-8")
    return path


def steps(count: int, *, on_device: bool = False) -> list[dict[str, Any]]:
    return [event for number in range(count) for event in step(1000.0 * number, number, on_device=on_device)]


def test_steps_and_phases_of_a_trace_on_the_cpu(tmp_path: Path) -> None:
    read = kineto.read(written(tmp_path / "one.json", steps(4)))
    found = segment(read.log)
    assert (read.steps, read.device, read.rank, read.world_size) == (4, "cpu", 0, 1)
    assert found.anchor == "optimizer"
    assert found.total_s[1:].tolist() == pytest.approx([1e-3] * 3)
    expected = {"data_wait": 100, "forward": 200, "backward": 300, "optimizer": 120, "copy": 0, "other": 280}
    for name, microseconds in expected.items():
        assert found.phases[name][1] == pytest.approx(microseconds * 1e-6), name


def test_a_backward_pass_on_a_thread_of_its_own_is_found(tmp_path: Path) -> None:
    read = kineto.read(written(tmp_path / "one.json", steps(4, on_device=True)))
    found = segment(read.log)
    assert read.device == "cuda:0"
    assert found.phases["backward"][1] == pytest.approx(300e-6)
    assert found.phases["copy"][1] == pytest.approx(40e-6)


def test_a_devices_own_timeline_is_that_of_the_work_a_phase_launched(tmp_path: Path) -> None:
    read = kineto.read(written(tmp_path / "one.json", steps(4, on_device=True)))
    device = segment(read.log, stream=1)
    assert device.phases["forward"].sum() == pytest.approx(4 * 300e-6, rel=0.3)
    assert device.phases["copy"].sum() > 0


def test_the_calls_of_the_last_steps_are_kept_with_what_they_launched(tmp_path: Path) -> None:
    read = kineto.read(written(tmp_path / "one.json", steps(6, on_device=True)))
    assert read.depth.steps == 3
    rows = {row.name: row for row in operators(read.depth)}
    assert rows["aten::linear"].shapes == "4x8 2x8"
    assert rows["aten::linear"].host_s == pytest.approx(40e-6)
    assert rows["aten::addmm"].device_s == pytest.approx(300e-6)
    assert rows["aten::mm"].device_s == pytest.approx(200e-6)
    (copy,) = copies(read.depth)
    assert (copy.source, copy.target, copy.copied_bytes) == ("pageable", "device", 4096.0)
    assert [stream.name for stream in devices(read.depth)] == ["cuda:0 stream 7"]


def test_it_may_be_packed_and_name_its_rank_and_device(tmp_path: Path) -> None:
    path = tmp_path / "rank1.json.gz"
    more = {"distributedInfo": {"rank": 1, "world_size": 2}, "deviceProperties": [{"name": "Some GPU"}]}
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": steps(3), **more}).encode()))
    read = kineto.read(path)
    assert (read.rank, read.world_size, read.devices) == (1, 2, ["Some GPU"])


def test_times_may_be_written_as_text(tmp_path: Path) -> None:
    found = [{**event, "ts": str(event["ts"]), "dur": str(event["dur"])} for event in steps(3)]
    assert kineto.read(written(tmp_path / "one.json", found)).steps == 3


def test_without_annotations_of_an_optimizer_backward_passes_are_the_steps(tmp_path: Path) -> None:
    found = [event for event in steps(3) if not event["name"].startswith("Optimizer")]
    read = kineto.read(written(tmp_path / "one.json", found))
    assert segment(read.log).anchor == "backward"
    assert read.steps == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no trace of torch.profiler"),
        (b"not json", "no trace of torch.profiler"),
        (b'{"events": []}', "no trace of torch.profiler"),
        (b'{"traceEvents": 3}', "no trace of torch.profiler"),
        (b'{"traceEvents": [{"ph": 3}]}', "no trace of torch.profiler"),
        (b'{"traceEvents": []}', "no operator of PyTorch"),
        (b"\x1f\x8bbroken", "cannot be read"),
        (gzip.compress(b"x" * 100)[:-9], "cannot be read"),
    ],
)
def test_what_is_no_trace_is_told_in_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said) as told:
        kineto.read(path)
    assert str(path) in str(told.value)


def test_a_missing_file_and_a_trace_without_steps_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        kineto.read(tmp_path / "none.json")
    forward = [event for event in steps(3) if event["name"].startswith("aten")]
    with pytest.raises(UsageError, match="no training step"):
        kineto.read(written(tmp_path / "one.json", forward))


@pytest.mark.parametrize("odd", ["nan", "inf", -1e300, None, [], {}, "soon"])
def test_odd_times_are_left_out(odd: Any, tmp_path: Path) -> None:
    found = [*steps(3), {**span("aten::odd", 0, 1), "ts": odd}, {**span("aten::odd", 5, 1), "dur": odd}]
    text = json.dumps({"traceEvents": found})
    path = tmp_path / "one.json"
    path.write_text(text, encoding="utf-8")
    read = kineto.read(path)
    assert read.steps == 3
    assert "aten::odd" not in {row.name for row in operators(read.depth)}


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "LARGEST_BYTES", 1_000)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * 100_000))
    with pytest.raises(UsageError, match="profile fewer steps"):
        kineto.read(path)
