"""reverse_compute_at: what a stage does with a result, in the loops that produce it."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.codegen import nvrtc
from tecomp.schedule import At, create_schedule
from tests.cases.counting import stores

from .built import built
from .test_cache import SIZES, computed
from .test_text import made_again


def epilogue(n, m, l):
    """P = A @ B, C = max(P + bias, 0)."""
    A, B, bias = te.placeholder((n, l), name="A"), te.placeholder((l, m), name="B"), te.placeholder((m,), name="bias")
    k = te.reduce_axis((0, l), name="k")
    P = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="P")
    return A, B, bias, P, te.compute((n, m), lambda i, j: te.max(P[i, j] + bias[j], 0.0), name="C")


def rows(s, P):
    s[P].parallel(P.op.axis[0])
    return P.op.axis[0]


def parts(s, P):
    outer, _ = s[P].split(P.op.axis[0], nparts=4)
    return outer


def tiles(s, P):
    i, j, ii, ji = s[P].tile(*P.op.axis, 8, 4)
    ko, ki = s[P].split(P.op.reduce_axis[0], factor=4)
    s[P].reorder(j, i, ko, ii, ki, ji)
    s[P].vectorize(ji)
    return i


def elements(s, P):
    outer, inner = s[P].split(s[P].fuse(*P.op.axis), factor=8)
    del outer
    return inner


def pieces_of_pieces(s, P):
    io, ii = s[P].split(P.op.axis[0], factor=8)
    iio, iii = s[P].split(ii, factor=2)
    jo, ji = s[P].split(P.op.axis[1], factor=4)
    s[P].reorder(jo, io, iio, P.op.reduce_axis[0], iii, ji)
    return iio


@pytest.mark.parametrize("loops", [rows, parts, tiles, elements, pieces_of_pieces])
def test_an_epilogue(loops):
    A, B, bias, P, C = epilogue(*[te.var(name) for name in "nml"])
    s = create_schedule(C.op)
    axis = loops(s, P)
    moved = s[C].reverse_compute_at(s[P], axis)
    assert s[P].attach_type.axis in moved
    assert s[C].leaf_iter_vars[: len(moved)] == moved
    run = built(s, [A, B, bias, C])
    for n in SIZES:
        rng = np.random.default_rng(n)
        a, b, add = (rng.standard_normal(shape).astype("f") for shape in ((n, 5), (5, n + 2), (n + 2,)))
        (c,) = run([a, b, add], [(n, n + 2)])
        np.testing.assert_allclose(c, np.maximum(a @ b + add, 0), rtol=1e-4, atol=1e-5)


def test_before_and_after(golden):
    A, B, bias, P, C = epilogue(64, 32, 16)
    s = create_schedule(C.op)
    axis = tiles(s, P)
    before = repr(tecomp.lower(s, [A, B, bias, C]))
    j, _i, _ii, ji = s[C].reverse_compute_at(s[P], axis)
    s[C].parallel(j)
    s[C].vectorize(ji)
    golden(f"{before}\n# {s[C]}.reverse_compute_at\n\n{s!r}\n\n{s.text()}\n{tecomp.lower(s, [A, B, bias, C])!r}\n")


def test_every_element_is_produced_once():
    A, B, bias, P, C = epilogue(37, 29, 4)
    s = create_schedule(C.op)
    s[C].reverse_compute_at(s[P], pieces_of_pieces(s, P))
    arrays = [np.zeros(shape, "f") for shape in ((37, 4), (4, 29), (29,), (37, 29))]
    func = tecomp.lower(s, [A, B, bias, C])
    assert stores(func, "P", *arrays) == 37 * 29 * (1 + 4)
    assert stores(func, "C", *arrays) == 37 * 29


def kernel():
    """A product in blocks of 8 x 8 threads, and what follows it in the same threads."""
    A, B, bias, P, C = epilogue(64, 64, 64)
    s = create_schedule(C.op)
    x, y, xi, yi = s[P].tile(*P.op.axis, 8, 8)
    for axis, tag in ((x, "blockIdx.x"), (y, "blockIdx.y"), (xi, "threadIdx.y"), (yi, "threadIdx.x")):
        s[P].bind(axis, te.thread_axis(tag))
    return [A, B, bias, C], s, s[C].reverse_compute_at(s[P], yi)


def test_what_was_said_of_the_loops_moves_with_them():
    args, s, moved = kernel()
    (P, C) = (s[args[3]].op.input_tensors[0], args[3])
    assert [s[C].state.mark(axis).thread.thread_tag for axis in moved][2:] == ["threadIdx.y", "threadIdx.x"]
    assert not s[P].state.loops
    source = tecomp.build(s, args, target="cuda -arch=sm_90").source
    assert nvrtc.compile_cuda(source, "sm_90").cubin
    assert made_again(s) == s.text()


@pytest.mark.gpu
def test_on_a_gpu():
    import cupy

    args, s, _ = kernel()
    rng = cupy.random.default_rng(0)
    a, b, bias = (rng.standard_normal(shape, dtype="float32") for shape in ((64, 64), (64, 64), (64,)))
    c = cupy.zeros((64, 64), "float32")
    tecomp.build(s, args, target="cuda")(a, b, bias, c)
    np.testing.assert_allclose(c.get(), np.maximum(a.get() @ b.get() + bias.get(), 0), rtol=1e-4, atol=1e-4)


def test_a_chain_of_epilogues():
    A, B, bias, P, C = epilogue(te.var("n"), 6, 4)
    D = te.compute(C.shape, lambda i, j: C[i, j] * 2, name="D")
    E = te.compute((6, C.shape[0]), lambda j, i: D[i, j] + 1, name="E")
    s = create_schedule(E.op)
    outer, _ = s[P].split(P.op.axis[0], factor=4)
    for stage, source in ((C, P), (D, C), (E, D)):
        outer, *_ = s[stage].reverse_compute_at(s[source], outer)
    assert [s[tensor].attach_stage for tensor in (P, C, D)] == [C.op, D.op, E.op]
    rng = np.random.default_rng(0)
    a, b, add = (rng.standard_normal(shape).astype("f") for shape in ((11, 4), (4, 6), (6,)))
    (e,) = computed(s, [A, B, bias, E], [a, b, add], [(6, 11)])
    np.testing.assert_allclose(e, (np.maximum(a @ b + add, 0) * 2 + 1).T, rtol=1e-4, atol=1e-5)


def test_along_other_axes_all_is_there():
    """A row of P is enough for a row of a softmax, of a product, and of what reads the row backwards."""
    size = te.var("n")
    A = te.placeholder((size, 5), name="A")
    P = te.compute((size, 5), lambda i, j: te.exp(A[i, j]), name="P")
    k = te.reduce_axis((0, 5), name="k")
    C = te.compute((size, 5), lambda i, j: te.sum(P[i, k] * P[i, 4 - j], axis=k), name="C")
    s = create_schedule(C.op)
    outer, _ = s[P].split(P.op.axis[0], factor=8)
    s[C].reverse_compute_at(s[P], outer)
    s[C].split(k, factor=2)
    run = built(s, [A, C])
    for n in SIZES:
        a = np.random.default_rng(n).standard_normal((n, 5)).astype("f")
        (c,) = run([a], [(n, 5)])
        np.testing.assert_allclose(c, np.exp(a).sum(1, keepdims=True) * np.exp(a)[:, ::-1], rtol=1e-4)


def test_a_producer_of_one_value():
    A = te.placeholder((7,), name="A")
    k = te.reduce_axis((0, 7), name="k")
    P = te.compute((), lambda: te.sum(A[k], axis=k), name="P")
    C = te.compute((), lambda: P() + 1, name="C")
    s = create_schedule(C.op)
    (once,) = s[C].reverse_compute_at(s[P], s[P].fuse())
    assert s[P].attach_type.axis is once and isinstance(s[P].attach_type, At)
    (c,) = computed(s, [A, C], [np.ones(7, "f")], [()])
    assert c == 8
