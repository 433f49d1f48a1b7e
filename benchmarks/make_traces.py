"""Traces the programs behind the published measurements; needs timm, torchvision and transformers.

    python benchmarks/make_traces.py CACHE [--source timm-train] [--part 0/2]
    python benchmarks/make_traces.py CACHE --pack

Each case is traced once into ``CACHE``; ``--pack`` writes ``benchmarks/traces/SOURCE.jsonl.gz``. Which model, batch and
precision are traced comes from the rows of ``../shared/data``; the traces themselves hold no measurement.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))
THROUGHPUT = Path(os.environ.get("PACENOTE_SHARED", ROOT.parent / "shared")) / "data" / "published_throughput.csv"
FOLDER = ROOT / "benchmarks" / "traces"

TIMM_TRAIN_MODELS = 112
TIMM_INFER_MODELS = 50

Case = dict[str, Any]


def rows(source: str, mode: str) -> list[dict[str, str]]:
    """Published rows of one source on a single device."""
    with THROUGHPUT.open(encoding="utf-8") as file:
        return [
            row
            for row in csv.DictReader(file)
            if source in row["source_repo_or_page"] and row["mode"] == mode and row["n_devices"] in ("1", "")
        ]


def digest(text: str) -> str:
    """Order models by this, so that the choice depends on no name and no result."""
    return hashlib.sha256(text.encode()).hexdigest()


def case(source: str, model: str, batch: int, size: int, **program: Any) -> Case:
    """One thing to trace, with the name under which it is looked up."""
    half = "pure " if program.get("pure") else ""
    kind = "train" if program.get("train", True) else "infer"
    key = f"{source}|{model}|{kind}|{half}{program.get('dtype', 'fp32')}|{batch}|{size}"
    return {"source": source, "key": key, "model": model, "batch": batch, "size": size, "program": program}


def timm_cases(mode: str, path: str, count: int) -> Iterator[Case]:
    """The models of a timm result file, a fixed random choice."""
    import timm

    known = set(timm.list_models())
    found = {}
    for row in rows("pytorch-image-models", mode):
        name = row["model"].removeprefix("timm/").partition(".")[0]
        if path in row["source_path"] and name in known and name not in found:
            found[name] = (int(row["batch_per_device"]), int(row["image_size_or_seq_len"]))
    for name in sorted(found, key=digest)[:count]:
        batch, size = found[name]
        yield case(f"timm-{mode}", f"timm:{name}", batch, size, train=mode == "train", dtype="fp16")


def lambda_cases() -> Iterator[Case]:
    """ResNet-50 (torchvision, autocast or pure half) and BERT-large on SQuAD (apex O2: a half model, fused Adam)."""
    for row in rows("lambdal", "train"):
        batch = int(float(row["batch_per_device"] or 0))
        half = row["precision"] in ("amp-fp16", "fp16")
        if batch == 0:
            continue
        if row["model"] == "resnet50":
            pure = row["precision"] == "fp16"
            program = {"dtype": "fp16" if half else "fp32", "pure": pure, "optimizer": "sgd"}
            yield case("lambda", "torchvision:resnet50", batch, 224, **program)
        elif row["model"].startswith("bert-large"):
            program = {"dtype": "fp16" if half else "fp32", "pure": half, "optimizer": "adam"}
            yield case("lambda", "squad:bert-large", batch, 384, **program, fused_optimizer=True, fused_attention=False)


def torchvision_cases(source: str, mode: str) -> Iterator[Case]:
    """Forward and backward without an optimizer, a model of pure halves where the row says fp16."""
    for row in rows(source, mode):
        name = row["model"].removeprefix("torchvision/")
        half = row["precision"] == "fp16"
        batch = int(row["batch_per_device"])
        program = {"dtype": "fp16" if half else "fp32", "pure": half, "optimizer": "none", "train": mode == "train"}
        yield case(source, f"torchvision:{name}", batch, 224, **program)


def neusight_cases(mode: str) -> Iterator[Case]:
    """Transformers in fp32 without an optimizer, attention as separate operations."""
    names = {"bert-large-uncased": "bert-large", "gpt2-large": "gpt2-large", "facebook/opt-1.3b": "opt-1.3b"}
    for row in rows("NeuSight", mode):
        if row["model"] in names and "fusion" not in row["source_path"]:
            batch, length = int(row["batch_per_device"]), int(row["image_size_or_seq_len"])
            program = {"dtype": "fp32", "optimizer": "none", "train": mode == "train", "fused_attention": False}
            yield case("neusight", f"language:{names[row['model']]}", batch, length, **program)


def examples_cases() -> Iterator[Case]:
    """Inference of convolutional networks in NVIDIA's examples."""
    names = {
        "resnet50v1.5": "resnet50",
        "resnext101-32x4d": "resnext101_32x4d",
        "se-resnext101-32x4d": "seresnext101_32x4d",
    }
    for row in rows("NVIDIA/DeepLearningExamples", "infer"):
        name = names.get(Path(row["source_path"]).parent.name)
        if name and row["batch_per_device"]:
            half = row["precision"] == "amp-fp16"
            batch = int(row["batch_per_device"])
            yield case("examples", f"timm:{name}", batch, 224, dtype="fp16" if half else "fp32", train=False)


SOURCES: dict[str, Callable[[], Iterator[Case]]] = {
    "lambda": lambda_cases,
    "ryujaehun": lambda: torchvision_cases("ryujaehun", "train"),
    "u39kun": lambda: torchvision_cases("u39kun", "train"),
    "timm-train": lambda: timm_cases("train", "nchw", TIMM_TRAIN_MODELS),
    "neusight": lambda: neusight_cases("train"),
    "u39kun-infer": lambda: torchvision_cases("u39kun", "infer"),
    "timm-infer": lambda: timm_cases("infer", "infer-amp-nchw-pt240", TIMM_INFER_MODELS),
    "ryujaehun-infer": lambda: torchvision_cases("ryujaehun", "infer"),
    "neusight-infer": lambda: neusight_cases("infer"),
    "examples-infer": examples_cases,
}


def traced(one: Case) -> dict[str, Any]:
    """Trace one case; the trace is named by its key."""
    import torch

    from pacenote.child.trace.step import Program, Subject, trace

    library, _, name = one["model"].partition(":")
    batch, size = one["batch"], one["size"]
    labels: Callable[[], Any] = lambda: torch.empty(batch, dtype=torch.long)  # noqa: E731 - made under the fake mode
    if library in ("timm", "torchvision"):
        subject = Subject(
            _vision(library, name),
            lambda: (torch.empty(batch, 3, size, size),),
            lambda result: torch.nn.functional.cross_entropy(_first(result), labels()),
            batch,
        )
    else:
        subject = _language(library, name, (batch, size), one["program"].get("train", True))
    return trace(one["key"], subject, Program(**one["program"]))


def _first(result: Any) -> Any:
    return result if hasattr(result, "shape") else result[0]


def _vision(library: str, name: str) -> Callable[[], Any]:
    if library == "timm":
        import timm

        return lambda: timm.create_model(name)
    import torchvision

    return lambda: getattr(torchvision.models, name)()


def _language(task: str, name: str, shape: tuple[int, int], train: bool) -> Any:
    import torch
    import transformers

    from pacenote.child.trace.step import Subject

    kinds = {
        "bert-large": (
            transformers.BertConfig(
                hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096
            ),
            transformers.BertForQuestionAnswering if task == "squad" else transformers.BertModel,
        ),
        "gpt2-large": (transformers.GPT2Config(n_embd=1280, n_layer=36, n_head=20), transformers.GPT2LMHeadModel),
        "opt-1.3b": (
            transformers.OPTConfig(
                hidden_size=2048, num_hidden_layers=24, num_attention_heads=32, ffn_dim=8192, word_embed_proj_dim=2048
            ),
            transformers.OPTForCausalLM,
        ),
    }
    config, kind = kinds[name]
    config._attn_implementation = "eager"
    config.use_cache = False

    def inputs() -> dict[str, Any]:
        tokens = torch.zeros(shape, dtype=torch.long)
        if task == "squad":
            ends = torch.zeros(shape[0], dtype=torch.long)
            return {"input_ids": tokens, "start_positions": ends, "end_positions": ends}
        return {"input_ids": tokens}

    return Subject(lambda: kind(config), inputs, None, shape[0])


def main() -> int:
    """Trace or pack."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cache", type=Path)
    parser.add_argument("--source", choices=SOURCES, action="append")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--pack", action="store_true")
    given = parser.parse_args()
    part, of = (int(text) for text in given.part.split("/"))
    for source in given.source or SOURCES:
        cases = list({one["key"]: one for one in SOURCES[source]()}.values())
        if given.pack:
            pack(source, cases, given.cache)
            continue
        for number, one in enumerate(cases):
            path = given.cache / f"{digest(one['key'])[:16]}.json"
            if number % of != part or path.exists():
                continue
            try:
                document = traced(one)
            except Exception as error:  # noqa: BLE001 - a model that cannot be traced is counted, not fatal
                document = {"name": one["key"], "error": f"{type(error).__name__}: {error}"}
            path.write_text(json.dumps(document), encoding="utf-8")
            print(
                f"{source} {number}/{len(cases)} {one['key']} {document.get('traced_s') or document['error'][:200]}",
                flush=True,
            )
    return 0


def pack(source: str, cases: list[Case], cache: Path) -> None:
    """Write the traces of one source into one compressed file, in a fixed order."""
    FOLDER.mkdir(exist_ok=True)
    paths = [cache / f"{digest(one['key'])[:16]}.json" for one in cases]
    lines = [path.read_text(encoding="utf-8") for path in paths if path.exists()]
    body = "".join(line + "\n" for line in lines if '"error"' not in line[:400]).encode()
    target = FOLDER / f"{source}.jsonl.gz"
    target.write_bytes(gzip.compress(body, 9, mtime=0))
    print(f"{target.name}: {len(lines)} of {len(cases)} traced, {target.stat().st_size} bytes")


if __name__ == "__main__":
    raise SystemExit(main())
