"""Group I: scans, what reads them, and prefix sums of parts of a tensor."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir.stmt import If
from tecomp.ir.visit import walk
from tests.cases.tiling import around, bound

DATA = np.random.default_rng(0)


def cumulative(m, n, X, name="S"):
    """The sums of X(m, n) along its first axis, and the stages of the scan."""
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X(0, i), name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X(t, i), name="update")
    return te.scan(init, update, state, name=name), init, update


def read_after():
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    S, init, update = cumulative(m, n, lambda t, i: X[t, i])
    return X, init, update, te.compute((m, n), lambda i, j: S[i, j], name="res")


def check_read_after(program, X, res, sizes):
    for m in (1, 2, 10):
        for n in sizes:
            x = DATA.integers(-9, 9, (m, n)).astype("float32")
            program({X: x}, {res: np.cumsum(x, 0)})


def test_a_stage_after_a_scan(cpu):
    """tvm#3723: it crashed."""
    X, init, update, res = read_after()
    s = te.create_schedule(res.op)
    for tensor in (init, update, res):
        s[tensor].vectorize(s[tensor].split(tensor.op.axis[1], 4)[1])
    check_read_after(cpu(s, [X, res]), X, res, around(4))


def test_a_stage_after_a_scan_on_cuda(cuda):
    X, init, update, res = read_after()
    s = te.create_schedule(res.op)
    for tensor in (init, update, res):
        bound(s, tensor, 8, tensor.op.axis[1])
    check_read_after(cuda(s, [X, res]), X, res, around(8))


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("stages", ["one", "two"])
def test_a_plain_scan_has_no_guard(symbolic, stages):
    """tvm#2088: `0 <= scan.idx` was asked at each step."""
    m, n = (te.var("m"), te.var("n")) if symbolic else (10, 64)
    X = te.placeholder((m, n), name="X")
    Y = X if stages == "one" else te.compute((m, n), lambda t, i: X[t, i] * 2, name="Y")
    S, _, _ = cumulative(m, n, lambda t, i: Y[t, i])
    body = tecomp.lower(te.create_schedule(S.op), [X, S]).body
    assert not any(isinstance(node, If) for node in walk(body))


PARTS = [
    (slice(0, 16), slice(0, 48)),
    (slice(0, 16), slice(8, 40)),
    (slice(3, 4), slice(63, 64)),
    (slice(5, 12), slice(1, 8)),
]


def part_sums(axis, rows, columns):
    """Prefix sums of a part of big(16, 64), along one of its axes."""
    big = te.placeholder((16, 64), name="big")
    m, n = rows.stop - rows.start, columns.stop - columns.start
    if axis == 0:
        return big, cumulative(m, n, lambda t, i: big[t + rows.start, i + columns.start])
    return big, cumulative(n, m, lambda t, i: big[i + rows.start, t + columns.start])


def part_want(a, axis, rows, columns):
    part = a[rows, columns]
    return np.cumsum(part, 0) if axis == 0 else np.ascontiguousarray(np.cumsum(part, 1).T)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("part", PARTS)
def test_prefix_sums_of_a_part(cpu, axis, part):
    """TL PR 2620, 2680: the width of the part was taken for the stride of the whole."""
    big, (S, _, _) = part_sums(axis, *part)
    a = DATA.integers(-9, 9, (16, 64)).astype("float32")
    cpu(te.create_schedule(S.op), [big, S])({big: a}, {S: part_want(a, axis, *part)})


@pytest.mark.parametrize("axis", [0, 1])
def test_prefix_sums_of_a_part_on_cuda(cuda, axis):
    a = DATA.integers(-9, 9, (16, 64)).astype("float32")
    for part in PARTS:
        big, (S, init, update) = part_sums(axis, *part)
        s = te.create_schedule(S.op)
        for tensor in (init, update):
            bound(s, tensor, 8, tensor.op.axis[1])
        cuda(s, [big, S])({big: a}, {S: part_want(a, axis, *part)})


@pytest.mark.parametrize("axis", [0, 1])
def test_prefix_sums_of_a_view(axis):
    """The same through the strides of the array that is given."""
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    S, _, _ = cumulative(m, n, lambda t, i: X[t, i])
    module = tecomp.build(te.create_schedule(S.op), [X, S])
    a = DATA.integers(-9, 9, (16, 64)).astype("float32")
    for rows, columns in PARTS:
        part = a[rows, columns] if axis == 0 else a[rows, columns].T
        got = np.zeros((70, 70), "float32")
        module(part, got[2 : 2 + part.shape[0], 3 : 3 + part.shape[1]])
        want = np.zeros_like(got)
        want[2 : 2 + part.shape[0], 3 : 3 + part.shape[1]] = np.cumsum(part, 0)
        np.testing.assert_array_equal(got, want)
