"""One count of words for all vectorizers that differ in which of them they keep and weigh."""

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

from leavezero._typing import Table

KEEPING = ("max_df", "max_features", "min_df")  # which of the counted words are columns
WEIGHING = ("norm", "smooth_idf", "sublinear_tf", "use_idf")  # what is made of their counts


def is_countable(step: Any) -> bool:
    """Tell whether a step is a vectorizer whose words others may have counted.

    Subclasses are not, nor is one that reads files: some can be read only once.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
    >>> is_countable(TfidfVectorizer(min_df=2)), is_countable(HashingVectorizer())
    (True, False)
    """
    return type(step) in (CountVectorizer, TfidfVectorizer) and step.input == "content"


def without_choice(vectorizer: Any) -> Any:
    """Return an unfitted copy that keeps and weighs words as it would by default."""
    plain = type(vectorizer)().get_params()
    names = _choices(vectorizer)
    return clone(vectorizer).set_params(**{name: plain[name] for name in names})


def choice(vectorizer: Any) -> str:
    """Return what tells a vectorizer from others that count the same words."""
    return repr([getattr(vectorizer, name) for name in _choices(vectorizer)])


def fit_vectorize_many(vectorizers: Sequence[Any], texts: Table) -> list[Any]:
    """Fit vectorizers, each by itself; return what they make of the texts."""
    return [vectorizer.fit_transform(texts) for vectorizer in vectorizers]


def vectorize_many(vectorizers: Sequence[Any], texts: Table) -> list[Any]:
    """Return what fitted vectorizers make of texts, bit for bit, from one count of all words."""
    if len(vectorizers) == 1:
        return [vectorizers[0].transform(texts)]
    named = [vectorizer.get_feature_names_out() for vectorizer in vectorizers]
    places = {word: at for at, word in enumerate(sorted(set().union(*named)))}
    counts = _counter(vectorizers[0], places).transform(texts)
    made = []
    for vectorizer, words in zip(vectorizers, named, strict=True):
        own = counts[:, [places[word] for word in words]]
        own.sort_indices()  # sums over a row are rounded in the order of its columns
        made.append(_weighed(vectorizer, own))
    return made


def _choices(vectorizer: Any) -> tuple[str, ...]:
    return KEEPING + WEIGHING if type(vectorizer) is TfidfVectorizer else KEEPING


def _counter(vectorizer: Any, places: dict[str, int]) -> Any:
    """Return a vectorizer that finds words as this one does, and counts the given ones."""
    asked = vectorizer.get_params()
    names = CountVectorizer().get_params().keys() - {*KEEPING, "vocabulary"}
    return CountVectorizer(vocabulary=places, **{name: asked[name] for name in names})


def _weighed(vectorizer: Any, counts: Any) -> Any:
    """Return the counts weighed as a fitted vectorizer weighs them."""
    if type(vectorizer) is CountVectorizer:
        return counts
    names = ("norm", "sublinear_tf", "use_idf")  # the rest is in the weights that were learned
    weigher = TfidfTransformer(**{name: getattr(vectorizer, name) for name in names})
    weigher.fit(counts)
    if vectorizer.use_idf:
        weigher.idf_ = vectorizer.idf_
    return weigher.transform(counts, copy=False)
