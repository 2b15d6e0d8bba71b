"""How V scores candidates that learned permuted labels: an honest V finds them at chance."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leavezero._random import stream, substream
from leavezero._typing import AnyArray
from leavezero.engine._draw import Replicates, draw_replicates
from leavezero.engine._finals import metric_named
from leavezero.engine._judge import judge
from leavezero.engine._metrics import Metric
from leavezero.engine._plan import Candidate
from leavezero.engine._responses import Responses
from leavezero.engine._run import Job, fit_on
from leavezero.engine._threads import limited_threads
from leavezero.trust import Optimism

N_SHUFFLES = 5


def optimism_of(
    job: Job,
    candidates: Sequence[Candidate],
    augmenter: Any,
    root: np.random.SeedSequence,
    groups: AnyArray | None = None,
) -> Optimism:
    """Return the scores of candidates on a V drawn from permuted data, and those of chance.

    Each candidate is fitted once, to the given rows with permuted targets. Chance is what its
    answers score when the targets of V are permuted.
    """
    assert job.main is not None
    rows = np.arange(len(job.y)) if job.labeled is None else job.labeled
    y = job.y.copy()
    y[rows] = job.y[stream(root, "permuted labels").permutation(rows)]
    _, drawn = draw_replicates(
        augmenter,
        job.X,
        y,
        groups=groups,
        n_replicates=1,
        validation_size=len(job.replicates.rows) // job.replicates.n_replicates,
        root=substream(root, "optimism"),
        owner="trust",
    )
    metric = replace(metric_named(job, job.main), weight=None, by_row={})
    permuted = replace(job, y=y)
    scores, chances = [], []
    with limited_threads():
        for candidate in candidates:
            responses = Responses(fit_on(permuted, candidate, None), drawn.rows.X)
            scores.append(_mean_score(responses, drawn, metric))
            shuffled = (_shuffled(drawn, root, at) for at in range(N_SHUFFLES))
            chances.append(float(np.mean([_mean_score(responses, s, metric) for s in shuffled])))
    return Optimism(tuple(scores), tuple(chances))


def _mean_score(responses: Responses, rows: Replicates, metric: Metric) -> float:
    [verdict] = judge(responses, rows, metric).values()
    return float(np.mean(verdict.scores))


def _shuffled(drawn: Replicates, root: np.random.SeedSequence, at: int) -> Replicates:
    """Return V with its targets in another order."""
    rows = drawn.rows
    order = stream(root, "shuffled", at).permutation(len(rows))
    posterior = None if rows.class_probabilities is None else rows.class_probabilities[order]
    return Replicates(
        replace(rows, y=rows.y[order], class_probabilities=posterior, reference_predictions=None),
        1,
        drawn.classes,
    )
