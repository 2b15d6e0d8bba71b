"""The engine: plan, fit each candidate once on all the data, respond, score, select."""

from leavezero.engine._cost import fits_are_dear
from leavezero.engine._draw import Replicates, draw_replicates, replicate_size
from leavezero.engine._metrics import Metric, default_metric, resolve_metric
from leavezero.engine._plan import Candidate, plan
from leavezero.engine._results import results_table
from leavezero.engine._run import Evaluation, Job, Record, evaluate
from leavezero.engine._score import score_replicates

__all__ = [
    "Candidate",
    "Evaluation",
    "Job",
    "Metric",
    "Record",
    "Replicates",
    "default_metric",
    "draw_replicates",
    "evaluate",
    "fits_are_dear",
    "plan",
    "replicate_size",
    "resolve_metric",
    "results_table",
    "score_replicates",
]
