"""A search over a table, and what came of it."""

import numpy as np
import pandas as pd
import pytest

from leavezero.tabular import Wish, prepare, select_model


@pytest.mark.parametrize("n_done", [1, 2, 3, 4])
def test_an_interrupt_hands_back_the_model_that_the_table_calls_best(n_done, tmp_path):
    """Candidates do not end in the order of the table, which then has the finished ones only."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    path, grid = tmp_path / "a.csv", tmp_path / "grid.toml"
    pd.DataFrame({"x": x, "y": np.where(x + rng.normal(size=60) > 0, "p", "n")}).to_csv(path)
    grid.write_text("[tree]\ngrid = {max_depth = [9, 5, 1, 7, 3]}\n")
    heard = []

    def stopping(one):
        heard.append(one.params)
        if one.n_done == n_done:
            raise KeyboardInterrupt

    wish = Wish("y", grid=grid)
    selected = select_model(prepare(path, wish), wish, stopping)
    assert selected.interrupted
    assert len(heard) == selected.n_done == n_done
    best = selected.rows()[0]["params"]
    assert best in heard
    assert selected.model.pipeline[-1].max_depth == best["max_depth"]
