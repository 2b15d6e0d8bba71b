"""Runs that can be killed at any time and continued."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from leavezero._warnings import warn_caller

Key = dict[str, Any]
Line = dict[str, Any]


def run_all(
    keys: Sequence[Key],
    work: Callable[[Key], Mapping[str, Any]],
    path: str | Path,
    *,
    protocol: Mapping[str, Any],
    n_jobs: int | None = 1,
) -> Iterator[Line]:
    """Do every run whose line is not in the file yet, and yield each line as it is written.

    The file holds the protocol in its first line and then one JSON line for each finished run,
    with the run's key and its result. A line is on the disk before it is yielded, so that a killed
    process loses only what it was working on; the same call again does the rest.

    Parameters
    ----------
    keys : list of dict
        What tells one run from another; plain values.
    work : callable
        Takes a key and returns the result, plain values too. It must depend on the key only.
    path : path
        The file of lines.
    protocol : dict
        What all runs share. A file of another protocol is refused.
    n_jobs : int or None, default=1
        The number of workers.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from leavezero.experiments import read_lines, run_all
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "squares.jsonl"
    >>> square = lambda key: {"square": key["n"] ** 2}
    >>> for line in run_all([{"n": 2}, {"n": 3}], square, path, protocol={"of": "squares"}):
    ...     pass
    >>> [line["result"]["square"] for line in read_lines(path)]
    [4, 9]
    """
    path = Path(path)
    header = json.dumps({"protocol": dict(protocol)}, sort_keys=True)
    if path.exists():
        _check_protocol(path, header)
        _drop_torn_line(path)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, header)
    done = {_name(line["key"]) for line in read_lines(path)}
    waiting = [key for key in keys if _name(key) not in done]
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
    for key, result in parallel(delayed(_do)(work, key) for key in waiting):
        line = {"key": key, "result": result}
        _append(path, json.dumps(line, sort_keys=True))
        yield line


def read_lines(path: str | Path) -> list[Line]:
    r"""Return the finished runs of a file, in an order that does not depend on who was faster.

    What a killed process left of its last line is passed over.

    Parameters
    ----------
    path : str or path
        The file that a runner writes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from leavezero.experiments import read_lines
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "runs.jsonl"
    >>> _ = file.write_text('{"protocol": {}}\n{"key": {"n": 1}, "result": {}}\n')
    >>> read_lines(file)
    [{'key': {'n': 1}, 'result': {}}]
    """
    whole = Path(path).read_text().rpartition("\n")[0]
    lines = [json.loads(text) for text in whole.splitlines()[1:]]
    return sorted(lines, key=lambda line: _name(line["key"]))


def _do(work: Callable[[Key], Mapping[str, Any]], key: Key) -> tuple[Key, dict[str, Any]]:
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
        found = file.readline().rstrip("\n")
    if found == header:
        return
    try:
        theirs, ours = json.loads(found)["protocol"], json.loads(header)["protocol"]
        names = sorted({*theirs, *ours})
        parts = [
            f"{name}: {theirs.get(name)!r} there, {ours.get(name)!r} here"
            for name in names
            if theirs.get(name) != ours.get(name)
        ]
        difference = "; ".join(parts)
    except (ValueError, KeyError, TypeError, AttributeError):
        difference = "its first line is no protocol"
    raise ValueError(
        f"{path} belongs to another protocol ({difference}). Name another file, or move this one."
    )


def _drop_torn_line(path: Path) -> None:
    """Cut off what a killed process left of its last line."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        warn_caller(f"The last line of {path} is torn and was dropped; its run is done again.")
        with path.open("r+b") as file:
            file.truncate(len(whole))
