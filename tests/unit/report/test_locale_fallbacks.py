"""Words for what has none: codes of third parties, missing parameters, odd values, older studies."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pacenote.errors import UnknownNameError
from pacenote.findings.codes import CODES
from pacenote.records import Status
from pacenote.report import locale
from pacenote.report.blocks import say
from pacenote.report.figures import Span
from pacenote.report.words import speak
from pacenote.segment import PHASES

NAMES = st.text(string.ascii_lowercase + "_", min_size=1, max_size=20)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=True, allow_infinity=True, width=32),
    st.text(max_size=20),
    st.lists(st.text(max_size=5), max_size=3),
    st.dictionaries(NAMES, st.integers(), max_size=2),
)


@pytest.mark.parametrize("lang", locale.LANGUAGES)
@pytest.mark.parametrize("family", ["reason", "short", "status", "phase", "lever", "fact", "part", "finding"])
def test_unknown_member_of_a_family_is_shown_by_its_own_name(family: str, lang: str) -> None:
    assert locale.text(lang, f"{family}.of_a_plugin") == "of a plugin"


@pytest.mark.parametrize("lang", locale.LANGUAGES)
@pytest.mark.parametrize("code", sorted(CODES))
def test_finding_without_any_parameter_is_still_a_sentence(code: str, lang: str) -> None:
    sentence = locale.text(lang, f"finding.{code}")
    assert sentence[-1] in ".。"
    assert "{" not in sentence


@pytest.mark.parametrize("lang", locale.LANGUAGES)
@given(code=st.sampled_from(sorted(CODES)), data=st.data())
def test_no_parameter_is_odd_enough_to_break_a_sentence(lang: str, code: str, data: st.DataObject) -> None:
    params = data.draw(st.fixed_dictionaries({name: ODD for name in CODES[code] if name != "reasons"}))
    assert locale.text(lang, f"finding.{code}", **params)


@given(NAMES, st.dictionaries(NAMES.filter(lambda name: name not in ("lang", "key")), ODD, max_size=3))
def test_no_code_is_odd_enough_to_break_a_report(code: str, params: dict[str, Any]) -> None:
    for lang in locale.LANGUAGES:
        assert isinstance(locale.text(lang, f"finding.plugin_{code}", **params), str)


@pytest.mark.parametrize(
    ("value", "en", "zh"),
    [
        (None, "unknown", "未知"),
        (True, "yes", "是"),
        (False, "no", "否"),
        (3, "3", "3"),
        (0.25, "0.250", "0.250"),
        ("text", "text", "text"),
        (["a", "b"], "a, b", "a、b"),
        (("a", None), "a, unknown", "a、未知"),
        ({"a": 1, "b": 2}, "a=1, b=2", "a=1、b=2"),
        ([], "", ""),
        (Span(1.0, 2.0), "1 – 2", "1 – 2"),
        (frozenset({"only"}), "only", "only"),
    ],
)
def test_a_value_of_each_kind_is_shown(value: Any, en: str, zh: str) -> None:
    shown = {lang: locale._shown(lang, "thing", value, "") for lang in locale.LANGUAGES}
    assert shown == {"en": en, "zh": zh}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("wait_s", 0.5, "500 ms"),
        ("wait_s", Span(0.5, 2.0), "0.500 – 2.00 s"),
        ("used_bytes", [2**20, 2**30], "1.00 MiB, 1.00 GiB"),
        ("quota_cpus", 2.0, "2"),
    ],
)
def test_a_value_has_the_unit_of_its_name(name: str, value: Any, expected: str) -> None:
    assert locale._shown("en", name, value, "") == expected


def test_a_list_of_members_of_a_family_is_a_list_of_their_words() -> None:
    assert locale._shown("en", "facts", ["cpu_model", "quota_cpus"], "fact") == "Processor, CPU quota"
    assert locale._shown("zh", "facts", ["cpu_model", "quota_cpus"], "fact") == "处理器、CPU 配额"


@pytest.mark.parametrize("lang", locale.LANGUAGES)
def test_statuses_and_phases_are_told_by_enumerations_as_well(lang: str) -> None:
    for status in Status:
        assert locale._shown(lang, "status", status.value, "status") == locale.text(lang, f"status.{status.value}")
    for phase in PHASES:
        assert locale._shown(lang, "phase", phase, "phase") == locale.text(lang, f"phase.{phase}")


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("steal", "CPU time taken by the host"),
        ({"code": "steal"}, "CPU time taken by the host"),
        ({"code": "steal", "params": None}, "CPU time taken by the host"),
        ({"code": "of_a_plugin", "params": {"wait_s": 0.5}}, "of_a_plugin: wait_s=500 ms"),
        ("of_a_plugin", "of a plugin"),
        ({}, ""),
    ],
)
def test_reasons_inside_a_sentence(item: Any, expected: str) -> None:
    assert locale._shown("en", "reasons", [item], "findings") == expected


def test_no_reasons_are_an_empty_list() -> None:
    assert locale._shown("en", "reasons", None, "findings") == ""


@pytest.mark.parametrize("missing", ["clock_share", "temperature_c"])
def test_sentence_works_around_what_is_unknown(missing: str) -> None:
    params = {"clock_share": 0.5, "temperature_c": 90.0, missing: None}
    assert "unknown" not in locale.text("en", "finding.thermal_throttle", **params)


def test_words_other_than_findings_have_no_variant() -> None:
    assert locale.text("en", "pair", cell=None, baseline="b") == "unknown vs b"


def test_keys_are_sorted_and_can_be_asked_for() -> None:
    keys = locale.keys()
    assert list(keys) == sorted(set(keys))
    assert all(locale.has(key) for key in keys)
    assert not locale.has("finding.of_a_plugin")


@pytest.mark.parametrize("lang", ["", "english", "POSIX", "zh_TW@x", "chinese"])
def test_language_names_people_use(lang: str) -> None:
    expected = {"english": "en", "POSIX": "en", "zh_TW@x": "zh", "chinese": "zh"}
    if lang:
        assert locale.resolve(lang) == expected[lang]
    else:
        with pytest.raises(UnknownNameError):
            locale.resolve(lang)


@given(st.text(max_size=30))
def test_no_surroundings_break_the_choice_of_language(value: str) -> None:
    assert locale.resolve(None, {"LANG": value}) in locale.LANGUAGES


@given(st.text(max_size=60))
def test_text_of_users_passes_through_a_sentence_unchanged(text: str) -> None:
    for lang in locale.LANGUAGES:
        assert text in locale.text(lang, "pair", cell=text, baseline="b")
        assert text in speak(lang, say("page.eyebrow", name=text, machine=say("pair", cell="a", baseline=text)))


@pytest.mark.parametrize(
    ("shown", "expected"),
    [("3,200 samples/s", "3,200 样本/s"), ("1.49×", "1.49 倍"), ("59 min 59 s", "59 分 59 秒"), ("4 ms", "4 ms")],
)
def test_units_in_chinese(shown: str, expected: str) -> None:
    assert locale.localise("zh", shown) == expected
