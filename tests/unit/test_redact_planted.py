"""Secrets planted everywhere must go; what people really type and read must stay."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.redact import MARK, redact

NOTHING: dict[str, str] = {}
VALUE = "tiger-lily"  # no known shape, not irregular: only its name gives it away

NAMES = [
    *["token", "access_token", "HF_TOKEN", "refresh-token", "secret", "client_secret", "AWS_SECRET_ACCESS_KEY"],
    *["password", "passwd", "db_password", "passphrase", "api_key", "api-key", "apikey", "X-API-Key", "private_key"],
    *["access_key", "credential", "credentials", "auth", "authorization", "auth_token", "session_key", "cookie"],
    *["signature", "key", "ssh-key", "pwd", "TOKENS"],
]
SHAPES = [
    *["{name}={value}", "{name} = {value}", "{name}: {value}", '"{name}": "{value}"', "'{name}': '{value}'"],
    *["--{name}={value}", "--{name} {value}", "--{name} '{value} and more'", "export {name}={value};"],
    *["https://host/path?a=1&{name}={value}&b=2", "failed (with {name}={value}) at line 3", "{{{name}: {value}}}"],
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_a_value_behind_a_secret_name(name: str, shape: str) -> None:
    text = shape.format(name=name, value=VALUE)
    assert VALUE not in redact(text, NOTHING)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_behind_a_secret_option_of_a_command_line(name: str) -> None:
    for arguments in (
        ["--" + name, VALUE],
        [f"--{name}={VALUE}"],
        ["-c", f"{name}={VALUE}"],
        ["run", f"{name}:{VALUE}"],
    ):
        cleaned = redact(arguments, NOTHING)
        assert VALUE not in " ".join(cleaned)
        assert len(cleaned) == len(arguments)


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "DB_PASSWORD", "WANDB_API_KEY", "SESSION_COOKIE"])
def test_the_value_of_a_secret_variable_is_taken_out_of_any_text(name: str) -> None:
    planted = {name: "correct horse battery", "HOME": "/home/me"}
    for text in ("{}", "x{}y", "said '{}'", "/{}/", "{0} and {0}"):
        assert "horse" not in redact(text.format("correct horse battery"), planted)
    assert redact("/home/me", planted) == "/home/me"


def test_a_value_that_holds_another_goes_as_a_whole() -> None:
    planted = {"A_TOKEN": "abcdef", "B_TOKEN": "abcdef-ghijkl"}
    assert redact("it is abcdef-ghijkl.", planted) == f"it is {MARK}."


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Basic", "BASIC"])
def test_headers(scheme: str) -> None:
    assert "dXNlcjpwYXNz" not in redact(f"GET / ... {scheme} dXNlcjpwYXNz failed", NOTHING)


@pytest.mark.parametrize(
    ("text", "hidden", "kept"),
    [
        ("postgresql://me:hunter2@db.local/pacenote", "hunter2", "db.local/pacenote"),
        ("redis://:hunter2@cache:6379/0", "hunter2", "cache:6379"),
        ("git+https://tiger-lily-token@host/repo.git", "tiger-lily", "host/repo.git"),
        ("mysql://u:p%40ss:w@h/x", "p%40ss", "h/x"),
    ],
)
def test_addresses_keep_their_place(text: str, hidden: str, kept: str) -> None:
    cleaned = redact(text, NOTHING)
    assert hidden not in cleaned
    assert kept in cleaned


@given(st.text(string.ascii_letters + string.digits, min_size=32, max_size=64))
def test_random_runs_mostly_go_and_never_grow(run: str) -> None:
    cleaned = redact(f"got {run}!", NOTHING)
    assert cleaned in (f"got {run}!", f"got {MARK}!")


@pytest.mark.parametrize("seed", range(20))
def test_random_keys_of_the_usual_lengths_go(seed: int) -> None:
    import random

    source = random.Random(seed)
    for alphabet, length in ((string.ascii_letters + string.digits, 40), ("0123456789abcdef", 64)):
        run = "".join(source.choice(alphabet) for _ in range(length))
        assert run not in redact(f"value {run} was refused", NOTHING)


HARMLESS = [
    *["--batch-size", "32,256", "--threads", "1,2,4", "--device", "cuda:0", "--dtype", "bf16", "--within", "2%"],
    *["--time-budget", "3m", "--framework", "pytorch,paddle", "--name", "nightly run 2026-01-31", "--lang", "zh"],
    *["--output", "reports/lenet_vs_simplenet.html", "--data", "/data/cifar-10-batches-bin", "--seed", "12345"],
    *["--python", "/opt/conda/envs/torch-2.6-cuda12.4/bin/python3.11", "--memory-format", "channels_last"],
    *["--max-tokens", "128", "--tokenizer", "bert-base-uncased", "--author", "A. Person", "--passes", "3"],
    *["--monkey", "patch", "--keyboard", "qwerty", "--workload", "./third_party_workload.py", "last~1"],
    *["0193a1b2c3d4e5f60718", "9e107d9d372bb682", "pytorch b256 channels_last/paddle b256"],
]


def test_a_harmless_command_line_survives_as_it_is() -> None:
    assert redact(HARMLESS, NOTHING) == HARMLESS


@pytest.mark.parametrize(
    "text",
    [
        "tokenizer=bert-base-uncased",
        "max_tokens=128",
        "num_tokens: 4096",
        '{"n_tokens": 77}',
        "tokenization: fast",
        "author: A. Person",
        "authors = several",
        "keyboard: qwerty",
        "turkey=1",
        "KeyError: 'fc1.weight'",
        "Missing key(s) in state_dict",
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory",
        "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
        "undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSs",
        "OSError: [Errno 28] No space left on device: '/home/me/.cache/pacenote/stand_in_v1/data_batch_3.bin'",
        "torch==2.6.0+cu124 paddlepaddle==3.0.0 numpy==2.2.1",
        "2026-01-31T12:34:56.789012Z pid=12345 rank=0 world_size=8",
        "C:\\Users\\me\\AppData\\Local\\pacenote\\store.sqlite",
        "loss: 2.302585, accuracy: 0.1000, lr=1e-3",
        "https://pytorch.org/docs/stable/generated/torch.nn.Conv2d.html",
        "http://localhost:8080/report#cells",
        "sizes (3x32x32) and [64, 3, 7, 7] differ",
        "GOMP_CPU_AFFINITY=0-15:2 OMP_PROC_BIND=close KMP_BLOCKTIME=200",
        "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
        "NVIDIA H100 80GB HBM3 (GPU-0)",
        "fatal signal SIGSEGV in thread 0x00007f12",
    ],
)
def test_ordinary_words_survive(text: str) -> None:
    assert redact(text, NOTHING) == text


def test_a_word_of_many_tokens_is_still_no_reason_to_let_a_secret_pass() -> None:
    assert "hunter2" not in redact("tokens=hunter2", NOTHING)
    assert "hunter2" not in redact(["--tokens", "hunter2"], NOTHING)[1]
    assert "12345678" not in redact("tokens=12345678", NOTHING)
    assert "1234" not in redact("token=1234", NOTHING)


@given(st.text(max_size=200))
def test_twice_is_as_good_as_once(text: str) -> None:
    once = redact(text, NOTHING)
    assert redact(once, NOTHING) == once


@given(st.lists(st.text(max_size=20), max_size=6))
def test_a_command_line_keeps_its_number_of_arguments(arguments: list[str]) -> None:
    assert len(redact(arguments, NOTHING)) == len(arguments)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "unit",
    [
        *["a", "key", "token_", "-", "=", "://", "a:", "eyJ", "'", "-----BEGIN ", "a-", "x:"],
        *['token="', "--token ", "token: ", "http://a:", "_key", "A1a"],
    ],
)
def test_a_long_hostile_line_is_done_before_the_time_out(unit: str) -> None:
    """No pattern may run away: one that looks at every part of a run from every place needs hours for this."""
    redact((unit * 40_000)[:40_000], NOTHING)
