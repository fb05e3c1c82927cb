"""Scans: several states and stages a step, more than one step of init, stages before and after; on a CPU and a GPU."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, ints, normal, on_cpu, on_gpu


def running_sums(m, n):
    X, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    return X, init, update, te.scan(init, update, state, inputs=[X], name="S")


@on_cpu((1, 1), (2, 7), (9, 8), (5, 9), large=(64, 100))
def cumsum(m, n):
    """Running sums of columns, 8 columns a vector; a stage after the scan reads it all."""
    rows, columns = te.var("m"), te.var("n")
    X, init, update, S = running_sums(rows, columns)
    Y = te.compute((rows, columns), lambda t, i: S[t, i] * 2, name="Y")
    s = te.create_schedule(Y.op)
    for T in (init, update, Y):
        s[T].vectorize(s[T].split(T.op.axis[1], factor=8)[1])
    x = ints(-9, 9, m, n)
    return Subject(s, [X, S, Y], [x], [np.cumsum(x, 0), np.cumsum(x, 0) * 2], near=0)


@on_cpu((1, 1, 1), (4, 3, 5), (3, 8, 9), large=(20, 33, 70))
def two_states_of_two_widths(steps, n, l):
    """Two states that know each other's last step, and a stage between that is computed where it is used."""
    m = te.var("m")
    A, B = te.placeholder((m, n), name="A"), te.placeholder((m, l), name="B")
    P, Q = te.placeholder((m, n), name="P"), te.placeholder((m, l), name="Q")
    p0 = te.compute((1, n), lambda _, i: A[0, i], name="p0")
    q0 = te.compute((1, l), lambda _, i: B[0, i], name="q0")
    k = te.reduce_axis((0, l), name="k")
    mixed = te.compute((m, n), lambda t, i: te.sum(Q[t - 1, k], axis=k), name="mixed")
    scaled = te.compute((m, n), lambda t, i: mixed[t, i] * 0.25 + A[t, i], name="scaled")
    p = te.compute((m, n), lambda t, i: P[t - 1, i] * 0.5 + scaled[t, i], name="p")
    q = te.compute((m, l), lambda t, i: te.max(Q[t - 1, i], P[t - 1, 0]) * 0.5 + B[t, i], name="q")
    SP, SQ = te.scan([p0, q0], [p, q], [P, Q], inputs=[A, B], name="S")
    s = te.create_schedule(SP.op)
    outer, inner = s[p].split(p.op.axis[1], factor=4)
    s[scaled].compute_at(s[p], outer)
    s[mixed].compute_at(s[p], outer)
    s[p].unroll(inner)
    a, b = normal(steps, n), normal(steps, l)
    x, y = a.copy(), b.copy()
    for t in range(1, steps):
        x[t] += x[t - 1] * np.float32(0.5) + y[t - 1].sum() * np.float32(0.25)
        y[t] += np.maximum(y[t - 1], x[t - 1, 0]) * np.float32(0.5)
    return Subject(s, [A, B, SP, SQ], [a, b], [x, y], near=1e-4)


@on_cpu((2, 1), (3, 4), (9, 5), large=(40, 64))
def fibonacci(steps, n):
    """A step that reads the last two: init gives the first two."""
    X, state = te.placeholder((2, n), "int64", name="X"), te.placeholder((steps, n), "int64", name="state")
    init = te.compute((2, n), lambda t, i: X[t, i], name="init")
    update = te.compute((steps, n), lambda t, i: state[t - 1, i] + state[t - 2, i], name="update")
    S = te.scan(init, update, state, name="S")
    s = te.create_schedule(S.op)
    s[update].vectorize(s[update].split(update.op.axis[1], factor=4)[1])
    s[S].split(S.op.scan_axis, factor=3)
    x = ints(0, 5, 2, n, dtype="int64")
    want = np.zeros((steps, n), "int64")
    want[:2] = x
    for t in range(2, steps):
        want[t] = want[t - 1] + want[t - 2]
    return Subject(s, [X, S], [x], [want], near=0)


@on_cpu((1, 1), (4, 5), (8, 9), large=(50, 65))
def shortest_paths(steps, nodes):
    """Bellman and Ford: a step is a minimum over all nodes of the last state, which is copied first."""
    W, start = te.placeholder((nodes, nodes), name="W"), te.placeholder((nodes,), name="start")
    state = te.placeholder((steps, nodes), name="state")
    init = te.compute((1, nodes), lambda _, i: start[i], name="init")
    k = te.reduce_axis((0, nodes), name="k")
    best = te.compute((steps, nodes), lambda t, i: te.min(state[t - 1, k] + W[k, i], axis=k), name="best")
    update = te.compute((steps, nodes), lambda t, i: te.min(best[t, i], state[t - 1, i]), name="update")
    S = te.scan(init, update, state, name="S")
    s = te.create_schedule(S.op)
    s.cache_read(state, "global", [best])
    io, _ = s[update].split(update.op.axis[1], factor=4)
    s[best].compute_at(s[update], io)
    s[best].reorder(k, best.op.axis[1])
    w, x = ints(1, 20, nodes, nodes), ints(0, 50, nodes)
    want = np.tile(x, (steps, 1))
    for t in range(1, steps):
        want[t] = np.minimum(want[t - 1], (want[t - 1][:, None] + w).min(0))
    return Subject(s, [W, start, S], [w, x], [want], near=0)


@on_gpu((1, 1), (3, 7), (2, 8), (5, 9), large=(100, 1025))
def cumsum_of_threads(m, n):
    """Running sums, a column a thread, in one kernel; another kernel after it squares them."""
    rows, columns = te.var("m"), te.var("n")
    X, init, update, S = running_sums(rows, columns)
    Y = te.compute((rows, columns), lambda t, i: S[t, i] * S[t, i], name="Y")
    s = te.create_schedule(Y.op)
    block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    for T in (init, update, Y):
        outer, inner = s[T].split(T.op.axis[1], factor=8)
        s[T].bind(outer, block)
        s[T].bind(inner, thread)
    x = ints(-3, 4, m, n)
    return Subject(s, [X, S, Y], [x], [np.cumsum(x, 0), np.cumsum(x, 0) ** 2], near=0)


@on_gpu((1, 1), (3, 5), (4, 8), (2, 17), large=(64, 2000))
def decaying_sums(m, n):
    """s[t] = a[t] s[t-1] + x[t] with a weight from data and a stage of the step kept in a register."""
    X, G = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="G")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    gate = te.compute((m, n), lambda t, i: te.sigmoid(G[t, i]), name="gate")
    update = te.compute((m, n), lambda t, i: gate[t, i] * state[t - 1, i] + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X, G], name="S")
    s = te.create_schedule(S.op)
    for T in (init, update):
        outer, inner = s[T].split(T.op.axis[1], factor=8)
        s[T].bind(outer, te.thread_axis("blockIdx.x"))
        s[T].bind(inner, te.thread_axis("threadIdx.x"))
    s[gate].compute_at(s[update], s[update].leaf_iter_vars[-1])
    x, g = normal(m, n), normal(m + 1, n)[1:].copy()
    want, weight = x.copy(), 1 / (1 + np.exp(-g))
    for t in range(1, m):
        want[t] += weight[t] * want[t - 1]
    return Subject(s, [X, G, S], [x, g], [want])
