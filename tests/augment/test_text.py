"""Mix-up of the words of two documents."""

import numpy as np
import pytest

from leavezero.augment import TextAugmenter

TEXTS = np.array(["a1 a2 a3 a4 a5", "b1 b2", "c1", "d1 d2 d3", "e1 e2 e3 e4"], dtype=object)
LABELS = [0, 0, 1, 1, 1]


def test_words_come_from_the_two_source_documents_in_order():
    """Some words of the first, then some of the second; never none."""
    drawn = TextAugmenter(dropout=0.6).fit(TEXTS, LABELS).sample(200, random_state=0)
    for text, (first, second) in zip(drawn.X, drawn.source_rows, strict=True):
        left = iter([*TEXTS[first].split(), *TEXTS[second].split()])
        assert text
        assert all(word in left for word in text.split())


def test_a_class_of_one_document_keeps_its_words():
    """Each word occurs at most once."""
    with pytest.warns(UserWarning, match="its document is copied"):
        fitted = TextAugmenter().fit(TEXTS, [0, 1, 1, 1, 1])
    drawn = fitted.sample(50, random_state=0)
    for text in drawn.X[drawn.y == 0]:
        assert text.split() == sorted(set(text.split()))
        assert set(text.split()) <= set(TEXTS[0].split())
