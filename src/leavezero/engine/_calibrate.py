"""What V's score is off by for a candidate, from what it is off by for reference models."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from leavezero._typing import AnyArray, Floats, Ints

NUGGET = 0.1  # variance of a reference's own deviation, in units of disagreement


@dataclass(frozen=True, eq=False)
class Calibration:
    """The bias of V as a function of what a model answers.

    Ordinary kriging (Cressie 1993, section 3.2) of the references' biases ``b``: the variogram is
    the share of V's rows that two models answer differently, plus the nugget for two different
    models. With D the matrix of these shares between references and d the candidate's, the bias is
    ``mean - d @ weights`` where ``(nugget I - D) weights + mean 1 = b`` and ``sum(weights) = 0``.
    """

    said: Ints
    weights: Floats
    mean: float

    def bias(self, codes: Ints) -> float:
        """Return the honest score minus V's for a model that answers these codes."""
        return self.mean - float(disagreement(codes[:, None], self.said)[0] @ self.weights)


def calibrate(said: Ints, biases: Floats) -> Calibration:
    """Return the bias as a function of answers, from those of references and their biases.

    Examples
    --------
    >>> import numpy as np
    >>> said = np.array([[0, 1], [0, 1], [1, 1]])
    >>> found = calibrate(said, np.array([-0.2, 0.0]))
    >>> found.bias(said[:, 0]) < found.bias(said[:, 1])
    True
    """
    weights, mean = kriging_weights(disagreement(said, said), biases)
    return Calibration(said, weights, mean)


def krige(
    between: Floats, biases: Floats, to_models: Floats, nugget: float | Floats = NUGGET
) -> Floats:
    """Return the bias of models by their distances to those whose bias is known.

    Examples
    --------
    >>> import numpy as np
    >>> between = np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> krige(between, np.array([-0.2, 0.0]), between).round(2)
    array([-0.18, -0.02])
    """
    weights, mean = kriging_weights(between, biases, nugget)
    return mean - to_models @ weights


def kriging_weights(
    between: Floats, biases: Floats, nugget: float | Floats = NUGGET
) -> tuple[Floats, float]:
    """Solve the system of ordinary kriging; return a weight a reference, and the mean."""
    n_models = len(biases)
    system = np.ones((n_models + 1, n_models + 1))
    system[:-1, :-1] = nugget * np.eye(n_models) - between
    system[-1, -1] = 0.0
    solution = np.linalg.solve(system, np.append(biases, 0.0))
    return solution[:-1], float(solution[-1])


def disagreement(first: Ints, second: Ints) -> Floats:
    """Return the share of rows on which each pair of columns differs."""
    agreed = np.zeros((first.shape[1], second.shape[1]), dtype=np.float64)
    for code in np.intersect1d(first, second):
        hits = [(codes == code).astype(np.float32) for codes in (first, second)]
        agreed += hits[0].T @ hits[1]  # counts below 2^24 are exact
    return 1.0 - agreed / len(first)


class Speaker(ClassifierMixin, BaseEstimator):
    """Stands in for a fitted model before a scorer: its labels are known, rows are positions."""

    def __init__(self, labels: AnyArray, classes: AnyArray) -> None:
        self._labels = labels
        self.classes_ = classes

    def predict(self, rows: Ints) -> AnyArray:
        """Return the labels at the given positions."""
        return self._labels[rows]

    def all_of(self, method: str) -> AnyArray:
        """Return the labels of all rows."""
        return self._labels
