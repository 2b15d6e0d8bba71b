"""
Resume a search
===============

With a checkpoint, finished candidates are saved to a file. The same call continues after an
interruption. Optuna's own storage is an alternative: a second call proposes more candidates.
"""

import tempfile
from pathlib import Path

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO, OptunaSearchLZO

optuna.logging.set_verbosity(optuna.logging.WARNING)
X, y = load_wine(return_X_y=True)
model = make_pipeline(StandardScaler(), SVC())
folder = Path(tempfile.mkdtemp())  # use a folder that stays

# %%
# A checkpoint. The second call reads all scores from the file; only the best candidate is fitted
# once more, because the file contains no models.

grid = {"svc__C": [0.1, 1, 10], "svc__gamma": [0.01, 0.1]}
for call in ("first", "second"):
    search = GridSearchLZO(model, grid, random_state=0, checkpoint=folder / "search.sqlite")
    print(f"{call} call: {search.fit(X, y).fit_counts_}, best {search.best_params_}")

# %%
# Optuna's storage. The second search proposes eight more candidates and uses the scores of the
# first eight. Keep ``random_state``: scores are comparable if both calls use the same validation
# set.

space = {
    "svc__C": optuna.distributions.FloatDistribution(1e-2, 1e3, log=True),
    "svc__gamma": optuna.distributions.FloatDistribution(1e-4, 1e0, log=True),
}
for call in ("first", "second"):
    search = OptunaSearchLZO(
        model,
        space,
        n_trials=8,
        sampler=optuna.samplers.TPESampler(n_startup_trials=8, seed=0),
        storage=JournalStorage(JournalFileBackend(str(folder / "study.log"))),
        study_name="wine",
        random_state=0,
    ).fit(X, y)
    print(f"{call} call: {len(search.study_.trials)} trials in the study, ", end="")
    print(f"best score {search.study_.best_value:.4f}")
