"""Every function of numbers has its derivative, and it is the right one."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tecomp import te
from tecomp.te import math as functions
from tecomp.te.autodiff.derivatives import DERIVATIVES
from tests.te.finite_differences import body, check, drawn, run

F64 = "float64"

RANGES = {
    "acosh": (1.2, 3.0),
    "floor": (0.1, 0.9),
    "round": (0.6, 0.9),
    "nearbyint": (0.6, 0.9),
    "log1p": (-0.8, 2.0),
    **dict.fromkeys(("abs", "atan", "asinh", "erf", "sigmoid", "sin", "sinh", "tanh", "expm1"), (-2.0, 2.0)),
    **dict.fromkeys(("asin", "acos", "atanh"), (-0.9, 0.9)),
}
"""Where a function is tried; 0.2 to 0.9 otherwise."""

INTEGERS = {
    *("bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "clz", "popcount", "shift_left", "shift_right"),
    *("floordiv", "floormod", "indexdiv", "indexmod", "truncdiv", "truncmod"),
}
"""Functions of integers, of which no slope is asked."""
BOOLS = {"isfinite", "isinf", "isnan"}


def called(name: str) -> str:
    """Return the name of the operation that a function of te makes of floats, or of its node."""
    function = getattr(functions, name)
    count = {"cast": 0, "astype": 0, "fma": 3, "clip": 3}.get(name)
    if count == 0:
        return "Cast"
    count = count or len(inspect.signature(function).parameters)
    variables = [te.var(f"x{at}", F64) for at in range(count)]
    if name == "ldexp":
        variables[1] = te.var("n")
    made = function(*variables)
    return getattr(made, "name", type(made).__name__)


def test_every_function_of_floats_has_a_derivative() -> None:
    nodes = {"Add", "Sub", "Mul", "Div", "Min", "Max", "Cast"}
    names = set(functions.__all__) - INTEGERS - BOOLS
    assert {name for name in names if called(name) not in DERIVATIVES} == {
        *("add", "astype", "cast", "clip", "div", "multiply", "subtract")
    }
    assert {called(name) for name in names} <= {*DERIVATIVES, *nodes}


def test_no_derivative_is_of_another_function() -> None:
    names = set(functions.__all__) - INTEGERS - BOOLS
    assert set(DERIVATIVES) == {called(name) for name in names} - {"Add", "Sub", "Mul", "Div", "Min", "Cast"}


UNARY = sorted(name for name, formulas in DERIVATIVES.items() if len(formulas) == 1)
BINARY = sorted(name for name, formulas in DERIVATIVES.items() if len(formulas) == 2 and name != "ldexp")


def test_functions_of_one_number() -> None:
    """One sum of all, each of an input of its own."""
    inputs = {name: te.placeholder((7,), F64, name=name) for name in UNARY}
    total = te.compute((7,), lambda i: sum((getattr(te, name)(X[i]) for name, X in inputs.items()), te.const(0, F64)))
    check(total, {X: drawn(7, **_range(name)) for name, X in inputs.items()}, tolerance=1e-5)


def _range(name: str) -> dict[str, float]:
    return dict(zip(("low", "high"), RANGES.get(name, (0.2, 0.9)), strict=True))


def test_functions_of_two_numbers() -> None:
    inputs = {name: [te.placeholder((5,), F64, name=f"{name}{at}") for at in "ab"] for name in BINARY}
    del inputs["nextafter"]
    terms = lambda i: (getattr(te, name)(a[i], b[i]) for name, (a, b) in inputs.items())
    total = te.compute((5,), lambda i: sum(terms(i), te.const(0, F64)))
    values = {}
    for a, b in inputs.values():
        values[a], values[b] = drawn(5) * [1, 2, 1, 1, 3], drawn(5, low=0.3, high=0.5)
    check(total, values, tolerance=1e-5)


def test_other_functions() -> None:
    a, b, c = (te.placeholder((5,), F64, name=name) for name in "abc")
    n = te.placeholder((5,), "int32", name="n")
    total = te.compute((5,), lambda i: te.fma(a[i], b[i], c[i]) + te.ldexp(a[i], n[i]) + te.clip(c[i], 0.4, 0.6) / b[i])
    check(total, {a: drawn(5), b: drawn(5) + 1, c: drawn(5) * 2, n: np.array([0, 1, -1, 3, 2], np.int32)})


POWERS = {2: "2.0 * X[i]", 3: "3.0 * pow(X[i], 2.0)", 0.5: "0.5 * pow(X[i], -0.5)"}


@pytest.mark.parametrize("exponent", POWERS)
def test_a_power_with_a_constant_exponent(exponent: float) -> None:
    X = te.placeholder((4,), F64, name="X")
    Y = te.compute((4,), lambda i: te.pow(X[i], exponent), name="Y")
    (grad,) = te.gradient(Y, [X], head=te.placeholder((4,), F64, name="head"))
    assert body(grad) == f"head[i] * ({POWERS[exponent]})"


CORNERS = {
    "abs": (te.abs, {-2.0: -1, 0.0: 0, 3.0: 1}),
    "relu": (lambda x: te.max(x, 0.0), {-2.0: 0, 0.0: 0, 3.0: 1}),
    "relu, the constant first": (lambda x: te.max(0.0, x), {-2.0: 0, 0.0: 0, 3.0: 1}),
    "min": (lambda x: te.min(1.0, x), {0.5: 1, 1.0: 0, 2.0: 0}),
    "the greater of both": (lambda x: te.max(x * 2.0, x * 3.0), {-1.0: 2, 0.0: 3, 1.0: 3}),
    "hypot": (lambda x: te.hypot(x, 0.0), {-2.0: -1, 0.0: 0, 2.0: 1}),
    "a power of 0": (lambda x: te.pow(x, te.max(x, 0.0)), {0.0: 0}),
    "a root that is not taken": (lambda x: te.if_then_else(x > 0, te.sqrt(x), 0.0), {-1.0: 0, 0.0: 0, 4.0: 0.25}),
    "a logarithm that is not taken": (lambda x: te.Select(x > 0, te.log(x), x), {-1.0: 1, 0.0: 1, 4.0: 0.25}),
    "floor": (lambda x: te.floor(x) * x, {1.5: 1, 2.0: 2}),
    "nextafter": (lambda x: te.nextafter(x, 100.0), {1.5: 1}),
    "no number passes": (lambda x: te.max(x, 0.0), {np.nan: 1}),
}


@pytest.mark.parametrize("case", CORNERS)
def test_corners(case: str) -> None:
    function, slopes = CORNERS[case]
    points = np.array([*slopes], np.float64)
    X = te.placeholder(points.shape, F64, name="X")
    Y = te.compute(points.shape, lambda i: function(X[i]), name="Y")
    ones = te.compute(points.shape, lambda i: te.const(1, F64), name="ones")
    (found,) = run(te.gradient(Y, [X], head=ones), {X: points}, [points.shape])
    np.testing.assert_array_equal(found, [*slopes.values()])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_other_types(dtype: str) -> None:
    """A cast is differentiated in the type it comes from."""
    X = te.placeholder((4,), dtype, name="X")
    Y = te.compute((4,), lambda i: X[i].astype(F64) * 3.0 + te.tanh(X[i]).astype(F64), name="Y")
    (grad,) = te.gradient(Y, [X], head=te.placeholder((4,), F64, name="head"))
    assert grad.dtype == dtype


def test_integers_pass_nothing_on() -> None:
    X = te.placeholder((4,), F64, name="X")
    Y = te.compute((4,), lambda i: X[i] * X[i].astype("int32").astype(F64), name="Y")
    (grad,) = te.gradient(Y, [X], head=te.placeholder((4,), F64, name="head"))
    assert body(grad) == "head[i] * f64(i32(X[i]))"
