"""SMIRClassifier: settings with the same kernel share its eigendecomposition."""

from collections.abc import Hashable, Mapping
from typing import Any

from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit._joint_fit import JointFit, JointlyFitted, params_key
from leavezero.semi_supervised import SMIRClassifier, fit_many, predict_proba_many


class SMIRPath(JointFit):
    """SMIRClassifier along ``gamma``, ``offset`` and ``prior``.

    Models and predictions equal those of plain fits up to rounding.
    """

    name = "SMIR path"
    estimator_types = (SMIRClassifier,)

    def key(self, estimator: Any) -> Hashable | None:
        """Return the parameters of the kernel."""
        return params_key(estimator, "gamma", "offset", "prior")

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit the models with one decomposition."""
        if sample_weight is not None:
            raise ValueError("SMIRClassifier.fit takes no sample_weight.")
        return JointlyFitted(fit_many(estimators, X, y))

    def predict(self, fitted: JointlyFitted, X: Table) -> list[Mapping[str, AnyArray]]:
        """Return labels and probabilities; the kernel is computed once."""
        return [
            {"predict": model.classes_[values.argmax(axis=1)], "predict_proba": values}
            for model, values in zip(
                fitted.models, predict_proba_many(fitted.models, X), strict=True
            )
        ]
