"""cache_read and cache_write: stages that copy, and what reads and writes them then."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir.interpret import interpret
from tecomp.schedule import create_schedule

from .test_text import made_again

SIZES = [0, 1, 7, 8, 9, 13]


def computed(s, args, inputs, shapes, dtype="float32"):
    """Return what LLVM computes into poisoned outputs, checked against the interpreter; the text makes `s` again."""
    results = []
    for run in (tecomp.build(s, args), lambda *arrays: interpret(tecomp.lower(s, args), *arrays)):
        outputs = [np.full(shape, 77, dtype) for shape in shapes]
        run(*inputs, *outputs)
        results.append(outputs)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert made_again(s) == s.text()
    return results[0]


def matmul(n, m, l):
    A, B = te.placeholder((n, l), name="A"), te.placeholder((l, m), name="B")
    k = te.reduce_axis((0, l), name="k")
    return A, B, k, te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("symbolic", [False, True])
def test_matmul_with_all_copies(n, symbolic):
    size = te.var("n") if symbolic else n
    A, B, k, C = matmul(size, size, size)
    s = create_schedule(C.op)
    AS, BS = s.cache_read(A, "global", [C]), s.cache_read(B, "global", [C])
    AL, CL = s.cache_read(AS, "global", [C]), s.cache_write(C, "global")
    _io, jo, _ii, ji = s[C].tile(*C.op.axis, 8, 4)
    s[CL].compute_at(s[C], jo)
    ko, ki = s[CL].split(k, factor=8)
    s[CL].reorder(ko, *s[CL].op.axis, ki)
    s[AS].compute_at(s[CL], ko)
    s[BS].compute_at(s[CL], ko)
    s[AL].compute_at(s[CL], ki)
    s[BS].vectorize(s[BS].split(s[BS].op.axis[1], factor=4)[1])
    s[C].vectorize(ji)
    a, b = np.random.default_rng(n).standard_normal((2, n, n)).astype("f")
    (c,) = computed(s, [A, B, C], [a, b], [(n, n)])
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


def test_the_program(golden):
    A, B, k, C = matmul(16, 16, 16)
    s = create_schedule(C.op)
    CL = s.cache_write(C, "global")
    AS = s.cache_read(A, "global", [CL])
    outer, _ = s[C].split(C.op.axis[0], factor=4)
    s[CL].compute_at(s[C], outer)
    s[AS].compute_at(s[CL], k)
    golden(f"{s!r}\n\n{s.text()}\n{tecomp.lower(s, [A, B, C])!r}\n")


def test_what_the_stages_say():
    A, B, k, C = matmul(4, 5, 6)
    s = create_schedule(C.op)
    AS = s.cache_read(A, "shared", C)
    CL = s.cache_write(C, "local")
    assert [stage.name for stage in s.stages] == ["A", "A.shared", "B", "C.local", "C"]
    assert [s[T].scope for T in (AS, CL, C)] == ["shared", "local", ""]
    assert s[C].op is not C.op
    assert s[C].op.origin is C.op
    assert s[s[C].op] is s[C] is s[C.op]
    assert s[C].op.axis == C.op.axis
    assert s[C].op.reduce_axis == ()
    assert s[CL].op.reduce_axis == (k,)
    assert s[CL].op.input_tensors == (AS, B)
    assert AS.name == "A.shared"
    assert s[C].leaf_iter_vars == C.op.axis


def test_only_the_readers_named_read_the_copy():
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    C = te.compute((8,), lambda i: A[i] * B[i], name="C")
    s = create_schedule(C.op)
    AS = s.cache_read(A, "global", [C])
    assert s[B].op.input_tensors == (A,)
    assert s[C].op.input_tensors == (AS, B)
    a = np.arange(8, dtype="f")
    (c,) = computed(s, [A, C], [a], [(8,)])
    np.testing.assert_array_equal(c, a * (a + 1))


@pytest.mark.parametrize("before", [False, True])
def test_a_copy_of_what_is_inlined_computes_it(before):
    A = te.placeholder((9,), name="A")
    P = te.compute((9,), lambda i: A[i] * 2, name="P")
    C = te.compute((9,), lambda i: P[i] + P[8 - i], name="C")
    s = create_schedule(C.op)
    if before:
        s[P].compute_inline()
    PC = s.cache_read(P, "global", [C])
    if not before:
        s[P].compute_inline()
    assert s[PC].op.input_tensors == (P,)
    a = np.arange(9, dtype="f")
    (c,) = computed(s, [A, C], [a], [(9,)])
    np.testing.assert_array_equal(c, a * 2 + a[::-1] * 2)
    assert "P_global = alloc(f32[9]" in repr(tecomp.lower(s, [A, C]))


def test_two_readers_of_one_copy():
    A = te.placeholder((9,), name="A")
    B = te.compute((9,), lambda i: A[8 - i] + 1, name="B")
    C = te.compute((9,), lambda i: A[i] * B[i], name="C")
    s = create_schedule(C.op)
    AS = s.cache_read(A, "global", [B, C.op])
    assert s[B].op.input_tensors == (AS,)
    a = np.arange(9, dtype="f")
    (c,) = computed(s, [A, C], [a], [(9,)])
    np.testing.assert_array_equal(c, a * (a[::-1] + 1))


def test_a_reader_of_several_outputs():
    A = te.placeholder((9,), name="A")
    T = te.compute((9,), lambda i: A[i] + 1, name="T")
    X, Y = te.compute((9,), lambda i: (T[i] * 2, T[i] * 3), name="P")
    Z = te.compute((9,), lambda i: X[i] - Y[8 - i], name="Z")
    s = create_schedule(Z.op)
    TC = s.cache_read(T, "global", [X])
    s[TC].compute_at(s[X], X.op.axis[0])
    a = np.arange(9, dtype="f")
    (z,) = computed(s, [A, Z], [a], [(9,)])
    np.testing.assert_array_equal(z, (a + 1) * 2 - (a[::-1] + 1) * 3)
    assert "T_global = alloc(f32[1]" in repr(tecomp.lower(s, [A, Z]))


@pytest.mark.parametrize("n", SIZES)
def test_several_outputs_are_written_together(n):
    A = te.placeholder((n,), name="A")
    X, Y = te.compute((n,), lambda i: (A[i] + 1, A[i] * 2), name="P")
    s = create_schedule(X.op)
    XC, YC = s.cache_write([X, Y], "global")
    outer, _ = s[X].split(X.op.axis[0], factor=8)
    s[XC].compute_at(s[X], outer)
    assert XC.op is YC.op
    assert [XC.name, YC.name] == ["P.global.v0", "P.global.v1"]
    a = np.arange(n, dtype="f")
    x, y = computed(s, [A, X, Y], [a], [(n,), (n,)])
    np.testing.assert_array_equal(x, a + 1)
    np.testing.assert_array_equal(y, a * 2)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("symbolic", [False, True])
def test_written_in_the_layout_of_the_loops(n, symbolic):
    """After a split and a reorder the new tensor has a dimension for each loop, and elements only where they exist."""
    size = te.var("n") if symbolic else n
    A = te.placeholder((size, size), name="A")
    k = te.reduce_axis((0, size), name="k")
    C = te.compute((size, size), lambda i, j: te.sum(A[i, k] * A[k, j], axis=k), name="C")
    s = create_schedule(C.op)
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=8)
    s[C].reorder(jo, i, ji)
    CL = s.cache_write(C, "global")
    assert [axis.name for axis in CL.op.axis] == ["j.outer.c", "i.c", "j.inner.c"]
    assert s[C].leaf_iter_vars == (i, j)
    s[CL].parallel(CL.op.axis[0])
    a = np.random.default_rng(n).standard_normal((n, n)).astype("f")
    (c,) = computed(s, [A, C], [a], [(n, n)])
    np.testing.assert_allclose(c, a @ a, rtol=1e-4, atol=1e-5)


def test_transposed_by_the_order_of_the_loops():
    A = te.placeholder((6, 4), name="A")
    C = te.compute((6, 4), lambda i, j: A[i, j] + 1, name="C")
    s = create_schedule(C.op)
    s[C].reorder(C.op.axis[1], C.op.axis[0])
    CL = s.cache_write(C, "global")
    assert [int(extent.value) for extent in CL.shape] == [4, 6]
    a = np.arange(24, dtype="f").reshape(6, 4)
    (c,) = computed(s, [A, C], [a], [(6, 4)])
    np.testing.assert_array_equal(c, a + 1)


def test_marks_of_the_data_loops_stay():
    A = te.placeholder((16,), name="A")
    C = te.compute((16,), lambda i: A[i] + 1, name="C")
    s = create_schedule(C.op)
    s[C].vectorize(C.op.axis[0])
    s.cache_write(C, "global")
    assert list(s[C].iter_var_attrs) == [C.op.axis[0]]


def test_rows_whose_length_depends_on_the_element():
    n = 9
    A = te.placeholder((n, n), name="A")

    def row(i):
        k = te.reduce_axis((0, i + 1), name="k")
        return te.sum(A[i, k], axis=k)

    C = te.compute((n,), row, name="C")
    s = create_schedule(C.op)
    CL = s.cache_write(C, "global")
    outer, _ = s[C].split(C.op.axis[0], factor=4)
    s[CL].compute_at(s[C], outer)
    a = np.arange(n * n, dtype="f").reshape(n, n)
    (c,) = computed(s, [A, C], [a], [(n,)])
    np.testing.assert_allclose(c, np.tril(a).sum(1))


@pytest.mark.parametrize("n", SIZES)
def test_the_step_of_a_scan(n):
    X = te.placeholder((9, n), name="X")
    state = te.placeholder((9, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((9, n), lambda t, i: state[t - 1, n - 1 - i] + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    s = create_schedule(S.op)
    old = s.cache_read(state, "global", [update])
    row = s.cache_read(X, "global", [update])
    new = s.cache_write(update, "global")
    s.cache_write(init, "global")
    assert s[old].group is s[new].group is S.op
    assert s[row].group is None
    s[new].split(new.op.axis[1], factor=8)
    x = np.random.default_rng(n).standard_normal((9, n)).astype("f")
    want = x.copy()
    for t in range(1, 9):
        want[t] += want[t - 1, ::-1]
    (got,) = computed(s, [X, S], [x], [(9, n)])
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_strided_arguments():
    A = te.placeholder((5, 6), name="A")
    C = te.compute((5, 6), lambda i, j: A[i, j] * 2, name="C")
    s = create_schedule(C.op)
    s.cache_read(A, "global", [C])
    s.cache_write(C, "global")
    a, c = np.arange(120, dtype="f").reshape(10, 12)[::2, ::2], np.zeros((10, 18), "f")
    tecomp.build(s, [A, C])(a, c[::2, ::3])
    np.testing.assert_array_equal(c[::2, ::3], a * 2)
    assert np.count_nonzero(c) == np.count_nonzero(a)
