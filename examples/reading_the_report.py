"""
Read the report
===============

A fitted search writes one HTML page. The same content is available as a dict.
"""

import tempfile
from pathlib import Path

from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import GridSearchLZO

X, y = load_wine(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), KNeighborsClassifier())
grid = {
    "kneighborsclassifier__n_neighbors": [1, 5, 9, 15],
    "kneighborsclassifier__weights": ["uniform", "distance"],
}
search = GridSearchLZO(model, grid, random_state=0).fit(X, y)

diagnostics = search.diagnose()  # computed once, used twice
path = Path(tempfile.mkdtemp()) / "report.html"
search.to_html(path, diagnostics=diagnostics, about={"title": "Wines by nearest neighbors"})
print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB, no network required")

summary = search.summary(diagnostics=diagnostics)
selection = summary["selection"]
print(f"best: {selection['label']}, {summary['run']['metric']} {selection['score']:.3f}")
print(f"baseline: {summary['baseline']:.3f}")
for column in summary["held_out"]["importances"][:3]:
    print(f"{column['label']}: {column['score']:.3f} ({column['low']:.3f} to {column['high']:.3f})")
for check in summary["diagnostics"]["checks"]:
    if check["level"] in ("warning", "note"):
        print(f"{check['level']}: {check['code']} {check['title']}. {check['message']}")
