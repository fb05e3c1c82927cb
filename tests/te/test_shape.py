"""Shapes, types and names."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tests.te.message import message, text

n = te.var("n")


def test_shapes() -> None:
    assert te.placeholder(5).shape == (te.const(5),)
    assert te.placeholder(n).shape == (n,)
    assert te.placeholder([n, 2 * n + 1]).shape == (n, 2 * n + 1)
    assert te.placeholder(()).shape == ()
    assert te.placeholder((0, np.int32(3))).shape == (te.const(0), te.const(3))
    assert te.placeholder(2**40).shape[0] is te.const(2**40, "int64")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64", "float32x4"])
def test_types(dtype) -> None:
    assert te.placeholder(4, dtype).dtype == dtype


def test_a_numpy_type_is_the_type_of_that_name() -> None:
    assert te.placeholder(4, np.int16).dtype is te.placeholder(4, "int16").dtype
    assert te.placeholder(4).dtype is te.placeholder(4, np.dtype("float32")).dtype


def asked(entry: str, position: int = 0) -> str:
    return f"te.placeholder 'A': extent {position} of the shape is {entry}"


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((2.0,), text(asked("2.0"), "it is a float", "an integer, a te.var")),
        ((4, np.float32(3)), text(asked("np.float32(3.0)", 1), "it is a float32", "an integer, a te.var")),
        ((True,), text(asked("True"), "it is a bool", "an integer, a te.var")),
        ((None,), text(asked("None"), "it is a NoneType", "an integer, a te.var")),
        (("n",), text(asked("'n'"), "it is a str", "an integer, a te.var")),
        ((n * 0.5,), text(asked("f32(n) * 0.5"), "it is float32", "an integer, a te.var of an integer type")),
        ((n > 1,), text(asked("1 < n"), "it is bool", "an integer, a te.var of an integer type")),
        ((-1,), text(asked("-1"), "it is negative", "0 or more")),
        (
            (te.placeholder((), "int32", name="Z"),),
            text(
                asked("Z: i32[]"), "it depends on the elements of a tensor", "a te.var, solved from the arrays' shapes"
            ),
        ),
    ],
)
def test_refused_shapes(shape, said) -> None:
    assert message(lambda: te.placeholder(shape, name="A")) == said


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: te.placeholder(4, "foo32", name="A"),
            text(
                "te.placeholder 'A': dtype 'foo32'",
                "no element type has that name",
                "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, vectors: float32x4",
            ),
        ),
        (
            lambda: te.placeholder(4, "index", name="A"),
            text("te.placeholder 'A': dtype 'index'", "it is the type of loops in lowered programs", "int32, int64"),
        ),
        (
            lambda: te.placeholder(4, name=""),
            text("te.placeholder: name ''", "a name is a text of at least one character", 'name="A"'),
        ),
        (lambda: te.var(3), text("te.var: name 3", "a name is a text of at least one character", 'name="A"')),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said
