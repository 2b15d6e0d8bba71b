"""Few rows: the regret and the signed bias of every way of judging a model."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from leavezero._random import integer_seed, seed_sequence
from leavezero._typing import Floats
from leavezero.datasets import describe, load
from leavezero.experiments._regret import quiet_and_single
from leavezero.experiments._small_ways import (
    ALPHAS,
    FACTORS,
    MAX_LEFT_OUT,
    MAX_ROWS,
    SmallSample,
    draw_all,
    replicate_scores,
    score_candidates,
    small_families,
    small_ways,
)

SIZES = (20, 50, 100, 200, 500)
DRAW_SIZES = (20, 50, 100)
MAX_TEST_ROWS = 2_000
N_DRAWS = 5  # of the largest V
_SWIFT = {"assume_finite": True, "skip_parameter_validation": True}  # thousands of tiny fits
_FIGURES = ("score of the chosen", "test of the chosen", "bias", "absolute error")


@dataclass(frozen=True)
class SmallStudy:
    """The description of the runs on few rows; calling it with a key does one run.

    A run draws n rows to choose on, and tests on the rest: at least as many rows again, at most
    2,000. Columns are standardised by the n rows.

    Parameters
    ----------
    data : tuple of str
        The names of the data sets.
    sizes : tuple of int, default=(20, 50, 100, 200, 500)
        The values of n; a data set with fewer than 2 n rows has no run of that size.
    repeats : int, default=12
        Samples of 20 and of 50 rows; of 100 half as many, of more a quarter, two at least.
    seed : int, default=0
        Of samples, folds and V.
    directory : str or None, default=None
        Where the files of the data sets are; not part of the protocol.

    Examples
    --------
    >>> from leavezero.experiments import SmallStudy
    >>> SmallStudy(("digits",), sizes=(20, 50), repeats=1).keys()
    [{'data': 'digits', 'n': 20, 'sample': 0}, {'data': 'digits', 'n': 50, 'sample': 0}]
    """

    data: tuple[str, ...]
    sizes: tuple[int, ...] = SIZES
    repeats: int = 12
    seed: int = 0
    directory: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share; data sets, sizes and repeats may be added."""
        return {
            "study": "small",
            "grids": {
                name: {key: repr(values) for key, values in family.grid.items()}
                for name, family in small_families(1).items()
            },
            "ways": small_ways(),
            "figures": list(_FIGURES),
            "most rows of V": MAX_ROWS,
            "most rows left out by an SVM": MAX_LEFT_OUT,
            "most test rows": MAX_TEST_ROWS,
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another; first samples come first."""
        return [
            {"data": name, "n": n, "sample": sample}
            for sample in range(self.repeats)
            for n in self.sizes
            for name in self.data
            if sample < samples_of(n, self.repeats) and has_rows(name, n)
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run: of each family the best test score, and four figures of every way."""
        started = time.perf_counter()
        with quiet_and_single(), config_context(**_SWIFT):
            sample, source = take_sample(key, self.seed, self.directory)
            drawn = draw_all(sample)
            families = {
                name: _figures(score_candidates(family, sample, drawn))
                for name, family in small_families(sample.X.shape[1]).items()
            }
        return {
            "families": families,
            "source": source,
            "n_test": len(sample.y_test),
            "wall_seconds": round(time.perf_counter() - started, 3),
        }


@dataclass(frozen=True)
class SmallDraws:
    """How far a choice hangs on the draw of V: many draws of the paper's on one sample.

    Parameters
    ----------
    data : tuple of str
        The names of the data sets.
    sizes : tuple of int, default=(20, 50, 100)
        The values of n.
    repeats : int, default=2
        Samples of each size.
    seed : int, default=0
        Of samples and V.
    directory : str or None, default=None
        Where the files of the data sets are; not part of the protocol.

    Examples
    --------
    >>> from leavezero.experiments import SmallDraws
    >>> len(SmallDraws(("made_gaussians", "digits")).keys())
    12
    """

    data: tuple[str, ...]
    sizes: tuple[int, ...] = DRAW_SIZES
    repeats: int = 2
    seed: int = 0
    directory: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share; data sets, sizes and repeats may be added."""
        shared = SmallStudy(self.data, seed=self.seed).protocol()
        return {
            **{name: shared[name] for name in ("grids", "most test rows", "seed")},
            "study": "small, draws",
            "factors": list(FACTORS),
            "draws of the largest": N_DRAWS,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another; first samples come first."""
        return [
            {"data": name, "n": n, "sample": sample}
            for sample in range(self.repeats)
            for n in self.sizes
            for name in self.data
            if has_rows(name, n)
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run: by family and size of V, spread of score and of test, and mean test."""
        started = time.perf_counter()
        with quiet_and_single(), config_context(**_SWIFT):
            sample, source = take_sample(key, self.seed, self.directory)
            n_replicates = N_DRAWS * FACTORS[-1]
            V = sample.draw(ALPHAS[1], n_replicates)
            families = {}
            for name, family in small_families(sample.X.shape[1]).items():
                models = [model.fit(sample.X, sample.y) for model in family.candidates()]
                test = [float(np.mean(m.predict(sample.X_test) == sample.y_test)) for m in models]
                scores = replicate_scores(models, V, n_replicates)
                families[name] = {
                    str(factor): spread_over_draws(scores, np.array(test), factor)
                    for factor in FACTORS
                }
        return {
            "families": families,
            "source": source,
            "wall_seconds": round(time.perf_counter() - started, 3),
        }


def samples_of(n: int, repeats: int) -> int:
    """Return how many samples of n rows there are.

    Examples
    --------
    >>> [samples_of(n, 12) for n in (20, 50, 100, 200, 500)]
    [12, 12, 6, 3, 3]
    """
    share = 1 if n <= 50 else 2 if n <= 100 else 4
    return max(min(repeats, 2), repeats // share)


def has_rows(name: str, n: int) -> bool:
    """Return whether a data set has n rows to choose on and as many to test on."""
    return describe(name).n_rows >= 2 * n


def take_sample(key: dict[str, Any], seed: int, directory: str | None) -> tuple[SmallSample, str]:
    """Return the rows of one run, standardised, and where they came from."""
    given = load(key["data"], directory, seed=1000 * seed + key["sample"])
    own = integer_seed(seed_sequence(seed), "sample", key["n"], key["sample"])
    X = np.asarray(given.X, dtype=float)
    train, test = train_test_split(
        np.arange(len(given.y)), train_size=key["n"], stratify=given.y, random_state=own
    )
    test = test[:MAX_TEST_ROWS]
    scaler = StandardScaler().fit(X[train])
    return SmallSample(
        scaler.transform(X[train]),
        given.y[train],
        scaler.transform(X[test]),
        given.y[test],
        own,
    ), Path(given.source).name


def spread_over_draws(scores: Floats, test: Floats, factor: int) -> list[float]:
    """Return the winner's spread of score and of test over draws, and its mean test.

    Parameters
    ----------
    scores : array of shape (n_candidates, n_replicates)
        The accuracy of each candidate on each replicate of V.
    test : array of shape (n_candidates,)
        Its accuracy on the test rows.
    factor : int
        Replicates in one draw.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[1.0, 0.0, 1.0, 0.0], [0.5, 0.5, 0.5, 0.5]])
    >>> spread_over_draws(scores, np.array([0.9, 0.7]), 1)
    [0.288675, 0.11547, 0.8]
    >>> spread_over_draws(scores, np.array([0.9, 0.7]), 2)
    [0.0, 0.0, 0.8]
    """
    draws = scores.reshape(len(scores), -1, factor).mean(axis=2)
    chosen = [choose(draw, test) for draw in draws.T]
    score, tested = np.array(chosen).T
    return [round(float(v), 6) for v in (score.std(ddof=1), tested.std(ddof=1), tested.mean())]


def choose(scores: Floats, test: Floats) -> tuple[float, float]:
    """Return the best score and its test score; tied candidates are chosen with equal chance."""
    best = np.nanmax(scores)
    return float(best), float(test[scores >= best - 1e-12].mean())


def _figures(scores: Mapping[str, Floats]) -> dict[str, Any]:
    """Return the best test score and, by way, the figures that the protocol names."""
    test = scores["test"]
    ways = {}
    for way in [way for way in small_ways() if way in scores]:
        gaps = scores[way] - test
        found = (*choose(scores[way], test), np.nanmean(gaps), np.nanmean(np.abs(gaps)))
        ways[way] = [round(float(value), 4) for value in found]
    return {"best": round(float(test.max()), 4), "ways": ways}
