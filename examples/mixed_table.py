"""
A table with categories and missing values
==========================================

The data frame is passed as it is. The validation set has its columns, dtypes and missing values.
"""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from leavezero import GridSearchLZO

rng = np.random.default_rng(0)
n = 300
table = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n),
        "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(10, 0.5, n)),
        "town": rng.choice(["Bonn", "Kiel", "Ulm"], n),
        "member": rng.random(n) < 0.4,
    }
)
buys = (table["age"] / 40 + (table["town"] == "Ulm") + rng.normal(size=n) > 1.7).astype(int)

pipeline = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income"]),
        (OneHotEncoder(), ["town", "member"]),
    ),
    LogisticRegression(),
)
search = GridSearchLZO(
    pipeline, {"logisticregression__C": [0.01, 0.1, 1, 10]}, random_state=0, verbose=1
)
search.fit(table, buys)
print("best:", search.best_params_)
print("first rows of the validation set:")
print(search.validation_set_.X.head(5))
