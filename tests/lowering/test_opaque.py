"""Opaque operations in programs: in the middle of a graph, of any size, on the CPU and in the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError
from tecomp.ir import interpret

n, m = te.var("n"), te.var("m")
SIZES = (0, 1, 3, 4, 5, 17)


@pytest.fixture
def check():
    """Return `check(outputs, args, arrays, expected)`: LLVM and the interpreter write what is expected, on arrays of
    any strides, and nothing else of what they may not."""

    def run(schedule: Any, args: list[Any], inputs: list[Any], expected: list[np.ndarray]) -> None:
        module = tecomp.build(schedule, args)
        for strided in (False, True):
            outs = [np.full(array.shape, -7, array.dtype) for array in expected]
            given = [spread(array) if strided and isinstance(array, np.ndarray) else array for array in inputs]
            module(*given, *outs)
            for found, wanted in zip(outs, expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-6)
        for program in (tecomp.lower(schedule, args), module.ir):
            outs = [np.full(array.shape, -7, array.dtype) for array in expected]
            interpret(program, *inputs, *outs)
            for found, wanted in zip(outs, expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-6)

    return run


def spread(array: np.ndarray) -> np.ndarray:
    """Return the same values with gaps between them."""
    if not array.ndim:
        return array
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def random(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("size", SIZES)
def test_numpy_in_the_middle(check, size) -> None:
    """B = 2 A; C = B @ B.T + bias by NumPy; D = C + 1."""
    A = te.placeholder((n, 3), name="A")
    bias = te.var("bias", "float32")
    B = te.compute((n, 3), lambda i, j: A[i, j] * 2, name="B")

    def product(x: np.ndarray, number: float, out: np.ndarray) -> None:
        assert not x.flags.writeable
        np.matmul(x, x.T, out=out)
        out += number

    C = te.extern((n, n), [B], lambda ins, outs: tir.call_packed(product, ins[0], bias, outs[0]), name="C")
    D = te.compute((n, n), lambda i, j: C[i, j] + 1, name="D")
    a = random(size, 3)
    check(te.create_schedule(D.op), [A, bias, D], [a, 0.5], [4 * a @ a.T + 1.5])


@pytest.mark.parametrize("size", SIZES)
def test_sorted_and_where_from(check, size) -> None:
    """Two results of other types, one of them used as indices."""
    A = te.placeholder((n,), name="A")

    def sort(x: np.ndarray, values: np.ndarray, places: np.ndarray) -> None:
        places[:] = np.argsort(x, kind="stable")
        values[:] = x[places]

    S, P = te.extern(
        [(n,), (n,)], [A], lambda ins, outs: tir.call_packed(sort, *ins, *outs), dtype=["float32", "int32"], name="S"
    )
    R = te.compute((n,), lambda i: A[P[i]] - S[i], name="R")
    a = random(size)
    order = np.argsort(a, kind="stable")
    check(te.create_schedule([R.op, S.op]), [A, S, P, R], [a], [a[order], order.astype("int32"), np.zeros_like(a)])


@pytest.mark.parametrize("kind", ["serial", "parallel", "vectorize", "unroll"])
@pytest.mark.parametrize("size", SIZES)
def test_loops_of_each_kind(check, kind, size) -> None:
    A = te.placeholder((n, 4), name="A")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        a, out = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        outer = "parallel" if kind == "parallel" else "serial"
        with ib.for_range(0, n, name="i", kind=outer) as i, ib.for_range(0, 4, name="j", kind=kind) as j:
            x = ib.let("x", a[i, j])
            with ib.if_scope(x > 0):
                out[i, j] = x + i.astype("float32")
            with ib.else_scope():
                out[i * 4 + j] = -x
        return ib.get()

    B = te.extern((n, 4), [A], body, name="B")
    C = te.compute((n, 4), lambda i, j: B[i, j] * 2, name="C")
    a = random(size, 4)
    rows = np.arange(size, dtype="float32")[:, None]
    check(te.create_schedule(C.op), [A, C], [a], [2 * np.where(a > 0, a + rows, -a)])


def test_memory_of_its_own_and_a_length_that_data_gives(check) -> None:
    """Row i is summed up to L[i]; a running sum is kept in an allocation."""
    A = te.placeholder((n, m), name="A")
    L = te.placeholder((n,), "int32", name="L")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        a, length, out = (ib.buffer_ptr(buffer) for buffer in (*ins, *outs))
        with ib.for_range(0, n) as i:
            total = ib.allocate("float32", (1,), name="total")
            total[0] = 0
            with ib.for_range(0, length[i], name="j") as j:
                total[0] = total[0] + a[i, j]
            out[i] = total[0]
        return ib.get()

    S = te.extern((n,), [A, L], body, dtype="float32", name="S")
    a, lengths = random(4, 5), np.array([0, 5, 2, 1], "int32")
    expected = np.array([row[:length].sum() for row, length in zip(a, lengths, strict=True)], "float32")
    check(te.create_schedule(S.op), [A, L, S], [a, lengths], [expected])


def test_vectors(check) -> None:
    A = te.placeholder((16,), name="A")

    def body(ins, outs):
        return outs[0].vstore([8], ins[0].vload([0], "float32x8") * 2.0)

    def both(ins, outs):
        ib = tir.ir_builder.create()
        ib.emit(outs[0].vstore([0], ins[0].vload([8], "float32x8")))
        ib.emit(body(ins, outs))
        return ib.get()

    B = te.extern((16,), [A], both, name="B")
    a = random(16)
    check(te.create_schedule(B.op), [A, B], [a], [np.concatenate([a[8:], 2 * a[:8]])])


@pytest.mark.parametrize("size", SIZES)
def test_a_c_function_of_numbers(check, size) -> None:
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: tir.call_pure_extern("float32", "fmaf", A[i], 2.0, A[i]), name="B")
    a = random(size)
    check(te.create_schedule(B.op), [A, B], [a], [3 * a])
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(B.op.axis[0], factor=4)[1])
    check(s, [A, B], [a], [3 * a])


def test_a_c_function_is_not_called_on_the_side_that_is_not_taken(check) -> None:
    """ldiv-like functions trap; abs of what would be out of bounds must not be read either."""
    A = te.placeholder((n,), name="A")
    B = te.compute(
        (n,), lambda i: te.if_then_else(i > 0, tir.call_pure_extern("float32", "fabsf", A[i - 1]), 0.0), name="B"
    )
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(B.op.axis[0], factor=4)[1])
    a = random(7)
    check(s, [A, B], [a], [np.concatenate([[0], np.abs(a[:-1])]).astype("float32")])


def test_c_functions_of_every_type(check) -> None:
    A = te.placeholder((n,), "int64", name="A")
    B = te.compute((n,), lambda i: tir.call_pure_extern("int64", "labs", A[i]), name="B")
    C = te.compute((n,), lambda i: tir.call_pure_extern("int32", "isalpha", A[i].astype("int32")) != 0, name="C")
    D = te.compute((n,), lambda i: tir.call_pure_extern("float64", "ldexp", 1.5, A[i].astype("int32")), name="D")
    a = np.array([-70, 65, 3, 98], "int64")
    check(
        te.create_schedule([B.op, C.op, D.op]),
        [A, B, C, D],
        [a],
        [np.abs(a), np.array([False, True, False, True]), np.ldexp(1.5, a)],
    )


def copy_bytes(ins, outs):
    size = (n * 4).astype("uint64")
    return tir.call_extern("handle", "memcpy", outs[0].access_ptr("w"), ins[0].access_ptr("r"), size)


def test_a_c_function_of_addresses() -> None:
    A = te.placeholder((n,), name="A")
    B = te.extern((n,), [A], copy_bytes, name="B")
    C = te.compute((n,), lambda i: B[i] + 1, name="C")
    s = te.create_schedule(C.op)
    a, c = random(9), np.zeros(9, "float32")
    tecomp.build(s, [A, C])(a, c)
    np.testing.assert_array_equal(c, a + 1)
    c[:] = 0
    interpret(tecomp.lower(s, [A, C]), a, c)
    np.testing.assert_array_equal(c, a + 1)


def test_a_program_of_another_graph(check) -> None:
    X = te.placeholder((m,), name="X")
    Y = te.compute((m, 2), lambda i, j: X[i] * (j + 1), name="Y")
    program = tecomp.lower(te.create_schedule(Y.op), [X, Y], name="twice")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    C = te.extern_primfunc([B], program, name="C")
    D = te.extern_primfunc([B], program, name="D")
    E = te.compute((n, 2), lambda i, j: C[i, j] + D[i, j], name="E")
    a = random(5)
    check(te.create_schedule(E.op), [A, E], [a], [2 * (a[:, None] + 1) * np.array([1, 2], "float32")])


def test_temporaries_around_it_share_no_memory_with_what_it_still_needs(check) -> None:
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    C = te.compute((n,), lambda i: B[i] * 2, name="C")
    S = te.extern((n,), [B, C], lambda ins, outs: tir.call_packed(np.subtract, *ins, *outs), name="S")
    T = te.extern((n,), [S], lambda ins, outs: tir.call_packed(np.negative, *ins, *outs), name="T")
    D = te.compute((n,), lambda i: T[i] + S[i] + B[i], name="D")
    a = random(6)
    check(te.create_schedule(D.op), [A, D], [a], [a + 1])


def test_a_variable_of_its_body_must_be_an_argument(refused) -> None:
    A = te.placeholder((n,), name="A")
    bias = te.var("bias", "float32")
    C = te.extern((n,), [A], lambda ins, outs: tir.call_packed("f", ins[0], bias, outs[0]), name="C")
    s = te.create_schedule(C.op)
    with refused(
        UserError,
        """
        'C' uses the variable 'bias'
          --> test_opaque.py:LINE
           |     C = te.extern((n,), [A], lambda ins, outs: tir.call_packed("f", ins[0], bias, outs[0]), name="C")
           |     ^
          because: it is neither an argument nor in the shape of one
          legal: add 'bias' to the arguments
    """,
    ):
        tecomp.lower(s, [A, C])


def test_a_program_whose_threads_reduce() -> None:
    X, k = te.placeholder((m, 64), name="X"), te.reduce_axis((0, 64), name="k")
    Y = te.compute((m,), lambda i: te.sum(X[i, k], axis=k), name="Y")
    s = te.create_schedule(Y.op)
    s[Y].bind(Y.op.axis[0], te.thread_axis("blockIdx.x"))
    s[Y].bind(k, te.thread_axis("threadIdx.x"))
    A = te.placeholder((n, 64), name="A")
    C = te.extern_primfunc([A], tecomp.lower(s, [X, Y], name="rows"))
    program = tecomp.lower(te.create_schedule(C.op), [A, C])
    a, c = random(3, 64), np.zeros(3, "float32")
    interpret(program, a, c)
    np.testing.assert_allclose(c, a.sum(axis=1), rtol=1e-5)
