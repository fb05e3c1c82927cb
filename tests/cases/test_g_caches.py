"""Group G, further: pairs that are cached and factored, copies in any order, partial results read at two places."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tecomp import te
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def extreme(name, dtype):
    """(index, value) of the extreme of each column of A(n, m), and what reads both."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), dtype, name="A")
    k = te.reduce_axis((0, n), name="k")
    T = te.compute((m,), lambda j: getattr(te, name)((k.var, A[k, j]), axis=k), name="T")
    return A, k, T


def check_extreme(program, name, A, T, dtype, sizes):
    for width in sizes:
        a = DATA.integers(0, 3, (13, width)).astype(dtype)
        where = getattr(np, name)(a, axis=0).astype("int32")
        program({A: a}, {T[0]: where, T[1]: np.take_along_axis(a, where[None], 0)[0]})


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float16", "int8"])
@pytest.mark.parametrize("scope", ["local", "global"])
def test_a_pair_cached_together(cpu, name, dtype, scope):
    """tvm#505: both outputs move to the new stage, in one loop nest."""
    A, _, T = extreme(name, dtype)
    s = te.create_schedule(T[0].op)
    cached = s.cache_write(list(T), scope)
    assert len(cached) == 2 and cached[0].op is cached[1].op
    outer, inner = s[T[0]].split(T[0].op.axis[0], 4)
    s[cached[0]].compute_at(s[T[0]], outer)
    s[T[0]].vectorize(inner)
    check_extreme(cpu(s, [A, *T]), name, A, T, dtype, around(4))


def test_a_pair_cached_together_on_cuda(cuda):
    A, _, T = extreme("argmax", "float16")
    s = te.create_schedule(T[0].op)
    cached = s.cache_write(list(T), "local")
    _, thread = bound(s, T[0], 4)
    s[cached[0]].compute_at(s[T[0]], thread)
    check_extreme(cuda(s, [A, *T]), "argmax", A, T, "float16", around(4))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("part", ["outer", "inner"])
@pytest.mark.parametrize("factor", [1, 3, 4, 14])
def test_the_first_of_equal_values_wins_between_partial_results(cpu, name, part, factor):
    """tvm PR 19909: whichever rows a partial result is of."""
    A, k, T = extreme(name, "float16")
    s = te.create_schedule(T[0].op)
    loops = dict(zip(("outer", "inner"), s[T[0]].split(k, factor), strict=True))
    s.rfactor(T[0], loops[part])
    check_extreme(cpu(s, [A, *T]), name, A, T, "float16", (0, 1, 6))


@pytest.mark.parametrize("factor", [4, 16])
def test_the_first_of_equal_values_wins_between_threads(cuda, factor):
    """tvm PR 19909: partial results in each thread, folded by all of them."""
    A, k, T = extreme("argmax", "float16")
    s = te.create_schedule(T[0].op)
    part = s.rfactor(T[0], s[T[0]].split(k, factor)[1])
    joined = s[T[0]].op.reduce_axis[0]
    s[T[0]].bind(T[0].op.axis[0], te.thread_axis("blockIdx.x"))
    s[T[0]].bind(joined, te.thread_axis("threadIdx.x"))
    s[part[0]].compute_at(s[T[0]], joined)
    check_extreme(cuda(s, [A, *T]), "argmax", A, T, "float16", around(factor))


def diamond():
    """B = A + C + D * D, by the stages A0, A1 and A2."""
    n = te.var("n")
    A, C, D = (te.placeholder((n,), name=name) for name in "ACD")
    A0 = te.compute((n,), lambda i: A[i] + C[i], name="A0")
    A1 = te.compute((n,), lambda i: D[i] * D[i], name="A1")
    A2 = te.compute((n,), lambda i: A0[i] + A1[i], name="A2")
    B = te.compute((n,), lambda i: A2[i], name="B")
    return (A, C, D), {A0: A2, A1: A2, A2: B}, B


def check_diamond(program, inputs, B, sizes):
    for size in sizes:
        a, c, d = DATA.integers(-9, 9, (3, size)).astype("float32")
        program(dict(zip(inputs, (a, c, d), strict=True)), {B: a + c + d * d})


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("attached", [False, True])
def test_copies_in_any_order(cpu, order, attached):
    """tvm#802: "not in feed graph", for the third of them."""
    inputs, readers, B = diamond()
    s = te.create_schedule(B.op)
    pairs = list(readers.items())
    scope = "local" if attached else "global"
    copies = [(s.cache_read(pairs[at][0], scope, [pairs[at][1]]), pairs[at][1]) for at in order]
    if attached:
        for copy, reader in copies:
            s[copy].compute_at(s[reader], reader.op.axis[0])
    check_diamond(cpu(s, [*inputs, B]), inputs, B, (0, 1, 7))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_copies_in_any_order_on_cuda(cuda, order):
    inputs, readers, B = diamond()
    s = te.create_schedule(B.op)
    pairs = list(readers.items())
    copies = {at: s.cache_read(pairs[at][0], "shared", [pairs[at][1]]) for at in order}
    outer, _ = bound(s, B, 8)
    stages = [copies[2], pairs[2][0], copies[1], copies[0], pairs[1][0], pairs[0][0]]
    for T in stages:
        s[T].compute_at(s[B], outer)
        s[T].set_scope("shared")
        s[T].bind(T.op.axis[0], te.thread_axis("threadIdx.x"))
    check_diamond(cuda(s, [*inputs, B]), inputs, B, around(8))


@pytest.mark.parametrize("inlined", [False, True])
@pytest.mark.parametrize("attach", [None, 0, 2])
@pytest.mark.parametrize("factor", [2, 3])
def test_partial_results_of_a_sum_read_at_two_places(cpu, factor, attach, inlined):
    """tvm#15202: "variable used before definition" once the sum was factored."""
    n = te.var("n")
    X = te.placeholder((n, n, 5), name="X")
    k = te.reduce_axis((0, 5), name="k")
    S = te.compute((n, n), lambda a, b: te.sum(X[a, b, k], axis=k), name="S")
    R = te.compute((n, n), lambda a, b: te.acos(S[a, b]), name="R")
    out = te.compute((n, n, n), lambda a, b, c: R[a, b] / S[b, c], name="out")
    s = te.create_schedule(out.op)
    part = s.rfactor(S, s[S].split(k, factor)[1])
    if inlined:
        s[R].compute_inline()
    if attach is not None and inlined:
        s[S].compute_at(s[out], out.op.axis[attach])
        s[part].compute_at(s[S], S.op.axis[0])
    program = cpu(s, [X, out])
    for size in (0, 1, 2, 5):
        x = DATA.random((size, size, 5), "float32") * np.float32(0.19) + np.float32(0.01)
        sums = x.sum(2, dtype="float32")
        program({X: x}, {out: np.arccos(sums)[:, :, None] / sums[None]}, near=1e-5)
