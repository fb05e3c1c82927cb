"""Stencils: halos found by bound inference, chains of them in tiles, rows kept in a rolling buffer."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_cpu, on_gpu


def neighbours(x):
    return x[:-2] + x[1:-1] + x[2:]


@on_cpu(1, 15, 16, 17, large=64)
def box_blur(size):
    """3 x 3 means: sums along rows, then along columns, for tiles of 16 with a border; rows of a tile padded apart."""
    X = te.placeholder((size + 2, size + 2), name="X")
    H = te.compute((size + 2, size), lambda i, j: X[i, j] + X[i, j + 1] + X[i, j + 2], name="H")
    Y = te.compute((size, size), lambda i, j: (H[i, j] + H[i + 1, j] + H[i + 2, j]) * (1 / 9), name="Y")
    s = te.create_schedule(Y.op)
    _, jo, _, ji = s[Y].tile(*Y.op.axis, 16, 16)
    s[Y].vectorize(ji)
    s[H].compute_at(s[Y], jo)
    s[H].storage_align(H.op.axis[0], 16, 4)
    s[H].vectorize(s[H].split(H.op.axis[1], factor=8)[1])
    x = normal(size + 2, size + 2)
    return Subject(s, [X, Y], [x], [neighbours(neighbours(x).T).T / np.float32(9)])


@on_cpu(1, 15, 16, 17, large=1024)
def chain_of_stencils(size):
    """Five 3-point sums in a row, each recomputed for chunks of 16 of the last."""
    stages = [te.placeholder((size + 10,), name="X")]
    for step in range(5):
        last = stages[-1]
        stages.append(
            te.compute(
                (size + 8 - 2 * step,), lambda i, last=last: last[i] + last[i + 1] + last[i + 2], name=f"S{step}"
            )
        )
    s = te.create_schedule(stages[-1].op)
    chunk, _ = s[stages[-1]].split(stages[-1].op.axis[0], factor=16)
    for stage in stages[1:-1]:
        s[stage].compute_at(s[stages[-1]], chunk)
    x = ints(-3, 4, size + 10)
    want = x
    for _ in range(5):
        want = neighbours(want)
    return Subject(s, [stages[0], stages[-1]], [x], [want], near=0)


@on_cpu((2, 1), (5, 4), (9, 7), large=(60, 33))
def rows_in_a_rolling_buffer(rows, columns):
    """Each row of the inner stage is computed once; three of them are kept."""
    X = te.placeholder((rows + 2, columns), name="X")
    P = te.compute((rows + 2, columns), lambda i, j: te.exp(X[i, j]), name="P")
    Y = te.compute((rows, columns), lambda i, j: P[i, j] + P[i + 1, j] * 2 + P[i + 2, j], name="Y")
    s = te.create_schedule(Y.op)
    s[P].compute_at(s[Y], Y.op.axis[0])
    s[P].rolling_buffer()
    x = normal(rows + 2, columns)
    p = np.exp(x)
    return Subject(s, [X, Y], [x], [p[:-2] + 2 * p[1:-1] + p[2:]])


@on_gpu((1, 1), (7, 9), (8, 8), (9, 17), large=(333, 500))
def jacobi_in_shared_memory(rows, columns):
    """Four neighbours and the middle: a tile of 8 x 8 and its border in shared memory, loaded by all its threads."""
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m + 2, n + 2), name="X")
    Y = te.compute(
        (m, n),
        lambda i, j: X[i + 1, j + 1] * 4 - X[i, j + 1] - X[i + 2, j + 1] - X[i + 1, j] - X[i + 1, j + 2],
        name="Y",
    )
    s = te.create_schedule(Y.op)
    tile = s.cache_read(X, "shared", [Y])
    threads = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")
    io, jo, ii, ji = s[Y].tile(*Y.op.axis, 8, 8)
    s[Y].bind(io, te.thread_axis("blockIdx.y"))
    s[Y].bind(jo, te.thread_axis("blockIdx.x"))
    for axis, thread in zip((ii, ji), threads, strict=True):
        s[Y].bind(axis, thread)
    s[tile].compute_at(s[Y], jo)
    for axis, thread in zip(s[tile].op.axis, threads, strict=True):
        s[tile].bind(s[tile].split(axis, factor=8)[1], thread)
    s[tile].storage_align(s[tile].op.axis[0], 8, 3)
    x = ints(-9, 9, rows + 2, columns + 2)
    want = x[1:-1, 1:-1] * 4 - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:]
    return Subject(s, [X, Y], [x], [want], near=0)
