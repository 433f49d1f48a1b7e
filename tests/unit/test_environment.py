from __future__ import annotations

import msgspec

from pacenote.environment import environment, machine_facts, recorded_variables


def test_only_the_allow_list_is_recorded():
    found = recorded_variables({"OMP_NUM_THREADS": "2", "HOME": "/home/me", "API_TOKEN": "abcdefgh", "USER": "me"})
    assert found == {"OMP_NUM_THREADS": "2"}


def test_preloaded_libraries_lose_their_folders():
    found = recorded_variables({"LD_PRELOAD": "/home/me/secret-project/libjemalloc.so.2 /usr/lib/libtcmalloc.so"})
    assert found == {"LD_PRELOAD": "libjemalloc.so.2:libtcmalloc.so"}


def test_a_secret_inside_a_recorded_variable_is_taken_out():
    found = recorded_variables({"OMP_TOOL": "key=s3cr3t-value", "MY_PASSWORD": "s3cr3t-value"})
    assert found == {"OMP_TOOL": "key=<redacted>"}


def test_planted_tokens_reach_no_environment(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "planted-value-1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "planted-value-2")
    stored = msgspec.json.encode(environment({"name": "pytorch"}))
    assert b"planted" not in stored


def test_equal_environments_have_equal_hashes():
    variables = {"OMP_NUM_THREADS": "2"}
    first = environment({"name": "pytorch"}, variables=variables)
    assert first.hash() == environment({"name": "pytorch"}, variables=variables).hash()
    assert first.hash() != environment({"name": "pytorch"}, variables={}).hash()
    assert first.hash() != environment({"name": "paddle"}, variables=variables).hash()


def test_facts_may_be_given():
    found = environment({}, variables={}, facts={"cpu_model": "X"})
    assert found.facts["cpu_model"] == "X"
    assert set(found.facts) == {"cpu_model", "python", "pacenote", "framework", "variables"}


def test_machine_facts_hold_no_host_or_user_name():
    import getpass
    import socket

    facts = machine_facts()
    text = msgspec.json.encode(facts).decode()
    assert socket.getfqdn() not in text.split('"')
    assert getpass.getuser() not in text.split('"')
