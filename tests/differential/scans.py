"""Random scans, each with its meaning in NumPy: what a step reads of earlier steps decides where it can run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tecomp import te

from .draw import Case, Draw

HALF, TWO = np.float32(0.5), np.float32(2)


def cumulative(draw: Draw) -> Case:
    """A cumulative sum along time, its step in one or two stages, and at times a stage that reads the result."""
    (m, mv), (n, nv) = draw.extent("m", least=1), draw.extent("n")
    x = draw.array([mv, nv], "float32")
    X, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    stages, weight = [init], np.float32(1)
    if draw.rng.random() < 0.5:
        half = te.compute((m, n), lambda t, i: state[t - 1, i] * 0.5, name="half")
        update = te.compute((m, n), lambda t, i: half[t, i] + X[t, i], name="update")
        stages, weight = [init, half, update], HALF
    else:
        update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
        stages = [init, update]
    S = te.scan(init, update, state, inputs=[X])
    want = over_time(x, 1, lambda past, t: past[t - 1] * weight + x[t])
    if draw.rng.random() < 0.5:
        return Case("scan", [X, S], {X: x}, {S: want}, stages)
    R = te.compute((m, n), lambda t, i: S[t, i] * 2.0, name="R")
    return Case("scan then read", [X, R], {X: x}, {R: want * TWO}, [*stages, R])


def fibonacci(draw: Draw) -> Case:
    """A scan that starts from two steps and reads two steps back."""
    mv, (n, nv) = draw.size(2) if draw.factor > 2 else 5, draw.extent("n")
    x = draw.array([2, nv], "float32")
    X, state = te.placeholder((2, n), name="X"), te.placeholder((mv, n), name="state")
    init = te.compute((2, n), lambda t, i: X[t, i], name="init")
    update = te.compute((mv, n), lambda t, i: state[t - 1, i] + state[t - 2, i], name="update")
    S = te.scan(init, update, state, inputs=[X])
    start = np.concatenate([x, np.zeros((mv - 2, nv), "float32")])
    want = over_time(start, 2, lambda past, t: past[t - 1] + past[t - 2])
    return Case("fibonacci", [X, S], {X: x}, {S: want}, [init, update])


def two_states(draw: Draw) -> Case:
    """A scan of two states, the second reading the first one's column 0."""
    (m, mv), (n, nv), (k, kv) = draw.extent("m", least=1), draw.extent("n", least=1), draw.extent("k")
    x = draw.array([mv, nv], "float32")
    X = te.placeholder((m, n), name="X")
    p, q = te.placeholder((m, n), name="p"), te.placeholder((m, k), name="q")
    p0 = te.compute((1, n), lambda _, i: X[0, i], name="p0")
    q0 = te.compute((1, k), lambda _, i: 0.0, name="q0")
    pu = te.compute((m, n), lambda t, i: p[t - 1, i] + X[t, i], name="pu")
    qu = te.compute((m, k), lambda t, i: q[t - 1, i] + p[t - 1, 0], name="qu")
    P, Q = te.scan([p0, q0], [pu, qu], [p, q], inputs=[X])
    wp = over_time(x, 1, lambda past, t: past[t - 1] + x[t])
    wq = over_time(np.zeros((mv, kv), "float32"), 1, lambda past, t: past[t - 1] + wp[t - 1, 0])
    return Case("two states", [X, P, Q], {X: x}, {P: wp, Q: wq}, [p0, q0, pu, qu])


def coupled(draw: Draw) -> Case:
    """Two states of one shape, each reading both at its own place."""
    (m, mv), (n, nv) = draw.extent("m", least=1), draw.extent("n")
    x = draw.array([mv, nv], "float32")
    X = te.placeholder((m, n), name="X")
    p, q = te.placeholder((m, n), name="p"), te.placeholder((m, n), name="q")
    p0 = te.compute((1, n), lambda _, i: X[0, i], name="p0")
    q0 = te.compute((1, n), lambda _, i: X[0, i] * 2.0, name="q0")
    pu = te.compute((m, n), lambda t, i: q[t - 1, i] * 0.5 + X[t, i], name="pu")
    qu = te.compute((m, n), lambda t, i: p[t - 1, i] - q[t - 1, i] * 0.5, name="qu")
    P, Q = te.scan([p0, q0], [pu, qu], [p, q], inputs=[X])
    wp, wq = x.copy(), np.zeros_like(x)
    wq[0] = x[0] * TWO
    for t in range(1, mv):
        wp[t], wq[t] = wq[t - 1] * HALF + x[t], wp[t - 1] - wq[t - 1] * HALF
    return Case("coupled states", [X, P, Q], {X: x}, {P: wp, Q: wq}, [p0, q0, pu, qu])


def shifted(draw: Draw) -> Case:
    """Each element reads the past of its neighbour, or of its mirror image: no thread keeps to itself."""
    (m, mv), (n, nv) = draw.extent("m", least=1), draw.extent("n", least=1)
    x = draw.array([mv, nv], "float32")
    X, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    name, at, moved = draw.rng.choice(
        [
            ("next", lambda i: te.if_then_else(i + 1 < n, i + 1, i), np.minimum(np.arange(nv) + 1, nv - 1)),
            ("mirror", lambda i: n - 1 - i, np.arange(nv)[::-1]),
            ("first", lambda i: i // 2, np.arange(nv) // 2),
        ]
    )
    update = te.compute((m, n), lambda t, i: state[t - 1, at(i)] * 0.5 + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X])
    want = over_time(x, 1, lambda past, t: past[t - 1][moved] * HALF + x[t])
    return Case(f"shifted scan, {name}", [X, S], {X: x}, {S: want}, [init, update])


def planes(draw: Draw) -> Case:
    """A scan over matrices, with a second stage that reads the first in its own place or beside it."""
    (m, mv), (n, nv), (k, kv) = draw.extent("m", least=1), draw.extent("n"), draw.extent("k", least=1)
    x = draw.array([mv, nv, kv], "float32")
    X, state = te.placeholder((m, n, k), name="X"), te.placeholder((m, n, k), name="state")
    init = te.compute((1, n, k), lambda _, i, j: X[0, i, j], name="init")
    half = te.compute((m, n, k), lambda t, i, j: state[t - 1, i, j] * 0.5, name="half")
    beside = draw.rng.random() < 0.5
    update = te.compute((m, n, k), lambda t, i, j: half[t, i, k - 1 - j if beside else j] + X[t, i, j], name="update")
    S = te.scan(init, update, state, inputs=[X])
    turn = slice(None, None, -1) if beside else slice(None)
    want = over_time(x, 1, lambda past, t: past[t - 1][:, turn] * HALF + x[t])
    return Case(f"planes{', mirrored' if beside else ''}", [X, S], {X: x}, {S: want}, [init, half, update])


def recurrent(draw: Draw) -> Case:
    """A recurrent layer: each step multiplies the last one's row by a matrix."""
    (m, mv), (n, nv) = draw.extent("m", least=1), draw.extent("n")
    x, w = draw.array([mv, nv], "float32"), draw.array([nv, nv], "float32") * np.float32(0.25)
    X, W = te.placeholder((m, n), name="X"), te.placeholder((n, n), name="W")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    r = te.reduce_axis((0, n), name="r")
    dot = te.compute((m, n), lambda t, i: te.sum(state[t - 1, r] * W[i, r], axis=r), name="dot")
    update = te.compute((m, n), lambda t, i: te.clip(dot[t, i], -4.0, 4.0) + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X])
    want = over_time(x, 1, lambda past, t: np.clip(w @ past[t - 1], -4, 4) + x[t])
    return Case("recurrent", [X, W, S], {X: x, W: w}, {S: want}, [init, dot, update])


def over_time(start: np.ndarray, first: int, step: Callable[[np.ndarray, int], Any]) -> np.ndarray:
    """Return the states whose rows below `first` are those of `start`, and whose row t is `step(states, t)`."""
    states = start.copy()
    for t in range(first, len(states)):
        states[t] = step(states, t)
    return states


SCANS = (cumulative, fibonacci, two_states, coupled, shifted, planes, recurrent)
