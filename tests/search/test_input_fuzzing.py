"""Any X, y, sample_weight and groups: a result, or an error that names one before the first fit."""

import re
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO
from leavezero.augment import _forest
from leavezero.exceptions import AllCandidatesFailedError

N = 24
NUMBERS = np.random.default_rng(0).normal(size=(N, 3)).round(3)
FRAME = pd.DataFrame(NUMBERS, columns=list("abc"))
ESTIMATORS = {
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
    "logistic": LogisticRegression(max_iter=20),
    "bayes": GaussianNB(),
    "ridge": Ridge(),
    "pipeline": make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)),
}
MAX_WARNINGS = 5


def with_cell(value, dtype=object):
    X = NUMBERS.astype(dtype)
    X[1, 1] = value
    return X


def column(values, **params):
    return FRAME.assign(d=pd.Series(values, **params))


CELLS = {  # single cells of object arrays and frames
    "None": None,
    "huge int": 10**400,
    "list": [1, 2],
    "dict": {"a": 1},
    "text": "a",
    "number as text": "1.5",
    "complex": 1j,
    "NA": pd.NA,
    "NaT": pd.NaT,
    "bytes": b"a",
    "date": pd.Timestamp("2020-01-01"),
}
TABLES = {
    "floats": NUMBERS,
    **{f"dtype {t}": NUMBERS.astype(t) for t in ("f2", "f4", "i1", "?", "O", "U5", "S5", "c8")},
    **{f"dtype {t}": NUMBERS.astype("i8").astype(t) for t in ("M8[D]", "m8[s]", "M8[ns]")},
    "long double": NUMBERS.astype(np.longdouble),
    "near 2**63": np.int64(2**63 - 1) - np.arange(2 * N).reshape(N, 2),
    "near 2**64": np.uint64(2**64 - 1) - np.arange(2 * N, dtype=np.uint64).reshape(N, 2),
    "large floats": NUMBERS * 1e300,
    "small floats": NUMBERS * 1e-310,
    "constant": np.ones((N, 2)),
    "integers as objects": np.arange(2 * N).reshape(N, 2).astype(object) % 3,
    "NaN": with_cell(np.nan, "f8"),
    "only NaN": np.full((N, 2), np.nan),
    "infinity": with_cell(np.inf, "f8"),
    "text in an array": np.array([["a", "b"], ["c", "d"]] * (N // 2)),
    "texts": ["one two", "three four five"] * (N // 2),
    "list": NUMBERS.tolist(),
    "tuple": tuple(map(tuple, NUMBERS.tolist())),
    "unequal lists": [[1.0], [1.0, 2.0]] * (N // 2),
    "list of dicts": [{"a": 1}] * N,
    "no dimension": np.array(1.0),
    "one dimension": NUMBERS[:, 0],
    "series": FRAME["a"],
    "three dimensions": NUMBERS.reshape(N, 3, 1),
    "no rows": NUMBERS[:0],
    "one row": NUMBERS[:1],
    "no columns": NUMBERS[:, :0],
    "masked": np.ma.masked_greater(NUMBERS, 1.0),
    "structured": np.array([(1.0, 2)] * N, dtype=[("a", "f8"), ("b", "i4")]),
    "Fortran order": np.asfortranarray(NUMBERS),
    "strided": np.repeat(NUMBERS, 2, axis=0)[::2, ::-1],
    "read-only": np.frombuffer(NUMBERS.tobytes()).reshape(N, 3),
    "duplicate rows": np.repeat(NUMBERS[:2], N // 2, axis=0),
    "missing": None,
    "number": 3.0,
    "range": range(N),
    "string": "a" * N,
    "iterator": iter(NUMBERS),
    "mapping": {"a": NUMBERS[:, 0]},
    **{f"sparse {f}": sparse.csr_array(NUMBERS).asformat(f) for f in ("csr", "csc", "coo", "dok")},
    **{f"sparse {f}": sparse.csr_matrix(NUMBERS).asformat(f) for f in ("lil", "dia", "bsr")},
    "sparse without rows": sparse.csr_array((0, 3)),
    "sparse without columns": sparse.csr_array((N, 0)),
    "sparse zeros": sparse.csr_array((N, 3)),
    "sparse NaN": sparse.csr_array(with_cell(np.nan, "f8")),
    "sparse integers": sparse.csr_array(NUMBERS.astype("i8")),
    "sparse complex": sparse.csr_array(NUMBERS.astype("c8")),
    "frame": FRAME,
    "frame without columns": pd.DataFrame(index=range(N)),
    "frame without rows": FRAME[:0],
    "duplicate columns": FRAME.set_axis(["a", "a", "b"], axis=1),
    "columns of mixed types": FRAME.set_axis(["a", 1, None], axis=1),
    "duplicate index": FRAME.set_axis([0, 0, 1] * (N // 3)),
    "MultiIndex": FRAME.set_axis(pd.MultiIndex.from_product([range(N // 2), ["a", "b"]])),
    "columns in a MultiIndex": FRAME.set_axis(
        pd.MultiIndex.from_product([["x"], ["a", "b", "c"]]), axis=1
    ),
    "categories with NaN": column(
        pd.Categorical(["a", None, "b"] * (N // 3), categories=["a", "b"])
    ),
    "unused categories": column(pd.Categorical(["a"] * N, categories=["a", "b"])),
    "number categories": column([1, 2] * (N // 2), dtype="category"),
    "Int64": FRAME.round().astype("Int64"),
    "Int64 with NA": column([1, None] * (N // 2), dtype="Int64"),
    "boolean with NA": column([True, None] * (N // 2), dtype="boolean"),
    "string with NA": column(["a", None] * (N // 2), dtype="string"),
    "times": column(pd.date_range("2020", periods=N, tz="Europe/Paris")),
    "timedelta": column(pd.timedelta_range("1h", periods=N)),
    "periods": column(pd.period_range("2020", periods=N, freq="D")),
    "intervals": column(pd.interval_range(0, N)),
    "sparse frame": pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(NUMBERS)),
    "bool frame": FRAME > 0,
    **{f"cell {name}": with_cell(value) for name, value in CELLS.items()},
    **{
        f"column {name}": column([value, 1.0] * (N // 2), dtype=object)
        for name, value in CELLS.items()
    },
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    TABLES["matrix"] = np.asmatrix(NUMBERS)
LABELS = np.arange(N) % 2
TARGETS = {
    "integers": LABELS,
    "strings": np.array(["b", "a"])[LABELS],
    "objects": np.array(["b", "a"], dtype=object)[LABELS],
    "bools": LABELS == 1,
    "floats": LABELS.astype(float),
    "fractions": NUMBERS[:, 0],
    "three classes": np.arange(N) % 3,
    "one class": np.zeros(N, int),
    "one row per class": np.arange(N),
    "NaN": np.where(LABELS == 1, np.nan, 0.0),
    "infinity": np.where(LABELS == 1, np.inf, NUMBERS[:, 0]),
    "None in it": np.array([None, "a"] * (N // 2), dtype=object),
    "mixed": np.array([1, "a"] * (N // 2), dtype=object),
    "huge": np.array([10**400, 1] * (N // 2), dtype=object),
    "near 2**63": np.int64(2**63 - 1) - LABELS,
    "complex": LABELS * 1j,
    "dates": LABELS.astype("M8[D]"),
    "series": pd.Series(LABELS, index=range(100, 100 + N)),
    "category": pd.Series(["x", "y"] * (N // 2), dtype="category"),
    "nullable": pd.Series(LABELS, dtype="Int64"),
    "nullable with NA": pd.Series([1, None] * (N // 2), dtype="Int64"),
    "column": LABELS[:, None],
    "frame": pd.DataFrame({"y": LABELS}),
    "two outputs": np.c_[LABELS, 1 - LABELS],
    "three dimensions": LABELS[:, None, None],
    "no columns": np.zeros((N, 0)),
    "list": LABELS.tolist(),
    "unequal lists": [[1], [1, 2]] * (N // 2),
    "sparse": sparse.csr_array(LABELS[:, None]),
    "missing": None,
    "number": 1,
    "text": "a" * N,
    "short": LABELS[:-1],
    "large floats": NUMBERS[:, 0] * 1e300,
}
WEIGHTS = {
    "ones": np.ones(N),
    "integers": np.arange(N),
    "zeros": np.zeros(N),
    "negative": np.linspace(-1, 1, N),
    "NaN": np.full(N, np.nan),
    "infinity": np.full(N, np.inf),
    "large": np.full(N, 1e300),
    "small": np.full(N, 1e-300),
    "text": ["a"] * N,
    "None in it": [None] * N,
    "short": np.ones(3),
    "two dimensions": np.ones((N, 1)),
    "number": 2.0,
    "list": [1] * N,
    "huge int": [10**400] * N,
    "nullable with NA": pd.Series([1.0, None] * (N // 2), dtype="Float64"),
    "complex": np.ones(N) * 1j,
    "dates": LABELS.astype("M8[D]"),
    "series": pd.Series(np.ones(N), index=range(5, 5 + N)),
    "only one row": np.eye(N)[0],
}
GROUPS = {
    "integers": np.arange(N) // 3,
    "strings": np.repeat(list("abcdefgh"), 3),
    "one": np.zeros(N, int),
    "huge": [10**400, 1] * (N // 2),
    "complex": np.arange(N) // 3 * 1j,
    "NaN": np.where(LABELS, np.nan, np.arange(N)),
    "None in it": np.array([None, "a"] * (N // 2), dtype=object),
    "short": [1, 2],
    "two dimensions": np.ones((N, 2)),
    "number": 2,
    "series": pd.Series(np.arange(N) // 3, index=range(5, 5 + N)),
}
if find_spec("polars"):
    import polars as pl

    TABLES |= {
        "polars": pl.DataFrame(NUMBERS),
        "polars lists": pl.DataFrame({"a": [[1, 2]] * N, "b": range(N)}),
        "polars near 2**64": pl.DataFrame(TABLES["near 2**64"]),
        "polars text": pl.DataFrame({"a": ["x", None] * (N // 2), "b": range(N)}),
        "polars dates": pl.DataFrame({"a": pd.date_range("2020", periods=N).to_numpy()}),
        "polars nulls": pl.DataFrame({"a": [None] * N, "b": range(N)}),
        "polars lazy": pl.DataFrame(NUMBERS).lazy(),
        "polars decimals": pl.DataFrame({"a": pl.Series(range(N)).cast(pl.Decimal(10, 2))}),
        "polars categories": pl.DataFrame({"a": ["x", "y"] * (N // 2)}).cast(pl.Categorical),
        "polars series": pl.Series(NUMBERS[:, 0]),
        "polars without rows": pl.DataFrame(NUMBERS)[:0],
        "polars without columns": pl.DataFrame(),
    }
    TARGETS |= {"polars": pl.Series(LABELS), "polars nulls": pl.Series([1, None] * (N // 2))}
if find_spec("pyarrow"):
    import pyarrow as pa

    TABLES["arrow"] = pa.table({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1]})
    TABLES |= {
        "arrow array": pa.array(NUMBERS[:, 0]),
        "arrow without rows": pa.table({"a": pa.array([], pa.float64())}),
        "arrow without columns": pa.table({}),
        "arrow near 2**64": pa.table({"a": TABLES["near 2**64"][:, 0]}),
        "arrow categories": pa.table({"a": pa.array(["x", "y"] * (N // 2)).dictionary_encode()}),
        "arrow dtypes": FRAME.astype("float64[pyarrow]"),
        "arrow dtype with NA": column([1, None] * (N // 2), dtype="int64[pyarrow]"),
        "arrow texts with NA": column(["a", None] * (N // 2), dtype="string[pyarrow]"),
        "arrow decimals": column(range(N), dtype=pd.ArrowDtype(pa.decimal128(25, 2))),
        "arrow times": column(pd.date_range("2020", periods=N), dtype="timestamp[ns][pyarrow]"),
        "arrow dates": column(TABLES["times"]["d"].dt.date, dtype="date32[day][pyarrow]"),
    }
    TARGETS |= {"arrow": pa.array(LABELS), "arrow nulls": pa.array([1, None] * (N // 2))}
    WEIGHTS["arrow"] = pa.array(np.ones(N))
    GROUPS["arrow"] = pa.array(np.arange(N) // 3)
NAMED = re.compile(r"\b(X|y|[sS]ample.?weights?|groups?|cv|samples|classes|feature|columns?)\b")


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Keep the forests of the default augmenter small: they take nine tenths of the time."""
    monkeypatch.setattr(_forest, "MAX_TREES", 2)


def outcome(monkeypatch, estimator, X, y, **params):
    """Return the result of a search, or its error and the number of fits before it."""
    n_fits = []

    def count(self, *args, **kwargs):
        n_fits.append(type(self))
        return fit(self, *args, **kwargs)

    kind = type(estimator)
    fit = kind.fit
    search = GridSearchLZO(estimator, {}, n_replicates=1, validation_size=20, random_state=0)
    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        patch.setattr(kind, "fit", count)
        warnings.simplefilter("always")
        try:
            search.fit(X, y, **params)
        except (TypeError, ValueError) as error:
            return error, len(n_fits), caught
    return search, len(n_fits), caught


def check(monkeypatch, name, X, y, weight, group):
    """Assert what is promised of any input."""
    estimator = ESTIMATORS[name]
    params = {"sample_weight": WEIGHTS.get(weight), "groups": GROUPS.get(group)}
    table = TABLES[X] if X != "iterator" else iter(NUMBERS)
    found, n_fits, caught = outcome(monkeypatch, estimator, table, TARGETS[y], **params)
    # Overflows in other packages, of which numpy reports each operation, count as one.
    texts = {
        "overflow" if one.category is RuntimeWarning else f"{one.category.__name__}: {one.message}"
        for one in caught
    }
    assert len(texts) <= MAX_WARNINGS, texts
    if isinstance(found, Exception):
        assert NAMED.search(str(found)), found
        # A pipeline must be fitted to know whether it accepts the values, and so must other
        # estimators for decimals and arrays of times or text, and trees, whose numbers are in
        # single precision.
        # Some solvers do not support negative weights, and folds of groups may lack a class.
        if (
            name != "pipeline"
            and group is None
            and weight != "negative"
            and not X.startswith(("dtype M8", "dtype m8", "dtype U", "polars dates", "large"))
            and not X.endswith("decimals")
        ):
            assert n_fits == 0, found
            assert not isinstance(found, AllCandidatesFailedError)
        return
    assert np.isfinite(found.best_score_)
    if is_classifier(estimator):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of GaussianNB for a single weight
            try:
                predicted = np.unique(found.predict(table))
            except ValueError:  # as the estimator itself: some accept text in fit alone
                fitted = clone(estimator).fit(table, TARGETS[y], sample_weight=WEIGHTS.get(weight))
                with pytest.raises(ValueError, match=r"numeric|string"):
                    fitted.predict(table)
                return
        assert set(predicted) <= set(np.unique(np.asarray(TARGETS[y])))


def names(options, usual):
    """Return a strategy that half the time is a usual input, so that the others are reached."""
    return st.one_of(st.just(usual), st.sampled_from(sorted(options)))


cases = given(
    st.sampled_from(sorted(ESTIMATORS)),
    names(TABLES, "floats"),
    names(TARGETS, "integers"),
    st.one_of(st.none(), st.sampled_from(sorted(WEIGHTS))),
    st.one_of(st.none(), st.none(), st.sampled_from(sorted(GROUPS))),
)
same_function = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@cases
@settings(same_function, max_examples=200)
def test_combined_inputs(monkeypatch, name, X, y, weight, group):
    check(monkeypatch, name, X, y, weight, group)


@pytest.mark.slow
@cases
@settings(same_function, max_examples=4000)
def test_many_combined_inputs(monkeypatch, name, X, y, weight, group):
    check(monkeypatch, name, X, y, weight, group)


@pytest.mark.parametrize("X", TABLES)
def test_each_table(monkeypatch, X):
    check(monkeypatch, "tree", X, "integers", None, None)


@pytest.mark.parametrize("X", TABLES)
def test_each_table_in_a_pipeline(monkeypatch, X):
    check(monkeypatch, "pipeline", X, "integers", None, None)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_each_weight(monkeypatch, weight):
    check(monkeypatch, "tree", "floats", "integers", weight, None)


@pytest.mark.parametrize("group", GROUPS)
def test_each_group(monkeypatch, group):
    check(monkeypatch, "tree", "floats", "integers", None, group)


@pytest.mark.parametrize("y", TARGETS)
def test_each_target(monkeypatch, y):
    name = "ridge" if y in ("fractions", "large floats") else "bayes"
    check(monkeypatch, name, "floats", y, None, None)
