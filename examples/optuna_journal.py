"""
Optuna, with a study that survives its process
==============================================

Optuna proposes the candidates; each is fitted once, on all rows. Where the study is kept in a
file, a second call goes on with what the first one learned, in this process or another.
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

from leavezero import OptunaSearchLZO

optuna.logging.set_verbosity(optuna.logging.WARNING)
X, y = load_wine(return_X_y=True)
model = make_pipeline(StandardScaler(), SVC())
space = {
    "svc__C": optuna.distributions.FloatDistribution(1e-2, 1e3, log=True),
    "svc__gamma": optuna.distributions.FloatDistribution(1e-4, 1e0, log=True),
}
folder = Path(tempfile.mkdtemp())  # yours is a place that stays

# %%
# Optuna's own journal. A study of the same name goes on: the second search proposes eight more
# candidates, knowing the scores of the first eight. Its result table holds its own eight. Keep
# ``random_state``: scores of two calls are comparable if both judge by the same V.


def search_on(file):
    """Return a search whose study is kept in a file."""
    return OptunaSearchLZO(
        model,
        space,
        n_trials=8,
        sampler=optuna.samplers.TPESampler(n_startup_trials=8, seed=0),
        storage=JournalStorage(JournalFileBackend(str(file))),
        study_name="wine",
        random_state=0,
    )


for call in ("first", "second"):
    search = search_on(folder / "study.log").fit(X, y)
    print(f"{call} call: {len(search.study_.trials):2d} trials in the study, ", end="")
    print(f"best so far {search.study_.best_value:.4f}")

# %%
# The journal of leavezero. It promises more, for one and the same search: what is finished is not
# fitted again, and the result is that of a search that was never interrupted. The proposals are
# repeated from the seed, so that it goes without Optuna's storage.

journal = folder / "search.sqlite"
for call in ("first", "second"):
    search = OptunaSearchLZO(model, space, n_trials=8, random_state=0, journal=journal).fit(X, y)
    print(
        f"{call} call: {search.fits_['candidate']} candidates fitted, chosen {search.best_params_}"
    )
