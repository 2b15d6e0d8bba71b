"""Public names, their documentation, and what importing the package requires."""

import ast
import dataclasses
import importlib
import inspect
import math
import re
import subprocess
import sys

import numpy as np
import optuna
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC

import leavezero as lzo
from leavezero import augment

PACKAGES = [
    "leavezero",
    "leavezero.augment",
    "leavezero.diagnostics",
    "leavezero.exceptions",
    "leavezero.leave_one_out",
    "leavezero.search",
    "leavezero.semi_supervised",
    "leavezero.testing",
    "leavezero.unsupervised",
]
OPTIONAL = [
    *("distributed", "jinja2", "lightgbm", "matplotlib", "optuna", "pandas", "polars", "pyarrow"),
    *("ray", "rich", "skops", "skrub", "typer", "xgboost"),
]


def public_objects():
    """Yield each public class and function once, with the name of its package."""
    seen = set()
    for package in PACKAGES[::-1]:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isfunction(value)) and name not in seen:
                seen.add(name)
                yield pytest.param(value, id=f"{package}.{name}")


def documented_parameters(value, section="Parameters"):
    """Return the entries of a section of a docstring: what follows the colon, by name."""
    section = re.search(
        rf"^{section}\n-+\n(.*?)(?=^\w[^\n]*\n-{{3,}}|\Z)",
        inspect.getdoc(value) or "",
        flags=re.DOTALL | re.MULTILINE,
    )
    found = {}
    for entry in re.findall(r"^(\S.*)$", section[1] if section else "", flags=re.MULTILINE):
        names, _, description = entry.partition(" : ")
        found |= {name.strip().lstrip("*"): description for name in names.split(",")}
    return found


def has_parameters(value):
    """Return False for exceptions and for abstract classes without parameters."""
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    is_abstract = inspect.isabstract(value) and not documented_parameters(value)
    return not (is_error or is_abstract)


def has_factory(value, name):
    """Return whether a field of a record has a new default in each object."""
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    return any(
        one.name == name and one.default_factory is not dataclasses.MISSING for one in fields
    )


def equals_default(text, default):
    """Return whether a documented default is the one of the signature."""
    if text == "nan":
        return isinstance(default, float) and math.isnan(default)
    try:
        return bool(ast.literal_eval(text) == default)
    except ValueError:  # the name of a public constant
        diagnostics = importlib.import_module("leavezero.diagnostics")
        return getattr(diagnostics, text, None) is default


@pytest.mark.parametrize("value", list(public_objects()))
def test_documentation(value):
    """Every public object has an example; parameters and defaults match the signature."""
    text = inspect.getdoc(value) or ""
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    assert text
    assert is_error or ">>>" in text
    if not has_parameters(value):
        return
    signature, documented = inspect.signature(value).parameters, documented_parameters(value)
    assert set(signature) == set(documented)
    for name, description in documented.items():
        default = signature[name].default
        given = re.search(r"default=(.*)$", description)
        if given:
            assert equals_default(given[1], default), name
        elif description and not has_factory(value, name):
            assert default is inspect.Parameter.empty, name


def fitted_objects():
    """Yield unfitted searches, augmenters and estimators with a target for them."""
    X, y = load_iris(return_X_y=True)
    few = np.where(np.arange(len(y)) % 5 == 0, y, -1)
    grid, copula = {"C": [0.1, 1, 10]}, augment.CopulaAugmenter()
    distributions = {"C": optuna.distributions.FloatDistribution(0.1, 10)}
    for search in (
        lzo.GridSearchLZO(SVC(), grid),
        lzo.RandomizedSearchLZO(SVC(), grid, n_iter=2),
        lzo.HalvingGridSearchLZO(SVC(), grid),
        lzo.HalvingRandomSearchLZO(SVC(), grid, n_candidates=3),
        lzo.OptunaSearchLZO(SVC(), distributions, n_trials=2),
        lzo.CandidateSearchLZO({"svm": SVC()}),
        lzo.PrequentialSearchLZO(SGDClassifier(), {"alpha": [0.01, 1.0]}),
    ):
        yield search.set_params(random_state=0), X, y
    for one in (
        *(augment.FixedValidationSet(X, y), augment.FunctionAugmenter(lambda *data: data[:2])),
        *(augment.GaussianAugmenter(), augment.GaussianMixtureAugmenter(), copula),
        *(augment.ForestAugmenter(), augment.LabelInvariantMixup(), augment.NeighborMixup()),
        *(augment.OrthogonalTransform(), augment.ImageAugmenter((2, 2))),
        *(augment.AugmenterUnion([copula]), augment.AugmenterPipeline([copula])),
        augment.DensityRatioWeighted(copula),
    ):
        yield one, X, y
    yield from ((one, X, few) for one in (augment.PseudoLabeled(copula), lzo.SMIRClassifier()))
    yield augment.LabeledOnly(copula), X, few


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "X", "y"),
    [pytest.param(*one, id=type(one[0]).__name__) for one in fitted_objects()],
)
def test_fitted_attributes_are_documented(estimator, X, y):
    """In the class, in a base class, or in the search that the class refers to."""
    estimator.fit(X, y)
    names = {name for name in dir(estimator) if re.fullmatch(r"[a-zA-Z]\w*_", name)}
    kinds = [*type(estimator).__mro__]
    for name in re.findall(r"See :class:`(\w+)`", inspect.getdoc(estimator)):
        kinds += [getattr(lzo, name, None) or getattr(augment, name)]
        kinds += [lzo.GridSearchLZO] * name.startswith("Halving")
    known = {name for kind in kinds for name in documented_parameters(kind, "Attributes")}
    own = documented_parameters(type(estimator), "Attributes")
    assert names - known - {"n_features_in_"} == set()
    assert set(own) - names - {"feature_names_in_"} == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_sorted_and_exist(package):
    module = importlib.import_module(package)
    assert inspect.getdoc(module)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def run(code):
    """Run code in a new process and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_import_requires_no_optional_package():
    """Only numpy, scipy, scikit-learn and joblib are required."""
    run(f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL!r})); from leavezero import *")


def test_packages_are_imported_at_first_use():
    assert run(f"import leavezero; print({', '.join(PACKAGES)})").count("<module") == len(PACKAGES)


def test_public_names_are_imported_at_first_use():
    """So that the help page of the command line needs no scikit-learn."""
    loaded = "print(*{'sklearn', 'pandas', 'leavezero.search'} & set(sys.modules))"
    assert run(f"import sys, leavezero.cli._commands; {loaded}") == ""
    assert "GridSearchLZO" in run("import leavezero; print(dir(leavezero))")
    # skops looks names of SciPy up in all imported modules
    assert run(f"import sys, leavezero; hasattr(leavezero, 'expit'); {loaded}") == ""
    code = f"import pickle, sys, leavezero; print(leavezero.augment.__name__); {loaded}; "
    code += "print(pickle.dumps(leavezero.GridSearchLZO))"
    augment, search, pickled = run(code).split("\n")
    assert augment == "leavezero.augment"
    assert "leavezero.search" not in search
    assert "leavezero.search._grid" in pickled
    with pytest.raises(AttributeError, match="module 'leavezero' has no attribute 'GridSearch'"):
        importlib.import_module("leavezero").GridSearch  # noqa: B018
