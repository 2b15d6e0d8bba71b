"""A saved model as code: a Python script or a notebook that fits it anew, or an ONNX file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from skrub import SquashingScaler

from leavezero.cli._output import TableError, check_name, part_file, print_lines, write_text
from leavezero.cli._read_table import NULLS
from leavezero.cli._saved_model import TableModel, load_model
from leavezero.report import python_code

SUFFIXES = {".py": "Script", ".ipynb": "Notebook", ".onnx": "ONNX model"}
_READERS = {
    "csv": "read_csv",
    "json lines": "read_json",
    "parquet": "read_parquet",
    "feather": "read_feather",
    "excel": "read_excel",
}


def run_export(path: Path, out: Path, trusted: tuple[str, ...] = ()) -> None:
    """Write a saved model in the format of the suffix of ``out``."""
    check_name(out.suffix.lower(), SUFFIXES, "--out must end in .py, .ipynb or .onnx")
    model = load_model(path, trusted)
    if not out.parent.is_dir():
        raise TableError(f"The directory of --out {str(out)!r} does not exist.")
    if out.suffix.lower() == ".onnx":
        with part_file(out) as part:
            part.write_bytes(to_onnx(model))
    elif out.suffix.lower() == ".py":
        write_text(out, "\n\n".join(code_parts(model)) + "\n")
    else:
        write_text(out, json.dumps(_notebook(model), indent=1) + "\n")
    print_lines(f"{SUFFIXES[out.suffix.lower()]} written to {out}")


def code_parts(model: TableModel) -> list[str]:
    """Return code that reads the table and fits the model, with pandas, scikit-learn and skrub."""
    imports, code = python_code(model.pipeline)
    needs = ["import sqlite3", ""] if model.source["format"] == "sqlite" else []
    head = [*needs, "import pandas as pd", *imports]
    build = [f"model = {code}"]
    if "columns" in model.pipeline.named_steps:
        build.append('model.named_steps["columns"].set_output(transform="pandas")')
    return ["\n".join(head), "\n".join(_read_lines(model)), "\n".join([*build, "model.fit(X, y)"])]


def _read_lines(model: TableModel) -> Iterator[str]:
    """Yield the lines that read the table and convert its columns as ``select`` does."""
    target = model.target
    yield f"table = {_read_call(model.source)}"
    yield f"table = table[table[{target!r}].notna()]"
    names = python_code(list(model.columns))[1]
    yield f"X = table[{names}]"
    flags = [name for name, kind in model.columns.items() if kind == "boolean"]
    if flags:
        yield f"X = X.astype(dict.fromkeys({flags!r}, float))"
    labels = getattr(model.pipeline, "classes_", None)
    if labels is None:
        yield f"y = table[{target!r}].astype(float)"
    elif labels.dtype.kind == "i":
        yield f"y = table[{target!r}].astype(int)"
    else:
        yield f"y = table[{target!r}].astype(str).str.strip()"


def _read_call(source: dict[str, Any]) -> str:
    path, kind = source["path"], source["format"]
    if kind == "sqlite":
        name, _, table = path.partition("::")
        quoted = table.replace('"', '""')
        query = f'SELECT * FROM "{quoted}"'
        return f"pd.read_sql_query({query!r}, sqlite3.connect({name!r}))"
    options: dict[str, Any] = {}
    if kind == "csv":
        path = "TABLE.csv" if path == "-" else path
        options = {"sep": source["sep"], "na_values": list(NULLS), "low_memory": False}
        defaults = {"decimal": ".", "encoding": "utf-8"}
        options |= {name: source[name] for name in defaults if source[name] != defaults[name]}
    elif kind == "json lines":
        options = {"lines": True, "dtype": False}
    elif kind == "excel" and source["sheet"]:
        options = {"sheet_name": source["sheet"]}
        options |= {"decimal": source["decimal"]} if source["decimal"] != "." else {}
    words = "".join(f", {name}={value!r}" for name, value in options.items())
    return f"pd.{_READERS[kind]}({path!r}{words})"


def _notebook(model: TableModel) -> dict[str, Any]:
    """Return the code as cells, with a last one that scores the model by cross-validation."""
    score = "from sklearn.model_selection import cross_val_score\n\ncross_val_score(model, X, y)"
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"cell-{at}", "metadata": {}, "source": text}
        | {"execution_count": None, "outputs": []}
        for at, text in enumerate([*code_parts(model), score])
    ]
    title = {"cell_type": "markdown", "id": "title", "metadata": {}}
    title["source"] = f"# Model for {model.target}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": [title, *cells]}


def to_onnx(model: TableModel) -> bytes:
    """Return the model as ONNX with one input, the columns as floats in their order."""
    try:
        from skl2onnx import to_onnx as convert
        from skl2onnx import update_registered_converter
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError as error:
        raise TableError('ONNX requires skl2onnx: pip install "leavezero[onnx]".') from error
    others = [name for name, kind in model.columns.items() if kind not in ("number", "boolean")]
    unusable = [*others, *model.profile["missing"]]  # skl2onnx ignores how models treat gaps
    if unusable:
        raise TableError(
            f"ONNX requires columns of numbers without missing values; {unusable[0]!r} is not one. "
            "Export a script (.py)."
        )
    pipeline = model.pipeline[1:]  # the cleaner only converts strings
    update_registered_converter(SquashingScaler, "SquashingScaler", _scaler_shape, _convert_scaler)
    options = {id(pipeline): {"zipmap": False}} if model.classes else None
    inputs = [("X", FloatTensorType([None, len(model.columns)]))]
    try:
        found = convert(pipeline, initial_types=inputs, options=options)
    except Exception as error:  # skl2onnx has many types of errors for unsupported models
        reason = str(error).strip().partition("\n")[0][:100]
        raise TableError(
            f"skl2onnx does not support this model ({reason}). Export a script (.py)."
        ) from error
    return bytes(found.SerializeToString())


def _scaler_shape(operator: Any) -> None:
    """Set the shape of the output of skrub's scaler, for skl2onnx."""
    given = operator.inputs[0]
    operator.outputs[0].type = type(given.type)(given.type.shape)


def _convert_scaler(scope: Any, operator: Any, container: Any) -> None:
    """Add skrub's scaler: z / sqrt(1 + (z / max)^2) of linearly scaled columns z."""
    from skl2onnx.algebra import onnx_ops

    scaler = operator.raw_operator
    center, scale = np.zeros((2, scaler.n_features_in_), dtype=np.float32)  # 0: constant columns
    if scaler.robust_scaler_ is not None:
        center[scaler.robust_cols_] = scaler.robust_scaler_.center_
        scale[scaler.robust_cols_] = 1 / scaler.robust_scaler_.scale_
    if scaler.minmax_scaler_ is not None:
        center[scaler.minmax_cols_] = scaler.minmax_scaler_.median_
        scale[scaler.minmax_cols_] = scaler.minmax_scaler_.scale_
    version = {"op_version": container.target_opset}
    z = onnx_ops.OnnxMul(onnx_ops.OnnxSub(operator.inputs[0], center, **version), scale, **version)
    limit = np.array([scaler.max_absolute_value], dtype=np.float32)
    share = onnx_ops.OnnxDiv(z, limit, **version)
    square = onnx_ops.OnnxMul(share, share, **version)
    root = onnx_ops.OnnxSqrt(
        onnx_ops.OnnxAdd(square, np.ones(1, dtype=np.float32), **version), **version
    )
    onnx_ops.OnnxDiv(z, root, **version, output_names=operator.outputs).add_to(scope, container)
