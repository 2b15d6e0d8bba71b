"""
Raw text
========

Generated documents mix the words of two documents of one class.
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from leavezero import GridSearchLZO

rng = np.random.default_rng(0)
common = ["the", "a", "film", "was", "and", "with", "story", "actor", "scene", "music", "end"]
praise, blame = ["great", "lovely", "moving", "funny"], ["dull", "long", "weak", "noisy"]
labels = np.tile([0, 1], 100)
documents = [
    " ".join([*rng.choice(common, 12), *rng.choice(praise if label else blame, 2)])
    for label in labels
]

pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
search = GridSearchLZO(
    pipeline, {"logisticregression__C": [0.01, 1, 100]}, random_state=0, verbose=1
)
search.fit(documents, labels)
print("best:", search.best_params_)
rows = search.validation_set_
print("a generated document:", rows.X[0], "| label", rows.y[0])
