"""Whether a search asks for rows that its candidates have not seen."""

from typing import Any

from leavezero.engine import Planner
from leavezero.families import family_of
from leavezero.search._routing import Routed


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
    own_rows = search.unseen == "auto" and hasattr(search.augmenter, "fixed_rows")
    if search.unseen == "off" or routed.groups is not None or own_rows:
        return False  # a user's own rows need no second witness
    candidates = planner.candidates or [Planner("a look").candidate(search._template(), {})]
    models = (candidate.configured(0) for candidate in candidates)
    return search.unseen == "only" or any(_has_family(model) for model in models)


def _has_family(model: Any) -> bool:
    family = family_of(model)
    return family is not None and family.refuses(model) is None
