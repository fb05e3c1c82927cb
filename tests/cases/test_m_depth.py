"""Group M: programs that are deep or long take seconds, and their code grows with them, not faster.

Times are of this process alone; the limits leave room for a slow machine, not for another order of growth.
"""

from __future__ import annotations

import time
from contextlib import contextmanager

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir import text
from tests.cases.places import Program
from tests.cases.tiling import bound

DATA = np.random.default_rng(0)


@contextmanager
def within(seconds):
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


def reshapes(levels, symbolic=False):
    """A chain of reshapes between (n, 12), (12, n), (n * 12,), each read through // and % of a flat index."""
    n = te.var("n") if symbolic else 10
    A = te.placeholder((n, 12), name="A")
    last = A
    for level in range(levels):
        shape = [(12, n), (n * 12,), (n, 12)][level % 3]
        before, width = last, last.shape[-1]
        flat = (lambda i, j, w=shape[-1]: i * w + j) if len(shape) == 2 else (lambda i: i)

        def element(*i, before=before, width=width, flat=flat):
            at = flat(*i)
            return before[at // width, at % width] if before.ndim == 2 else before[at]

        last = te.compute(shape, element, name=f"R{level}")
    return A, last


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("inline", [False, True])
def test_a_chain_of_reshapes(cpu, symbolic, inline):
    """tvm PR 5666."""
    A, last = reshapes(8, symbolic)
    s = te.create_schedule(last.op)
    if inline:
        for stage in list(s.stages)[1:-1]:
            stage.compute_inline()
    with within(4):
        program = cpu(s, [A, last])
    a = DATA.random((10, 12), "float32")
    program({A: a}, {last: a.ravel()})


@pytest.mark.parametrize("inline", [False, True])
def test_the_code_of_reshapes_grows_with_their_number(inline):
    sizes = []
    for levels in (3, 6, 12):
        A, last = reshapes(levels)
        s = te.create_schedule(last.op)
        if inline:
            for stage in list(s.stages)[1:-1]:
                stage.compute_inline()
        sizes.append(len(text(tecomp.lower(s, [A, last]))))
    assert sizes[2] < 2.5 * sizes[1] < 6.25 * sizes[0]


@pytest.mark.parametrize("choose", [te.Select, te.if_then_else])
@pytest.mark.parametrize("nest", ["chain", "conditions", "both sides"])
def test_nested_choices(cpu, choose, nest):
    """Halide#3639: 30 of them."""
    A = te.placeholder((64,), name="A")

    def element(i):
        value = A[i]
        for level in range(30):
            if nest == "chain":
                value = choose(i % (level + 2) == 0, A[(i + level) % 64], value)
            elif nest == "conditions":
                value = choose(te.all(i > level, i % 3 == level % 3), value + 1, value)
            else:
                value = choose(i < level, value * 2, value - 1)
        return value

    B = te.compute((64,), element, name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(B.op.axis[0], 8)[1])
    with within(8):
        program = cpu(s, [A, B])
    a, i = DATA.integers(-9, 9, 64).astype("float32"), np.arange(64)
    want = a
    for level in range(30):
        if nest == "chain":
            want = np.where(i % (level + 2) == 0, np.roll(a, -level), want)
        elif nest == "conditions":
            want = np.where((i > level) & (i % 3 == level % 3), want + np.float32(1), want)
        else:
            want = np.where(i < level, want * np.float32(2), want - np.float32(1))
    program({A: a}, {B: want})


@pytest.mark.parametrize("how", ["plain", "fused", "split"])
def test_a_transpose_of_twelve_dimensions(cpu, how):
    """tvm PR 5666: the partition of one loop in another, again and again."""
    shape = (2, 1, 3, 1, 2, 2, 1, 2, 1, 2, 1, 3)
    A = te.placeholder(shape, name="A")
    B = te.compute(shape[::-1], lambda *i: A(*i[::-1]), name="B")
    s = te.create_schedule(B.op)
    if how == "fused":
        s[B].vectorize(s[B].split(s[B].fuse(*B.op.axis), 8)[1])
    elif how == "split":
        for axis in B.op.axis:
            s[B].split(axis, 2)
    with within(4):
        program = cpu(s, [A, B])
    a = DATA.random(shape, "float32")
    program({A: a}, {B: np.ascontiguousarray(a.T)})


@pytest.mark.parametrize("depth", [2, 4])
def test_ragged_loops_inside_one_another(cpu, depth):
    """Halide#7743: every loop has a tail; the tails of all of them are not multiplied out."""
    sizes = [te.var(f"n{dim}") for dim in range(depth)]
    A = te.placeholder(sizes, name="A")
    B = te.compute(sizes, lambda *i: A(*i) + 1, name="B")
    s = te.create_schedule(B.op)
    loops = [s[B].split(axis, 3) for axis in B.op.axis]
    s[B].reorder(*(outer for outer, _ in loops), *(inner for _, inner in loops))
    with within(8):
        program = cpu(s, [A, B])
    assert text(tecomp.lower(s, [A, B])).count("\n") < 40 * depth
    a = DATA.random((4, 5, 3, 2, 4)[:depth], "float32")
    program({A: a}, {B: a + np.float32(1)})


def test_a_thousand_stages():
    A = te.placeholder((8,), name="A")
    last = A
    for number in range(1000):
        last = te.compute((8,), lambda i, last=last: last[i] + 1, name=f"S{number}")
    with within(25):
        program = Program("llvm", te.create_schedule(last.op), [A, last])
    program({A: np.zeros(8, "float32")}, {last: np.full(8, 1000, "float32")})


def test_a_sum_of_five_thousand_terms(cpu):
    A = te.placeholder((5000,), "int32", name="A")
    B = te.compute((2,), lambda i: sum((A[k] for k in range(1, 5000)), A[0]), name="B")
    with within(25):
        program = cpu(te.create_schedule(B.op), [A, B])
    a = DATA.integers(-9, 9, 5000).astype("int32")
    program({A: a}, {B: np.full(2, a.sum(), "int32")})


def test_a_chain_of_reshapes_on_cuda(cuda):
    A, last = reshapes(8, symbolic=True)
    s = te.create_schedule(last.op)
    for stage in list(s.stages)[1:-1]:
        stage.compute_inline()
    bound(s, last, 32, s[last].fuse(*last.op.axis))
    with within(4):
        program = cuda(s, [A, last])
    a = DATA.random((10, 12), "float32")
    program({A: a}, {last: a.ravel()})
