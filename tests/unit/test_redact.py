from __future__ import annotations

import pytest

from pacenote.redact import MARK, looks_random, redact

NO_VARIABLES: dict[str, str] = {}

# Made up for this test; the shapes are the published ones.
TOKENS = [
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11ABCDEFG0abcdefghijkl_MNOPQRSTUVWX",
    "hf_abcdefghijABCDEFGHIJ0123456789",
    "sk-proj-abc123def456ghi789jkl",
    "glpat-abcDEF123ghiJKL456mn",
    "xoxb-123456789012-abcdefGHIJ",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP",
    "3f7a9c0e1b2d4f6a8c0e2b4d6f8a0c1e3b5d7f9a",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
]


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("around", ["{}", "refused: {} is not valid", "--flag={}", "x '{}'", "https://h/p?q={}&r=1"])
def test_known_shapes_never_pass(token, around):
    assert token not in redact(around.format(token), NO_VARIABLES)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run", "--token", "abc"], ["run", "--token", MARK]),
        (["run", "--api-key=abc"], ["run", f"--api-key={MARK}"]),
        (["--db-password", "p w"], ["--db-password", MARK]),
        (["--token", "--json"], ["--token", "--json"]),
        (["WANDB_API_KEY=abc", "python"], [f"WANDB_API_KEY={MARK}", "python"]),
        (["run", "lenet", "--batch-size", "32,256"], ["run", "lenet", "--batch-size", "32,256"]),
    ],
)
def test_command_lines(arguments, expected):
    assert redact(arguments, NO_VARIABLES) == expected


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("postgresql://me:hunter2@db/x failed", "hunter2"),
        ("cloning https://0123456789abcdef@host/x", "0123456789abcdef"),
        ('{"password": "hunter2", "user": "me"}', "hunter2"),
        ("Authorization: Bearer abc.def-123", "abc.def-123"),
        ("secret = 'two words'", "two words"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "MIIabc"),
        ("-----BEGIN PRIVATE KEY-----\nMIIcut off", "MIIcut"),
    ],
)
def test_texts(text, hidden):
    assert hidden not in redact(text, NO_VARIABLES)


def test_values_of_secret_variables_are_found_anywhere():
    variables = {"DEPLOY_TOKEN": "plain words", "LEVEL": "ordinary"}
    assert redact("it said plain words, ordinary", variables) == f"it said {MARK}, ordinary"


def test_short_values_and_paths_of_secret_variables_do_not_blank_out_text(tmp_path):
    variables = {"USE_TOKEN": "1", "SSH_KEY": str(tmp_path)}
    assert redact(f"1 file in {tmp_path}", variables) == f"1 file in {tmp_path}"


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)",
        "/usr/lib/python3.11/site-packages/torch/nn/modules/linear.py:125",
        "/data/cifar-10-batches-bin/data_batch_1.bin has 30730001 bytes, 30730000 expected",
        "CUDNN_STATUS_EXECUTION_FAILED at ConvolutionForwardImplementation2",
        "pacenote compare 0193a1b2c3d4e5f60718 last~1",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB",
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 400000000000 bytes. Error code 12",
        "runs/experiment_2026_batch_size_256_learning_rate_01/checkpoint",
        "KeyError: 'batches.meta'",
        "AVX512_BF16 AVX512_VNNI",
    ],
)
def test_ordinary_texts_stay_as_they_are(text):
    assert redact(text, NO_VARIABLES) == text


def test_randomness():
    assert looks_random("9f86d081884c7d659a2feaa0c55ad015")
    assert not looks_random("data_batch_normalised_version_2")
    assert not looks_random("a1b2c3")
