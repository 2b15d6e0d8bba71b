"""Over-samplers as augmenters."""

import numpy as np

from leavezero.augment import ResamplerAugmenter


class Bootstrap:
    """An over-sampler with the parameters of imbalanced-learn."""

    def __init__(self, sampling_strategy="auto", random_state=None):
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"sampling_strategy": self.sampling_strategy, "random_state": self.random_state}

    def set_params(self, **params):
        vars(self).update(params)
        return self

    def fit_resample(self, X, y):
        rng = np.random.default_rng(self.random_state)
        rows = [
            rng.choice(np.flatnonzero(y == label), total - np.count_nonzero(y == label))
            for label, total in self.sampling_strategy.items()
        ]
        rows = np.concatenate(rows)
        return np.vstack([X, X[rows]]), np.append(y, y[rows])


def test_every_class_is_over_sampled_with_a_seed(rng):
    X, y = rng.normal(size=(40, 2)), np.repeat(["a", "b"], [30, 10])
    augmenter = ResamplerAugmenter(Bootstrap()).fit(X, y)
    new = augmenter.sample(400, 0)
    assert np.count_nonzero(new.y == "b") == 100
    assert not np.array_equal(new.X, augmenter.sample(400, 1).X)
