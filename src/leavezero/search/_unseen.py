"""Whether a search asks for rows that its candidates have not seen, and why if it does not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leavezero.engine import Candidate, Planner, refusal
from leavezero.search._routing import Routed

NOT_ASKED = "the estimator as it was given cannot be asked"


def looks_at_unseen(search: Any, planner: Planner, routed: Routed) -> bool:
    """Tell whether any candidate may be judged by rows it has not seen, or raise."""
    if search.unseen not in ("auto", "off", "only"):
        raise ValueError(
            f'unseen of {type(search).__name__} must be "auto", "off" or "only", got '
            f"{search.unseen!r}."
        )
    if search.unseen == "only" and routed.groups is not None:
        raise ValueError(
            f'{type(search).__name__} got groups, and unseen="only" leaves out single rows, '
            'whose group would stay behind. Use unseen="off".'
        )
    if search.unseen == "off" or _refused_to_all(search, routed) is not None:
        return False
    candidates = planner.candidates or [Planner("a look").candidate(search._template(), {})]
    return search.unseen == "only" or any(_refused(one, routed) is None for one in candidates)


def silent_columns(
    search: Any, candidates: Sequence[Candidate], routed: Routed, table: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the columns about unseen rows where no candidate was asked: no score, and why."""
    n_rows, to_all = len(candidates), _refused_to_all(search, routed)
    names = [name for name in table if name.startswith("mean_test_")]
    notes = [to_all or _refused(one, routed) or NOT_ASKED for one in candidates]
    scores = {name.replace("test", "unseen", 1): np.full(n_rows, np.nan) for name in names}
    return scores | {
        "unseen_kind": np.full(n_rows, None, dtype=object),
        "unseen_note": np.array(notes, dtype=object),
    }


def _refused_to_all(search: Any, routed: Routed) -> str | None:
    """Return why no candidate is asked, whatever its kind."""
    if routed.groups is not None:
        return "rows are in groups, and a row's group would stay behind"
    if search.unseen == "auto" and hasattr(search.augmenter, "fixed_rows"):
        return "V is rows of the user's own, which need no second witness"
    return None


def _refused(candidate: Candidate, routed: Routed) -> str | None:
    return refusal(candidate.configured(0), routed.fit.get(candidate.member, {}))
