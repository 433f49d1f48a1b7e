from __future__ import annotations

from pacenote.report.blocks import Column, Datum, Table, literal, say
from pacenote.report.figures import Scale
from pacenote.report.words import show, speak, tidy


def table(*rows: list[Datum]) -> Table:
    columns = [
        Column(title=say("column.cell")),
        Column(title=say("column.step_time"), unit="s"),
        Column(title=say("column.mfu"), unit="share"),
    ]
    return Table(name="t", columns=columns, rows=list(rows))


def test_empty_columns_are_named_with_their_reason() -> None:
    why = say("reason.no_formula")
    clean = tidy(
        table(
            [Datum(text=literal("a")), Datum(value=0.004), Datum(reason=why)],
            [Datum(text=literal("b")), Datum(value=0.005), Datum(reason=why)],
        )
    )
    assert [column.title.key for column in clean.columns] == ["column.cell", "column.step_time"]
    assert clean.absent == [(why, [say("column.mfu")])]


def test_a_column_with_one_value_stays_and_the_gap_says_why() -> None:
    clean = tidy(
        table(
            [Datum(text=literal("a")), Datum(value=0.004), Datum(value=0.1)],
            [Datum(text=literal("b")), Datum(value=0.005), Datum(reason=say("reason.no_formula"))],
        )
    )
    assert clean.absent == []
    assert clean.rows[1][2].reason == say("reason.no_formula")
    assert clean.rows[1][2].number == ""


def test_a_column_of_dashes_goes_without_a_word() -> None:
    clean = tidy(table([Datum(text=literal("a")), Datum(value=0.004), Datum(reason=say("word.none"))]))
    assert len(clean.columns) == 2
    assert clean.absent == []


def test_interval_shares_the_scale_and_sorts_by_its_low_end() -> None:
    shown = show(Datum(low=0.0041, high=0.0046), "s", Scale(1e-3, "ms"))
    assert (shown.number, shown.suffix, shown.sort) == ("4.10 – 4.60", "ms", 0.0041)


def test_nothing_at_all_is_unknown_not_zero() -> None:
    assert show(Datum(), "s").reason == say("unknown")


def test_messages_nest() -> None:
    inner = say("page.machine", cpu_model="X", cores=4)
    assert speak("en", say("page.eyebrow", name="lenet", machine=inner)) == "lenet on X, 4 cores"


def test_row_of_names_stays_even_when_it_is_all_there_is() -> None:
    clean = tidy(table([Datum(reason=say("reason.no_steps")), Datum(), Datum()]))
    assert clean.columns[0].title.key == "column.cell"


def test_empty_table_keeps_its_columns() -> None:
    clean = tidy(table())
    assert len(clean.columns) == 3
    assert clean.rows == clean.absent == []


def test_columns_missing_for_the_same_reason_are_named_together() -> None:
    why = say("reason.no_sensor")
    clean = tidy(table([Datum(text=literal("a")), Datum(reason=why), Datum(reason=why)]))
    assert clean.absent == [(why, [say("column.step_time"), say("column.mfu")])]


def test_column_of_two_intervals_is_named_once() -> None:
    why = say("reason.one_round")
    columns = [Column(title=say("column.cell")), *(Column(title=say("column.interval"), unit="s") for _ in range(2))]
    rows = [[Datum(text=literal("a")), Datum(reason=why), Datum(reason=why)]]
    assert tidy(Table(name="t", columns=columns, rows=rows)).absent == [(why, [say("column.interval")])]


def test_first_row_speaks_for_a_column_that_is_missing_for_several_reasons() -> None:
    rows = [
        [Datum(text=literal("a")), Datum(value=1.0), Datum(reason=say("reason.no_formula"))],
        [Datum(text=literal("b")), Datum(value=1.0), Datum(reason=say("reason.not_calibrated"))],
    ]
    assert tidy(table(*rows)).absent == [(say("reason.no_formula"), [say("column.mfu")])]


def test_column_takes_its_scale_from_intervals_too() -> None:
    clean = tidy(table([Datum(text=literal("a")), Datum(low=0.002, high=0.003), Datum(value=0.5)]))
    assert clean.rows[0][1].number == "2.00 – 3.00"
    assert clean.rows[0][1].suffix == "ms"


def test_text_in_a_column_of_numbers_is_a_value_of_its_own() -> None:
    clean = tidy(table([Datum(text=literal("a")), Datum(text=say("interval.too_wide", count=2)), Datum(value=0.5)]))
    assert len(clean.columns) == 3
    assert clean.rows[0][1].numeric
    assert clean.rows[0][1].sort is None


def test_tone_of_a_datum_reaches_the_reader() -> None:
    for datum in (Datum(value=1.0, tone="bad"), Datum(low=1.0, high=2.0, tone="bad"), Datum(tone="bad")):
        assert show(datum, "s").tone == "bad"
