"""New documents from the words of two given ones."""

from itertools import compress, pairwise
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment._strata import ClassConditionalAugmenter, Stratum, StratumDraw

BLOCK = 256  # documents whose words are drawn at a time


class TextAugmenter(ClassConditionalAugmenter):
    """Mix the words of two documents of a class, and drop some.

    The mix-up of :class:`LabelInvariantMixup` for raw strings: every word of the first document
    is kept with a probability drawn from Beta(alpha, alpha), every word of the second with the
    rest, in their order; then some words are dropped. Word order inside a document is kept, the
    length is that of one document on average.

    Parameters
    ----------
    alpha : float, default=1.0
        Shape of the Beta distribution, as for :class:`LabelInvariantMixup`.
    dropout : float, default=0.1
        The share of words that is dropped.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_rows_ : int
        The number of given documents.

    Examples
    --------
    >>> from leavezero.augment import TextAugmenter
    >>> X = ["good film", "very good", "bad film", "so bad"]
    >>> V = TextAugmenter(dropout=0.0).fit(X, [1, 1, 0, 0]).sample(4, random_state=0)
    >>> all(("good" in text or "film" in text or "very" in text) for text in V.X[V.y == 1])
    True
    """

    takes: ClassVar[frozenset[str]] = frozenset({"text", "text only", "several outputs"})
    mixes_rows: ClassVar[bool] = True

    def __init__(self, alpha: float = 1.0, dropout: float = 0.1) -> None:
        self.alpha = alpha
        self.dropout = dropout

    def _check_parameters(self) -> None:
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < np.inf:
            raise ValueError(
                f"alpha of TextAugmenter must be a positive finite number, got {self.alpha!r}. "
                "Use 1.0."
            )
        if not isinstance(self.dropout, Real) or not 0 <= self.dropout < 1:
            raise ValueError(
                f"dropout of TextAugmenter must be in [0, 1), got {self.dropout!r}. Use 0.1."
            )

    def _fit_stratum(self, stratum: Stratum) -> list[list[str]]:
        if len(stratum) == 1:
            self._warn_small(stratum, 2, "its document is copied")
        return [document.split() for document in stratum.values]

    def _sample_stratum(
        self, stratum: Stratum, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> StratumDraw:
        n_rows = len(stratum)
        first = rng.integers(n_rows, size=n_samples)
        step = rng.integers(1, n_rows, size=n_samples) if n_rows > 1 else 0
        second = (first + step) % n_rows
        weights = rng.beta(self.alpha, self.alpha, size=n_samples)
        documents: AnyArray = np.empty(n_samples, dtype=object)
        for start in range(0, n_samples, BLOCK):
            at = slice(start, start + BLOCK)
            documents[at] = self._mixed(fitted, first[at], second[at], weights[at], rng)
        return StratumDraw(documents, np.column_stack([first, second]))

    def _mixed(
        self,
        fitted: list[list[str]],
        first: Ints,
        second: Ints,
        weights: Floats,
        rng: np.random.Generator,
    ) -> list[str]:
        """Return new documents, with one draw for all words of the given ones."""
        mates = np.where(second == first, len(fitted), second).tolist()
        given = [*fitted, []]  # who is alone has a mate without words
        pairs = [(given[one], given[mate]) for one, mate in zip(first.tolist(), mates, strict=True)]
        sizes = np.array([(len(one), len(mate)) for one, mate in pairs])
        shares = np.column_stack([weights, 1.0 - weights]) * (1.0 - self.dropout)
        kept = rng.random(int(sizes.sum())) < np.repeat(shares.ravel(), sizes.ravel())
        marks, ends = kept.tobytes(), pairwise([0, *np.cumsum(sizes.sum(axis=1)).tolist()])
        return [
            # A document without words would look like no document: keep one word.
            " ".join(list(compress(one + mate, marks[start:end])) or one[:1])
            for (one, mate), (start, end) in zip(pairs, ends, strict=True)
        ]
