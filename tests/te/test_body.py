"""What a formula may return."""

from __future__ import annotations

import pytest

from tecomp import te, tir
from tecomp.errors import UserError
from tests.te.message import message, text

A = te.placeholder((8, 8), name="A")
V = te.placeholder((8,), name="V")


def axis(name="k"):
    return te.reduce_axis((0, 8), name=name)


def test_a_reduction_is_the_whole_body() -> None:
    k, m = axis(), axis("m")
    C = te.compute((8,), lambda i: te.sum(A[i, k] * A[m, k], axis=[k, m]))
    assert C.op.reduce_axis == (k, m)


def test_a_reduction_of_several_values() -> None:
    k = axis()
    index, value = te.compute((8,), lambda i: te.argmax((k, A[i, k]), axis=k), name="M")
    assert (index.dtype, value.dtype) == ("int32", "float32")
    assert index.op.reduce_axis == (k,)
    assert [part.value_index for part in index.op.body] == [0, 1]


def test_a_reduce_axis_may_depend_on_the_axes() -> None:
    def windows(i):
        k = te.reduce_axis((0, (i + 1) % 3 + 1), name="k")
        m = te.reduce_axis((0, k + 1), name="m")
        return te.sum(V[te.min(i + k + m, 7)], axis=[k, m])

    C = te.compute((8,), windows)
    assert len(C.op.reduce_axis) == 2


def test_reductions_of_two_computes_on_one_line_of_stages() -> None:
    k, m = axis(), axis("m")
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
    assert te.compute((), lambda: te.sum(B[m], axis=m)).op.input_tensors == (B,)


def reused():
    k = axis()
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
    C = te.compute((8,), lambda i: B[i] + 1, name="C")
    te.compute((), lambda: te.sum(C[k], axis=k), name="D")


def stray():
    B = te.compute((8,), lambda i: V[i], name="B")
    te.compute((8,), lambda j: V[j] + B.op.axis[0], name="C")


def two_reductions(i):
    k = axis()
    return te.sum(A[i, k], axis=k), te.max(A[i, k], axis=k)


def parts(order):
    def formula(i):
        k = axis()
        pair = te.argmax((k, A[i, k]), axis=k)
        return tuple(pair[at] for at in order)

    return formula


def triangle(i):
    k = axis()
    m = te.reduce_axis((0, k), name="m")
    return te.sum(A[i, k] * V[m], axis=[m, k])


K = axis()
NOT_PARTS = "the outputs of one compute are the parts of one reduction, in order"
RETURN_THEM = "return the tuple that the reducer gave, or a te.compute for each reduction"
STRAY = "it is a reduce axis that nothing folds over here, or an axis of another stage"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: te.compute((8,), lambda i: None, name="C"),
            text(
                "te.compute 'C': the formula returned None",
                "its value is what each element is",
                "an expression: write return",
            ),
        ),
        (
            lambda: te.compute((8,), lambda i: [], name="C"),
            text(
                "te.compute 'C': the formula returned no outputs",
                "a compute has one or more",
                "an expression, a tuple of them",
            ),
        ),
        (
            lambda: te.compute((8,), lambda i: "x", name="C"),
            text("'x' is no expression", "it is a str", "a number, an axis, a tensor element"),
        ),
        (
            lambda: te.compute((8,), lambda i: A[i], name="C"),
            text("'A' indexed with 1 index", "it has 2 dimensions", "A[i0, i1]"),
        ),
        (
            lambda: te.compute((8,), lambda i: te.sum(A[i, K], axis=K) + 1, name="C"),
            text(
                "te.compute 'C': te.sum below the top of the formula",
                "a reduction is the whole of a compute: it has loops of its own",
                "a te.compute for the reduction, and one that reads it",
            ),
        ),
        (
            lambda: te.compute((8,), lambda i: te.max(te.sum(A[i, K], axis=K), axis=axis("m")), name="C"),
            text(
                "te.compute 'C': te.sum below the top of the formula",
                "a reduction is the whole of a compute: it has loops of its own",
                "a te.compute for the reduction, and one that reads it",
            ),
        ),
        (
            lambda: te.compute((8,), lambda i: (te.sum(A[i, K], axis=K), V[i]), name="C"),
            text(
                "te.compute 'C': some outputs are reductions, some are not",
                "the outputs of one compute share its loops",
                "a te.compute for each of the two kinds",
            ),
        ),
        (
            lambda: te.compute((8,), two_reductions, name="C"),
            text(
                "te.compute 'C': 2 outputs for a reduction of 1 values",
                "te.sum computes them together",
                "return the tuple that the reducer gave",
            ),
        ),
        (
            lambda: te.compute((8,), parts([0]), name="C"),
            text(
                "te.compute 'C': 1 output for a reduction of 2 values",
                "te.argmax computes them together",
                "return the tuple that the reducer gave",
            ),
        ),
        (
            lambda: te.compute((8,), parts([1, 0]), name="C"),
            text("te.compute 'C': output 0 is not part 0 of the reduction of output 0", NOT_PARTS, RETURN_THEM),
        ),
        (
            lambda: te.compute((8,), parts([0, 0]), name="C"),
            text("te.compute 'C': output 1 is not part 1 of the reduction of output 0", NOT_PARTS, RETURN_THEM),
        ),
        (
            lambda: te.compute((8,), lambda i: V[K], name="C"),
            text("te.compute 'C': 'k' is none of its axes", STRAY, "i, te.sum(..., axis=k)"),
        ),
        (
            lambda: te.compute((), lambda: V[K], name="C"),
            text("te.compute 'C': 'k' is none of its axes", STRAY, "te.sum(..., axis=k)"),
        ),
        (
            lambda: te.compute((8,), lambda i: te.sum(A[i, K], axis=K, init=V[K]), name="C"),
            text("te.compute 'C': 'k' is none of its axes", STRAY, "i, te.sum(..., axis=k)"),
        ),
        (
            lambda: te.compute((8,), triangle, name="C"),
            text("te.compute 'C': 'k' is none of its axes", STRAY, "i, te.sum(..., axis=k)"),
        ),
        (stray, text("te.compute 'C': 'i' is none of its axes", STRAY, "j, te.sum(..., axis=i)")),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said


def test_a_reduce_axis_of_two_stages_is_refused_with_the_line_of_the_other() -> None:
    said = message(reused).splitlines()
    assert said[0] == "te.compute 'D': reduce axis 'k' is used twice"
    assert said[1].startswith("  because: 'B' (test_body.py:")
    assert said[1].endswith(") folds over it, and an axis belongs to one stage")
    assert said[2] == "  legal: another te.reduce_axis for 'D'"


def test_a_compute_may_be_declared_again() -> None:
    k = axis()
    for _ in range(2):
        C = te.compute((8,), lambda i: te.sum(A[i, k], axis=k))
    assert C.op.reduce_axis == (k,)


def test_a_call_that_gives_no_value(refused) -> None:
    A = te.placeholder((4,), name="A")
    with refused(
        UserError,
        """
        te.compute 'B': call_packed('a.b', A[i]) in the formula
          --> test_body.py:LINE
           |     te.compute((4,), lambda i: tir.call_packed("a.b", A[i]), name="B")
           |     ^
          because: the call gives no value: what it does, it does to arrays
          legal: te.extern, which passes arrays; tir.call_pure_extern of a C function
        """,
    ):
        te.compute((4,), lambda i: tir.call_packed("a.b", A[i]), name="B")


def test_a_call_that_only_computes() -> None:
    A = te.placeholder((4,), name="A")
    assert te.compute((4,), lambda i: tir.call_pure_extern("float32", "sinf", A[i]), name="B").dtype == "float32"
