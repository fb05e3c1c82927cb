"""Group F, in a warp: what a stage's threads keep in registers, others of the warp read by exchanging values."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tests.cases.tiling import around

DATA = np.random.default_rng(0)


def held(body, width, extra=0, rows=1, dtype="float32"):
    """Return a program B(i, j) = body(P, i, j) with P = 2 A in warp memory, `width` columns wide and `extra` more in P.

    A row is a warp's or part of one; `rows` of them are in a block.
    """
    n = te.var("n")
    A = te.placeholder((n, width + extra), dtype, name="A")
    P = te.compute((n, width + extra), lambda i, j: A[i, j] * 2, name="P")
    B = te.compute((n, width), lambda i, j: body(P, i, j), name="B")
    s = te.create_schedule(B.op)
    outer, row = s[B].split(B.op.axis[0], rows)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(row, te.thread_axis("threadIdx.y"))
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    s[P].compute_at(s[B], row)
    s[P].set_scope("warp")
    s[P].bind(s[P].split(P.op.axis[1], width)[1], te.thread_axis("threadIdx.x"))
    return s, [A, B]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64"])
@pytest.mark.parametrize("width", [2, 8, 16, 32])
@pytest.mark.parametrize("rows", [1, 3, 4])
def test_another_lane(cuda, width, rows, dtype):
    """Lanes beyond the last row come to the exchange too, and lanes there are no threads for are not asked."""
    s, (A, B) = held(lambda P, i, j: P[i, width - 1 - j] + P[i, j], width, rows=rows, dtype=dtype)
    program = cuda(s, [A, B])
    for height in around(rows)[1:]:
        a = DATA.integers(0, 9, (height, width)).astype(dtype)
        program({A: a}, {B: (a + a[:, ::-1]) * a.dtype.type(2)})


@pytest.mark.parametrize("width", [4, 32])
@pytest.mark.parametrize("halo", [1, 2, 4])
def test_a_stencil(cuda, width, halo):
    """Elements beyond the warp's width are kept a second time around; which of both a lane reads, it alone knows."""
    s, (A, B) = held(lambda P, i, j: sum((P[i, j + d] for d in range(1, halo + 1)), P[i, j]), width, halo, rows=3)
    a = DATA.integers(0, 9, (4, width + halo)).astype("float32")
    want = sum(a[:, d : d + width] for d in range(halo + 1)) * np.float32(2)
    cuda(s, [A, B])({A: a}, {B: want})


def test_what_threads_fold(cuda):
    """A warp multiplies its row by a matrix that is the same for all: each lane needs the whole row."""
    n = te.var("n")
    A, W = te.placeholder((n, 32), name="A"), te.placeholder((32, 32), name="W")
    k = te.reduce_axis((0, 32), name="k")
    P = te.compute((n, 32), lambda i, j: A[i, j] + 1, name="P")
    B = te.compute((n, 32), lambda i, j: te.sum(P[i, k] * W[k, j], axis=k), name="B")
    s = te.create_schedule(B.op)
    outer, row = s[B].split(B.op.axis[0], 4)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(row, te.thread_axis("threadIdx.y"))
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    s[P].compute_at(s[B], row)
    s[P].set_scope("warp")
    s[P].bind(P.op.axis[1], te.thread_axis("threadIdx.x"))
    program = cuda(s, [A, W, B])
    w = DATA.integers(-3, 4, (32, 32)).astype("float32")
    for height in (1, 4, 5):
        a = DATA.integers(-3, 4, (height, 32)).astype("float32")
        program({A: a, W: w}, {B: (a + 1) @ w})
