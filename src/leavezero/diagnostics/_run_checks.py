"""Run the checks of a search."""

import time
import warnings
from collections.abc import Callable, Collection
from dataclasses import replace

from leavezero.diagnostics import _checks_data as data
from leavezero.diagnostics import _checks_selection as selection
from leavezero.diagnostics._check import CV_FINALISTS, TITLES, Check, not_applicable
from leavezero.diagnostics._check_inputs import CandidateScores, CheckInputs
from leavezero.diagnostics._diagnostic_report import DiagnosticReport

INPUT_CHECKS: dict[str, Callable[[CheckInputs], Check]] = {
    "LZ01": data.check_label_distribution,
    "LZ03": data.check_leakage,
    "LZ04": selection.check_permuted_labels,
    "LZ08": data.check_small_classes,
    "LZ11": data.check_exchangeable,
    "LZ12": selection.check_label_models,
}
SCORE_CHECKS: dict[str, Callable[[CandidateScores], Check]] = {
    "LZ05": selection.check_stability,
    "LZ06": selection.check_rank_agreement,
    "LZ07": selection.check_boundary,
    "LZ10": selection.check_selection_bias,
}


def run_checks(inputs: CheckInputs, codes: Collection[str] | None = None) -> DiagnosticReport:
    """Run the checks of a search.

    Parameters
    ----------
    inputs : CheckInputs
        The results of a search. Fitted searches have ``search.diagnose()``.
    codes : collection of str or None, default=None
        The codes of the checks to run; None for all.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import LabelInvariantMixup
    >>> from leavezero.diagnostics import CheckInputs, run_checks
    >>> X, y = np.random.default_rng(0).normal(size=(100, 12)), np.tile([0, 1], 50)
    >>> mixup = LabelInvariantMixup().fit(X, y)
    >>> inputs = CheckInputs(X, y, np.array([0, 1]), mixup.sample(500, 0), mixup)
    >>> print(run_checks(inputs, ["LZ03"])["LZ03"].level)
    warning
    """
    started = time.perf_counter()
    selected = sorted(TITLES if codes is None else codes)
    with warnings.catch_warnings():
        # The user cannot act on warnings of auxiliary models.
        warnings.simplefilter("ignore")
        checks = _run(inputs, selected)
    if inputs.candidates is not None and inputs.candidates.cross_validated:
        checks = [replace(c, advice=None) if c.advice == CV_FINALISTS else c for c in checks]
    n_fits = 0 if inputs.permutation is None else len(inputs.permutation.scores)
    return DiagnosticReport(tuple(checks), time.perf_counter() - started, n_fits)


def _run(inputs: CheckInputs, codes: Collection[str]) -> list[Check]:
    results = {}
    if {"LZ02", "LZ09"} & set(codes):  # these share one estimate of the divergence
        results["LZ02"], divergence = data.check_features(inputs)
        results["LZ09"] = selection.check_risk_bound(inputs, divergence)
    for code in set(codes) - set(results):
        if code in INPUT_CHECKS:
            results[code] = INPUT_CHECKS[code](inputs)
        elif inputs.candidates is None:
            results[code] = not_applicable(code, "There are no scores.")
        else:
            results[code] = SCORE_CHECKS[code](inputs.candidates)
    return [results[code] for code in codes]
