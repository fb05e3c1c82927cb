"""compute: axes, arguments, bodies of any rank."""

from __future__ import annotations

from functools import partial

import pytest

from tecomp import te
from tecomp.errors import UserError
from tecomp.ir import expr as E
from tecomp.ir.axis import AxisKind
from tests.te.message import message, text

n = te.var("n")
A = te.placeholder((n, 8), name="A")


def names(tensor) -> list[str]:
    return [axis.name for axis in tensor.op.axis]


def test_one_axis_a_dimension() -> None:
    C = te.compute((n, 8), lambda i, j: A[i, j] + 1, name="C", tag="elemwise", attrs={"note": 1})
    assert names(C) == ["i", "j"]
    assert [axis.kind for axis in C.op.axis] == [AxisKind.DATA] * 2
    assert C.op.axis[0].dom == (te.const(0), n)
    assert C.op.axis[1].var.extent is te.const(8)
    assert C.shape == (n, te.const(8)) and C.dtype == "float32"
    assert (C.op.tag, C.op.attrs, C.op.name) == ("elemwise", {"note": 1}, "C")
    assert C.op.body == (A[C.op.axis[0], C.op.axis[1]] + 1,)
    assert C.op.input_tensors == (A,)
    assert te.compute((3,), lambda i: i).op.name == "compute"


def test_an_axis_has_the_type_of_its_extent() -> None:
    C = te.compute((te.var("m", "int64"), 4), lambda i, j: i + j)
    assert [axis.dtype for axis in C.op.axis] == ["int64", "int32"]
    assert C.dtype == "int64"


def test_variable_arguments_name_their_axes() -> None:
    assert names(te.compute((2, 3, 4), lambda *i: 1.0)) == ["i0", "i1", "i2"]
    assert names(te.compute((2, 3, 4), lambda a, *rest: 1.0)) == ["a", "rest0", "rest1"]
    assert names(te.compute((2, 3), lambda *i: 1.0, varargs_names=["y", "x"])) == ["y", "x"]
    assert names(te.compute((2,), lambda a, *none: 1.0)) == ["a"]


def test_an_argument_that_names_nothing() -> None:
    assert names(te.compute((2, 3, 4), lambda _, i, __: 1.0)) == ["ax0", "i", "ax2"]


def test_rank_0() -> None:
    V = te.placeholder((9,), name="V")
    k = te.reduce_axis((0, 9), name="k")
    assert te.compute((), lambda: 1.0).shape == ()
    assert te.compute((), lambda *i: te.sum(V[k], axis=k)).op.axis == ()


def test_a_number_is_a_body() -> None:
    assert [te.compute((2,), lambda i, v=v: v).dtype for v in (1, 1.0, True)] == ["int32", "float32", "bool"]
    Z = te.placeholder((), "float16", name="Z")
    assert te.compute((2,), lambda i: Z).op.body == (Z(),)


def test_any_callable() -> None:
    def doubled(tensor, i, j):
        return tensor[i, j] * 2

    assert names(te.compute((n, 8), partial(doubled, A))) == ["i", "j"]
    assert te.compute((n, 8), A).op.body[0].tensor is A


def test_one_output_in_a_tuple_is_a_tensor() -> None:
    assert isinstance(te.compute((2,), lambda i: [i]), te.Tensor)


def test_several_outputs() -> None:
    x, y = te.compute((n, 8), lambda i, j: (A[i, j], i), name="both")
    assert x.op is y.op and x.op.body == (A[x.op.axis[0], x.op.axis[1]], x.op.axis[0].var)


class Formula:
    def __call__(self, i, *, scale):
        return i * scale


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: te.compute((8, 4), lambda i: 1.0, name="C"),
            text(
                "te.compute 'C': a formula of 1 argument for 2 dimensions",
                "it takes one argument for each dimension",
                "lambda i0, i1: ..., lambda *i: ...",
            ),
        ),
        (
            lambda: te.compute((8,), lambda i, j: 1.0, name="C"),
            text(
                "te.compute 'C': a formula of 2 arguments for 1 dimension",
                "it takes one argument for each dimension",
                "lambda i0: ..., lambda *i: ...",
            ),
        ),
        (
            lambda: te.compute((8,), lambda i, j, *more: 1.0, name="C"),
            text(
                "te.compute 'C': a formula of 2 arguments for 1 dimension",
                "it takes one argument for each dimension, and *more takes the others",
                "lambda i0: ..., lambda *i: ...",
            ),
        ),
        (
            lambda: te.compute((), lambda i: 1.0, name="C"),
            text(
                "te.compute 'C': a formula of 1 argument for 0 dimensions",
                "it takes one argument for each dimension",
                "lambda: ..., lambda *i: ...",
            ),
        ),
        (
            lambda: te.compute((8, 4), lambda i, scale=2: 1.0, name="C"),
            text(
                "te.compute 'C': a formula of 1 argument for 2 dimensions",
                "it takes one argument for each dimension",
                "lambda i0, i1: ..., lambda *i: ...",
            ),
        ),
        (
            lambda: te.compute((8,), Formula(), name="C"),
            text(
                "te.compute 'C': the formula needs scale= by name",
                "axes are given by position",
                "lambda i0: ..., lambda *i: ...",
            ),
        ),
        (
            lambda: te.compute((8,), 3, name="C"),
            text("te.compute 'C': 3 as the formula", "it is no function", "lambda i, j: A[i, j] + 1"),
        ),
        (
            lambda: te.compute((8, 4), lambda i, *j: 1.0, name="C", varargs_names=["a", "b"]),
            text("te.compute 'C': varargs_names=['a', 'b']", "*j takes 1 of the 2 dimensions", "1 name"),
        ),
        (
            lambda: te.compute((8,), lambda i: 1.0, name="C", varargs_names=["a"]),
            text("te.compute 'C': varargs_names=['a']", "the formula takes 0 of the 1 dimensions", "0 names"),
        ),
        (
            lambda: te.compute((te.var("n", "uint8"),), lambda i: 1.0, name="C"),
            text("te.compute 'C': extent n", "it is uint8, which no axis is", "int32, int64"),
        ),
        (
            lambda: te.compute((1.5,), lambda i: 1.0, name="C"),
            text("te.compute 'C': extent 0 of the shape is 1.5", "it is a float", "an integer, a te.var"),
        ),
        (
            lambda: te.compute((8,), lambda i: 1.0, name=""),
            text("te.compute: name ''", "a name is a text of at least one character", 'name="A"'),
        ),
        (
            lambda: te.compute((8,), lambda i: A[i, 0] and 1),
            text(
                "an expression was used as a Python condition",
                "its value is known only when the program runs",
                "te.all, te.any, te.if_then_else in place of and, or, not, if",
            ),
        ),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said


def test_a_refusal_in_the_formula_names_its_line() -> None:
    def formula(i):
        return A[i, 0, 0]

    with pytest.raises(UserError) as caught:
        te.compute((n,), formula)
    assert caught.value.location.source() == "return A[i, 0, 0]"


def test_bodies_are_interned() -> None:
    C = te.compute((n, 8), lambda i, j: A[i, j] * A[i, j])
    assert isinstance(C.op.body[0], E.Mul) and C.op.body[0].a is C.op.body[0].b
