"""The engine: plan, fit each candidate once on all the data, respond, score, select."""

from leavezero.engine._conclude import Conclusion, Confirmation, conclude, witness_of
from leavezero.engine._confirm import make_folds
from leavezero.engine._draw import Replicates, draw_more, draw_replicates, replicate_size
from leavezero.engine._finals import both_heard, with_finals
from leavezero.engine._groups import Task, plan_of
from leavezero.engine._grow import LOOKS, until_separated
from leavezero.engine._journal import Journal, OpenJournal
from leavezero.engine._journal_identity import Part, identity
from leavezero.engine._journal_models import TRUSTED as TRUSTED_TYPES
from leavezero.engine._journal_show import JournalSummary, summarize_journal
from leavezero.engine._judge import Verdict, judge, score_replicates
from leavezero.engine._keep import AllModels, BestModel, Keeper, NoModel
from leavezero.engine._limits import Limits, resolve_limits
from leavezero.engine._metrics import Metric, default_metric, resolve_metric
from leavezero.engine._optimism import optimism_of
from leavezero.engine._plan import ESTIMATOR, Candidate, Planner
from leavezero.engine._responses import Responses, in_blocks
from leavezero.engine._results import results_table
from leavezero.engine._run import Job, Outcome, Record, finished, run
from leavezero.engine._scoring import SINGLE, Scoring, resolve_scoring
from leavezero.engine._select import (
    HighestScore,
    OneStandardError,
    Rule,
    Selection,
    Standing,
    Vote,
    resolve_rule,
)
from leavezero.engine._statistics import Resampled, Witness, resample, standard_error
from leavezero.engine._strategy import AllAtOnce, Strategy, Trial
from leavezero.engine._threads import limited_threads
from leavezero.engine._unseen import Sight, look, refusal
from leavezero.engine._workers import Crew, crew_for
from leavezero.engine._workers_handles import prepare_workers

__all__ = [
    "ESTIMATOR",
    "LOOKS",
    "SINGLE",
    "TRUSTED_TYPES",
    "AllAtOnce",
    "AllModels",
    "BestModel",
    "Candidate",
    "Conclusion",
    "Confirmation",
    "Crew",
    "HighestScore",
    "Job",
    "Journal",
    "JournalSummary",
    "Keeper",
    "Limits",
    "Metric",
    "NoModel",
    "OneStandardError",
    "OpenJournal",
    "Outcome",
    "Part",
    "Planner",
    "Record",
    "Replicates",
    "Resampled",
    "Responses",
    "Rule",
    "Scoring",
    "Selection",
    "Sight",
    "Standing",
    "Strategy",
    "Task",
    "Trial",
    "Verdict",
    "Vote",
    "Witness",
    "both_heard",
    "conclude",
    "crew_for",
    "default_metric",
    "draw_more",
    "draw_replicates",
    "finished",
    "identity",
    "in_blocks",
    "judge",
    "limited_threads",
    "look",
    "make_folds",
    "optimism_of",
    "plan_of",
    "prepare_workers",
    "refusal",
    "replicate_size",
    "resample",
    "resolve_limits",
    "resolve_metric",
    "resolve_rule",
    "resolve_scoring",
    "results_table",
    "run",
    "score_replicates",
    "standard_error",
    "summarize_journal",
    "until_separated",
    "with_finals",
    "witness_of",
]
