"""The published measurements a prediction is judged by, each joined to the trace of its program.

What is left out, decided before anything was fitted, and counted:

* rows marked ``suspect`` in the data (the publisher's own logs contradict each other);
* rows whose device is not stated exactly ("variant not stated"), since no specification sheet belongs to them.

In scope are single-device rows of programs that can be built from public model definitions: timm, torchvision,
BERT-large on SQuAD, and the language models of NeuSight. Rows of one (source, device, model, precision, layout, batch)
are one unit, their median.
"""

from __future__ import annotations

import gzip
import statistics
from dataclasses import dataclass, field
from typing import Any

import make_traces
import numpy as np

from pacenote import catalog
from pacenote.errors import UnknownNameError
from pacenote.predict import cost, operators, trace

GROUPS = {
    "A100": "A100", "H100": "H100", "Tesla V100": "V100", "TITAN V": "V100", "Tesla T4": "T4", "RTX A4": "RTX A4x00",
    "RTX A5": "RTX A5x00", "TITAN Xp": "GP102", "GeForce GTX 1080 Ti": "GP102", "Quadro RTX 6000": "TU102 pro",
    "Instinct MI2": "CDNA 2",
}  # fmt: skip
"""Variants of one chip are held out together: beginning of the name → group."""

SMALL_BATCH = 16


@dataclass
class Row:
    """One unit: a measured step time and the program behind it."""

    source: str
    device: str
    model: str
    precision: str
    mode: str
    batch: int
    layout: str
    step_s: float
    key: str
    group: str
    tf32: tuple[bool, bool] = (True, True)
    ops: dict[str, Any] = field(default_factory=dict)

    @property
    def small(self) -> bool:
        """Whether launching may matter more than computing."""
        return self.batch <= SMALL_BATCH


def load() -> tuple[list[Row], dict[str, int]]:
    """Every unit whose trace is stored, and the counts of what was left out."""
    columns = _columns()
    counts = {"rows": 0, "suspect": 0, "device not stated": 0}
    found: dict[tuple[str, ...], list[tuple[Row, float]]] = {}
    for source, mode in SOURCES:
        for raw in make_traces.rows(source, mode):
            row = _row(SOURCES[source, mode], raw)
            if row is None or row.key not in columns:
                continue
            counts["rows"] += 1
            if "suspect" in raw["note"]:
                counts["suspect"] += 1
                continue
            try:
                catalog.find(row.device)
            except UnknownNameError:
                counts["device not stated"] += 1
                continue
            unit = (row.source, row.device, row.model, row.precision, row.layout, row.mode, str(row.batch))
            found.setdefault(unit, []).append((row, row.step_s))
    rows = []
    for group in found.values():
        row = group[0][0]
        row.step_s = statistics.median(time for _, time in group)
        row.ops = columns[row.key]
        rows.append(row)
    return rows, counts


SOURCES = {
    ("lambdal", "train"): "lambda",
    ("ryujaehun", "train"): "ryujaehun",
    ("u39kun", "train"): "u39kun",
    ("pytorch-image-models", "train"): "timm-train",
    ("NeuSight", "train"): "neusight",
    ("ryujaehun", "infer"): "ryujaehun",
    ("u39kun", "infer"): "u39kun",
    ("pytorch-image-models", "infer"): "timm-infer",
    ("NeuSight", "infer"): "neusight",
    ("NVIDIA/DeepLearningExamples", "infer"): "examples",
}


def _row(source: str, raw: dict[str, str]) -> Row | None:
    if not raw["batch_per_device"] or not raw["samples_per_s"]:
        return None
    batch, size = int(float(raw["batch_per_device"])), raw["image_size_or_seq_len"]
    precision, mode, layout = raw["precision"], raw["mode"], raw["memory_format"] or "contiguous"
    half = "fp16" in precision
    pure = precision == "fp16" and source != "timm-train"
    model, side = raw["model"], "224"
    tf32 = (True, True)
    if source.startswith("timm"):
        model, side = "timm:" + model.removeprefix("timm/").partition(".")[0], size
        if mode == "infer" and "pt240" not in raw["source_path"]:
            return None
    elif source == "lambda":
        names = {"resnet50": "torchvision:resnet50", "bert-large-uncased (SQuAD finetune)": "squad:bert-large"}
        if model not in names:
            return None
        pure = half if model.startswith("bert") else pure
        model, side = names[model], "384" if model.startswith("bert") else "224"
    elif source in ("ryujaehun", "u39kun"):
        model = "torchvision:" + model.removeprefix("torchvision/")
    elif source == "neusight":
        names = {"bert-large-uncased": "bert-large", "gpt2-large": "gpt2-large", "facebook/opt-1.3b": "opt-1.3b"}
        if model not in names or "fusion" in raw["source_path"]:
            return None
        model, side, tf32 = "language:" + names[model], size, (False, False)
    else:
        names = {
            "resnet50v1.5": "resnet50",
            "resnext101-32x4d": "resnext101_32x4d",
            "se-resnext101-32x4d": "seresnext101_32x4d",
        }
        name = names.get(raw["source_path"].split("/")[-2])
        if name is None:
            return None
        model, layout = f"timm:{name}", "channels_last" if half else "contiguous"
    key = f"{source}|{model}|{mode}|{'pure ' if pure else ''}{'fp16' if half else 'fp32'}|{batch}|{side}"
    group = next((group for begin, group in GROUPS.items() if raw["device"].startswith(begin)), raw["device"])
    step_s = batch / float(raw["samples_per_s"])
    return Row(source, raw["device"], model, precision, mode, batch, layout, step_s, key, group, tf32)


def _columns() -> dict[str, dict[str, Any]]:
    found = {}
    for path in sorted(make_traces.FOLDER.glob("*.jsonl.gz")):
        with gzip.open(path) as file:
            for line in file:
                one = trace.decode(line)
                found[one.name] = operators.columns(one)
    return found


class Table:
    """Rows side by side, so that one pass over columns predicts them all."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        lengths = [len(row.ops["kind"]) for row in rows]
        self.starts = np.cumsum([0, *lengths[:-1]])
        self.ops = {name: np.concatenate([row.ops[name] for row in rows]) for name in operators.COLUMNS}
        figures = [cost.figures(catalog.find(row.device)) for row in rows]
        self.dev = {name: np.repeat([one[name] for one in figures], lengths) for name in figures[0]}
        flags = {
            "nhwc": [row.layout == "channels_last" for row in rows],
            "tf32_conv": [row.tf32[0] for row in rows],
            "tf32_gemm": [row.tf32[1] for row in rows],
        }
        self.flags = {name: np.repeat(np.array(values, dtype=float), lengths) for name, values in flags.items()}
        self.true_us = np.array([row.step_s for row in rows]) * 1e6
        devices: dict[str, int] = {}
        for row in rows:
            devices[row.group] = devices.get(row.group, 0) + 1
        cells: dict[tuple[str, str], int] = {}
        for row in rows:
            cells[row.group, row.model] = cells.get((row.group, row.model), 0) + 1
        # Each group of devices weighs the same up to 30 rows; more rows of one device add little.
        self.weight = np.array([min(1.0, 30 / devices[row.group]) for row in rows]) ** 0.5

    def predict_us(self, c: dict[str, float]) -> Any:
        """Predicted step time of each row, µs."""
        device = np.add.reduceat(cost.operation_times(self.ops, self.dev, self.flags, c), self.starts)
        host = np.add.reduceat(cost.host_times(self.ops, c), self.starts)
        return cost.step_time(device, host)
