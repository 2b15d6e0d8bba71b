"""Models that are fitted and asked together say what each says by itself."""

import gc
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from leavezero import GridSearchLZO
from leavezero.exceptions import CandidateFailedWarning
from leavezero.families import Family, _shared_neighbors, _shared_svm, family_of
from leavezero.families._poll import Tally
from leavezero.families._shared_neighbors import said_together
from leavezero.testing import check_family

SEEDS = st.integers(0, 2**31)
FEW = {"n_replicates": 2, "random_state": 0}


def table(seed, n_rows=60, n_columns=3, coarse=False):
    """Return rows, classes, numbers and weights; coarse rows repeat and have equal distances."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n_rows, n_columns)) * 1.0 if coarse else rng.normal(size=(n_rows, 3))
    signal = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n_rows)
    names = np.array(["a", "b", "c"])[np.digitize(signal, np.quantile(signal, [0.3, 0.7]))]
    return X, names, signal, rng.uniform(0.5, 2.0, n_rows)


def together(estimators, X, y, V, weights=None):
    """Return the models, and what their family says for them."""
    models = [clone(estimator) for estimator in estimators]
    family = family_of(models[0])
    keys = {family.shares(model) for model in models}
    assert len(keys) == 1
    assert None not in keys
    family.fit_many(models, X, y, weights)
    return models, family.respond_many(models, V)


def alone(estimator, X, y, weights=None):
    more = {} if weights is None else {"sample_weight": weights}
    return clone(estimator).fit(X, y, **more)


weightings = st.sampled_from(["uniform", "distance", None, lambda d: np.exp(-d)])
neighbor_grids = st.lists(st.tuples(st.integers(1, 60), weightings), min_size=1, max_size=5)


@settings(max_examples=20, deadline=None)
@given(
    seed=SEEDS,
    grid=neighbor_grids,
    coarse=st.booleans(),
    algorithm=st.sampled_from(["auto", "brute", "kd_tree", "ball_tree"]),
    metric=st.sampled_from(["minkowski", "manhattan", "chebyshev"]),
)
def test_neighbors_are_looked_up_once(seed, grid, coarse, algorithm, metric):
    """Every k and weighting answers as by itself, also where distances and votes tie."""
    X, y, numbers, _ = table(seed, coarse=coarse)
    V = np.vstack([table(seed + 1, coarse=coarse)[0], X[:5]])
    codes = np.unique(y, return_inverse=True)[1]  # scikit-learn 1.6 takes no names by brute force
    for kind, target in ((KNeighborsClassifier, codes), (KNeighborsRegressor, numbers)):
        estimators = [
            kind(k, weights=weights, algorithm=algorithm, metric=metric) for k, weights in grid
        ]
        _, said = together(estimators, X, target, V)
        for estimator, answers in zip(estimators, said, strict=True):
            plain = alone(estimator, X, target)
            if kind is KNeighborsClassifier:
                assert np.array_equal(answers["predict"], plain.predict(V))
                np.testing.assert_allclose(
                    answers["predict_proba"], plain.predict_proba(V), rtol=1e-12, atol=1e-15
                )
            else:
                np.testing.assert_allclose(answers["predict"], plain.predict(V), rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    seed=SEEDS,
    ks=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    kinds=st.sampled_from(["uniform", "distance", "both"]),
    rows=st.sampled_from(["apart", "coarse", "copies", "far from zero"]),
    n_classes=st.sampled_from([1, 2, 7]),
    metric=st.sampled_from(["minkowski", "euclidean", "manhattan", "cosine"]),
)
def test_neighbors_in_wide_tables(seed, ks, kinds, rows, n_classes, metric):
    """Where all distances are measured, every k and weighting answers as by itself too."""
    rng = np.random.default_rng(seed)
    X, V = rng.normal(size=(60, 17)), rng.normal(size=(600, 17))
    if rows == "coarse":
        X, V = np.sign(X), np.sign(V)
    if rows == "copies":
        X[30:], V[::100] = X[:30], X[:6]
    if rows == "far from zero":
        X, V = X + 1e3, V + 1e3
    codes, numbers = rng.integers(0, n_classes, 60), rng.normal(size=60)
    weightings = ["uniform", "distance"] if kinds == "both" else [kinds]
    for kind, target in ((KNeighborsClassifier, codes), (KNeighborsRegressor, numbers)):
        estimators = [kind(k, weights=w, metric=metric) for k in ks for w in weightings]
        _, said = together(estimators, X, target, V)
        for estimator, answers in zip(estimators, said, strict=True):
            plain = alone(estimator, X, target)
            if kind is KNeighborsClassifier:
                assert np.array_equal(answers["predict"], plain.predict(V))
                expected = plain.predict_proba(V)
                np.testing.assert_allclose(answers["predict_proba"], expected, rtol=1e-11)
            else:
                expected = plain.predict(V)
                np.testing.assert_allclose(answers["predict"], expected, rtol=1e-11, atol=1e-14)


@given(
    seed=SEEDS,
    n_votes=st.integers(1, 40),
    n_classes=st.integers(1, 6),
    weigh=st.sampled_from(["ones", "zeros", "any"]),
)
def test_a_tally_knows_who_leads(seed, n_votes, n_classes, weigh):
    """After every vote it has the sums of all, the first class with the most, and close calls."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, (n_votes, 20))
    weights = {"ones": np.ones, "zeros": np.zeros, "any": rng.random}[weigh]((n_votes, 20))
    tally, votes = Tally(20, n_classes), np.zeros((20, n_classes))
    for voted, weight in zip(codes, weights, strict=True):
        tally.count(voted, weight)
        votes[np.arange(20), voted] += weight
        np.testing.assert_array_equal(tally.votes, votes)
        np.testing.assert_allclose(tally.totals, votes.sum(axis=1))
        np.testing.assert_array_equal(tally.leaders, votes.argmax(axis=1))
        second, first = np.sort(np.pad(votes, ((0, 0), (1, 0))), axis=1)[:, -2:].T
        np.testing.assert_array_equal(tally.close(), first - second <= 1e-10 * first)


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, ks=st.lists(st.integers(1, 58), min_size=1, max_size=4), coarse=st.booleans())
def test_neighbors_of_given_rows_are_looked_up_once(seed, ks, coarse):
    """What a model says of unseen rows does not depend on the models it was fitted with."""
    X, y, numbers, _ = table(seed, coarse=coarse)
    for kind, target in ((KNeighborsClassifier, y), (KNeighborsRegressor, numbers)):
        estimators = [kind(k, weights=w) for k in ks for w in ("uniform", "distance")]
        models, _ = together(estimators, X, target, X[:1])
        family = family_of(models[0])
        for model, estimator in zip(models, estimators, strict=True):
            found = family.unseen(model, X, target).responses
            right = family.unseen(alone(estimator, X, target), X, target).responses
            assert found.keys() == right.keys()
            for method in found:
                if method == "predict" and kind is KNeighborsClassifier:
                    assert np.array_equal(found[method], right[method])
                else:
                    np.testing.assert_allclose(found[method], right[method], rtol=1e-12)


def test_neighbors_in_blocks(monkeypatch):
    """Blocks of rows give what one look gives, in frames and sparse matrices too."""
    monkeypatch.setattr(_shared_neighbors, "CELLS", 1)
    X, y, _, _ = table(0)
    V = table(1, n_rows=700)[0]
    estimators = [KNeighborsClassifier(k) for k in (1, 4)]
    for kind in (np.asarray, pd.DataFrame, sparse.csr_matrix):
        frames = [kind(X), kind(V)]
        if kind is pd.DataFrame:
            frames = [frame.rename(columns="f{}".format) for frame in frames]
        _, said = together(estimators, frames[0], y, frames[1])
        for estimator, answers in zip(estimators, said, strict=True):
            plain = alone(estimator, frames[0], y).predict(frames[1])
            assert np.array_equal(answers["predict"], plain)


def test_targets_with_several_columns():
    """Means of several numbers are shared, labels of several outputs are asked one by one."""
    X, y, numbers, _ = table(0)
    both = np.column_stack([numbers, -numbers])
    estimators = [
        KNeighborsRegressor(k, weights=w) for k in (2, 5) for w in ("uniform", "distance")
    ]
    _, said = together(estimators, X, both, X)
    for estimator, answers in zip(estimators, said, strict=True):
        np.testing.assert_allclose(answers["predict"], alone(estimator, X, both).predict(X))
    _, said = together([KNeighborsClassifier(2)], X, np.column_stack([y, y]), X)
    assert said is None


def test_too_many_neighbors_are_left_to_the_model():
    """A model that asks for more neighbours than there are gets no answers, the others do."""
    X, y, _, _ = table(0)
    _, (few, many) = together([KNeighborsClassifier(3), KNeighborsClassifier(61)], X, y, X)
    assert set(few) == {"predict", "predict_proba"}
    assert many == {}


def test_what_does_not_share():
    """Radius neighbours, given distances and kernels, and kernels that are functions do not."""
    lonely = [
        RadiusNeighborsClassifier(),
        KNeighborsClassifier(metric="precomputed"),
        SVC(kernel="precomputed"),
        SVC(kernel=lambda a, b: a @ b.T),
    ]
    assert [family_of(estimator).shares(estimator) for estimator in lonely] == [None] * 4


def test_what_is_shared():
    """Searches that differ in metric, and kernels that differ in width, are apart."""
    shares = family_of(SVC()).shares
    assert shares(SVC(C=1)) == shares(SVC(C=2, class_weight="balanced"))
    assert shares(SVC(gamma=1.0)) != shares(SVC(gamma=2.0))
    assert shares(SVC(kernel="linear", gamma=1.0)) == shares(SVC(kernel="linear", gamma=2.0))
    shares = family_of(KNeighborsClassifier()).shares
    assert shares(KNeighborsClassifier(p=1)) != shares(KNeighborsClassifier(p=2))


def test_neighbors_refuse_weights():
    """Neighbours are fitted without weights, also together."""
    X, y, _, weights = table(0)
    family = family_of(KNeighborsClassifier())
    with pytest.raises(ValueError, match="sample_weight must be None, because KNeighborsCl"):
        family.fit_many([KNeighborsClassifier()], X, y, weights)


def test_models_fitted_elsewhere():
    """Models that were not fitted together, or fitted again since, are not answered for."""
    X, y, _, _ = table(0)
    for estimators in ([KNeighborsClassifier(3), KNeighborsClassifier(5)], [SVC(), SVC(C=2)]):
        models, said = together(estimators, X, y, X)
        family = family_of(models[0])
        assert said is not None
        models[1].fit(X[:50], y[:50])
        assert family.respond_many(models, X) is None
        assert family.respond_many([alone(estimators[0], X, y)], X) is None


def test_nothing_is_held_for_models_that_are_gone():
    """What is remembered of models goes with them, and their rows with the last question."""
    X, y, _, _ = table(0)
    models, _ = together([KNeighborsClassifier(k) for k in (1, 2)], X, y, X)
    family = family_of(models[0])
    for model in models:
        family.unseen(model, X, y)
    company, _ = _shared_neighbors._COMPANIES[models[0]]
    assert company.X is None
    assert company.near is None
    machines, _ = together([SVC(), SVC(C=2)], X, y, X)
    gc.collect()
    before = len(_shared_neighbors._COMPANIES), len(_shared_svm._GAMMAS)
    del models, model, machines, _
    gc.collect()
    after = len(_shared_neighbors._COMPANIES), len(_shared_svm._GAMMAS)
    assert (before[0] - after[0], before[1] - after[1]) == (2, 2)


kernels = st.fixed_dictionaries(
    {
        "kernel": st.sampled_from(["linear", "rbf", "poly", "sigmoid"]),
        "gamma": st.sampled_from(["scale", "auto", 0.01, 3.0]),
        "coef0": st.sampled_from([0.0, 1.0]),
    }
)
penalties = st.lists(st.sampled_from([0.01, 1.0, 100.0]), min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(
    seed=SEEDS,
    kernel=kernels,
    penalties=penalties,
    n_classes=st.integers(2, 3),
    shape=st.sampled_from(["ovr", "ovo"]),
    break_ties=st.booleans(),
    weighted=st.booleans(),
    class_weight=st.sampled_from([None, "balanced", {"a": 3.0}]),
)
def test_classifiers_share_a_kernel(
    seed, kernel, penalties, n_classes, shape, break_ties, weighted, class_weight
):
    """Labels and decision values of every penalty are those of a plain fit, weights or not."""
    X, y, _, weights = table(seed)
    y, weights = np.where(y == "c", np.array(["a", "b", "c"])[n_classes - 1], y), weights
    weights = weights if weighted else None
    V = table(seed + 1, n_rows=600)[0]
    more = {"decision_function_shape": shape, "break_ties": break_ties and shape == "ovr"}
    estimators = [SVC(C=C, class_weight=class_weight, **kernel, **more) for C in penalties]
    _, said = together(estimators, X, y, V, weights)
    for estimator, answers in zip(estimators, said, strict=True):
        plain = alone(estimator, X, y, weights)
        values = plain.decision_function(V)
        np.testing.assert_allclose(answers["decision_function"], values, rtol=1e-6, atol=1e-6)
        certain = np.abs(values).reshape(len(V), -1).min(axis=1) > 1e-9
        assert np.array_equal(answers["predict"][certain], plain.predict(V)[certain])


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, kernel=kernels, penalties=penalties, weighted=st.booleans())
def test_regressions_share_a_kernel(seed, kernel, penalties, weighted):
    """Predictions of every penalty are those of a plain fit, weights or not."""
    X, _, y, weights = table(seed)
    weights = weights if weighted else None
    V = table(seed + 1, n_rows=300)[0]
    for kind in (SVR, NuSVR):
        estimators = [kind(**{**kernel, "C": C / 100.0, "gamma": "scale"}) for C in penalties]
        _, said = together(estimators, X, y, V, weights)
        for estimator, answers in zip(estimators, said, strict=True):
            plain = alone(estimator, X, y, weights).predict(V)
            np.testing.assert_allclose(answers["predict"], plain, rtol=1e-6, atol=1e-6)
            assert "decision_function" not in answers


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, pd.DataFrame])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_containers_of_machines(kind, kernel):
    """Arrays, sparse matrices and frames are answered for, classes of nu machines too."""
    X, y, _, _ = table(0)
    V = table(1, n_rows=300)[0]
    given, asked = kind(X), kind(V)
    if kind is pd.DataFrame:
        given, asked = (frame.rename(columns="f{}".format) for frame in (given, asked))
    estimators = [NuSVC(nu=nu, kernel=kernel) for nu in (0.1, 0.3)]
    _, said = together(estimators, given, y, asked)
    for estimator, answers in zip(estimators, said, strict=True):
        plain = alone(estimator, given, y)
        assert np.array_equal(answers["predict"], plain.predict(asked))
        np.testing.assert_allclose(
            answers["decision_function"], plain.decision_function(asked), rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_labels_in_single_precision(C, shift):
    """A label that single precision leaves in doubt is decided in double precision."""
    X, y, _, _ = table(0, n_rows=200)
    V = table(1, n_rows=3000)[0] + shift
    estimator = SVC(C=C, gamma=0.5, max_iter=50_000, tol=1e-2)
    if C > 1:
        y = np.where(X[:, 0] > 0, "a", "b")
    _, (answers,) = together([estimator], X + shift, y, V)
    plain = alone(estimator, X + shift, y)
    assert np.array_equal(answers["predict"], plain.predict(V))
    assert "decisions" not in vars(answers._machines)


def test_far_rows_in_double_precision():
    """Rows whose exponents single precision cannot hold are computed in double."""
    X, y, _, _ = table(0)
    V = np.vstack([table(1, n_rows=300)[0], 30.0 * X])
    estimator = SVC(gamma=0.05)
    _, (answers,) = together([estimator], X, y, V)
    assert np.array_equal(answers["predict"], alone(estimator, X, y).predict(V))


def test_a_row_on_the_boundary():
    """A decision value of exactly zero is the second class, as LIBSVM counts votes."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    _, (answers,) = together([SVC(kernel="linear")], X, y, [[0.0]])
    assert answers["predict"] == alone(SVC(kernel="linear"), X, y).predict([[0.0]])


def test_answers_name_their_methods():
    """What machines say is a mapping with the methods it knows."""
    X, y, numbers, _ = table(0)
    _, (answers,) = together([SVC()], X, y, X)
    assert list(answers) == ["predict", "decision_function"]
    assert len(answers) == 2
    with pytest.raises(KeyError, match="predict_proba"):
        answers["predict_proba"]
    _, (answers,) = together([SVR()], X, numbers, X)
    assert dict(answers).keys() == {"predict"}


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc_ovr"])
def test_searches_score_as_one_by_one(monkeypatch, scoring):
    """A search has the same scores with and without shared work, weights included."""
    X, y, _, weights = table(0)
    searches = [(KNeighborsClassifier(), {"n_neighbors": [1, 4], "weights": ["distance"]}, {})]
    if scoring == "accuracy":
        searches.append((SVC(), {"C": [0.1, 10], "gamma": [0.1, 1.0]}, {"sample_weight": weights}))
    for estimator, grid, params in searches:
        family = type(family_of(estimator))
        search = GridSearchLZO(estimator, grid, scoring=scoring, **FEW)
        shared = search.fit(X, y, **params).cv_results_
        with monkeypatch.context() as patch:
            patch.setattr(family, "shares", lambda self, estimator: None)
            single = clone(search).fit(X, y, **params).cv_results_
        for name in ("mean_test_score", "mean_augmented_score", "mean_unseen_score"):
            np.testing.assert_allclose(shared[name], single[name], rtol=1e-9)


def test_a_candidate_that_fails_among_others():
    """A candidate that cannot be fitted, or asked, is reported; the others are scored."""
    X, y, _, _ = table(0)
    search = GridSearchLZO(SVC(), {"C": [1.0, -1.0]}, **FEW)
    with pytest.warns(CandidateFailedWarning, match="1 of 2 candidates"):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
    many = GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [3, 1000]}, **FEW)
    with pytest.warns(Warning, match="fail"):
        many.fit(X, y)
    assert np.isnan(many.cv_results_["mean_test_score"]).tolist() == [False, True]


class Liar(Family):
    """Answers for neighbours, and is wrong about one thing."""

    name = "liar"

    def __init__(self, lie):
        self.lie = lie

    def covers(self, estimator):
        return isinstance(estimator, KNeighborsRegressor)

    def shares(self, estimator):
        return "everything"

    def fit_many(self, estimators, X, y, sample_weight=None):
        if self.lie == "refuses":
            raise ValueError("no")
        for estimator in estimators:
            estimator.fit(X, y + (self.lie == "fits"))

    def respond_many(self, models, X):
        if self.lie == "forgets":
            return [{}]
        method = "decision_function" if self.lie == "invents" else "predict"
        return [{method: model.predict(X) + (self.lie == "answers")} for model in models]


@pytest.mark.parametrize(
    ("lie", "match"),
    [
        ("refuses", "liar cannot fit .* together, but says that they share"),
        ("fits", "fitted with others, differs from a plain fit in predict"),
        ("answers", "among others differs from a plain fit in predict"),
        ("invents", "has a decision_function, which the model has not"),
        ("forgets", "liar answers for 1 of 2"),
    ],
)
def test_check_family_sees_false_company(lie, match):
    """The conformance check finds what differs between models together and alone."""
    with pytest.raises(AssertionError, match=match):
        check_family(Liar(lie), [KNeighborsRegressor(3)])
    check_family(Liar("none"), [KNeighborsRegressor(3)])


def test_said_together_of_nobody():
    """Models that know no company are asked one by one."""
    X, y, _, _ = table(0)
    assert said_together([KNeighborsClassifier().fit(X, y)], X) is None


@pytest.mark.parametrize(
    "models",
    [
        [SVC(C=c) for c in (0.5, 2.0)],
        [KNeighborsClassifier(k) for k in (1, 4)],
        [make_pipeline(StandardScaler(), SVC(C=c)) for c in (0.5, 2.0)],
    ],
)
def test_models_from_another_process_remember_what_they_share(models):
    X, y, *_ = table(0)
    family = family_of(models[0])
    family.fit_many(models, X, y)
    expected = family.respond_many(models, X)
    travelled = [pickle.loads(pickle.dumps(model)) for model in models]
    last = travelled[0][-1] if isinstance(travelled[0], Pipeline) else travelled[0]
    assert family_of(last).respond_many([last], X) is None
    family.remember(travelled, X, y)
    assert family_of(last).respond_many([last], X) is not None
    for said, before in zip(family.respond_many(travelled, X), expected, strict=True):
        np.testing.assert_array_equal(said["predict"], before["predict"])
