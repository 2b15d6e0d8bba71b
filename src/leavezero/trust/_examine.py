"""From evidence to a report."""

import time
import warnings
from collections.abc import Callable, Collection
from dataclasses import replace

from leavezero.trust._advice import CONFIRM
from leavezero.trust._choice import agreement, curse, edge, stability
from leavezero.trust._data import exchangeable, small_classes
from leavezero.trust._evidence import Ballot, Evidence
from leavezero.trust._finding import TITLES, Finding, not_applicable
from leavezero.trust._report import TrustReport
from leavezero.trust._rows import label_marginal, leakage, realism
from leavezero.trust._winner import bound, optimism, teachers

NO_SCORES = "No metric chose the winner, so there are no scores to look at."


def examine(evidence: Evidence, codes: Collection[str] | None = None) -> TrustReport:
    """Return a report about a search.

    Parameters
    ----------
    evidence : Evidence
        What the search kept. A search makes its own: ``search.trust()``.
    codes : collection of str or None, default=None
        The findings that are wanted; None for all.

    Returns
    -------
    TrustReport

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import LabelInvariantMixup
    >>> from leavezero.trust import Evidence, examine
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 12)), np.tile([0, 1], 50)
    >>> mixup = LabelInvariantMixup().fit(X, y)
    >>> evidence = Evidence(X, y, np.array([0, 1]), mixup.sample(500, 0), mixup)
    >>> examine(evidence, ["LZ03"])["LZ03"].level
    'warning'
    """
    started = time.perf_counter()
    wanted = sorted(TITLES if codes is None else codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models that only look at V speak to nobody
        theory = _theory(evidence) if {"LZ02", "LZ09"} & set(wanted) else {}
        findings = tuple(theory.get(code) or _find(code, evidence) for code in wanted)
    if evidence.ballot is not None and evidence.ballot.confirmed:
        findings = tuple(_without_folds(finding) for finding in findings)
    n_fits = 0 if evidence.optimism is None else len(evidence.optimism.scores)
    return TrustReport(findings, time.perf_counter() - started, n_fits)


def _without_folds(finding: Finding) -> Finding:
    """Return a finding that does not advise what was done."""
    return replace(finding, advice=None) if finding.advice == CONFIRM else finding


def _theory(evidence: Evidence) -> dict[str, Finding]:
    """Return the two findings that share an estimate of the divergence."""
    real, divergence = realism(evidence)
    return {"LZ02": real, "LZ09": bound(evidence, divergence)}


def _find(code: str, evidence: Evidence) -> Finding:
    if code in _OF_EVIDENCE:
        return _OF_EVIDENCE[code](evidence)
    if evidence.ballot is None:
        return not_applicable(code, NO_SCORES)
    return _OF_SCORES[code](evidence.ballot)


_OF_EVIDENCE: dict[str, Callable[[Evidence], Finding]] = {
    "LZ01": label_marginal,
    "LZ03": leakage,
    "LZ04": optimism,
    "LZ08": small_classes,
    "LZ11": exchangeable,
    "LZ12": teachers,
}
_OF_SCORES: dict[str, Callable[[Ballot], Finding]] = {
    "LZ05": stability,
    "LZ06": agreement,
    "LZ07": edge,
    "LZ10": curse,
}
