"""Random small TE programs, each with its meaning in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tecomp import te

from .draw import Case, Draw
from .scans import SCANS


def _unary(draw: Draw, dtype: str) -> tuple[Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]:
    one = np.dtype(dtype).type
    choices = [
        (lambda x: x + 1, lambda x: x + one(1)),
        (lambda x: x * 3 - x, lambda x: x * one(3) - x),
        (lambda x: te.max(x, te.const(0, dtype)), lambda x: np.maximum(x, one(0))),
        (lambda x: te.if_then_else(x > 0, x, x * 2), lambda x: np.where(x > 0, x, x * one(2))),
    ]
    if dtype.startswith("int"):
        choices.append((lambda x: x // 3 + x % 5, lambda x: x // one(3) + x % one(5)))
    return draw.rng.choice(choices)


def elementwise(draw: Draw) -> Case:
    """A chain or a diamond of elementwise stages over 1 to 3 dimensions."""
    dtype, rank = draw.dtype(), draw.rng.randint(1, 3)
    extents = [draw.extent(f"n{d}") for d in range(rank)]
    shape = tuple(e for e, _ in extents)
    a = draw.array([v for _, v in extents], dtype)
    A = te.placeholder(shape, dtype, name="A")
    stages, value, first_value, last = [], a, a, A
    for step in range(draw.rng.randint(1, 3)):
        f, g = _unary(draw, dtype)
        last = te.compute(shape, lambda *i, last=last, f=f: f(last(*i)), name=f"S{step}")
        value = g(value)
        stages.append(last)
        first_value = value if step == 0 else first_value
    if draw.rng.random() < 0.4:
        top, first = last, stages[0]
        last = te.compute(shape, lambda *i: top(*i) + first(*i) - A(*i), name="D")
        stages.append(last)
        value = value + first_value - a
    return Case("elementwise", [A, last], {A: a}, {last: value}, stages)


def stencil(draw: Draw) -> Case:
    """Two stages of a three-point sum, the second reading the first at i, i + 1, i + 2."""
    n, v = draw.extent("n")
    a = draw.array([v + 4], "float32")
    A = te.placeholder((n + 4,), name="A")
    B = te.compute((n + 2,), lambda i: A[i] + A[i + 1] * 2.0 + A[i + 2], name="B")
    C = te.compute((n,), lambda i: B[i] - B[i + 2] + B[i + 1], name="C")
    two = np.float32(2)
    b = a[:-2] + a[1:-1] * two + a[2:]
    return Case("stencil", [A, C], {A: a}, {C: b[: max(v, 0)] - b[2:] + b[1:-1]}, [B, C])


def padded(draw: Draw) -> Case:
    """A convolution over a padded row: reads guarded by if_then_else."""
    n, v = draw.extent("n")
    w = draw.rng.choice([1, 3, 5])
    a, k = draw.array([v], "float32"), draw.array([w], "float32")
    A, K = te.placeholder((n,), name="A"), te.placeholder((w,), name="K")
    h = w // 2
    P = te.compute((n + 2 * h,), lambda i: te.if_then_else(te.all(i >= h, i < n + h), A[i - h], 0.0), name="P")
    r = te.reduce_axis((0, w), name="r")
    C = te.compute((n,), lambda i: te.sum(P[i + r] * K[r], axis=r), name="C")
    p = np.pad(a, h)
    want = np.array([sum((p[i + j] * k[j] for j in range(w)), np.float32(0)) for i in range(v)], "float32")
    return Case("padded", [A, K, C], {A: a, K: k}, {C: want}, [P, C])


def blur(draw: Draw) -> Case:
    """A separable stencil over an image: rows, then columns of what that gave."""
    (m, mv), (n, nv) = draw.extent("m"), draw.extent("n")
    a = draw.array([mv + 2, nv + 2], "float32")
    A = te.placeholder((m + 2, n + 2), name="A")
    B = te.compute((m + 2, n), lambda i, j: A[i, j] + A[i, j + 1] + A[i, j + 2], name="B")
    C = te.compute((m, n), lambda i, j: B[i, j] + B[i + 1, j] + B[i + 2, j], name="C")
    rows = a[:, :-2] + a[:, 1:-1] + a[:, 2:]
    return Case("blur", [A, C], {A: a}, {C: rows[:-2] + rows[1:-1] + rows[2:]}, [B, C])


def matmul(draw: Draw) -> Case:
    """A product of matrices, one or both operands through a stage of their own, and a stage after it."""
    (m, mv), (n, nv), (k, kv) = draw.extent("m"), draw.extent("n"), draw.extent("k")
    dtype = draw.rng.choice(["float32", "float64", "int32"])
    a, b = draw.array([mv, kv], dtype), draw.array([kv, nv], dtype)
    A, B = te.placeholder((m, k), dtype, name="A"), te.placeholder((k, n), dtype, name="B")
    P = te.compute((k, n), lambda i, j: B[i, j] + 1, name="P")
    Q, stages = A, [P]
    if draw.rng.random() < 0.5:
        Q = te.compute((m, k), lambda i, j: A[i, j], name="Q")
        stages = [P, Q]
    r = te.reduce_axis((0, k), name="r")
    C = te.compute((m, n), lambda i, j: te.sum(Q[i, r] * P[r, j], axis=r), name="C")
    D = te.compute((m, n), lambda i, j: C[i, j] * 2, name="D")
    want = (a @ (b + b.dtype.type(1))) * b.dtype.type(2)
    return Case("matmul", [A, B, D], {A: a, B: b}, {D: want}, [*stages, C, D])


def reduction(draw: Draw) -> Case:
    """Row reductions of every kind, with a condition on the reduced axis at times."""
    (m, mv), (n, nv) = draw.extent("m"), draw.extent("n")
    dtype = draw.rng.choice(["float32", "int32", "int8"])
    a = draw.array([mv, nv], dtype)
    A = te.placeholder((m, n), dtype, name="A")
    r = te.reduce_axis((0, n), name="r")
    kind = draw.rng.choice(["sum", "max", "min", "where"])
    if kind == "where":
        C = te.compute((m,), lambda i: te.sum(A[i, r], axis=r, where=r % 2 == 0), name="C")
        want = a[:, ::2].sum(1, dtype=dtype)
    else:
        C = te.compute((m,), lambda i: getattr(te, kind)(A[i, r], axis=r), name="C")
        info = {"sum": 0, "max": None, "min": None}[kind]
        if kind == "sum":
            want = a.sum(1, dtype=dtype)
        else:
            ends = (-np.inf, np.inf) if dtype == "float32" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            info = ends[0] if kind == "max" else ends[1]
            want = getattr(np, kind)(a, axis=1, initial=info).astype(dtype)
    D = te.compute((m, n), lambda i, j: A[i, j] - C[i], name="D")
    return Case(f"reduction {kind}", [A, C, D], {A: a}, {C: want, D: (a - want[:, None]).astype(dtype)}, [C, D])


def argmax(draw: Draw) -> Case:
    """The place and value of each row's maximum: a reduction of pairs."""
    (m, mv), (n, nv) = draw.extent("m"), draw.extent("n", least=1)
    a = draw.data.integers(0, 4, size=(mv, nv)).astype("float32")
    A = te.placeholder((m, n), name="A")
    r = te.reduce_axis((0, n), name="r")

    def later(x: Any, y: Any) -> Any:
        better = te.any(y[1] > x[1], te.all(y[1] == x[1], y[0] < x[0]))
        return tuple(te.if_then_else(better, q, p) for p, q in zip(x, y, strict=True))

    best = te.comm_reducer(later, lambda t0, t1: (te.const(2**30, t0), te.min_value(t1)), name="best")
    I, V = te.compute((m,), lambda i: best((r.var, A[i, r]), axis=r), name="T")
    where = a.argmax(1).astype("int32") if mv else np.zeros(0, "int32")
    return Case("argmax", [A, I, V], {A: a}, {I: where, V: a.max(1) if mv else np.zeros(0, "f")}, [I])


def reshape(draw: Draw) -> Case:
    """A matrix read through // and % of a flat index, then transposed."""
    mv, nv = draw.size(1), draw.size(1)
    a = draw.array([mv, nv], "float32")
    A = te.placeholder((mv, nv), name="A")
    B = te.compute((mv * nv,), lambda i: A[i // nv, i % nv] * 2.0, name="B")
    C = te.compute((nv, mv), lambda i, j: B[j * nv + i] + 1.0, name="C")
    return Case("reshape", [A, C], {A: a}, {C: (a * np.float32(2) + np.float32(1)).T}, [B, C])


def gather(draw: Draw) -> Case:
    """Rows picked by an index array."""
    (m, mv), (n, nv) = draw.extent("m"), draw.extent("n", least=1)
    a = draw.array([nv], "float32")
    at = draw.data.integers(0, nv, size=mv).astype("int32")
    A, I = te.placeholder((n,), name="A"), te.placeholder((m,), "int32", name="I")
    B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
    C = te.compute((m,), lambda i: B[I[i]] * 2.0, name="C")
    return Case("gather", [A, I, C], {A: a, I: at}, {C: (a + np.float32(1))[at] * np.float32(2)}, [B, C])


def pair(draw: Draw) -> Case:
    """A stage of two outputs, read at different places by the next one."""
    n, v = draw.extent("n")
    a = draw.array([v + 1], "float32")
    A = te.placeholder((n + 1,), name="A")
    X, Y = te.compute((n + 1,), lambda i: (A[i] + 1.0, A[i] * 2.0), name="T")
    C = te.compute((n,), lambda i: X[i] + Y[i + 1], name="C")
    one, two = np.float32(1), np.float32(2)
    return Case("pair", [A, C], {A: a}, {C: (a[:-1] + one) + a[1:] * two}, [X, C])


KINDS = (elementwise, stencil, padded, blur, matmul, reduction, argmax, reshape, gather, pair, *SCANS)


def case(seed: int) -> tuple[Case, Draw]:
    """Return the program of a seed, and the choices left for its schedule."""
    draw = Draw(seed)
    return KINDS[seed % len(KINDS)](draw), draw
