"""Evaluate candidates: one fit each, validation and LOO scores, bias correction, selection."""

from leavezero.evaluation._bias_correction import correct_scores
from leavezero.evaluation._candidates import (
    ESTIMATOR,
    Candidate,
    CandidateFactory,
    SingleRound,
    Strategy,
    Trial,
)
from leavezero.evaluation._checkpointed_results import CheckpointedResults, search_identity
from leavezero.evaluation._evaluate import Evaluation, JointTask, ModelStore, evaluate
from leavezero.evaluation._fit_and_score import CandidateResult, fit_candidate
from leavezero.evaluation._fold_scores import (
    FoldPlan,
    cross_validate_some,
    enough_folds,
    make_folds,
)
from leavezero.evaluation._permutation_check import permutation_scores
from leavezero.evaluation._replicates import Replicates, sample_replicates
from leavezero.evaluation._run import Fold, Run, is_pairwise
from leavezero.evaluation._scoring import (
    SINGLE,
    Metric,
    Scoring,
    final_estimator,
    predict_in_blocks,
    resolve_scoring,
)
from leavezero.evaluation._selection import (
    HighestScore,
    OneStandardError,
    Selected,
    Selection,
    SelectionRule,
    param_columns,
    resolve_rule,
    select,
)
