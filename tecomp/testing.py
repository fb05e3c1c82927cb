"""Comparing results with what they should be, and asking which targets run here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tecomp_runtime.array import Array, Device, device, enabled

_TARGETS: Final = ("llvm", "cuda")

device_enabled = enabled
"""Whether functions built for a target of that kind run here: device_enabled("cuda")."""


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Raise AssertionError, with the worst element, unless both have one shape and |a - d| <= atol + rtol * |d|."""
    given, wanted = (x.numpy() if isinstance(x, Array) else np.asarray(x) for x in (actual, desired))
    assert given.shape == wanted.shape, f"shapes differ: {given.shape} and {wanted.shape}"
    np.testing.assert_allclose(given, wanted, rtol=rtol, atol=atol)


def enabled_targets() -> list[tuple[str, Device]]:
    """Return the targets whose functions run here, each with its first device."""
    return [(target, device(target)) for target in _TARGETS if enabled(target)]


def parametrize_targets(*targets: Any) -> Any:
    """Return the decorator of a pytest test of (target, dev): run for each target, skipped where that does not run.

    Without targets, @parametrize_targets itself decorates the test, for all there are.
    """
    if len(targets) == 1 and callable(targets[0]):
        return _parametrized(_TARGETS)(targets[0])
    return _parametrized(targets)


def _parametrized(targets: tuple[str, ...]) -> Callable[[Any], Any]:
    mark: Any = importlib.import_module("pytest").mark
    rows = [_row(target) for target in targets]
    return mark.parametrize(("target", "dev"), rows)


def _row(target: str) -> Any:
    pytest: Any = importlib.import_module("pytest")
    skip = pytest.mark.skipif(not enabled(target), reason=f"functions for {target} do not run here")
    return pytest.param(target, device(target), marks=skip, id=target)


def _required(target: str) -> Callable[[Any], Any]:
    def decorate(test: Any) -> Any:
        mark: Any = importlib.import_module("pytest").mark
        return mark.skipif(not enabled(target), reason=f"functions for {target} do not run here")(test)

    return decorate


requires_llvm, requires_cuda, requires_gpu = _required("llvm"), _required("cuda"), _required("cuda")
"""Decorators of tests that are skipped where such a target does not run."""
