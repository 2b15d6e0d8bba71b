import numpy as np
import pytest
from sklearn.base import is_classifier

from leavezero import LabelInvariantMixup
from leavezero._random import seed_sequence
from leavezero.evaluation import (
    SINGLE,
    CandidateFactory,
    ModelStore,
    Run,
    SingleRound,
    Trial,
    evaluate,
    sample_replicates,
)
from leavezero.evaluation._scoring import resolve_metric


@pytest.fixture
def make_run():
    """Return a function that makes the data and options of a small search."""

    def make(X, y, metric="accuracy", augmenter=None, **options):
        _, replicates = sample_replicates(
            augmenter or LabelInvariantMixup(),
            X,
            y,
            n_replicates=2,
            validation_size=1.0,
            root=seed_sequence(0),
            owner="test",
        )
        metrics = {SINGLE: resolve_metric(metric, "test")}
        return Run(X, y, y, replicates, metrics, SINGLE, 0, training_metrics=metrics, **options)

    return make


@pytest.fixture
def make_trials():
    """Return a function that makes one trial for each dict of parameters."""

    def make(estimator, grid, **options):
        factory = CandidateFactory("test")
        candidates = [factory.candidate(estimator, params) for params in grid]
        return [Trial(candidate, row, **options) for row, candidate in enumerate(candidates)]

    return make


@pytest.fixture
def evaluate_all(make_trials):
    """Return a function that evaluates an estimator with each dict of parameters."""

    def run_all(run, estimator, grid, **options):
        assert is_classifier(estimator) or run.replicates.classes is None
        candidates = [trial.candidate for trial in make_trials(estimator, grid)]
        with ModelStore() as models:
            found = evaluate(run, SingleRound(candidates), models, n_jobs=1, **options)
            return found, [models.get(row) for row in range(len(candidates))]

    return run_all


@pytest.fixture
def noise():
    """120 rows whose labels are independent of the features."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 6)), rng.integers(2, size=120)
