"""Nine tensor programs with fixed CPU schedules, over any module that offers TE's names.

Each function takes such a `te` and returns a Program. tecomp and a peer so compile the very same schedules. This file
runs on Python 3.10, which the peer needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

Array = np.ndarray


@dataclass
class Program:
    """A scheduled program, what it is called with, and what it should give."""

    schedule: Any
    arguments: list[Any]
    inputs: list[Array]
    expected: Array
    bytes: int = 0
    """What it must move to and from memory, at least."""
    flops: int = 0


def uniform(*shape: int) -> Array:
    return np.random.default_rng(7).random(shape, dtype=np.float32)


def vecadd(te: ModuleType, n: int = 1 << 22) -> Program:
    """R[i] = A[i] + B[i]: parallel chunks of 4096, vectors of 16."""
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    r = te.compute((n,), lambda i: a[i] + b[i], name="R")
    s = te.create_schedule(r.op)
    chunk, rest = s[r].split(r.op.axis[0], factor=4096)
    s[r].parallel(chunk)
    s[r].vectorize(s[r].split(rest, factor=16)[1])
    x, y = uniform(n), uniform(n)[::-1].copy()
    return Program(s, [a, b, r], [x, y], x + y, bytes=12 * n)


def gemm(te: ModuleType, n: int = 1024, block: int = 32) -> Program:
    """C = A B in 32x32 tiles, B packed by columns of tiles, the tile accumulated in a cache."""
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    packed = te.compute((n // block, n, block), lambda q, y, z: b[y, q * block + z], name="packedB")
    c = te.compute(
        (n, n), lambda i, j: te.sum(a[i, k] * packed[te.indexdiv(j, block), k, te.indexmod(j, block)], axis=k), name="C"
    )
    s = te.create_schedule(c.op)
    tile = s.cache_write(c, "global")
    i_outer, j_outer, _, _ = s[c].tile(*c.op.axis, block, block)
    s[c].parallel(i_outer)
    s[tile].compute_at(s[c], j_outer)
    row, column = s[tile].op.axis
    k_outer, k_inner = s[tile].split(s[tile].op.reduce_axis[0], factor=4)
    s[tile].reorder(k_outer, row, k_inner, column)
    s[tile].unroll(k_inner)
    s[tile].vectorize(column)
    s[packed].parallel(s[packed].op.axis[0])
    s[packed].vectorize(s[packed].op.axis[2])
    x, y = uniform(n, n), uniform(n, n).T.copy()
    return Program(s, [a, b, c], [x, y], x @ y, bytes=12 * n * n, flops=2 * n**3)


def gemm_naive(te: ModuleType, n: int = 512) -> Program:
    """C = A B as the definition says it, unscheduled."""
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    x, y = uniform(n, n), uniform(n, n).T.copy()
    return Program(te.create_schedule(c.op), [a, b, c], [x, y], x @ y, bytes=12 * n * n, flops=2 * n**3)


def conv2d(te: ModuleType, channels: int = 64, size: int = 56) -> Program:
    """3x3 convolution of one padded image: 4 filters by 14 columns in registers."""
    x = te.placeholder((1, channels, size, size), name="X")
    w = te.placeholder((channels, channels, 3, 3), name="W")

    def padded(n: Any, c: Any, i: Any, j: Any) -> Any:
        inside = te.all(i >= 1, i < size + 1, j >= 1, j < size + 1)
        return te.if_then_else(inside, x[n, c, i - 1, j - 1], 0.0)

    p = te.compute((1, channels, size + 2, size + 2), padded, name="P")
    c, u, v = (te.reduce_axis((0, extent), name=name) for name, extent in (("c", channels), ("u", 3), ("v", 3)))
    r = te.compute(
        (1, channels, size, size),
        lambda n, f, i, j: te.sum(p[n, c, i + u, j + v] * w[f, c, u, v], axis=[c, u, v]),
        name="R",
    )
    s = te.create_schedule(r.op)
    n, f, i, j = s[r].op.axis
    f_outer, f_inner = s[r].split(f, factor=4)
    j_outer, j_inner = s[r].split(j, factor=14)
    c_outer, c_inner = s[r].split(c, factor=8)
    s[r].reorder(n, f_outer, i, j_outer, c_outer, u, v, c_inner, f_inner, j_inner)
    s[r].unroll(f_inner)
    s[r].vectorize(j_inner)
    s[r].parallel(s[r].fuse(n, f_outer))
    s[p].parallel(s[p].op.axis[1])
    image, filters = uniform(1, channels, size, size), uniform(channels, channels, 3, 3)
    border = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(border, (3, 3), axis=(2, 3))
    expected = np.einsum("ncijuv,fcuv->nfij", windows, filters, optimize=True)
    return Program(s, [x, w, r], [image, filters], expected, flops=2 * channels**2 * 9 * size**2)


def cumsum(te: ModuleType, m: int = 1024, n: int = 4096) -> Program:
    """Running sums of columns, as a scan over rows; vectors of 16 columns."""
    x = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: x[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[x])
    s = te.create_schedule(scan.op)
    for stage in (init, update):
        s[stage].vectorize(s[stage].split(stage.op.axis[1], factor=16)[1])
    values = uniform(m, n)
    return Program(s, [x, scan], [values], np.cumsum(values, axis=0), bytes=8 * m * n)


def softmax(te: ModuleType, m: int = 1024, n: int = 1024) -> Program:
    """Softmax of rows: maximum, exponentials and sum computed within the row's iteration."""
    x = te.placeholder((m, n), name="X")
    k, l = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="l")
    top = te.compute((m,), lambda i: te.max(x[i, k], axis=k), name="top")
    power = te.compute((m, n), lambda i, j: te.exp(x[i, j] - top[i]), name="power")
    total = te.compute((m,), lambda i: te.sum(power[i, l], axis=l), name="total")
    r = te.compute((m, n), lambda i, j: power[i, j] / total[i], name="R")
    s = te.create_schedule(r.op)
    row, column = s[r].op.axis
    s[r].parallel(row)
    s[r].vectorize(s[r].split(column, factor=16)[1])
    for stage in (total, power, top):
        s[stage].compute_at(s[r], row)
    values = uniform(m, n)
    powers = np.exp(values - values.max(1, keepdims=True))
    return Program(s, [x, r], [values], powers / powers.sum(1, keepdims=True), bytes=8 * m * n)


def rowsum_rfactor(te: ModuleType, m: int = 64, n: int = 1 << 16) -> Program:
    """Sums of rows, 16 partial sums a row by rfactor."""
    x = te.placeholder((m, n), name="X")
    k = te.reduce_axis((0, n), name="k")
    r = te.compute((m,), lambda i: te.sum(x[i, k], axis=k), name="R")
    s = te.create_schedule(r.op)
    partial = s.rfactor(r, s[r].split(r.op.reduce_axis[0], factor=16)[1])
    s[r].parallel(s[r].op.axis[0])
    s[partial].compute_at(s[r], s[r].op.axis[0])
    values = uniform(m, n)
    return Program(s, [x, r], [values], values.sum(1), bytes=4 * m * n)


def symbolic(te: ModuleType, n: int = 100_003) -> Program:
    """C = (2 A + 1)^2 for any n, the inner stage computed per chunk of 64."""
    size = te.var("n")
    a = te.placeholder((size,), name="A")
    b = te.compute((size,), lambda i: a[i] * 2.0 + 1.0, name="B")
    c = te.compute((size,), lambda i: b[i] * b[i], name="C")
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], s[c].split(c.op.axis[0], factor=64)[0])
    values = uniform(n)
    return Program(s, [a, c], [values], (values * 2 + 1) ** 2, bytes=8 * n)


def three_point(source: Any) -> Callable[[Any], Any]:
    return lambda i: source[i] + source[i + 1] + source[i + 2]


def stencil_chain(te: ModuleType, n: int = 1024, depth: int = 12) -> Program:
    """Twelve 3-point stencils in a row, each computed per chunk of 64 of the last."""
    a = te.placeholder((n + 2 * depth,), name="A")
    stages = [a]
    for step in range(depth):
        width = n + 2 * (depth - 1 - step)
        stages.append(te.compute((width,), three_point(stages[-1]), name=f"S{step}"))
    last = stages[-1]
    s = te.create_schedule(last.op)
    chunk, _ = s[last].split(last.op.axis[0], factor=64)
    for stage in stages[1:-1]:
        s[stage].compute_at(s[last], chunk)
    values = uniform(n + 2 * depth)
    expected = values
    for _ in range(depth):
        expected = expected[:-2] + expected[1:-1] + expected[2:]
    return Program(s, [a, last], [values], expected, bytes=8 * n)


PROGRAMS: dict[str, Callable[[ModuleType], Program]] = {
    f.__name__: f for f in (vecadd, gemm, gemm_naive, conv2d, cumsum, softmax, rowsum_rfactor, symbolic, stencil_chain)
}
