"""Score candidates fitted to permuted targets: an unbiased validation set scores them at chance."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leavezero._random import stream, substream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray
from leavezero.diagnostics import PermutationScores
from leavezero.evaluation._candidates import Candidate
from leavezero.evaluation._fit_and_score import fit_candidate
from leavezero.evaluation._replicates import Replicates, sample_replicates
from leavezero.evaluation._run import Run
from leavezero.evaluation._scoring import CachedPredictions, Metric, score_model

N_SHUFFLES = 5


def permutation_scores(
    run: Run,
    candidates: Sequence[Candidate],
    augmenter: Any,
    root: np.random.SeedSequence,
    groups: AnyArray | None = None,
) -> PermutationScores:
    """Return validation scores of candidates fitted to permuted targets, and scores at chance.

    Each candidate is fitted once. The score at chance is that of its predictions for permuted
    targets of the validation set.
    """
    assert run.main_metric is not None
    rows = np.arange(len(run.y)) if run.labeled is None else run.labeled
    order = np.arange(len(run.y))
    order[rows] = stream(root, "permuted labels").permutation(rows)
    y = run.y[order]
    _, sampled = sample_replicates(
        augmenter,
        run.X,
        y,
        groups=groups,
        n_replicates=1,
        validation_size=len(run.replicates.rows) // run.replicates.n_replicates,
        root=substream(root, "optimism"),
        owner="diagnose",
    )
    metric = replace(run.metric(run.main_metric), weight=None, per_row={})
    permuted = replace(run, y=y, y_fit=take_rows(run.y_fit, order))
    scores, chances = [], []
    for candidate in candidates:
        predictions = CachedPredictions(fit_candidate(permuted, candidate), sampled.rows.X)
        scores.append(_mean_score(predictions, sampled, metric))
        shuffled = (_shuffled(sampled, root, at) for at in range(N_SHUFFLES))
        chances.append(
            float(np.mean([_mean_score(predictions, rows, metric) for rows in shuffled]))
        )
    return PermutationScores(tuple(scores), tuple(chances))


def _mean_score(predictions: CachedPredictions, rows: Replicates, metric: Metric) -> float:
    [scores] = score_model(predictions, rows, metric).values()
    return scores.mean


def _shuffled(sampled: Replicates, root: np.random.SeedSequence, at: int) -> Replicates:
    rows = sampled.rows
    order = stream(root, "shuffled", at).permutation(len(rows))
    return Replicates(replace(rows, y=rows.y[order]), 1, sampled.classes)
