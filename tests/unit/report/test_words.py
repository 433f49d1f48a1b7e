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
