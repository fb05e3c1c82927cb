"""What a function requires of its sizes is checked before it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tecomp_runtime import ArgumentError
from tecomp_runtime.arguments import Arguments


def arguments(**more: Any) -> Arguments:
    """Return the arguments of f(X: float32[m], k: int32), which requires more rows than k."""
    x = {"name": "X", "kind": "buffer", "dtype": "float32", "shape": ["m"], "strides": None, "output": True, "align": 4}
    k = {"name": "k", "kind": "scalar", "dtype": "int32"}
    return Arguments({"name": "f", "params": [x, k], "sizes": ["m"], **more})  # pyright: ignore[reportArgumentType]


REQUIRED = [["k < m", "the scan 'f' starts from k + 1 steps"]]


def test_a_requirement_names_sizes_and_scalars() -> None:
    values, _ = arguments(requires=REQUIRED).bind((np.zeros(3, np.float32), 2))
    assert values[1:] == [2, 3]


def test_a_call_that_does_not_meet_it() -> None:
    with pytest.raises(ArgumentError) as refusal:
        arguments(requires=REQUIRED).bind((np.zeros(3, np.float32), 3))
    assert str(refusal.value) == (
        "f: k < m does not hold: k is 3, m is 3\n"
        "  because: the scan 'f' starts from k + 1 steps\n"
        "  legal: f(X: float32[m], k: int32)"
    )


def test_it_is_asked_again_for_another_scalar() -> None:
    checked = arguments(requires=REQUIRED)
    checked.bind((np.zeros(3, np.float32), 2))
    with pytest.raises(ArgumentError):
        checked.bind((np.zeros(3, np.float32), 3))


def test_a_function_may_require_nothing() -> None:
    arguments(requires=[]).bind((np.zeros(0, np.float32), 5))
    arguments().bind((np.zeros(0, np.float32), 5))
