"""What enters an environment, and that its hash moves with exactly that."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.environment import RECORDED_NAMES, RECORDED_PREFIXES, environment, recorded_variables
from pacenote.records import Environment

FACTS = {"cpu_model": "X", "cpu_flags": ["avx2", "fma"], "logical_cpus": 8, "quota_cpus": None}
FRAMEWORK = {"name": "pytorch", "version": "2.6.0", "threads": 4}


def made(**variables: str) -> Environment:
    return environment(FRAMEWORK, variables=variables, facts=FACTS)


@pytest.mark.parametrize("name", [*RECORDED_NAMES, *(prefix + "ANYTHING" for prefix in RECORDED_PREFIXES)])
def test_every_name_of_the_allow_list_is_recorded_and_changes_the_hash(name: str) -> None:
    assert recorded_variables({name: "1"}) == {name: "1"}
    assert made(**{name: "1"}).hash() != made(**{name: "2"}).hash() != made().hash()


NEVER = [
    *["HOME", "USER", "PATH", "HOSTNAME", "PWD", "SHELL", "SSH_CONNECTION", "MAIL", "LANG", "TERM", "DISPLAY"],
    *["AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "GITHUB_TOKEN", "WANDB_API_KEY", "PGPASSWORD", "http_proxy"],
    *[
        "MY_OMP_NUM_THREADS",
        "omp_num_threads",
        "XOMP_",
        "PACENOTE_STORE",
        "LD_LIBRARY_PATH",
        "CUDA_HOME",
        "VIRTUAL_ENV",
    ],
]


@pytest.mark.parametrize("name", NEVER)
def test_no_other_name_is_recorded_or_moves_the_hash(name: str) -> None:
    assert recorded_variables({name: "planted-value"}) == {}
    assert made(**{name: "planted-value"}) == made()


@given(st.dictionaries(st.text(min_size=1, max_size=20), st.text(max_size=20), max_size=8))
def test_whatever_the_variables_only_the_allow_list_passes(variables: dict[str, str]) -> None:
    for name in recorded_variables(variables):
        assert name in RECORDED_NAMES or name.startswith(RECORDED_PREFIXES)


def test_the_order_in_which_things_were_set_does_not_matter() -> None:
    variables = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "KMP_AFFINITY": "compact", "MALLOC_ARENA_MAX": "1"}
    hashes = {made(**dict(order)).hash() for order in itertools.permutations(variables.items())}
    assert len(hashes) == 1
    keys = list(FACTS)
    for seed in range(5):
        random.Random(seed).shuffle(keys)
        shuffled = environment(FRAMEWORK, variables={}, facts={key: FACTS[key] for key in keys})
        assert shuffled.hash() == made().hash()


@pytest.mark.parametrize(("key", "value"), [("cpu_model", "Y"), ("logical_cpus", 9), ("quota_cpus", 2.0), ("new", 1)])
def test_each_fact_is_part_of_the_hash(key: str, value: object) -> None:
    changed = environment(FRAMEWORK, variables={}, facts={**FACTS, key: value})
    assert changed.hash() != made().hash()


@pytest.mark.parametrize(("key", "value"), [("version", "2.7.0"), ("threads", 2), ("debug", True)])
def test_each_fact_of_the_framework_is_part_of_the_hash(key: str, value: object) -> None:
    changed = environment({**FRAMEWORK, key: value}, variables={}, facts=FACTS)
    assert changed.hash() != made().hash()


def test_the_caller_keeps_its_own_dictionaries() -> None:
    facts, framework = dict(FACTS), dict(FRAMEWORK)
    found = environment(framework, variables={}, facts=facts)
    found.facts["framework"]["name"] = "changed"
    found.facts["cpu_model"] = "changed"
    assert (facts, framework) == (FACTS, FRAMEWORK)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("/home/me/a/libjemalloc.so.2", "libjemalloc.so.2"),
        ("/a/x.so:/b/y.so", "x.so:y.so"),
        ("/a/x.so /b/y.so", "x.so:y.so"),
        ("::", ""),
        ("plain.so", "plain.so"),
        ("", ""),
    ],
)
def test_preloaded_libraries_by_name_alone(value: str, kept: str) -> None:
    assert recorded_variables({"LD_PRELOAD": value}) == {"LD_PRELOAD": kept}


def test_a_secret_of_another_variable_does_not_slip_in_by_an_allowed_one() -> None:
    planted = {"DEPLOY_PASSWORD": "correct horse", "OMP_DISPLAY_ENV": "x correct horse y"}
    assert recorded_variables(planted) == {"OMP_DISPLAY_ENV": "x <redacted> y"}
