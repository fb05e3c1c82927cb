"""pad: stages that run up to a multiple, and loops that need no condition then."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.codegen import nvrtc
from tecomp.ir.stmt import If
from tecomp.ir.visit import walk
from tecomp.schedule import create_schedule

from .built import built
from .test_cache import SIZES, computed


def matmul(n, m, l):
    A, B = te.placeholder((n, l), name="A"), te.placeholder((l, m), name="B")
    k = te.reduce_axis((0, l), name="k")
    return A, B, k, te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")


def copied(n, m, l):
    A, B, k, C = matmul(n, m, l)
    s = create_schedule(C.op)
    a, b = s.cache_read(A, "global", [C]), s.cache_read(B, "global", [C])
    return s, A, B, C, k, a, b


def tiled(s, C, k):
    i, j, ii, ji = s[C].tile(*C.op.axis, 8, 4)
    ko, ki = s[C].split(k, factor=8)
    s[C].reorder(i, j, ko, ii, ki, ji)
    return ko


def conditions(func):
    return sum(isinstance(node, If) for node in walk(func.body))


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("fill", [False, True])
def test_a_product_of_padded_copies(inside, fill):
    s, A, B, C, k, a, b = copied(te.var("n"), te.var("m"), te.var("l"))
    ko = tiled(s, C, k)
    s[C].pad(k, 8)
    if fill:
        s[a].pad(1, 8)
        s[b].pad(s[b].op.axis[0], 16)
    if inside:
        s[a].compute_at(s[C], ko)
        s[b].compute_at(s[C], ko)
        s[a].pad(0, 8)
        s[b].pad(1, 4)
    run = built(s, [A, B, C])
    for n in SIZES:
        x, y = (np.random.default_rng(n).standard_normal(shape).astype("f") for shape in ((n, n), (n, n + 3)))
        (c,) = run([x, y], [(n, n + 3)])
        np.testing.assert_allclose(c, x @ y, rtol=1e-4, atol=1e-5)


def test_before_and_after(golden):
    s, A, B, C, k, a, b = copied(8, 8, 21)
    ko = tiled(s, C, k)
    s[a].compute_at(s[C], ko)
    s[b].compute_at(s[C], ko)
    before = tecomp.lower(s, [A, B, C], simple_mode=True)
    s[a].pad(1, 8)
    s[b].pad(0, 8)
    s[C].pad(k, 8)
    after = tecomp.lower(s, [A, B, C], simple_mode=True)
    assert (conditions(before), conditions(after)) == (3, 0)
    golden(f"{before!r}\n\n{s!r}\n\n{s.text()}\n{after!r}\n")


def test_what_would_change_the_result_is_left_out():
    """A maximum of padded values, a sum with a start value, one of two factors that is padded, and a shifted read."""
    A, B = te.placeholder((5, 11), name="A"), te.placeholder((11,), name="B")
    P, Q = (te.compute(X.shape, lambda *at, X=X: X[at] - 9, name=f"{X.name}.copy") for X in (A, B))
    k, l, m = (te.reduce_axis((0, end), name=name) for end, name in ((11, "k"), (11, "l"), (10, "m")))
    greatest = te.compute((5,), lambda i: te.max(P[i, k], axis=k), name="greatest")
    product = te.compute((5,), lambda i: te.sum(P[i, l] * Q[l], axis=l, init=te.const(3.0)), name="product")
    shifted = te.compute((5,), lambda i: te.sum(P[i, m + 1], axis=m), name="shifted")
    s = create_schedule([greatest.op, product.op, shifted.op])
    for tensor, axis in ((greatest, k), (product, l), (shifted, m)):
        s[tensor].pad(axis, 4)
        s[tensor].split(axis, factor=4)
    s[P].pad(1, 4)
    a, b = np.random.default_rng(0).standard_normal((5, 11)), np.random.default_rng(1).standard_normal(11)
    found = computed(s, [A, B, greatest, product, shifted], [a.astype("f"), b.astype("f")], [(5,)] * 3)
    for got, want in zip(found, ((a - 9).max(1), (a - 9) @ (b - 9) + 3, (a - 9)[:, 1:].sum(1)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4)


def test_a_condition_on_data_is_asked_of_what_exists():
    """The interpreter checks that nothing beyond the end is read, by `where` neither."""
    A, k = te.placeholder((5, 3), name="A"), te.reduce_axis((0, 5), "k")
    C = te.compute((3,), lambda i: te.sum(A[k, i] * 2, axis=k, where=A[k, i] > 0), name="C")
    s = create_schedule(C.op)
    s[C].pad(k, 4)
    a = np.random.default_rng(0).integers(-9, 9, (5, 3)).astype("f")
    (found,) = computed(s, [A, C], [a], [(3,)])
    np.testing.assert_array_equal(found, np.maximum(a, 0).sum(0) * 2)


@pytest.mark.parametrize("place", ["root", "outer", "inner"])
def test_a_stage_along_its_data(place):
    """A padded stage has whole vectors; its memory is larger, and readers see nothing of it."""
    size = te.var("n")
    A = te.placeholder((size,), name="A")
    k = te.reduce_axis((0, 3), name="k")
    B = te.compute((size,), lambda i: A[i] * A[size - 1 - i], name="B")
    R = te.compute((size,), lambda i: te.sum(B[i] * k, axis=k), name="R")
    C = te.compute((size,), lambda i: B[i] + R[size - 1 - i], name="C")
    s = create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=8)
    for stage in (B, R):
        s[stage].pad(0, 4)
        s[stage].vectorize(s[stage].split(s[stage].op.axis[0], factor=4)[1])
    if place != "root":
        s[B].compute_at(s[C], outer if place == "outer" else inner)
        s[R].compute_at(s[C], outer if place == "outer" else inner)
    run = built(s, [A, C])
    for n in SIZES:
        a = np.random.default_rng(n).standard_normal(n).astype("f")
        (c,) = run([a], [(n,)])
        np.testing.assert_allclose(c, a * a[::-1] * 4, rtol=1e-5)


def kernel():
    """A product whose tiles in shared memory are padded, so that the loop over k has no condition."""
    A, B, k, C = matmul(37, 29, 45)
    s = create_schedule(C.op)
    a, b = s.cache_read(A, "shared", [C]), s.cache_read(B, "shared", [C])
    x, y, xi, yi = s[C].tile(*C.op.axis, 8, 8)
    ko, ki = s[C].split(k, factor=16)
    s[C].reorder(x, y, xi, yi, ko, ki)
    s[C].pad(k, 16)
    for axis, tag in ((x, "blockIdx.y"), (y, "blockIdx.x"), (xi, "threadIdx.y"), (yi, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(tag))
    for tensor, number in ((a, 1), (b, 0)):
        s[tensor].compute_at(s[C], ko)
        s[tensor].pad(number, 16)
        fused = s[tensor].fuse(*s[tensor].op.axis)
        rest, ty = s[tensor].split(fused, nparts=None, factor=64)
        ty, tx = s[tensor].split(ty, factor=8)
        s[tensor].bind(ty, te.thread_axis("threadIdx.y"))
        s[tensor].bind(tx, te.thread_axis("threadIdx.x"))
        del rest
    return A, B, C, s


def test_a_kernel_compiles():
    A, B, C, s = kernel()
    built = tecomp.build(s, [A, B, C], target="cuda -arch=sm_90")
    assert nvrtc.compile_cuda(built.source, "sm_90").cubin


@pytest.mark.gpu
def test_on_a_gpu():
    import cupy

    A, B, C, s = kernel()
    rng = cupy.random.default_rng(0)
    a, b = (rng.standard_normal(shape, dtype="float32") for shape in ((37, 45), (45, 29)))
    c = cupy.zeros((37, 29), "float32")
    tecomp.build(s, [A, B, C], target="cuda")(a, b, c)
    np.testing.assert_allclose(c.get(), a.get() @ b.get(), rtol=1e-4, atol=1e-4)
