"""The kernels that asv times can be run: each once, on small data."""

import importlib.util
import inspect
import itertools
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "benchmarks" / "kernels" / "kernels.py"


def kernels():
    """Return the module, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("kernels", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.N_ROWS = 60
    return module


def timed():
    """Yield every class with one of its methods and parameters."""
    for name, kind in inspect.getmembers(kernels(), inspect.isclass):
        methods = [method for method in vars(kind) if method.startswith("time_")]
        parameters = [(value,) for value in getattr(kind, "params", ())] or [()]
        for method, given in itertools.product(methods, parameters):
            yield pytest.param(kind, method, given, id=f"{name}-{method}-{given}")


@pytest.mark.parametrize(("kind", "method", "given"), list(timed()))
def test_every_kernel_runs(kind, method, given):
    kernel = kind()
    kernel.setup(*given)
    try:
        getattr(kernel, method)(*given)
    finally:
        kernel.teardown(*given)
