"""Mix-up of the words of two documents."""

from itertools import compress
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from leavezero._typing import AnyArray
from leavezero.augment._table_augmenter import ClassConditionalAugmenter, ClassRows, ClassSample


class TextAugmenter(ClassConditionalAugmenter):
    """Mix the words of two documents of a class, and drop some.

    The mix-up of :class:`LabelInvariantMixup` for raw strings: each word of the first document is
    kept with a probability from Beta(alpha, alpha), each word of the second with the complement;
    then some words are dropped. The order of words is kept, and the expected length is that of
    one document.

    Parameters
    ----------
    alpha : float, default=1.0
        Shape of the Beta distribution, as for :class:`LabelInvariantMixup`.
    dropout : float, default=0.1
        The probability that a word is dropped.

    Attributes
    ----------
    n_rows_ : int
        The number of training documents.

    Examples
    --------
    >>> from leavezero.augment import TextAugmenter
    >>> X = ["good film", "very good", "bad film", "so bad"]
    >>> augmenter = TextAugmenter(dropout=0.0).fit(X, [1, 1, 0, 0])
    >>> validation_set = augmenter.sample(4, random_state=0)
    >>> any("bad" in text for text in validation_set.X[validation_set.y == 1])
    False
    """

    takes: ClassVar[frozenset[str]] = frozenset({"text", "text only", "several outputs"})
    mixes_rows: ClassVar[bool] = True

    def __init__(self, alpha: float = 1.0, dropout: float = 0.1) -> None:
        self.alpha = alpha
        self.dropout = dropout

    def _check_parameters(self) -> None:
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < np.inf:
            raise ValueError(
                f"alpha of TextAugmenter must be a positive finite number, got {self.alpha!r}."
            )
        if not isinstance(self.dropout, Real) or not 0 <= self.dropout < 1:
            raise ValueError(f"dropout of TextAugmenter must be in [0, 1), got {self.dropout!r}.")

    def _fit_class(self, one: ClassRows) -> list[list[str]]:
        if len(one) == 1:
            self._warn_small(one, 2, "its document is copied")
        return [document.split() for document in one.values]

    def _sample_class(
        self, one: ClassRows, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        n_rows = len(one)
        first = rng.integers(n_rows, size=n_samples)
        step = rng.integers(1, n_rows, size=n_samples) if n_rows > 1 else 0
        second = (first + step) % n_rows
        weights, kept = rng.beta(self.alpha, self.alpha, size=n_samples), 1.0 - self.dropout
        documents: AnyArray = np.empty(n_samples, dtype=object)
        for at, (i, k, weight) in enumerate(zip(first, second, weights, strict=True)):
            one_words, other_words = fitted[i], fitted[k] if k != i else []
            sizes = [len(one_words), len(other_words)]
            shares = np.repeat([weight * kept, (1.0 - weight) * kept], sizes)
            words = compress(one_words + other_words, rng.random(sum(sizes)) < shares)
            # Keep one word, since vectorizers reject empty documents.
            documents[at] = " ".join(words) or " ".join(one_words[:1])
        return ClassSample(documents, np.column_stack([first, second]))
