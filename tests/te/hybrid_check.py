"""A hybrid function compiled, interpreted and run as plain Python: the three results agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tecomp
from tecomp import te
from tecomp.ir.interpret import interpret

Array = np.ndarray[Any, Any]
Scheduled = Callable[[Any, Any], None]


def floats(*shape: int) -> Array:
    return np.random.default_rng(3).standard_normal(shape).astype("float32")


def compiled(function: Any, *args: Any) -> tuple[list[Any], tuple[Any, ...], list[Any]]:
    """Return the arguments of a program of `function`, its outputs, the values of the arguments.

    An array stands for a tensor of symbolic extents, a number is a constant.
    """
    tensors: list[Any] = []
    values: list[Any] = []

    def given(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return tuple(map(given, value))
        if not isinstance(value, np.ndarray):
            return value
        name = "abcdefgh"[len(tensors)]
        shape = tuple(te.var(f"{name}{dim}") for dim in range(value.ndim))
        tensors.append(te.placeholder(shape, value.dtype.name, name))
        values.append(value)
        return tensors[-1]

    outs = function(*map(given, args))
    outs = outs if isinstance(outs, tuple) else (outs,)
    return [*tensors, *outs], outs, values


def check(function: Any, *args: Any, schedule: Scheduled | None = None, tolerance: float = 1e-6) -> list[Array]:
    """Compare all results of the function; return them as Python gives them."""
    params, outs, values = compiled(function, *args)
    s = te.create_schedule(outs[0].op)
    if schedule is not None:
        schedule(s, outs[0].op)
    plain = function(*args)
    wanted = list(plain) if isinstance(plain, tuple) else [plain]
    runs = (lambda *arrays: interpret(tecomp.lower(s, params), *arrays), tecomp.build(s, params))
    for run in runs:
        found = [np.zeros(result.shape, result.dtype) for result in wanted]
        run(*values, *found)
        for got, want in zip(found, wanted, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    return wanted
