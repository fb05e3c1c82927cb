"""Comparing results with what they should be."""

from __future__ import annotations

from typing import Any

import numpy as np

from tecomp_runtime.array import Array


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Raise AssertionError, with the worst element, unless both have one shape and |a - d| <= atol + rtol * |d|."""
    given, wanted = (x.numpy() if isinstance(x, Array) else np.asarray(x) for x in (actual, desired))
    assert given.shape == wanted.shape, f"shapes differ: {given.shape} and {wanted.shape}"
    np.testing.assert_allclose(given, wanted, rtol=rtol, atol=atol)
