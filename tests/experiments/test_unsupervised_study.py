"""The studies of searches without a target run and report."""

import pytest

from experiments.unsupervised.studies import STUDIES


@pytest.mark.parametrize(
    ("name", "design"),
    [
        ("clusters", "iris"),
        ("components", "PCA, 100 x 10, 3 strong"),
        ("outliers", "ring"),
        ("queries", "wine"),
    ],
)
def test_a_design_of_each_kind(name, design):
    study = STUDIES[name]
    assert design in study.designs
    record = study.run(design, 2)
    others = {"3 separated, 2 columns": {**record, "k": 3}} if name == "clusters" else {}
    tables = study.report({design: record, **others}, 2)
    assert all(len(table.rows) for table in tables[:2])
    assert any("2 draws" in table.notes[0] for table in tables if table.notes)
