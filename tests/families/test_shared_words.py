"""Vectorizers that keep or weigh words differently share one count of them, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from leavezero import GridSearchLZO
from leavezero.families._composite import PipelineFamily
from leavezero.families._shared_words import vectorize_many

FAMILY = PipelineFamily()
WORDS = np.array(["Ape", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"])
CHOICES = {
    "min_df": st.sampled_from([1, 2, 0.2]),
    "max_df": st.sampled_from([1.0, 0.9]),
    "max_features": st.sampled_from([None, 3]),
}
WEIGHTS = {
    "norm": st.sampled_from(["l1", "l2", None]),
    "use_idf": st.booleans(),
    "smooth_idf": st.booleans(),
    "sublinear_tf": st.booleans(),
}
COUNTED = [
    {},
    {"ngram_range": (1, 2), "dtype": np.float32},
    {"analyzer": "char_wb", "ngram_range": (2, 3), "lowercase": False},
    {"binary": True, "stop_words": ["cat"]},
    {"vocabulary": ["gnu", "ape", "bee"]},
]


def texts(n_texts=30, seed=0):
    """Return texts in which words are rarer the later they come, and two classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_texts) % 2
    shares = 1.0 / np.arange(1.0, len(WORDS) + 1.0)
    tastes = np.stack([shares, shares[::-1] + 0.2])
    tastes /= tastes.sum(axis=1, keepdims=True)
    return np.array([" ".join(rng.choice(WORDS, 6, p=tastes[label])) for label in y]), y


def check_equal(made, right):
    assert type(made) is type(right)
    assert made.shape == right.shape
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(made, name), getattr(right, name), strict=True)


@given(
    st.sampled_from(COUNTED),
    st.lists(st.fixed_dictionaries(CHOICES | WEIGHTS), min_size=1, max_size=3),
    st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_one_count_is_what_each_makes(counted, choices, seed):
    """What vectorizers make of new texts from one count is bit for bit what each makes."""
    X, _ = texts(seed=seed)
    new = np.append(texts(seed=seed + 100)[0], ["", "unknown words"])
    vectorizers = [TfidfVectorizer(**counted, **choice).fit(X) for choice in choices]
    kept = [{name: choice[name] for name in CHOICES} for choice in choices]
    counters = [CountVectorizer(**counted, **choice).fit(X) for choice in kept]
    for some in (vectorizers, counters):
        for vectorizer, made in zip(some, vectorize_many(some, new), strict=True):
            check_equal(made, vectorizer.transform(new))


def pipelines(lasts, **choices):
    return [
        make_pipeline(TfidfVectorizer(min_df=min_df, **choices), clone(last))
        for min_df in (1, 4)
        for last in lasts
    ]


@pytest.mark.parametrize(
    "lasts",
    [
        [LogisticRegression(C=C, tol=1e-8) for C in (0.1, 1.0)],
        [MultinomialNB()],
        [LinearSVC(C=C, tol=1e-8) for C in (0.1, 1.0)],
    ],
)
def test_pipelines_answer_as_plain_fits(lasts):
    """Pipelines fitted together have the answers, of V and of unseen rows, of plain fits."""
    X, y = texts(60)
    new = texts(20, seed=1)[0]
    models = pipelines(lasts)
    assert len({FAMILY.shares(model) for model in models}) == 1
    FAMILY.fit_many(models, X, y)
    said, asked = FAMILY.respond_many(models, new), FAMILY.unseen_many(models, X, y)
    for model, answers, ask in zip(models, said, asked, strict=True):
        plain = clone(model).fit(X, y)
        assert model[0].vocabulary_ == plain[0].vocabulary_
        check_equal(model[0].transform(new), plain[0].transform(new))
        np.testing.assert_array_equal(answers["predict"], plain.predict(new))
        told, right = ask(), FAMILY.unseen(plain, X, y)
        assert (told.kind, told.doubt) == (right.kind, right.doubt)
        np.testing.assert_array_equal(told.responses["predict"], right.responses["predict"])


CALLS = []


def split(text):
    CALLS.append(text)
    return text.split()


def test_words_of_new_texts_are_found_once():
    """However many vectorizers differ in what they keep, each new text is split once for all."""
    X, y = texts()
    models = pipelines([MultinomialNB(), MultinomialNB()], tokenizer=split, token_pattern=None)
    FAMILY.fit_many(models, X, y)
    new = [f"{text} new" for text in X]
    CALLS.clear()
    list(FAMILY.unseen_many(models, new, y))
    assert len(CALLS) == len(new)


class Own(TfidfVectorizer):
    """Not to be known."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (TfidfVectorizer(), TfidfVectorizer(ngram_range=(1, 2))),
        (TfidfVectorizer(), TfidfVectorizer(binary=True)),
        (TfidfVectorizer(), CountVectorizer()),
        (Own(), Own(min_df=2)),
        (TfidfVectorizer(input="filename"), TfidfVectorizer(input="filename", min_df=2)),
    ],
)
def test_other_differences_are_not_shared(one, other):
    """Vectorizers that find words differently, of one's own, or that read files, are others."""
    first, second = (FAMILY.shares(make_pipeline(step, MultinomialNB())) for step in (one, other))
    assert first != second


def test_a_pca_comes_before_a_vectorizer():
    """Where a pipeline has both, its PCA may differ and its vectorizer may not."""

    def key(min_df, number):
        dense = FunctionTransformer(np.asarray)
        return FAMILY.shares(
            make_pipeline(TfidfVectorizer(min_df=min_df), dense, PCA(number), LogisticRegression())
        )

    assert key(1, 2) == key(1, 3)
    assert key(1, 2) != key(2, 2)


def test_a_search_does_it_in_one_task():
    """A grid over words and penalties is one task, with the scores of searches one by one."""
    X, y = texts(60)
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    grid = {"tfidfvectorizer__min_df": [1, 4], "logisticregression__C": [0.1, 1.0]}
    search = GridSearchLZO(model, grid, random_state=0).fit(X, y)
    assert [task.candidates for task in search.plan_] == [(0, 1, 2, 3)]
    for at, params in enumerate(search.cv_results_["params"]):
        alone = GridSearchLZO(
            model, {name: [value] for name, value in params.items()}, random_state=0
        )
        scores = alone.fit(X, y).cv_results_["mean_augmented_score"]
        assert scores[0] == pytest.approx(search.cv_results_["mean_augmented_score"][at], abs=1e-3)
