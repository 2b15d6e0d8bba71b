"""Evaluate candidates: one fit each, validation and LOO scores, bias correction, selection."""

from leavezero.evaluation._bias_correction import combine, correct_scores
from leavezero.evaluation._candidates import (
    ESTIMATOR,
    Candidate,
    CandidateFactory,
    SingleRound,
    Strategy,
    Trial,
)
from leavezero.evaluation._checkpointed_results import CheckpointedResults, search_identity
from leavezero.evaluation._evaluate import (
    CandidateResult,
    Evaluation,
    JointTask,
    LOOScores,
    ModelStore,
    Run,
    evaluate,
    fit_candidate,
    loo_unsupported_reason,
    score_loo,
)
from leavezero.evaluation._fold_scores import (
    FoldPlan,
    cross_validate_some,
    make_folds,
)
from leavezero.evaluation._permutation_check import permutation_scores
from leavezero.evaluation._replicates import Replicates, replicate_size, sample_replicates
from leavezero.evaluation._results import Selected, select, split_scores
from leavezero.evaluation._scoring import (
    SINGLE,
    CachedPredictions,
    Metric,
    MetricScores,
    Scoring,
    final_estimator,
    predict_in_blocks,
    resolve_metric,
    resolve_scoring,
    score_model,
)
from leavezero.evaluation._selection import (
    HighestScore,
    OneStandardError,
    Ranking,
    Selection,
    SelectionRule,
    resolve_rule,
)

__all__ = [
    "ESTIMATOR",
    "SINGLE",
    "CachedPredictions",
    "Candidate",
    "CandidateFactory",
    "CandidateResult",
    "CheckpointedResults",
    "Evaluation",
    "FoldPlan",
    "HighestScore",
    "JointTask",
    "LOOScores",
    "Metric",
    "MetricScores",
    "ModelStore",
    "OneStandardError",
    "Ranking",
    "Replicates",
    "Run",
    "Scoring",
    "Selected",
    "Selection",
    "SelectionRule",
    "SingleRound",
    "Strategy",
    "Trial",
    "combine",
    "correct_scores",
    "cross_validate_some",
    "evaluate",
    "final_estimator",
    "fit_candidate",
    "loo_unsupported_reason",
    "make_folds",
    "permutation_scores",
    "predict_in_blocks",
    "replicate_size",
    "resolve_metric",
    "resolve_rule",
    "resolve_scoring",
    "sample_replicates",
    "score_loo",
    "score_model",
    "search_identity",
    "select",
    "split_scores",
]
