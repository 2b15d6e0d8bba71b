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


def test_thousands_are_told_for_columns_and_target(tmp_path):
    """So that nobody has to guess what was read."""
    path = tmp_path / "a.csv"
    rows = [f"{at / 8:.2f}\t1,{at * 3 % 41:03}\t{at * 7 % 40},500" for at in range(1, 40)]
    path.write_text("\n".join(["a\tx\ty", *rows]))
    ready = prepare(path, Wish("y", models=("tree",)))
    assert ready.X["x"].iloc[0] == 1003
    assert ready.target.values[0] == 7500
    assert "A comma in the cells of 'y' parts thousands." in ready.notices
    told = "Column 'x' is read as number: a comma in its cells parts thousands."
    assert told in ready.notices


def test_percent_signs_are_told(tmp_path):
    """Whether the cells repeat or not; other words are let be."""
    path = tmp_path / "a.csv"
    rows = [f"{at / 8:.2f},{at % 3}.5%,{at}.25 %,{'pq'[at % 2]},{at * 7 % 5}" for at in range(40)]
    path.write_text("\n".join(["a,few,many,word,y", *rows]))
    told = prepare(path, Wish("y", models=("tree",))).notices
    assert (
        "Percent signs make words of the numbers in 'few', 'many'. Leave the signs out to have "
        "them read as numbers." in told
    )
    path.write_text(
        "\n".join(["a,word,y", *(f"{at / 8:.2f},{'pq'[at % 2]},0{at % 2}" for at in range(40))])
    )
    assert not any("Percent" in one for one in prepare(path, Wish("y", models=("tree",))).notices)
