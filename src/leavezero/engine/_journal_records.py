"""Records as text and arrays, without pickle."""

import io
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from leavezero._typing import AnyArray
from leavezero.engine._judge import Verdict
from leavezero.engine._run import Record
from leavezero.engine._strategy import Trial
from leavezero.engine._unseen import Sight

LARGEST = 2**31  # bytes of one record's arrays


def encode(record: Record) -> tuple[bytes, bytes]:
    """Return a record's numbers and words as JSON, and its arrays as compressed npy files."""
    arrays: list[AnyArray] = []
    content = {
        "verdicts": _verdicts(record.verdicts, arrays),
        "train_scores": _pairs(record.train_scores),
        "fit_time": float(record.fit_time),
        "score_time": float(record.score_time),
        "main_score": float(record.main_score),
        "error": record.error,
        "scoring_errors": _pairs(record.scoring_errors),
        "ended": record.ended,
        "sight": [_verdicts(record.sight.verdicts, arrays), record.sight.kind, record.sight.note],
    }
    return json.dumps(content).encode(), zlib.compress(_packed(arrays), 1)


def decode(content: bytes, arrays: bytes, trial: Trial) -> Record:
    """Return the record of a trial from what `encode` made of it."""
    found = json.loads(content)
    given = _unpacked(arrays)
    verdicts, kind, note = found["sight"]
    return Record(
        trial,
        _read_verdicts(found["verdicts"], given),
        dict(found["train_scores"]),
        found["fit_time"],
        found["score_time"],
        found["main_score"],
        error=found["error"],
        scoring_errors=dict(found["scoring_errors"]),
        sight=Sight(_read_verdicts(verdicts, given), kind, note),
        stored=True,
        ended=tuple(found["ended"]) if found.get("ended") else None,
    )


def _verdicts(verdicts: Mapping[str, Verdict], arrays: list[AnyArray]) -> list[Any]:
    def put(array: AnyArray | None) -> int | None:
        if array is None:
            return None
        arrays.append(array)
        return len(arrays) - 1

    return [
        [name, put(one.scores), put(one.gains), float(one.bias), put(one.answers)]
        for name, one in _pairs(verdicts)
    ]


def _pairs(named: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return names and values in order; JSON would make other names strings, and lose them."""
    for name in named:
        if not isinstance(name, str):
            raise ValueError(f"A journal needs metrics whose names are strings, got {name!r}.")
    return list(named.items())


def _read_verdicts(listed: list[Any], arrays: list[AnyArray]) -> dict[str, Verdict]:
    def get(at: int | None) -> Any:
        return None if at is None else arrays[at]

    return {
        name: Verdict(get(scores), get(gains), bias, get(answers))
        for name, scores, gains, bias, answers in listed
    }


def _packed(arrays: list[AnyArray]) -> bytes:
    file = io.BytesIO()
    for array in arrays:
        np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def _unpacked(content: bytes) -> list[AnyArray]:
    plain = zlib.decompressobj().decompress(content, LARGEST)
    file, arrays = io.BytesIO(plain), []
    while file.tell() < len(plain):
        arrays.append(np.lib.format.read_array(file, allow_pickle=False))
    return arrays
