"""A table on disk to a frame."""

import csv
import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leavezero.tabular import Source, TableError, read_table


def written(folder, text, name="a.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("read")


@settings(max_examples=20)
@given(
    separator=st.sampled_from([",", ";", "\t", "|"]),
    comma=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    numbers=st.lists(st.integers(-9999, 9999), min_size=2, max_size=8),
)
def test_separator_decimal_and_encoding_are_found(folder, separator, comma, encoding, numbers):
    """However a table is written, it is the same table."""
    point = "," if comma and separator != "," else "."
    lines = [separator.join(["größe", "name", "n"])]
    lines += [separator.join([f"{n}{point}25", "é", str(n)]) for n in numbers]
    frame = read_table(written(folder, "\n".join(lines), encoding=encoding))
    assert frame.columns.tolist() == ["größe", "name", "n"]
    assert frame["größe"].tolist() == [float(f"{n}.25") for n in numbers]
    assert frame["name"].tolist() == ["é"] * len(numbers)
    assert frame["n"].tolist() == numbers
    assert frame["n"].dtype == np.int64


def test_words_for_missing_cells_are_missing(tmp_path):
    """None and a word that merely looks odd are not."""
    frame = read_table(written(tmp_path, "a,b\n1,x\nNA,?\n 3 ,None\n,\n"))
    assert frame["a"].isna().tolist() == [False, True, False, True]
    assert frame["a"].tolist()[2] == 3.0
    assert frame["b"].tolist() == ["x", None, "None", None]


def test_digits_that_are_no_numbers_stay_words(tmp_path):
    """Postal codes keep their zeros, and true stays true."""
    frame = read_table(written(tmp_path, "zip,flag,zero\n01234,true,0\n99999,false,0.5\n"))
    assert frame["zip"].tolist() == ["01234", "99999"]
    assert frame["flag"].tolist() == ["true", "false"]
    assert frame["zero"].tolist() == [0.0, 0.5]


def test_a_column_without_a_name_gets_one(tmp_path):
    """As an index that was written along has none."""
    assert Source.of(written(tmp_path, ",x\n0,1\n")).names == ["unnamed_1", "x"]


def test_infinite_numbers_are_missing(tmp_path):
    """No model takes them."""
    assert read_table(written(tmp_path, "a,b\ninf,1\n2,1\n"))["a"].isna().tolist() == [True, False]


def test_quoted_cells_keep_separators_and_line_breaks(tmp_path):
    """As the CSV of a spreadsheet has them."""
    frame = read_table(written(tmp_path, 'a,b\n"x, y","line\nbreak"\n"""q""",z\n'))
    assert frame["a"].tolist() == ["x, y", '"q"']
    assert frame["b"].tolist() == ["line\nbreak", "z"]


def test_a_letter_of_another_encoding_far_down_is_read(tmp_path):
    """What is no UTF-8 after all is read byte by byte."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 270_000 + "1,é\n".encode("latin-1"))
    blocks = Source.of(path).blocks(400_000)
    assert next(blocks)["b"].iloc[-1] == "é"


def test_packed_and_binary_tables_are_read_alike(tmp_path):
    """The beginning of the file tells the format, not its name."""
    times = pd.to_datetime(["2024-01-01", None])
    frame = pd.DataFrame({"a": [1, 2], "b": ["01", None], "c": [True, False], "t": times})
    frame.to_parquet(tmp_path / "a.data")
    frame.to_feather(tmp_path / "b.data")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"a,b\n1,01\n2,\n"))
    for name in ("a.data", "b.data"):
        found = read_table(tmp_path / name)
        assert found["a"].tolist() == [1, 2]
        assert found["b"].tolist() == ["01", None]
        assert found["c"].tolist() == ["True", "False"]
        assert found["t"].isna().tolist() == [False, True]
    assert read_table(tmp_path / "c.csv.gz")["b"].tolist() == ["01", None]


def test_objects_of_several_kinds_become_words(tmp_path):
    """Numbers that a Parquet file holds as words stay words; decimals are numbers."""
    from decimal import Decimal

    frame = pd.DataFrame({"a": ["1", "2"], "b": [Decimal("1.5"), None]})
    frame.to_parquet(tmp_path / "a.parquet")
    found = read_table(tmp_path / "a.parquet")
    assert found["a"].tolist() == ["1", "2"]
    assert found["b"].iloc[0] == 1.5


@pytest.mark.parametrize(
    ("data", "name", "told"),
    [
        (b"", "a.csv", r"a\.csv is empty\. Give a table with names in its first row\."),
        (b" \n\n", "a.csv", r"a\.csv is empty\."),
        (b"a,b\n", "a.csv", r"a\.csv has names and no rows\. Give a table with rows\."),
        (b"\x89PNG\r\n\x00\x00\x01", "a.csv", r"a\.csv is no table: it holds bytes that no text"),
        (b"a,b,a\n1,2,3\n", "a.csv", r"has 1 column name more than once: 'a'\. Give each column"),
        (b"a,b\n1,2\n1,2,3\n", "a.csv", r"more cells than its first row has names\. Mend the fi"),
        (b"a,b\n1,2,3\n1,2,3\n", "a.csv", r"more cells than its first row has names\."),
        (b"not packed", "a.csv.gz", r"a\.csv\.gz does not unpack as \.gz: Not a gzipped file"),
        (b"PAR1 and nothing", "a.parquet", r"begins as a Parquet file and is broken"),
        (b"ARROW1 and nothing", "a.arrow", r"begins as an Arrow file and is broken"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, data, name, told):
    """In a sentence that says what to do."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(TableError, match=told):
        read_table(tmp_path / name)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path):
    """Both are named."""
    with pytest.raises(
        TableError, match=r"There is no file '.*none\.csv'\. Check the name and the"
    ):
        read_table(tmp_path / "none.csv")
    with pytest.raises(TableError, match=r"is a folder\. Name a file in it\."):
        read_table(tmp_path)


def test_blocks_hold_the_cells_as_they_are_written(tmp_path):
    """What is passed on is not changed on the way."""
    source = Source.of(written(tmp_path, "a,b\n01, x\nNA,\n1.10,z\n"))
    blocks = list(source.blocks(2))
    assert [len(block) for block in blocks] == [2, 1]
    assert pd.concat(blocks)["a"].tolist() == ["01", "NA", "1.10"]
    assert pd.concat(blocks)["b"].tolist() == [" x", "", "z"]


def test_the_digest_is_of_the_file(tmp_path):
    """So that a run can name its data."""
    digest = Source.of(written(tmp_path, "a,b\n1,2\n")).digest()
    assert digest == Source.of(written(tmp_path, "a,b\n1,2\n", "b.csv")).digest()
    assert len(digest) == 64


@pytest.mark.parametrize(
    "name", ["a.csv", "a.csv.gz", "a.tsv.bz2", "a.csv.xz", "a.parquet", "a.feather"]
)
def test_reading_tells_how_many_bytes_are_done(name, tmp_path):
    """More and more, up to the size of the file, packed or not."""
    frame = pd.DataFrame({"x": np.arange(45_000) % 977, "y": ["a", "b", "c"] * 15_000})
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path, row_group_size=10_000)
    elif name.endswith("feather"):
        frame.to_feather(path, chunksize=10_000)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    heard = []
    source = Source.of(path)
    found = source.read(heard.append)
    assert found.equals(source.read())
    assert found["x"].tolist() == frame["x"].tolist()
    assert heard == sorted(heard)
    assert len(heard) >= 3
    assert heard[-1] == source.n_bytes == path.stat().st_size


def test_whole_numbers_beside_a_gap_keep_their_digits(tmp_path):
    """A Parquet or Feather file's missing cell makes no floats of the others."""
    long = 1234567890123456789
    frame = pd.DataFrame({"id": pd.array([long, None, 1], dtype="Int64"), "x": [0.5, 1.5, None]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    for name in ("a.parquet", "a.feather"):
        (block,) = Source.of(tmp_path / name).blocks()
        assert block.to_csv(index=False) == f"id,x\n{long},0.5\n,1.5\n1,\n"


@pytest.mark.parametrize(
    ("text", "decimal", "column"),
    [
        ("k\tx\na\t683\nb\t1,735\nc\t2,412\n", ".", ["683", "1,735", "2,412"]),
        ("k\tx\na\t683\nb\t0,735\nc\t2,412\n", ",", [683.0, 0.735, 2.412]),
        ("k\tx\na\t683\nb\t1,735\nc\t1,002,412\n", ".", [683, 1735, 1002412]),
        ("k\tx\n0.5\t683\n0.7\t1,735\n0.2\t2,412.5\n", ".", [683.0, 1735.0, 2412.5]),
        ("k\tx\n0.5\t683\n0.7\t1,735\n0.2\t2,412\n", ".", [683, 1735, 2412]),
        ("k\tx\n0.5\t683\n0.7\t1,735\n0.2\t2,41\n", ".", ["683", "1,735", "2,41"]),
        ('k,x\n0.5,683\n0.7,"1,735"\n', ".", [683, 1735]),
        ("k;x\n1,5;85.123\n2,5;7\n", ",", [85123, 7]),
        ("k;x\n1,5;1.085,25\n2,5;7\n", ",", [1085.25, 7.0]),
        ("k;x\n1,5;85.123\n2,5;85.12\n", ",", ["85.123", "85.12"]),
        ("k;x\n1,5;85.123\n3.7;3\n0,5;4\n", ",", ["85.123", "3", "4"]),
    ],
)
def test_thousands_are_told_from_decimals(tmp_path, text, decimal, column):
    """What could be either stays as it is written."""
    source = Source.of(written(tmp_path, text))
    assert source.dialect.decimal == decimal
    assert source.read()["x"].tolist() == column


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_windows_1252_is_found_far_down(tmp_path, name):
    """For the whole file, however many rows are read at a time."""
    data = b"a,b\n" + b"1,x\n" * 270_000 + "1,10 €\n".encode("cp1252")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    source = Source.of(tmp_path / name)
    assert source.dialect.encoding == "cp1252"
    assert [block["b"].iloc[-1] for block in source.blocks(200_000)] == ["x", "10 €"]


def test_bytes_that_windows_1252_lacks_are_read(tmp_path):
    """Byte by byte."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,\x81\n")
    assert read_table(path)["b"].tolist() == ["\x81"]


def test_a_mark_that_does_not_hold_is_refused(tmp_path):
    """A file that says it is UTF-8 and is not."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,\xe9\n")
    with pytest.raises(TableError, match=r"a\.csv is not utf-8-sig throughout: .*Save it as UTF-8"):
        read_table(path)


@pytest.mark.parametrize("before", ["", "\n \n"])
def test_an_empty_line_of_one_column_is_a_missing_cell(tmp_path, before):
    """In a table of several columns it is nothing."""
    source = Source.of(written(tmp_path, before + "x\n0.1\n\n0.3\n-2\n"))
    assert [block["x"].tolist() for block in source.blocks()] == [["0.1", "", "0.3", "-2"]]
    assert source.read()["x"].isna().tolist() == [False, True, False, False]
    assert len(read_table(written(tmp_path, before + "x,y\n1,2\n\n3,4\n"))) == 2


def test_whole_numbers_that_no_float_holds_are_words(tmp_path):
    """With all their digits, in text and in Parquet."""
    ids = ["12345678901234567890", "12345678901234567891", "7"]
    path = written(tmp_path, "id,big\n" + "".join(f"{one},1000000000000000000\n" for one in ids))
    assert read_table(path)["id"].tolist() == ids
    assert read_table(path)["big"].tolist() == [1e18] * 3
    pd.DataFrame({"id": np.array(ids, dtype=np.uint64)}).to_parquet(tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet")["id"].tolist() == ids


@pytest.mark.parametrize(
    "row", [["1"] * 700, ["x" * 200_000, "2"]], ids=["long names", "a long cell"]
)
def test_long_rows_and_long_cells_are_read(tmp_path, row):
    """The csv module's limit is ours for a moment only."""
    limit = csv.field_size_limit()
    names = [f"{at}".zfill(200) for at in range(len(row))]
    found = read_table(written(tmp_path, ",".join(names) + "\n" + ",".join(row) + "\n"))
    assert found.astype(str).to_numpy().tolist() == [row]
    assert csv.field_size_limit() == limit
