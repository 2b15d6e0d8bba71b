"""What a journal knows its search by, part by part, so that it can say what differs."""

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import sklearn

from leavezero._typing import RandomState
from leavezero._version import __version__
from leavezero.engine._digest import digest, name_of
from leavezero.engine._metrics import Metric
from leavezero.engine._plan import Candidate
from leavezero.engine._run import Job

AUGMENTER = "augmenter"
_LONGEST = 60  # characters of a value that an error shows


@dataclass(frozen=True)
class Part:
    """One thing that must be the same for a search to go on; ``shown`` is for people."""

    name: str
    digest: str
    shown: str
    everywhere: bool = True  # whether every record depends on it
    follows: bool = False  # from other parts


def identity(
    job: Job,
    members: Mapping[str, Any],
    candidates: Iterable[Candidate],
    augmenter: Any,
    *,
    random_state: RandomState,
    groups: Any = None,
) -> list[Part]:
    """Return all parts of a search; candidates may be added, so they are none."""
    return [
        _part("X", job.X),
        _part("y", job.y),
        *([] if groups is None else [_part("groups", groups)]),
        *_given(job.fit_params),
        Part("random_state", digest(random_state), repr(random_state)),
        *_scoring(job.metrics),
        Part("unseen", digest(job.draws), "V is drawn" if job.draws else "no V is drawn"),
        Part("return_train_score", digest(job.given is not None), repr(job.given is not None)),
        Part(AUGMENTER, digest(augmenter), _shown(augmenter), follows=True),
        *_validation_set(job),
        *_versions(members.values()),
        *_estimators(members, candidates),
    ]


def differences(parts: Iterable[Part], known: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return a phrase for each part that is not as it was; new parts are no difference.

    V follows from the data, the seed and its augmenter: it is named where nothing else differs.
    """
    found = [part for part in parts if part.name in known and known[part.name][0] != part.digest]
    causes = [part for part in found if not part.follows]
    return [_phrase(part, known[part.name][1]) for part in causes or found[:1]]


def _phrase(part: Part, then: str) -> str:
    if then == part.shown:
        return f"{part.name} has other values ({part.shown}, as before)"
    hint = ', which "auto" may choose by the candidates' if part.name == AUGMENTER else ""
    return f"{part.name} was {then} and is {part.shown}{hint}"


def _part(name: str, value: Any) -> Part:
    return Part(name, digest(value), _shown(value))


def _shown(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:  # that of a class such as np.float64 is none
        return f"of shape {shape}"
    if isinstance(value, list | tuple) and len(value) > 5:
        return f"of {len(value)} entries"
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _given(fit_params: Mapping[str, Mapping[str, Any]]) -> Iterator[Part]:
    """Yield what fit was given, apart by member only where there are several."""
    for member, params in fit_params.items():
        for name, value in params.items():
            yield _part(name if len(fit_params) == 1 else f"{name} for {member}", value)


def _scoring(metrics: Mapping[str, Metric]) -> Iterator[Part]:
    names = [metric.name for metric in metrics.values()]
    whole = [[n, m.name, m.scorer, m.weight, m.constants, m.by_row] for n, m in metrics.items()]
    yield Part("scoring", digest(whole), ", ".join(names))


def _validation_set(job: Job) -> Iterator[Part]:
    """Yield V itself, whatever drew it; the data stand in its place where there is none."""
    rows = job.replicates
    if job.draws:
        content = [rows.rows, rows.n_replicates, rows.classes, rows.references, job.answered_rows]
        shown = f"of {len(rows.rows)} rows in {rows.n_replicates} replicates"
        yield Part("the validation set", digest(content), shown, follows=True)


def _versions(members: Iterable[Any]) -> Iterator[Part]:
    """Yield the versions of what computes, and of packages that estimators come from."""
    where = f"{platform.system()} {platform.machine()}"
    yield Part("the platform", digest(where), where)
    common = {"python": platform.python_version(), "leavezero": __version__}
    common |= {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    for name, version in common.items():
        yield Part(f"the version of {name}", digest(version), version)
    kinds = {type(inner) for member in members for inner in _inside(member)}
    for name in sorted({kind.__module__.partition(".")[0] for kind in kinds} - set(common)):
        version = str(getattr(sys.modules.get(name), "__version__", "not known"))
        yield Part(f"the version of {name}", digest(version), version, everywhere=False)


def _inside(estimator: Any) -> list[Any]:
    values = estimator.get_params(deep=True).values()
    return [estimator, *(value for value in values if hasattr(value, "get_params"))]


def _estimators(members: Mapping[str, Any], candidates: Iterable[Candidate]) -> Iterator[Part]:
    """Yield the class and the parameters of each estimator, but for those that are searched.

    Records know their models by content, so these parts only serve to say what differs.
    """
    searched: dict[str, set[str]] = {}
    for candidate in candidates:
        searched.setdefault(candidate.member, set()).update(candidate.settings)
    for member, estimator in members.items():
        kind = type(estimator)
        yield Part(member, digest(name_of(kind)), kind.__name__, everywhere=False)
        for name, value in estimator.get_params(deep=True).items():
            if not _is_searched(name, searched.get(member, set())):
                yield Part(f"{name} of {member}", digest(_outline(value)), _shown(value), False)


def _is_searched(name: str, settings: set[str]) -> bool:
    return any(name == own or name.startswith(f"{own}__") for own in settings)


def _outline(value: Any) -> Any:
    """Return a value with its estimators as their classes: their parameters are parts too."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return name_of(type(value))
    if isinstance(value, list | tuple):
        return [_outline(item) for item in value]
    return value
