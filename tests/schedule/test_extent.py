"""How long loops are whose stage turns out smaller than they were made for."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tests.cases.places import ON_CUDA, Program


@pytest.mark.parametrize("where", ["interpreter", *ON_CUDA])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 32, 33])
def test_declared_threads_fetch_a_tile_that_is_smaller_than_they(where, columns):
    """4 x 8 threads fetch a row, however long it is: part of a part is as long as was declared."""
    A = te.placeholder((5, columns), name="A")
    B = te.compute((5, columns), lambda i, j: A[i, columns - 1 - j] * 2, name="B")
    s = te.create_schedule(B.op)
    row = s.cache_read(A, "shared", [B])
    down, across = te.thread_axis((0, 4), "threadIdx.y"), te.thread_axis((0, 8), "threadIdx.x")
    for tensor in (row, B):
        stage = s[tensor]
        _, rest = stage.split(stage.op.axis[1], factor=32)
        outer, inner = stage.split(rest, factor=8)
        stage.bind(outer, down)
        stage.bind(inner, across)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[row].compute_at(s[B], B.op.axis[0])
    a = np.random.default_rng(columns).integers(-9, 9, (5, columns)).astype("float32")
    Program(where, s, [A, B])({A: a}, {B: a[:, ::-1] * np.float32(2)})


def test_fused_parts_keep_their_length():
    A = te.placeholder((3,), name="A")
    B = te.compute((3,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=8)
    s[B].bind(s[B].fuse(outer, inner), te.thread_axis((0, 8), "threadIdx.x"))
    a = np.arange(3, dtype="float32")
    for where in ("interpreter", "device"):
        Program(where, s, [A, B])({A: a}, {B: a + 1})
