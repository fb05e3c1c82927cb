"""Tensors and operations: attributes, identity, what they refuse."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.ir import expr as E
from tests.te.message import message, text

n = te.var("n")
A = te.placeholder((n, 8), name="A")
Z = te.placeholder((), "int32", name="Z")


def test_attributes() -> None:
    assert (A.name, A.ndim, A.dtype, A.value_index) == ("A", 2, "float32", 0)
    assert A.shape[0] is n
    assert A.op.output(0) is A
    assert A.op.num_outputs == 1
    assert (A.op.shape, A.op.dtype) == (A.shape, "float32")
    assert repr(A) == "A: f32[n, 8]"
    assert repr(A.op) == "PlaceholderOp(A)"


def test_a_tensor_equals_only_itself() -> None:
    other = te.placeholder((n, 8), name="A")
    assert (A == A) is True and (other == A) is False
    assert (A != A) is False and (other != A) is True
    assert A.same_as(A.op.output(0)) and not A.same_as(other)
    assert len({A, other, A}) == 2
    assert (A == 3) is False and (A is not None) is True


def test_an_axis_of_a_compute() -> None:
    C = te.compute((4,), lambda i: 1.0, name="C")
    assert C.axis is C.op.axis


def test_outputs_are_numbered() -> None:
    C = te.compute((4,), lambda i: (i, i * 2.0), name="C")
    assert [t.name for t in C] == ["C.v0", "C.v1"]
    assert [t.dtype for t in C] == ["int32", "float32"]
    assert C[0].op is C[1].op
    assert C[0].op.num_outputs == 2
    assert [t.value_index for t in C] == [0, 1]


def test_rank_0_stands_for_its_element() -> None:
    assert (Z + 1) is (Z() + 1)
    assert (2 * Z) is (2 * Z())
    assert isinstance(Z == 3, E.Eq) and isinstance(Z != 3, E.Ne)
    assert Z.astype("float32") is Z().astype("float32")
    assert A[Z, 0] is A[Z(), 0]
    assert (Z is None) is False and (Z == None) is False  # noqa: E711


def test_two_of_rank_0_are_compared_by_value() -> None:
    """In a formula, also with itself, which a NaN is not equal to; Python's truth is whether they are one tensor."""
    x, y = (te.placeholder((), name=name) for name in "xy")
    assert (x == y) is (x() == y()) and (x != y) is (x() != y())
    same, unlike = x == x, x != x
    assert isinstance(same, E.Eq) and isinstance(unlike, E.Ne)
    assert (bool(same), bool(x == y), bool(unlike), bool(x != y)) == (True, False, False, True)
    assert x in (y, x) and y not in (A, x)
    assert (x == A) is False


def test_operations_record_the_users_line() -> None:
    B = te.compute((4,), lambda i: 1.0)
    assert B.op.loc.source() == "B = te.compute((4,), lambda i: 1.0)"
    assert A.op.loc.source() == 'A = te.placeholder((n, 8), name="A")'


def test_input_tensors_are_listed_once_in_order_of_reading() -> None:
    k = te.reduce_axis((0, Z()), name="k")
    V = te.placeholder((9,), name="V")
    C = te.compute((n,), lambda i: te.sum(V[k] * A[i, 0] + A[i, 1], axis=k, where=V[i] > 0, init=V[0]), name="C")
    assert C.op.input_tensors == (Z, V, A)
    assert A.op.input_tensors == ()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: A + 1,
            text("'A' is used as a number", "it has 2 dimensions", "an element: A[i0, i1]"),
        ),
        (
            lambda: te.placeholder((3,), name="V") * 2,
            text("'V' is used as a number", "it has 1 dimension", "an element: V[i0]"),
        ),
        (
            lambda: list(A),
            text("'A' is no sequence", "it is one tensor, whose elements are named by indices", "A[i0, i1]"),
        ),
        (
            lambda: list(Z),
            text("'Z' is no sequence", "it is one tensor, whose elements are named by indices", "Z()"),
        ),
        (
            lambda: A.axis,
            text("'A' has no axes", "it comes from a PlaceholderOp"),
        ),
        (
            lambda: 1 if Z else 2,
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


def test_a_tensor_of_dimensions_is_true() -> None:
    assert bool(A)
