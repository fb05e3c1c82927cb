"""Instructions over tensors: what declares one, and computes that are the call of one."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.ir import interpret
from tests.intrinsics import agrees, gemv, numbers, vadd
from tests.te.message import message, text

x, y = te.placeholder((16,), name="x"), te.placeholder((16,), name="y")
z = te.compute((16,), lambda i: x[i] + y[i], name="z")
k = te.reduce_axis((0, 16), name="k")
dot = te.compute((1,), lambda _: te.sum(x[k] * y[k], axis=k), name="dot")
twice = te.compute((16,), lambda i: z[i] * 2.0, name="twice")


def nothing(ins: Any, outs: Any) -> Any:
    return outs[0].vstore(0, 0.0)


def test_what_an_intrinsic_knows() -> None:
    buffer = tir.decl_buffer((16,), "float32", "x", offset_factor=4)
    intrin = te.decl_tensor_intrin(z.op, nothing, "known", binds={x: buffer}, default_buffer_params={"scope": "local"})
    assert intrin.op is z.op and intrin.inputs == (x, y)
    assert intrin.buffers[0] is buffer
    assert [part.scope for part in intrin.buffers] == ["global", "local", "local"]
    assert intrin.body is not None and intrin.reduce_init is intrin.reduce_update is None
    assert repr(intrin) == "TensorIntrin(known)"
    assert te.TensorIntrin.get("known") is intrin


def test_a_call_is_a_statement() -> None:
    intrin = te.decl_tensor_intrin(
        z.op, lambda ins, outs: tir.call_extern("int32", "f", *(part.data for part in (*ins, *outs)))
    )
    said = "call_extern[i32]('f', address(x, 'r', i32(0)), address(y, 'r', i32(0)), address(z, 'rw', i32(0)))"
    assert said in repr(intrin.body)


def test_one_that_was_pickled_is_found_by_name() -> None:
    written = pickle.dumps(te.decl_tensor_intrin(z.op, nothing, "away"))
    gc.collect()
    again = pickle.loads(written)
    assert te.TensorIntrin.get("away") is again
    assert repr(again.body).startswith("z[i32(0)] = 0.0")


def test_numbers_come_third() -> None:
    v = te.var("v", "float32")
    scaled = te.compute((16,), lambda i: x[i] * v, name="scaled")
    given: list[Any] = []

    def emit(ins: Any, outs: Any, numbers: Any) -> Any:
        given.extend(numbers)
        return nothing(ins, outs)

    assert te.decl_tensor_intrin(scaled.op, emit, scalar_params=[v]).scalar_params == (v,)
    assert given == [v]


def test_a_call_computes_slices() -> None:
    A = te.placeholder((6, 32), name="A")
    C = te.compute((6, 16), lambda i: vadd()(A[i, 8:24], A[i, 0:16]), name="C")
    assert isinstance(C.op, te.TensorComputeOp)
    assert [axis.name for axis in C.op.axis] == ["i", "i"]
    s = te.create_schedule(C.op)
    assert "for i in range(16) by vadd" in repr(s)
    (a,) = numbers((6, 32))
    agrees(s, [A, C], [a], a[:, 8:24] + a[:, :16])


def test_a_call_folds_over_more_axes() -> None:
    A, W = te.placeholder((6, 3, 12), name="A"), te.placeholder((3, 16, 12), name="W")
    r = te.reduce_axis((0, 3), name="r")
    C = te.compute((6, 16), lambda i: gemv(16, 12)(A[i, r, 0:12], W[r], reduce_axis=r), name="C")
    assert [axis.name for axis in C.op.reduce_axis] == ["r", "k"]
    s = te.create_schedule(C.op)
    io, ii = s[C].split(C.op.axis[0], factor=4)
    s[C].reorder(r, io, ii)
    a, w = numbers((6, 3, 12), (3, 16, 12))
    agrees(s, [A, W, C], [a, w], np.einsum("irk,rmk->im", a, w))


def test_a_call_computes_all_of_what_it_gives() -> None:
    """Also where less is read."""
    A = te.placeholder((6, 16), name="A")
    B = te.compute((6, 16), lambda i: vadd()(A[i, 0:16], A[i, 0:16]), name="B")
    C = te.compute((6, 5), lambda i, j: B[i, j + 3], name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    (a,) = numbers((6, 16))
    agrees(s, [A, C], [a], (a + a)[:, 3:8])


def test_a_call_takes_elements_whole_tensors_and_numbers() -> None:
    v = te.var("v", "float32")
    one, many = te.placeholder((1,), name="one"), te.placeholder((4,), name="many")
    out = te.compute((4,), lambda i: many[i] * v + one[0], name="out")

    def emit(ins: Any, outs: Any, given: Any) -> Any:
        ib = tir.ir_builder.create()
        a, b, to = map(ib.buffer_ptr, (*ins, *outs))
        with ib.for_range(0, 4) as i:
            to[i] = a[i] * given[0] + b[0]
        return ib.get()

    intrin = te.decl_tensor_intrin(out.op, emit, scalar_params=[v])
    A, B, alpha = te.placeholder((4,), name="A"), te.placeholder((5,), name="B"), te.var("alpha", "float32")
    C = te.compute((5, 4), lambda i: intrin(A, alpha, B[i]), name="C")
    a, b = numbers((4,), (5,))
    result = np.zeros((5, 4), "float32")
    interpret(tecomp.lower(te.create_schedule(C.op), [A, B, alpha, C]), a, b, 3.0, result)
    np.testing.assert_array_equal(result, a * 3 + b[:, None])


def test_a_call_of_symbolic_extents() -> None:
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m, 16), name="A")
    C = te.compute((n, m, 16), lambda i, j: vadd()(A[i, j], A[i, j, 0:16]), name="C")
    (a,) = numbers((3, 2, 16))
    agrees(te.create_schedule(C.op), [A, C], [a], a + a)


A = te.placeholder((6, 16), name="A")
add = vadd()
LEGAL = "a statement, a call, or (body, reduce_init, reduce_update), where None is what there is not"


def call(*arguments: Any, shape: Any = (6, 16), **more: Any) -> Any:
    return te.compute(
        shape, lambda i: add(*(part(i) if callable(part) else part for part in arguments), **more), name="C"
    )


def row(i: Any) -> Any:
    return A[i, 0:16]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: te.decl_tensor_intrin(z, nothing),
            text("te.decl_tensor_intrin 'tensor_intrin' of 'z'", "it is a Tensor", "C.op of a te.compute"),
        ),
        (
            lambda: te.decl_tensor_intrin(3, nothing),
            text("te.decl_tensor_intrin 'tensor_intrin' of 3", "it is a int", "C.op of a te.compute"),
        ),
        (
            lambda: te.decl_tensor_intrin(te.compute((), lambda: 1.0, name="one").op, nothing),
            text(
                "te.decl_tensor_intrin 'tensor_intrin' of 'one'",
                "it has no axes: one number is no work for an instruction over tensors",
                "a compute over one axis or more, of extent 1 if need be",
            ),
        ),
        (
            lambda: te.decl_tensor_intrin(twice.op, nothing),
            text(
                "te.decl_tensor_intrin 'tensor_intrin': 'twice' reads 'z'",
                "'z' is computed, and an instruction is one compute",
                "a te.placeholder in the place of 'z'",
            ),
        ),
        (
            lambda: te.decl_tensor_intrin(z.op, nothing, binds={A: tir.decl_buffer((6, 16))}),
            text(
                "te.decl_tensor_intrin 'tensor_intrin': binds names 'A'",
                "'z' neither reads nor computes it",
                "one of x, y, z",
            ),
        ),
        (
            lambda: te.decl_tensor_intrin(z.op, nothing, binds={x: x}),
            text(
                "te.decl_tensor_intrin 'tensor_intrin': binds gives 'x' x: f32[16]",
                "it is a Tensor",
                "tir.decl_buffer(...)",
            ),
        ),
        (
            lambda: te.decl_tensor_intrin(z.op, nothing, binds={x: tir.decl_buffer((8,), "int32", "b")}),
            text(
                "te.decl_tensor_intrin 'tensor_intrin': binds gives 'x' the buffer 'b'",
                "the buffer is int32[8], the tensor float32[16]",
                "a buffer of the tensor's shape and type",
            ),
        ),
        (
            lambda: te.decl_tensor_intrin(z.op, nothing, scalar_params=[3]),
            text(
                "te.decl_tensor_intrin 'tensor_intrin': scalar_params has 3",
                "it is no variable",
                "te.var(name, dtype)",
            ),
        ),
        (
            lambda: te.decl_tensor_intrin(z.op, lambda ins, outs: (None, None)),
            text("te.decl_tensor_intrin 'tensor_intrin': fcompute gave (None, None)", "that computes nothing", LEGAL),
        ),
        (
            lambda: te.decl_tensor_intrin(z.op, lambda ins, outs: (nothing(ins, outs), nothing(ins, outs))),
            text(
                "te.decl_tensor_intrin 'tensor_intrin': fcompute gave reduce_init or reduce_update",
                "'z' is no reduction, so there is nothing to start or to go on with",
                "the body alone",
            ),
        ),
        (
            lambda: te.TensorIntrin.get("unheard"),
            text(
                "te.TensorIntrin.get('unheard')",
                "no tensor intrinsic of that name is declared",
                "te.decl_tensor_intrin(op, fcompute, name='unheard') first",
            ),
        ),
        (
            lambda: call(row),
            text("te.compute 'C': the call of 'vadd' with 1 tensor", "it takes 2 tensors", "x, y"),
        ),
        (
            lambda: call(row, row, 3.0),
            text("te.compute 'C': the call of 'vadd' with 2 tensors and 1 number", "it takes 2 tensors", "x, y"),
        ),
        (
            lambda: call(row, row, reduce_axis=A),
            text(
                "te.compute 'C': the call of 'vadd' with reduce_axis=A: f32[6, 16]",
                "it is no reduce axis",
                "te.reduce_axis((first, end))",
            ),
        ),
        (
            lambda: call(row, row, reduce_axis=te.reduce_axis((0, 2), name="r")),
            text(
                "te.compute 'C': the call of 'vadd' with reduce_axis=r",
                "'z' is no reduction: how its results fold is not said",
                "an intrinsic whose compute is a reduction",
            ),
        ),
        (
            lambda: call(row, lambda i: A[i, 0:8]),
            text(
                "te.compute 'C': the call of 'vadd': 'y' is A[i, 0:8]",
                "that has the shape (8), and it takes (16)",
                "a slice of that shape, such as A[i, 0:16]",
            ),
        ),
        (
            lambda: call(row, lambda i: te.placeholder((16,), "int32", name="I")),
            text(
                "te.compute 'C': the call of 'vadd': 'y' is I: i32[16]",
                "that is int32, and it takes float32",
                "a slice of a tensor of float32",
            ),
        ),
        (
            lambda: call(row, lambda i: A[i, 0:16:2]),
            text(
                "te.compute 'C': the call of 'vadd': slice of step 2 as index 1 of 'A'",
                "a slice names neighbours",
                "begin:end of A[i0, i1]",
            ),
        ),
        (
            lambda: call(row, lambda i: A[i, -16:]),
            text(
                "te.compute 'C': the call of 'vadd': slice from -16 as index 1 of 'A'",
                "it begins outside of the tensor: a slice does not count from the end",
                "A.shape[1] - 16",
            ),
        ),
        (
            lambda: call(row, row, shape=(6, 8)),
            text(
                "te.compute 'C': the call of 'vadd'",
                "it gives (16), and the dimensions that the formula does not name are (8)",
                "a shape that ends with what the intrinsic gives",
            ),
        ),
    ],
)
def test_refused(call: Any, said: str) -> None:
    assert message(call) == said
