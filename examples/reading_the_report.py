"""
Reading the report
==================

A fitted search writes one page about itself. The same facts are a plain dictionary in Python.
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
search = GridSearchLZO(model, grid, return_train_score=True, random_state=0).fit(X, y)

trust = search.trust()  # made once, used twice
path = Path(tempfile.mkdtemp()) / "report.html"
search.to_html(path, trust=trust, title="Which neighbors tell wines apart")
print(f"{path.name} has {path.stat().st_size / 1024:.0f} KiB and needs no network")

summary = search.summary(trust=trust)
choice = summary["choice"]
print(f"chosen: {choice['label']}, {summary['run']['metric']} {choice['score']:.3f}")
for sentence in choice["sentences"]:
    print(" ", sentence)
for finding in summary["trust"]["findings"]:
    if finding["level"] in ("warning", "note"):
        print(f"  {finding['level']}: {finding['title']}. {finding['sentence']}")
print(summary["run"]["fits"]["sentence"])
