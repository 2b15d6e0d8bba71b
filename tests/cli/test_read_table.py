"""Tables on disk to frames."""

import csv
import io
import sqlite3
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow import feather

from leavezero.cli import _read_table
from leavezero.cli._output import TableError
from leavezero.cli._read_table import (
    ReadOptions,
    base_name,
    column_kind,
    is_missing,
    open_table,
    to_features,
)

FRAME = pd.DataFrame(
    {
        "x": [1.5, np.nan, 3.0],
        "word": ["a", "b", None],
        "day": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01"]),
    }
)


def read(path, **options):
    return open_table(path, ReadOptions(**options)).read()


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.bz2", ".csv.zip", ".csv.xz", ".txt"])
def test_text_is_read_from_plain_and_compressed_files(suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    FRAME.to_csv(path, index=False)
    found = read(path)
    assert list(found.columns) == ["x", "word", "day"]
    assert [column_kind(found[name]) for name in found] == ["number", "string", "string"]
    assert found["word"].isna().tolist() == [False, False, True]


def test_binary_formats_keep_their_types(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    FRAME.to_feather(tmp_path / "a.feather")
    FRAME.to_json(tmp_path / "a.jsonl", orient="records", lines=True, date_format="iso")
    kinds = ["number", "string", "datetime"]
    for name in ("a.parquet", "a.feather"):
        found = read(tmp_path / name)
        assert [column_kind(found[name]) for name in found] == kinds
    found = read(tmp_path / "a.jsonl")
    assert [column_kind(found[name]) for name in ("x", "word")] == ["number", "string"]


def test_sheets_of_excel_files_are_named(tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="data", index=False)
        pd.DataFrame().to_excel(book, sheet_name="empty", index=False)
    assert open_table(path, ReadOptions()).options.sheet == "data"
    assert list(read(path, sheet="data").columns) == ["x", "word", "day"]
    with pytest.raises(TableError, match=r"--sheet must be a sheet .*'dota'. Did you mean 'data'"):
        read(path, sheet="dota")
    with pytest.raises(TableError, match=r"has no columns\. The first row"):
        read(path, sheet="empty")


def test_excel_files_require_openpyxl(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(TableError, match="require openpyxl: pip install openpyxl"):
        read(tmp_path / "a.xlsx")


def test_decimal_commas_are_read_in_every_format(tmp_path):
    """Only in columns whose cells all are such numbers."""
    frame = pd.DataFrame({"a": ["1,5", None, "-2"], "b": ["1,5", "x", "2"], "c": [0.5, 1.5, 2.5]})
    frame.to_parquet(tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet", decimal=",")
    np.testing.assert_array_equal(found["a"], [1.5, np.nan, -2.0])
    assert found[["b", "c"]].equals(frame[["b", "c"]])


def test_tables_of_sqlite_files_are_named_after_two_colons(tmp_path):
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as database:
        FRAME.to_sql('a "b"', database, index=False)
        assert list(read(path)["x"].dropna()) == [1.5, 3.0]  # a single table needs no name
        FRAME.to_sql("c", database, index=False)
    assert read(Path(f'{path}::a "b"')).shape == (3, 3)
    for name in (path, Path(f"{path}::d")):
        with pytest.raises(TableError, match=r"name one of its tables.*'c'"):
            read(name)


def test_text_is_read_from_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a;b\n1;x\n2;y\n")))
    file = open_table(Path("-"), ReadOptions())
    assert file.read().to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    assert sum(len(block) for block in file.blocks(1)) == 2


def test_a_tab_can_be_written_as_in_a_shell(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\tc\n1\t2\n")
    assert list(read(tmp_path / "a.csv", sep="\\t").columns) == ["a,b", "c"]


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_the_separator_is_found_in_the_first_row(sep, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f'"price, EUR"{sep}b\n1{sep}2\n', encoding="utf-8-sig")
    assert read(path).to_dict("list") == {"price, EUR": [1], "b": [2]}


def test_decimal_separator_and_encoding_are_options(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("größe;b\n1,5;x\n?;y\n".encode("cp1252"))
    found = read(path, sep=";", decimal=",", encoding="cp1252")
    assert found["größe"].iloc[0] == 1.5
    assert found["größe"].isna().tolist() == [False, True]
    with pytest.raises(TableError, match=r"encoding utf-8\).* --encoding"):
        read(path)
    with pytest.raises(TableError, match="encoding nonsense"):
        read(path, encoding="nonsense")
    for option in ("sep", "decimal"):
        with pytest.raises(TableError, match=f"--{option} must be one character, got 'ab'"):
            read(path, **{option: "ab"})


def test_blocks_of_text_have_the_cells_as_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,x\n007,1.50\n008,NA\n")
    blocks = list(open_table(path, ReadOptions()).blocks(1))
    assert [block.to_numpy().tolist() for block in blocks] == [[["007", "1.50"]], [["008", "NA"]]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "does not exist"),
        ("empty.csv", b"", "is empty"),
        ("blank.csv", b"\n\n", "No columns to parse"),
        ("a.docx", b"x", r"must end in \.csv"),
        ("a.parquet.gz", b"x", r"must end in \.csv"),
        ("a.parquet", b"x", "cannot be read as parquet"),
        ("a.feather", b"x", "cannot be read as feather"),
        ("a.sqlite", b"x", "cannot be read as sqlite"),
        ("a.jsonl", b"{", "cannot be read as json lines"),
        ("a.csv.gz", b"x", "cannot be read"),
        ("twice.csv", b"x,x,y\n1,2,3\n", "unique; .* repeats 'x'"),
        ("names.csv", b"x,y\n", "no rows"),
        ("long.csv", b"x,y\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("longer.csv", b"x,y\n1,2,3\n", "Length of header"),
    ],
)
def test_unreadable_files_are_explained(name, content, message, tmp_path):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TableError, match=message):
        read(path)
    with pytest.raises(TableError, match="is not a file"):
        read(tmp_path)


def test_long_header_and_line_separators_in_names(tmp_path):
    """The header has more than a megabyte; U+2028 ends no line of a CSV file."""
    names = [f"{'a' * 500}{number}" for number in range(2_500)] + ["b\u2028c"]
    row = ",".join(["1"] * len(names))
    path = tmp_path / "a.csv"
    path.write_text(f"{','.join(names)}\n{row}\n{row}\n", encoding="utf-8")
    assert list(read(path).columns) == names


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zip"])
def test_files_that_expand_without_bound_are_refused(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(_read_table, "SMALL_SIZE", 10_000)
    path = tmp_path / f"a.csv{suffix}"
    pd.DataFrame({"x": np.zeros(10**5, dtype=int), "y": 1}).to_csv(path, index=False)
    with pytest.raises(TableError, match="expands to more than 200 times its size"):
        read(path)
    table = pd.DataFrame({"x": np.random.default_rng(0).normal(size=9999), "y": 1})
    table.to_csv(path, index=False)
    assert len(read(path)) == 9999


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".xlsx", ".sqlite"])
def test_tables_that_expand_without_bound_are_refused(suffix, tmp_path, monkeypatch):
    """Compressed columns and cells, and a view that never ends."""
    monkeypatch.setattr(_read_table, "SMALL_SIZE", 30_000)
    path = tmp_path / f"a{suffix}"
    zeros = pd.DataFrame({"x": np.zeros(10**6), "y": 0})
    if suffix == ".parquet":
        zeros.to_parquet(path)
    elif suffix == ".feather":
        feather.write_feather(zeros, path, compression="zstd", chunksize=10**5)
    elif suffix == ".xlsx":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/worksheets/sheet1.xml", bytes(10**7))
    else:
        endless = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT x FROM a"
        with closing(sqlite3.connect(path)) as database:
            database.execute(f"CREATE VIEW a AS {endless}")
    with pytest.raises(TableError, match="expands to more than 200 times its size"):
        read(path)


def excel(path, sheet, target="worksheets/sheet1.xml", doctype=""):
    """Write an Excel file with this content of a sheet, as other programs do."""
    pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    FRAME.to_excel(path, index=False)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = f"<worksheet xmlns='{MAIN}'><sheetData>{sheet}</sheetData></worksheet>"
    parts["xl/worksheets/sheet1.xml"] = f"<?xml version='1.0'?>{doctype}{sheet}".encode()
    links = "xl/_rels/workbook.xml.rels"
    parts[links] = parts[links].replace(b"/xl/worksheets/sheet1.xml", target.encode())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
HEADER = "<row r='1'><c r='A1' t='inlineStr'><is><t>a</t></is></c></row>"
LAUGHS = "<!DOCTYPE a [<!ENTITY e0 'ha'>{}]>".format(
    "".join(f"<!ENTITY e{n + 1} '{10 * f'&e{n};'}'>" for n in range(9))
)


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>", "the last cell"),
        ("<row r='900000000'><c><v>1</v></c></row>", "a row far away"),
        ("<row r='9999999'/>", "an empty row far away"),
    ],
)
def test_excel_files_with_few_cells_far_apart_are_refused(row, name, tmp_path):
    """The rows between them would be filled, with 17 billion cells."""
    with pytest.raises(TableError, match=r"row [0-9,]+ of a sheet is far from all others"):
        read(excel(tmp_path / "a.xlsx", HEADER + row))


def test_excel_files_may_have_empty_cells_far_away(tmp_path):
    """Such as those of columns and rows that have a format."""
    rows = HEADER + "<row r='2'><c r='A2'><v>1</v></c><c r='XFD2' s='0'/></row>"
    rows += "<row r='1048576'><c r='XFD1048576' s='0'/></row>"
    assert read(excel(tmp_path / "a.xlsx", rows)).to_dict("list") == {"a": [1]}


@pytest.mark.parametrize(
    "part", ["<?xml version='1.0' encoding='Shift_JIS'?><a/>", "<a><row r='2000000'/></a>", "<row"]
)
def test_other_parts_of_excel_files_are_not_read(part, tmp_path):
    path = excel(tmp_path / "a.xlsx", HEADER + "<row r='2'><c r='A2'><v>1</v></c></row>")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("customXml/item1.xml", part)
    assert list(read(path)) == ["a"]


@pytest.mark.parametrize(
    ("target", "doctype", "text"),
    [
        ("/etc/passwd", "", "1"),
        ("http://127.0.0.1:9/sheet.xml", "", "1"),
        ("worksheets/sheet1.xml", LAUGHS, "&e9;"),
        ("worksheets/sheet1.xml", "<!DOCTYPE a [<!ENTITY x SYSTEM '/etc/passwd'>]>", "&x;"),
        ("worksheets/sheet1.xml", "", "<b>" * 100_000),
    ],
    ids=["a file of the system", "a page", "entities", "an entity of the system", "deep nesting"],
)
def test_excel_files_that_refer_to_others_or_expand_are_refused(target, doctype, text, tmp_path):
    row = f"<row r='2'><c r='A2' t='str'><v>{text}</v></c></row>"
    with pytest.raises(TableError, match="cannot be read as excel"):
        read(excel(tmp_path / "a.xlsx", HEADER + row, target, doctype))


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_categories_are_as_large_as_their_strings(suffix, tmp_path, monkeypatch):
    """Each is stored once, and repeated when the table is used."""
    monkeypatch.setattr(_read_table, "SMALL_SIZE", 10**6)
    path = tmp_path / f"a{suffix}"
    frame = pd.DataFrame({"x": pd.Categorical(["a" * 10**4, None] * 2_000)})
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_feather(path)
    with pytest.raises(TableError, match="expands to more than 200 times its size"):
        read(path)
    frame.head(100).to_parquet(tmp_path / "b.parquet")
    assert read(tmp_path / "b.parquet").equals(frame.head(100))


def test_views_that_compute_without_end_are_refused(tmp_path, monkeypatch):
    """They return no row, so that nothing else can stop them."""
    monkeypatch.setattr(_read_table, "MAX_STEPS", 10**6)
    path = tmp_path / "a.sqlite"
    endless = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT x FROM a"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE VIEW a AS {endless} WHERE x < 0")
    with pytest.raises(TableError, match=r"'a' takes too long\. If it is a view, save it"):
        read(path)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zip"])
def test_json_lines_with_other_keys_in_each_row_are_refused(suffix, tmp_path, monkeypatch):
    """Their table has as many columns as rows, almost all without a value."""
    path = tmp_path / f"a{suffix}"
    frame = pd.DataFrame({"lines": [f'{{"key{n}": 1}}' for n in range(2_000)]})
    options = {"index": False, "header": False, "quoting": csv.QUOTE_NONE, "sep": "\t"}
    frame.to_csv(path, **options)
    assert read(path).shape == (2_000, 2_000)
    monkeypatch.setattr(_read_table, "SMALL_SIZE", 10**6)
    with pytest.raises(TableError, match="expands to more than 200 times its size"):
        read(path)


def test_values_are_converted_to_their_kinds():
    frame = pd.DataFrame(
        {
            "n": ["1,5", "x", None],
            "b": ["TRUE", "false", ""],
            "s": [1, 2, None],
            "d": ["2024-01-01", "?", None],
            "t": pd.to_timedelta([1, 2, None], unit="s"),
            "i": [1, 2, 3],
        }
    )
    kinds = {"n": "number", "b": "boolean", "s": "string", "d": "datetime"}
    kinds |= {"t": "number", "i": "number"}
    found = to_features(frame, kinds, decimal=",")
    assert found["n"].tolist()[0] == 1.5
    assert found["b"].tolist()[:2] == [1.0, 0.0]
    assert found.isna().sum().to_dict() == {"n": 2, "b": 1, "s": 1, "d": 2, "t": 1, "i": 0}
    assert found["s"].tolist()[:2] == ["1.0", "2.0"]
    assert found["i"].dtype == np.int64
    missing = is_missing(pd.Series(["a", " NA ", None, "?", "nan"]))
    assert missing.tolist() == [False, True, True, True, True]


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/sales.2024.CSV.gz", "sales.2024"), ("v1.2.parquet", "v1.2"), (".csv", ".csv")]
    + [("b/x.sqlite::t", "x"), ("-", "stdin")],
)
def test_results_are_named_after_the_table(path, name):
    assert base_name(Path(path)) == name


@pytest.mark.parametrize("name", ["a.csv.zip", "a.csv.xz", "a.jsonl.zip", "a.csv.gz", "a.csv.bz2"])
def test_damaged_archives_are_explained(name, tmp_path):
    (tmp_path / name).write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(TableError, match="cannot be read as"):
        open_table(tmp_path / name, ReadOptions())


def test_archives_with_a_false_size_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "a.csv.zip"
    pd.DataFrame({"x": np.zeros(10**5, dtype=int)}).to_csv(path, index=False)
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02") + 24
    content[at : at + 4] = (1_000).to_bytes(4, "little")
    path.write_bytes(content)
    monkeypatch.setattr(pd, "read_csv", None)
    with pytest.raises(TableError, match=r"as an archive: its part 'a\.csv' is damaged"):
        read(path)


@pytest.mark.parametrize(("at", "value"), [(8, 1), (10, 77)], ids=["encrypted", "other method"])
def test_archives_that_cannot_be_unpacked_are_explained(at, value, tmp_path):
    path = tmp_path / "a.csv.zip"
    FRAME.to_csv(path, index=False)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + at] = content[at - 2] = value
    path.write_bytes(content)
    with pytest.raises(TableError, match="cannot be read as a text table"):
        read(path)


def test_only_databases_have_tables(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(TableError, match="Only SQLite files have tables"):
        open_table(Path(f"{tmp_path / 'a.csv'}::t"), ReadOptions())
