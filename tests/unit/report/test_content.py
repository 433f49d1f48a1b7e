"""What the page shows: spoken words, numbers on their scale, data of charts."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from fixtures.views import cell, ratio, sick, study, trial
from hypothesis import given
from hypothesis import strategies as st

from pacenote.report import content, locale, page
from pacenote.report.blocks import Chart, Facts, Line, Lines, Section, Series, literal, say
from pacenote.report.sections import compose

VALUES = st.one_of(st.none(), st.floats(min_value=1e-12, max_value=1e15))


def chart(*series: Series, kind: str = "bars", unit: str = "s", **changes: Any) -> Chart:
    return Chart(name="c", kind=kind, title=say("chart.steps"), unit=unit, series=list(series), **changes)


def bars(values: list[float | None], high: list[float | None] | None = None, **changes: Any) -> dict[str, Any]:
    low = [None if value is None else 0.0 for value in high or []]
    return content.chart_data(chart(Series(title=literal("x"), values=values, low=low, high=high or []), **changes))


# Charts.


def test_largest_value_chooses_the_unit_of_a_chart() -> None:
    drawn = bars([2e-6, 0.004])
    assert drawn["unit"] == {"en": "ms", "zh": "ms"}
    assert drawn["series"][0]["values"] == [0.002, 4.0]


def test_unit_of_a_chart_has_words_in_both_languages() -> None:
    assert bars([100.0], unit="samples_per_s")["unit"] == {"en": "samples/s", "zh": "样本/s"}


def test_gaps_of_a_chart_stay_gaps() -> None:
    assert bars([None, 1.0])["series"][0]["values"] == [None, 1.0]


def test_chart_of_nothing_has_a_unit_and_no_end() -> None:
    drawn = bars([])
    assert drawn["unit"]["en"] == "s"
    assert drawn["top"] is None
    assert not drawn["wide"]


def test_values_are_written_with_six_digits() -> None:
    assert bars([0.123456789])["series"][0]["values"] == [123.457]


@pytest.mark.parametrize(
    ("values", "high", "top"),
    [
        ([1.0, 2.0], [1.1, 2.2], None),
        ([1.0, 2.0], [1.1, 6.0], None),
        ([1.0, 2.0], [1.1, 6.1], 6.0),
        ([1.0, 2.0], [500.0, 2.2], 6.0),
        ([1.0, None], [None, None], None),
        ([None], [5.0], None),
        ([0.0], [5.0], None),
        ([1.0, 2.0], [], None),
    ],
)
def test_axis_is_cut_only_where_a_whisker_would_blow_it_up(
    values: list[float | None], high: list[float | None], top: float | None
) -> None:
    assert bars(values, high, unit="ratio")["top"] == top


def test_end_of_the_axis_is_on_the_scale_of_the_values() -> None:
    assert bars([0.004], [4.0])["top"] == 12.0


@given(st.lists(st.tuples(st.floats(0.01, 100.0), st.floats(1.0, 1e9)), min_size=1, max_size=8))
def test_every_value_lies_within_a_third_of_a_cut_axis(rows: list[tuple[float, float]]) -> None:
    drawn = bars([value for value, _ in rows], [value * factor for value, factor in rows], unit="ratio")
    longest = max(value * factor for value, factor in rows)
    if drawn["top"] is None:
        assert longest <= 3.0 * max(value for value, _ in rows) * (1 + 1e-9)
    else:
        assert max(drawn["series"][0]["values"]) * 3.0 == pytest.approx(drawn["top"], rel=1e-4)
        assert max(drawn["series"][0]["high"]) >= drawn["top"] * (1 - 1e-4)


@given(st.lists(VALUES, max_size=6), st.sampled_from(["s", "bytes", "flops", "share", "ratio", "samples_per_s", "j"]))
def test_scaled_values_are_the_values(values: list[float | None], unit: str) -> None:
    drawn = bars(values, unit=unit)
    shown = drawn["series"][0]["values"]
    assert [value is None for value in shown] == [value is None for value in values]
    factors = {round(math.log10(one / own), 3) for one, own in zip(values, shown, strict=True) if one and own}
    assert len(factors) <= 1 or max(factors) - min(factors) < 0.01
    json.dumps(drawn, allow_nan=False)


# Blocks.


def test_block_of_each_kind_knows_its_kind() -> None:
    view = study(cell("a"), cell("b"), findings=[ratio()], trials=[trial()], environment={"os": "Linux"})
    made = content.study_content(3, view, compose(view))
    kinds = {block["kind"] for section in made["sections"] for block in section["blocks"]}
    assert kinds == {"table", "chart", "lines", "facts", "download"}
    assert all(section["id"].startswith("s3-") for section in made["sections"])


def test_identities_on_the_page_are_unique() -> None:
    view = study(cell("a"), cell("b"), findings=[ratio()], trials=[trial()])
    both = [content.study_content(at, view, compose(view)) for at in (0, 1)]
    ids = [block["id"] for made in both for section in made["sections"] for block in section["blocks"] if "id" in block]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(("unit", "caption"), [("s", "ms"), ("share", None), ("ratio", None), ("samples_per_s", None)])
def test_unit_stands_in_the_caption_unless_the_axis_has_it(unit: str, caption: str | None) -> None:
    section = Section(
        name="x", title=literal("x"), blocks=[chart(Series(title=literal("x"), values=[0.004]), unit=unit)]
    )
    block = content.study_content(0, study(cell()), [section])["sections"][0]["blocks"][0]
    assert (block["unit"] and block["unit"].params["text"]) == caption


def test_study_is_named_after_what_the_user_called_it() -> None:
    assert content.page_data(study(cell(), name="my run"))["en"]["eyebrow"] == "my run on 4f1c9a7be0d23356"
    assert content.page_data(study(cell()))["en"]["eyebrow"] == "lenet on 4f1c9a7be0d23356"


def test_date_is_that_of_the_study_in_universal_time() -> None:
    assert "2026-09-21 14:13 UTC" in content.page_data(study(cell()))["en"]["made"]


def test_page_data_has_no_message_left_unspoken() -> None:
    view = study(cell("a"), cell("b", findings=[sick("steal", "b", steal_share=0.1)]), trials=[trial()])
    for lang in locale.LANGUAGES:
        written = json.dumps(content.page_data(view)[lang], allow_nan=False)
        assert "finding." not in written
        assert '"key"' not in written


def test_facts_and_lines_are_carried_as_they_are() -> None:
    blocks = [
        Facts(name="f", facts=[(literal("a"), literal("1"))]),
        Lines(name="l", lines=[Line(text=literal("said"), subject=literal("who"))]),
    ]
    section = Section(name="x", title=literal("x"), blocks=list(blocks))
    made = content.study_content(0, study(cell()), [section])["sections"][0]["blocks"]
    assert made[0]["facts"] == [(literal("a"), literal("1"))]
    assert made[1]["lines"][0].subject == literal("who")


# Size.


def test_many_conditions_make_a_page_of_reasonable_size() -> None:
    labels = [f"condition {number}" for number in range(60)]
    view = study(*(cell(label) for label in labels), trials=[trial(label) for label in labels])
    text = page.render([view], "en")
    own = len(text) - len(page.render([study(cell(labels[0]))], "en"))
    assert all(text.count(label) >= 3 for label in labels)
    assert own < 60 * 6_000
