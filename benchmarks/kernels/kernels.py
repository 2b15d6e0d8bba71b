"""Drawing V, answering it together, unseen rows, scores and intervals, each by itself.

    uvx asv --config benchmarks/asv.conf.json run --python=same --quick      # this commit, here
    uvx asv --config benchmarks/asv.conf.json continuous main~5 main         # two commits, built

Whole searches against their rivals are in benchmarks/speed.py.
"""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from leavezero import (
    CopulaAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    SMIRClassifier,
)
from leavezero._random import seed_sequence
from leavezero.engine import Replicates, Witness, resample, resolve_metric, score_replicates
from leavezero.families import family_of

N_ROWS, N_REPLICATES = 500, 10
STRENGTHS = (0.1, 1.0, 10.0)


def classes():
    """Return rows with two classes, and new ones."""
    X, y = make_classification(N_ROWS, 20, n_informative=8, random_state=0)
    V = np.tile(X, (N_REPLICATES, 1))
    return X, y, V + np.random.default_rng(0).normal(size=V.shape, scale=0.1)


class OneThread:
    """Everything on one thread, as inside a search."""

    def setup(self, *_):
        self.limits = threadpool_limits(limits=1)

    def teardown(self, *_):
        self.limits.restore_original_limits()


AUGMENTERS = {
    "mix-up": LabelInvariantMixup(),
    "mixture": GaussianMixtureAugmenter(random_state=0),
    "copula": CopulaAugmenter(),
}


class Draw(OneThread):
    """Augmenters: fit and draw ten replicates."""

    params = tuple(AUGMENTERS)
    param_names = ("augmenter",)

    def setup(self, name):
        super().setup()
        self.X, self.y, _ = classes()
        self.fitted = clone(AUGMENTERS[name]).fit(self.X, self.y)

    def time_fit(self, name):
        clone(AUGMENTERS[name]).fit(self.X, self.y)

    def time_sample(self, _):
        self.fitted.sample(N_REPLICATES * N_ROWS, np.random.default_rng(0))


TOGETHER = {
    "SVC": [SVC(C=C) for C in STRENGTHS],
    "k-NN": [KNeighborsClassifier(k) for k in (1, 5, 15)],
    "logistic": [LogisticRegression(C=C) for C in STRENGTHS],
    "ridge": [Ridge(alpha=C) for C in STRENGTHS],
    "boosting": [GradientBoostingClassifier(n_estimators=k, random_state=0) for k in (5, 10, 20)],
    "SMIR": [SMIRClassifier(gamma=C) for C in STRENGTHS],
}


class Together(OneThread):
    """Families: fit candidates that share work, and ask them together."""

    params = tuple(TOGETHER)
    param_names = ("family",)

    def setup(self, name):
        super().setup()
        self.X, self.y, self.V = classes()
        self.models = TOGETHER[name]
        self.family = family_of(self.models[0])
        self.family.fit_many(self.models, self.X, self.y)

    def time_fit(self, _):
        self.family.fit_many(self.models, self.X, self.y)

    def time_respond(self, _):
        for said in self.family.respond_many(self.models, self.V):
            said["predict"]


class Drafts(OneThread):
    """Support vector machines solved together, not fitted."""

    params = ("linear", "rbf")
    param_names = ("kernel",)

    def setup(self, kernel):
        super().setup()
        self.X, self.y, _ = classes()
        self.machines = [SVC(kernel=kernel, C=C) for C in (0.1, 1.0, 10.0, 100.0)]
        self.family = family_of(self.machines[0])

    def time_draft(self, _):
        self.family.draft_many(self.machines, self.X, self.y)


class Unseen(OneThread):
    """Families: what a model says of its own rows as if not seen."""

    params = ("SVC", "k-NN", "logistic", "ridge")
    param_names = ("family",)

    def setup(self, name):
        super().setup()
        self.X, self.y, _ = classes()
        self.model = TOGETHER[name][1].fit(self.X, self.y)
        self.family = family_of(self.model)

    def time_unseen(self, _):
        self.family.unseen(self.model, self.X, self.y)


class Score(OneThread):
    """Metrics on ten replicates, the model's answers among them."""

    params = ("accuracy", "neg_log_loss", "balanced_accuracy", "roc_auc", "f1")
    param_names = ("metric",)

    def setup(self, name):
        super().setup()
        X, y, V = classes()
        self.model = LogisticRegression().fit(X, y)
        rows = LabelInvariantMixup().fit(X, y)
        drawn = rows.sample(len(V), np.random.default_rng(0))
        self.replicates = Replicates(drawn, N_REPLICATES, np.unique(y))
        self.metric = resolve_metric(name, "a benchmark")

    def time_score(self, _):
        score_replicates(self.model, self.replicates, [self.metric])


class Numbers(OneThread):
    """R2 on ten replicates."""

    def setup(self):
        super().setup()
        X, y = make_regression(N_ROWS, 20, noise=20.0, random_state=0)
        self.model = Ridge().fit(X, y)
        rows = GaussianMixtureAugmenter(random_state=0).fit(X, y)
        drawn = rows.sample(N_REPLICATES * N_ROWS, np.random.default_rng(0))
        self.replicates = Replicates(drawn, N_REPLICATES)
        self.metric = resolve_metric("r2", "a benchmark")

    def time_score(self):
        score_replicates(self.model, self.replicates, [self.metric])


class Intervals(OneThread):
    """Resamples behind the intervals of a table."""

    params = (10, 100)
    param_names = ("candidates",)

    def setup(self, n_candidates):
        super().setup()
        n_units = N_REPLICATES * N_ROWS
        gains = np.random.default_rng(0).integers(0, 2, (n_candidates, n_units))
        self.witness = Witness(
            gains.astype(np.float32),
            np.full(n_units, 1 / n_units),
            np.zeros(n_candidates),
            N_ROWS,
        )

    def time_resample(self, _):
        resample(self.witness, seed_sequence(0))
