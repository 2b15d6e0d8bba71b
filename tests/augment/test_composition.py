"""Unions and pipelines of augmenters."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from leavezero.augment import (
    AugmenterPipeline,
    AugmenterUnion,
    CopulaAugmenter,
    LabelInvariantMixup,
    SoftLabeled,
)


def test_a_union_fills_in_soft_labels_and_source_rows(rng):
    X, y = rng.normal(size=(60, 2)), np.tile(["a", "b"], 30)
    soft = SoftLabeled(LabelInvariantMixup(), [LogisticRegression()])
    new = AugmenterUnion([soft, CopulaAugmenter()], random_state=0).fit(X, y).sample(20, 0)
    copula = new.component == 1
    assert set(np.unique(new.class_probabilities[copula])) == {0.0, 1.0}
    assert (new.source_rows[copula] == -1).all()
    assert (new.source_rows[~copula] >= 0).all()


def test_a_union_can_generate_fewer_rows_than_it_has_augmenters(rng):
    X, y = rng.normal(size=(20, 2)), np.tile([0, 1], 10)
    union = AugmenterUnion([LabelInvariantMixup(), CopulaAugmenter()]).fit(X, y)
    assert len(union.sample(1, 0)) == 1


def test_a_pipeline_has_source_rows_only_if_all_augmenters_have_them(rng):
    X, y = rng.normal(size=(30, 2)), np.tile([0, 1], 15)
    pipeline = AugmenterPipeline([LabelInvariantMixup(), CopulaAugmenter()]).fit(X, y)
    assert pipeline.sample(10, 0).source_rows is None
