"""Fixtures that leave out slow steps of ``leavezero select``."""

from types import SimpleNamespace

import pytest
from sklearn.model_selection import ParameterGrid

from leavezero.cli._prepare_table import TableOptions, prepare_table
from leavezero.cli._select_command import _save_model
from leavezero.search import CandidateSearchLZO


@pytest.fixture
def no_report(monkeypatch):
    """Write an empty report."""
    monkeypatch.setattr(CandidateSearchLZO, "to_html", lambda self, **options: "")


@pytest.fixture(scope="session")
def save_model_of():
    """Return a function that fits and saves one built-in model, without a search."""

    def save(path, target, name, **options):
        options = TableOptions(path, target, models=(name,), out=path.parent, **options)
        prepared = prepare_table(options)
        pipeline, grid = prepared.candidates[name]
        pipeline.set_params(**next(iter(ParameterGrid(grid))))
        pipeline.fit(prepared.X, prepared.target.values)
        _save_model(prepared, options, SimpleNamespace(best_estimator_=pipeline), [])
        return path.parent / "model.skops"

    return save
