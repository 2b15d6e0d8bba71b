"""What columns and targets are taken for."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leavezero.tabular import Column, DateParts, Schema, TableError, decide_target, describe_columns

N = 40


def kind(values, name="column", **options):
    column = describe_columns(pd.DataFrame({name: values}), **options)[0]
    return column.kind, column.why


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        (np.arange(N), "number", ("dropped", "it counts the rows")),
        (np.arange(N) * 7 % 41, "user_id", ("dropped", "its name says so and every cell differs")),
        (np.arange(N) * 7 % 41, "UserID", ("dropped", "its name says so and every cell differs")),
        (np.arange(N) * 7 % 41, "size", ("number", "")),
        (np.arange(N) / 2, "id", ("number", "")),
        (
            [f"n{at}" for at in range(N)],
            "x",
            ("dropped", "every cell differs, as names of rows do"),
        ),
        (["a", "b"] * 20, "x", ("category", "")),
        ([None] * N, "x", ("dropped", "every cell is missing")),
        ([3] * N, "x", ("dropped", "every cell is '3'")),
        ([3.0, np.nan] * 20, "x", ("number", "")),
        ([f"the {at} old men went home" for at in range(N)], "x", ("text", None)),
        (["2024-01-05", "2024-02-29"] * 20, "x", ("date", "")),
        (["13/01/2024", "14/01/2024"] * 20, "x", ("date", "")),
        (["02/01/2024", "03/01/2024"] * 20, "x", ("date", "day and month could be either; the fi")),
        (["2024-01-05 10:00:00", None] * 20, "x", ("date", "")),
        (
            ["1", "2", "x", "2"] * 10,
            "x",
            ("category", "it holds numbers and words (10 cells such a"),
        ),
        (pd.to_datetime(["2024-01-05", None] * 20), "x", ("date", "")),
    ],
)
def test_a_column_is_taken_for_what_it_looks_like(values, name, expected):
    """And what is not plain has a reason."""
    found, why = kind(values, name)
    assert found == expected[0]
    assert expected[1] is None or why.startswith(expected[1])
    assert bool(why) == bool(expected[1] is None or expected[1])


def test_ten_thousand_categories_are_one_column_with_a_word_on_it():
    """Rare ones are taken together later."""
    values = [f"c{at}" for at in range(10_000)] * 2
    why = "it has 10,000 categories; rare ones are taken together"
    assert kind(values) == ("category", why)


def test_the_decimal_comma_is_known_to_notices_and_errors():
    """A word among numbers is shown, and not a number."""
    frame = pd.DataFrame({"x": ["1,5", "2,5", "soon", "2,5"] * 10})
    (column,) = describe_columns(frame, decimal=",")
    assert column.why.startswith("it holds numbers and words (10 cells such as 'soon');")
    with pytest.raises(TableError, match=r"must hold numbers for a regression, and has 'soon'\."):
        decide_target(frame, "x", "regression", decimal=",")


def test_numbers_that_can_be_read_in_two_ways_are_told():
    """Also where they would be taken for names of rows."""
    told = "as in '1,735', the comma may part thousands or decimals; write decimals with a point"
    assert told in kind(["683", "1,735"] * 20)[1]
    found, why = kind([f"1,{at}" for at in range(700, 700 + N)])
    assert (found, why.split(";")[0]) == ("dropped", "every cell differs, as names of rows do")
    assert "as in '1,700', the comma may part thousands" in why


def test_a_mark_of_thousands_is_told_and_kept():
    """The model reads the next table by it, and refuses what can be read in two ways."""
    frame = pd.DataFrame({"x": [1735, 683] * 20})
    (column,) = describe_columns(frame, thousands={"x": ","})
    assert (column.kind, column.why) == ("number", "a comma in its cells parts thousands")
    schema = Schema.from_list(Schema((column,)).to_list())
    table = pd.DataFrame({"x": ["1,735", "683", "2,412.5"]})
    assert schema.frame(table)["x"].tolist() == [1735, 683, 2412.5]
    with pytest.raises(TableError, match=r"should hold numbers, and 1 cell does not, such as '1,7"):
        schema.frame(table.iloc[:2], decimal=",")


def test_long_digits_are_told():
    """They repeat, and are no names of rows."""
    told = "it holds whole numbers of more digits than a float has"
    assert kind(["12345678901234567890", "12345678901234567891"] * 20) == ("category", told)


def test_the_user_may_keep_and_drop():
    """By name, and a name that is none is refused."""
    assert kind(np.arange(N), "id", keep=["id"]) == ("number", "")
    assert kind([f"n{at}" for at in range(N)], "id", keep=["id"])[0] == "category"
    assert kind([0.5] * N, "x", drop=["x"]) == ("dropped", "--drop names it")
    told = r"--drop names 'colum', which is no column to learn from\. Did you mean 'column'\?"
    with pytest.raises(TableError, match=told):
        kind([1, 2], drop=["colum"])


@pytest.mark.parametrize(
    ("values", "task", "why"),
    [
        (["a", "b"], "classification", "its cells are words"),
        ([0, 1, 1], "classification", "it has 2 different whole numbers"),
        ([0.0, 1.0, None], "classification", "it has 2 different whole numbers"),
        ([0.5, 1.0], "regression", "its numbers are not all whole"),
        (range(21), "regression", "it has 21 different whole numbers"),
    ],
)
def test_classes_or_numbers(values, task, why):
    """The values tell, and the reason is said."""
    target = decide_target(pd.DataFrame({"y": values}), "y")
    assert (target.task, target.why) == (task, why)
    assert (target.classes is None) == (task == "regression")


def test_the_user_has_the_last_word_on_the_task():
    """Whole numbers can be either."""
    frame = pd.DataFrame({"y": [1, 2, 3]})
    assert decide_target(frame, "y", "regression").values.dtype == np.float64
    assert decide_target(frame, "y", "classification").classes == [1, 2, 3]


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (pd.to_datetime(["2024-01-02", "2024-01-01", None]), ["2024-01-01", "2024-01-02"]),
        (
            pd.to_datetime(["2024-01-01 10:30", "2024-01-02 00:00"]),
            ["2024-01-01 10:30:00", "2024-01-02 00:00:00"],
        ),
        (["1.2.2024", "01.03.2024"], ["01.03.2024", "1.2.2024"]),
    ],
)
def test_few_dates_may_be_classes(values, classes):
    """Written as dates, if the user says so."""
    target = decide_target(pd.DataFrame({"y": values}), "y", "classification")
    assert target.classes == classes
    assert target.why == "--task says so"


@pytest.mark.parametrize(
    ("values", "options", "told"),
    [
        ([1, 2], {"name": "z"}, r"The table has no column 'z'\. There are 'target'\."),
        ([1, 2], {"name": "Taget"}, r"The table has no column 'Taget'\. Did you mean 'target'\?"),
        (["a", "a", None], {}, r"The target 'target' has one value only, 'a'\. Give rows of at le"),
        ([1, 2], {"min_rows": 10}, r"2 rows with a value in 'target' are too few to choose a mod"),
        (["a", "b"], {"task": "regression"}, r"must hold numbers for a regression, and has 'a'\."),
        ([1, 2], {"task": "magic"}, r"--task must be classification or regression, got 'magic'\."),
        ([f"c{at}" for at in range(60)], {}, r"has 60 classes in 60 rows, too many to learn one"),
        (
            pd.to_datetime(["2024-01-01", "2024-01-02"]),
            {},
            r"The target 'target' holds dates, which cannot be predicted as they are\. Derive a "
            r"number or a class from them, such as days or the month, or add --task "
            r"classification to make each date a class\.$",
        ),
        (["2024-01-01", "2024-01-02"], {"task": "regression"}, r"'target' holds dates, which"),
        (
            pd.date_range("2024-01-01", periods=60),
            {"task": "classification"},
            r"Derive a number or a class from them, such as days or the month\.$",
        ),
        (
            [f"{1 + at % 28}.{1 + at // 28}.2024" for at in range(60)],
            {},
            r"Derive a number or a class from them, such as days or the month\.$",
        ),
    ],
)
def test_a_target_that_will_not_do_is_refused(values, options, told):
    """In a sentence that says what to do."""
    name = options.pop("name", "target")
    with pytest.raises(TableError, match=told):
        decide_target(pd.DataFrame({"target": values}), name, **options)


SCHEMA = Schema(
    (
        Column("a", "number", "float64"),
        Column("b", "category", "object"),
        Column("d", "date", "object", format="%d/%m/%Y"),
        Column("id", "dropped", "int64", "it counts the rows"),
    )
)


def test_any_table_is_brought_to_what_the_model_reads():
    """Words, numbers as words, other orders and other types."""
    table = pd.DataFrame({"d": ["29/02/2024", ""], "b": [1.0, None], "a": ["1,5", "NA"]})
    frame = SCHEMA.frame(table, decimal=",")
    assert frame.columns.tolist() == ["a", "b", "d"]
    assert frame["a"].iloc[0] == 1.5
    assert np.isnan(frame["a"].iloc[1])
    assert frame["b"].tolist() == ["1", ""]
    assert frame["d"].dtype == "datetime64[us]"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"a": ["1", "x"]},
            r"Column 'a' should hold numbers, and 1 cell does not, such as 'x'\. M",
        ),
        (
            {"d": ["soon", "now"]},
            r"Column 'd' should hold dates written as %d/%m/%Y, and 2 cells d",
        ),
        ({"a": pd.to_datetime(["2024", "2025"])}, r"Column 'a' should hold numbers, and 2 cells d"),
    ],
)
def test_cells_of_another_kind_are_refused(change, told):
    """With the column and a cell."""
    table = {"a": [1, 2], "b": ["x", "y"], "d": ["01/01/2024", ""]} | change
    with pytest.raises(TableError, match=told):
        SCHEMA.frame(pd.DataFrame(table))


def test_missing_and_unknown_columns():
    """What is dropped anyway need not be there."""
    assert SCHEMA.check_names(["b", "a", "d", "more"]) == ["more"]
    with pytest.raises(TableError, match=r"lacks 2 columns that the model reads: 'a', 'd'\. There"):
        SCHEMA.check_names(["b"])
    with pytest.raises(TableError, match=r"The table has no columns\."):
        SCHEMA.check_names([])


def test_a_schema_survives_json():
    """It is stored beside the model."""
    assert Schema.from_list(SCHEMA.to_list()) == SCHEMA


@given(st.datetimes(min_value=pd.Timestamp("1900-01-01"), max_value=pd.Timestamp("9999-12-30")))
def test_parts_of_a_time(moment):
    """Month, weekday and hour are the calendar's; days since 1970 put times in order."""
    times = np.array([[moment], ["NaT"]], dtype="M8[us]")
    parts = DateParts().fit_transform(times)
    hour = moment.hour + moment.minute / 60 + (moment.second + moment.microsecond / 1e6) / 3600
    days = (moment - pd.Timestamp("1970-01-01").to_pydatetime()).total_seconds() / 86_400
    assert np.allclose(parts[0], [days, moment.month, moment.weekday(), hour])
    assert np.isnan(parts[1]).all()


def test_parts_have_names():
    """For those who look into a pipeline."""
    parts = DateParts().fit(np.zeros((1, 1), dtype="M8[us]"))
    expected = ["x0_day", "x0_month", "x0_weekday", "x0_hour"]
    assert parts.get_feature_names_out().tolist() == expected
    assert parts.get_feature_names_out(["t"])[0] == "t_day"
