"""Small data in the format of the data sets that public training scripts ask for: ``stand_ins.py NAME FOLDER``.

Every one is made from seeded noise; none is a copy of anything. Runs in the interpreter of the script, since some are
written by its own libraries.
"""

from __future__ import annotations

import gzip
import json
import pickle
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np


def digits(count: int, seed: int) -> tuple[bytes, bytes]:
    """Images and labels in the idx format of MNIST."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count, dtype=np.uint8)
    images = random.integers(0, 60, (count, 28, 28), dtype=np.uint8)
    for at, label in enumerate(labels):
        images[at, 2 * label : 2 * label + 6, 4:24] += 150  # a bar whose height is the label
    head = struct.pack(">IIII", 2051, count, 28, 28), struct.pack(">II", 2049, count)
    return head[0] + images.tobytes(), head[1] + labels.tobytes()


def mnist(folder: Path, train: int = 512, test: int = 256) -> None:
    """As ``torchvision.datasets.MNIST`` keeps it."""
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name, count, seed in (("train", train, 0), ("t10k", test, 1)):
        images, labels = digits(count, seed)
        for kind, content in (("images-idx3", images), ("labels-idx1", labels)):
            (raw / f"{name}-{kind}-ubyte").write_bytes(content)
            with gzip.open(raw / f"{name}-{kind}-ubyte.gz", "wb", compresslevel=1) as file:
                file.write(content)


def mnist_whole(folder: Path) -> None:
    """The same, as many as the real one: some scripts split by number."""
    mnist(folder, 60_000, 1_000)


def paddle_mnist(folder: Path) -> None:
    """As Paddle keeps it in its cache."""
    folder.mkdir(parents=True)
    for name, count, seed in (("train", 1024, 0), ("t10k", 256, 1)):
        images, labels = digits(count, seed)
        for kind, content in (("images-idx3", images), ("labels-idx1", labels)):
            with gzip.open(folder / f"{name}-{kind}-ubyte.gz", "wb", compresslevel=1) as file:
                file.write(content)


def sine_waves(folder: Path) -> None:
    """What generate_sine_wave.py writes, shorter."""
    import torch

    random = np.random.default_rng(0)
    waves = np.sin((np.arange(60) + random.integers(-80, 80, (12, 1))) / 20.0).astype("float64")
    torch.save(waves, folder / "traindata.pt")


def text(length: int, seed: int) -> str:
    """Words that follow each other by a simple rule."""
    random = np.random.default_rng(seed)
    names = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "el", "is")]
    at, words = 0, []
    for step in random.integers(1, 5, length):
        at = (at * 3 + int(step)) % len(names)
        words.append(names[at])
        if step == 4:
            words.append("\n")
    return " ".join(words)


def words(folder: Path) -> None:
    """Three text files as of WikiText-2."""
    folder.mkdir(parents=True)
    for name, length, seed in (("train", 64_000, 0), ("valid", 2_000, 1), ("test", 2_000, 2)):
        (folder / f"{name}.txt").write_text(text(length, seed), encoding="utf-8")


def corpus(folder: Path) -> None:
    """One text of many words, as of text8."""
    folder.mkdir(parents=True)
    (folder / "text8.txt").write_text(text(64_000, 0).replace("\n", ""), encoding="utf-8")


def characters(folder: Path) -> None:
    """Token files of one character each, with their table."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = text(8_000, 0)
    letters = sorted(set(whole))
    number = {letter: at for at, letter in enumerate(letters)}
    tokens = np.array([number[letter] for letter in whole], dtype=np.uint16)
    cut = len(tokens) * 9 // 10
    tokens[:cut].tofile(folder / "train.bin")
    tokens[cut:].tofile(folder / "val.bin")
    meta = {"vocab_size": len(letters), "itos": dict(enumerate(letters)), "stoi": number}
    (folder / "meta.pkl").write_bytes(pickle.dumps(meta))


def images(folder: Path) -> None:
    """Folders of small JPEG files, one folder per class."""
    from PIL import Image

    random = np.random.default_rng(0)
    for name in ("train", "validation"):
        for label in ("cat", "dog"):
            place = folder / name / label
            place.mkdir(parents=True)
            for at in range(64 if name == "train" else 16):
                pixels = random.integers(0, 120, (48, 48, 3), dtype=np.uint8)
                pixels[:, :, 0 if label == "cat" else 2] += 120
                Image.fromarray(pixels).save(place / f"{label}_{at}.jpg")


def tiny_llama(folder: Path) -> None:
    """A language model of a few thousand weights with a tokenizer of its own."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    special = ["<unk>", "<s>", "</s>", "<pad>"]
    made.train_from_iterator([text(2_000, 0)], trainers.BpeTrainer(vocab_size=300, special_tokens=special))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2
    )
    LlamaForCausalLM(config).save_pretrained(folder)


def instructions(folder: Path) -> None:
    """Instructions with answers."""
    rows = [
        {"instruction": f"say {text(3, at)}", "input": text(2, at) if at % 2 else "", "output": text(6, at)}
        for at in range(60)
    ]
    (folder / "instructions.json").write_text(json.dumps(rows), encoding="utf-8")


def tiny_unet(folder: Path) -> None:
    """The configuration of a small U-Net."""
    folder.mkdir(parents=True)
    config = {
        "_class_name": "UNet2DModel",
        "sample_size": 16,
        "in_channels": 3,
        "out_channels": 3,
        "layers_per_block": 1,
        "block_out_channels": [16, 32],
        "norm_num_groups": 8,
        "down_block_types": ["DownBlock2D", "DownBlock2D"],
        "up_block_types": ["UpBlock2D", "UpBlock2D"],
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


MAKERS: dict[str, Callable[[Path], None]] = {
    maker.__name__: maker
    for maker in (
        *(mnist, mnist_whole, paddle_mnist, sine_waves, words, corpus, characters, images),
        *(tiny_llama, instructions, tiny_unet),
    )
}

if __name__ == "__main__":
    MAKERS[sys.argv[1]](Path(sys.argv[2]))
