"""Run tasks on any joblib backend or under limits, and save their results to a checkpoint."""

from leavezero.execution._checkpoint import (
    Checkpoint,
    OpenCheckpoint,
    summarize_checkpoint,
)
from leavezero.execution._digests import data_seed, digest
from leavezero.execution._process_pool import reused_workers
from leavezero.execution._resource_limits import Limits, TaskEnded, resolve_limits
from leavezero.execution._run_tasks import allowed_interrupts, deferred_interrupts, run_tasks

__all__ = [
    "Checkpoint",
    "Limits",
    "OpenCheckpoint",
    "TaskEnded",
    "allowed_interrupts",
    "data_seed",
    "deferred_interrupts",
    "digest",
    "resolve_limits",
    "reused_workers",
    "run_tasks",
    "summarize_checkpoint",
]
