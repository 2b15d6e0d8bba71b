"""Resumable runs: one JSON line per finished run, and the experiments that consist of them."""

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Protocol

from joblib import Parallel, delayed

from experiments.data_sets import find_source, load
from experiments.markdown import MarkdownTable

Key = dict[str, Any]
Line = dict[str, Any]  # {"key": ..., "result": ...}


class Study(Protocol):
    """The runs of one file of lines."""

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share, as plain values."""

    def keys(self) -> list[Key]:
        """Return the key of every run: the data set under ``data``, a split and so on."""

    def __call__(self, key: Key) -> dict[str, Any]:
        """Do one run and return its result, as plain values."""


@dataclass(frozen=True)
class Options:
    """Options of the command line; an empty tuple or None means the experiment's own default."""

    folder: str | None = None  # with data set files
    data: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    repeats: int | None = None
    seed: int = 0
    quick: bool = False


@dataclass(frozen=True)
class Experiment:
    """A table of the paper or a study of ours.

    ``data`` are the data sets of each part, ``quick_data`` those of a quick run. ``study(part,
    data, options)`` returns the runs of a part; ``report(lines, missing, folder)`` writes figures
    to the folder and returns the tables of each page, from the lines of each part and the reasons
    why data sets are missing. The lines of a part are in ``results/FOLDER/PART.jsonl``.
    """

    name: str
    title: str
    data: Mapping[str, tuple[str, ...]]
    quick_data: Mapping[str, tuple[str, ...]]
    study: Callable[[str, tuple[str, ...], Options], Study]
    report: Callable[
        [Mapping[str, list[Line]], Mapping[str, str], Path], Mapping[str, list[MarkdownTable]]
    ]
    folder: str = ""
    extra_data: tuple[str, ...] = ()  # further data sets that can be requested


@dataclass(frozen=True)
class Plan:
    """The studies of the requested parts, and why data sets are missing."""

    studies: dict[str, Study]
    missing: dict[str, str]


def make_plan(experiment: Experiment, options: Options, *, check: bool = True) -> Plan:
    """Return the studies to run; ``check`` loads every data set once, before any run."""
    known = {name for names in experiment.data.values() for name in names}
    _check_known(experiment.name, "data set", options.data, {*known, *experiment.extra_data})
    _check_known(experiment.name, "part", options.parts, experiment.data)
    default = experiment.quick_data if options.quick else experiment.data
    studies, missing = {}, {}
    for part in options.parts or tuple(default):
        available = []
        own = {*experiment.data[part], *experiment.extra_data}
        requested = tuple(name for name in options.data if name in own)
        for name in requested if options.data else default.get(part, experiment.data[part]):
            try:
                find_source(name, options.folder)
            except LookupError as error:
                missing[name] = str(error)
                continue
            available.append(name)
            if check:
                load(name, options.folder)
        if available:
            studies[part] = experiment.study(part, tuple(available), options)
    if check and not studies:
        raise LookupError(f"No data set of {experiment.name} is available. {missing}")
    return Plan(studies, missing)


def _check_known(
    owner: str, kind: str, names: Sequence[str], known: "set[str] | Mapping[str, Any]"
) -> None:
    for name in names:
        if name not in known:
            raise LookupError(f"{owner} has no {kind} {name!r}. Known are {', '.join(known)}.")


def run_all(
    keys: Sequence[Key],
    work: Callable[[Key], Mapping[str, Any]],
    path: str | Path,
    *,
    protocol: Mapping[str, Any],
    n_jobs: int | None = 1,
) -> Iterator[Line]:
    """Do every run whose line is not in the file yet, and yield each line as it is written.

    The first line of the file is the protocol; a file with another protocol is an error. A line is
    on disk before it is yielded, so a killed process loses only the runs in progress.
    """
    path = Path(path)
    done = {_name(line["key"]) for line in open_lines(path, protocol)}
    waiting = [key for key in keys if _name(key) not in done]
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
    for key, result in parallel(delayed(_run_one)(work, key) for key in waiting):
        line = {"key": key, "result": result}
        _append(path, json.dumps(line, sort_keys=True))
        yield line


def open_lines(path: Path, protocol: Mapping[str, Any]) -> list[Line]:
    """Return the finished runs of a file with this protocol; make the file if there is none."""
    header = json.dumps({"protocol": dict(protocol)}, sort_keys=True)
    if path.exists():
        _check_protocol(path, header)
        _drop_incomplete_line(path)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, header)
    return read_lines(path)


def read_lines(path: str | Path) -> list[Line]:
    """Return the finished runs of a file, sorted by key; an incomplete last line is ignored."""
    complete = Path(path).read_text().rpartition("\n")[0]
    lines = [json.loads(text) for text in complete.splitlines()[1:]]
    return sorted(lines, key=lambda line: _name(line["key"]))


def time_left(keys: Sequence[Key], lines: Sequence[Line], n_workers: int = 1) -> float | None:
    """Estimate the seconds until all runs are done from ``wall_seconds`` of the finished ones.

    A run takes as long as the finished runs on its data set, or as the mean of all if there are
    none; None if no run is finished.
    """
    seconds: dict[str, list[float]] = {}
    for line in lines:
        if "wall_seconds" in line["result"]:
            seconds.setdefault(line["key"]["data"], []).append(line["result"]["wall_seconds"])
    if not seconds:
        return None
    typical = mean(mean(found) for found in seconds.values())
    done = {_name(line["key"]) for line in lines}
    waiting = [key for key in keys if _name(key) not in done]
    return sum(mean(seconds.get(key["data"], [typical])) for key in waiting) / n_workers


def _run_one(work: Callable[[Key], Mapping[str, Any]], key: Key) -> tuple[Key, dict[str, Any]]:
    return key, dict(work(key))


def _name(key: Key) -> str:
    return json.dumps(key, sort_keys=True)


def _append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())


def _check_protocol(path: Path, header: str) -> None:
    with path.open() as file:
        first = file.readline().rstrip("\n")
    if first == header:
        return
    try:
        stored, requested = json.loads(first)["protocol"], json.loads(header)["protocol"]
        difference = "; ".join(
            f"{name}: {stored.get(name)!r} in the file, {requested.get(name)!r} requested"
            for name in sorted({*stored, *requested})
            if stored.get(name) != requested.get(name)
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        difference = "its first line is not a protocol"
    raise ValueError(f"{path} has another protocol ({difference}). Use --out, or move the file.")


def _drop_incomplete_line(path: Path) -> None:
    content = path.read_bytes()
    complete = content[: content.rfind(b"\n") + 1]
    if len(complete) < len(content):
        warnings.warn(f"The incomplete last line of {path} was dropped.", stacklevel=3)
        with path.open("r+b") as file:
            file.truncate(len(complete))
