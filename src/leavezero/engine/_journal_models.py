"""Fitted models as bytes, by skops and without pickle."""

import time
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

LARGEST = 2**28  # bytes of one model
ALLOWANCE, SHARE = 2.0, 0.05  # seconds for writing models, and more for each second of fits

# What fitted models of scikit-learn and of this package hold beyond the types that skops trusts.
# None of them runs anything when it is read.
TRUSTED = frozenset(
    {
        "leavezero.semi_supervised._kernels.Kernel",
        "leavezero.semi_supervised._labels.Labels",
        "leavezero.semi_supervised._smir.SMIRClassifier",
        "leavezero.semi_supervised._solve.LabeledRows",
        "leavezero.semi_supervised._solve.Setting",
        "_loss.CyHalfMultinomialLoss",  # scikit-learn's own, as skops names it
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn._loss.link.IdentityLink",
        "sklearn._loss.link.Interval",
        "sklearn._loss.link.LogLink",
        "sklearn._loss.link.LogitLink",
        "sklearn._loss.link.MultinomialLogit",
        "sklearn._loss.loss.AbsoluteError",
        "sklearn._loss.loss.HalfBinomialLoss",
        "sklearn._loss.loss.HalfGammaLoss",
        "sklearn._loss.loss.HalfMultinomialLoss",
        "sklearn._loss.loss.HalfPoissonLoss",
        "sklearn._loss.loss.HalfSquaredError",
        "sklearn._loss.loss.HalfTweedieLoss",
        "sklearn._loss.loss.HalfTweedieLossIdentity",
        "sklearn._loss.loss.HuberLoss",
        "sklearn._loss.loss.PinballLoss",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
        "sklearn.gaussian_process.kernels.ConstantKernel",
        "sklearn.gaussian_process.kernels.DotProduct",
        "sklearn.gaussian_process.kernels.Matern",
        "sklearn.gaussian_process.kernels.Product",
        "sklearn.gaussian_process.kernels.RBF",
        "sklearn.gaussian_process.kernels.RationalQuadratic",
        "sklearn.gaussian_process.kernels.Sum",
        "sklearn.gaussian_process.kernels.WhiteKernel",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.metrics._dist_metrics.MinkowskiDistance64",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
    }
)


class Writer:
    """Writes models while that takes little of the time that fits take.

    A large model of a quick fit is better fitted again than written down.
    """

    def __init__(self, trusted: Iterable[str]) -> None:
        self._trusted = tuple(trusted)
        self._left = ALLOWANCE  # seconds

    def earn(self, fit_time: float) -> None:
        """Hear how long a fit took."""
        self._left += SHARE * fit_time

    def write(self, model: Any) -> tuple[bytes | None, str | None]:
        """Return a model as bytes; None, and why, where it is not kept."""
        _skops()  # importing it is not the model's fault
        if self._left < 0:
            return None, "writing models took too long beside the fits"
        started = time.thread_time()
        found = dumped(model, self._trusted)
        self._left -= time.thread_time() - started
        return found


def dumped(model: Any, trusted: Iterable[str]) -> tuple[bytes | None, str | None]:
    """Return a model as bytes; None, and why, where it could not be read again."""
    io = _skops()
    if io is None:
        return None, "skops is not installed"
    try:
        content: bytes = io.dumps(model)
        unknown = _unknown(io, content, trusted)
    except Exception as error:  # skops raises anything for what it does not know
        return None, f"skops cannot hold it: {error}"
    if unknown:
        return None, f"types that are not trusted: {', '.join(unknown)}"
    if len(content) > LARGEST:
        return None, f"it has {len(content)} bytes"
    return content, None


def loaded(content: bytes, trusted: Iterable[str]) -> Any:
    """Return the model; None where it cannot be read, or holds a type that is not trusted."""
    io = _skops()
    if io is None:
        return None
    try:
        if _unknown(io, content, trusted):
            return None
        return io.loads(content, trusted=sorted(TRUSTED | set(trusted)))
    except Exception:  # it is fitted again
        return None


def _skops() -> Any:
    """Return skops' reader and writer; None where it is not installed."""
    return None if find_spec("skops") is None else import_module("skops.io")


def _unknown(io: Any, content: bytes, trusted: Iterable[str]) -> list[str]:
    return sorted(set(io.get_untrusted_types(data=content)) - TRUSTED - set(trusted))
