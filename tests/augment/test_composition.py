"""Unions and pipelines of augmenters."""

import numpy as np

from leavezero.augment import (
    AugmenterPipeline,
    AugmenterUnion,
    CopulaAugmenter,
    DensityRatioWeighted,
    LabelInvariantMixup,
)


def test_a_union_fills_in_weights_and_source_rows(rng):
    X, y = rng.normal(size=(60, 2)), np.tile(["a", "b"], 30)
    weighted = DensityRatioWeighted(LabelInvariantMixup())
    new = AugmenterUnion([weighted, CopulaAugmenter()], random_state=0).fit(X, y).sample(20, 0)
    copula = new.component == 1
    assert (new.sample_weight[copula] == 1).all()
    assert (new.sample_weight[~copula] != 1).any()
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
