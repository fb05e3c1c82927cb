"""Recurrent networks as scans: cells on a CPU, and all steps in one kernel that keeps its weights on the chip."""

from __future__ import annotations

import numpy as np

from tecomp import te

from .subject import Subject, normal, on_cpu, on_gpu


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def zeros(steps, batch, hidden, name):
    return te.compute((steps, batch, hidden), lambda t, i, j: te.const(0.0, "float32"), name=name)


def lstm_cell(steps, batch, inputs, hidden):
    """The scan of an LSTM whose inputs are multiplied by their weights for all steps before it begins."""
    X, Wx = te.placeholder((steps, batch, inputs), name="X"), te.placeholder((4, hidden, inputs), name="Wx")
    Wh = te.placeholder((4, hidden, hidden), name="Wh")
    p, k = te.reduce_axis((0, inputs), name="p"), te.reduce_axis((0, hidden), name="k")
    fed = te.compute((steps, batch, 4, hidden), lambda t, i, g, j: te.sum(X[t, i, p] * Wx[g, j, p], axis=p), name="fed")
    C, H = (te.placeholder((steps, batch, hidden), name=name) for name in ("C", "H"))
    back = te.compute(
        (steps, batch, 4, hidden), lambda t, i, g, j: te.sum(H[t - 1, i, k] * Wh[g, j, k], axis=k), name="back"
    )
    gates = te.compute(back.shape, lambda t, i, g, j: back[t, i, g, j] + fed[t, i, g, j], name="gates")
    shape = (steps, batch, hidden)
    enter = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, i, 0, j]), name="enter")
    change = te.compute(shape, lambda t, i, j: te.tanh(gates[t, i, 1, j]), name="change")
    forget = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, i, 2, j]), name="forget")
    leave = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, i, 3, j]), name="leave")
    next_c = te.compute(
        shape, lambda t, i, j: forget[t, i, j] * C[t - 1, i, j] + enter[t, i, j] * change[t, i, j], name="next_c"
    )
    next_h = te.compute(shape, lambda t, i, j: leave[t, i, j] * te.tanh(next_c[t, i, j]), name="next_h")
    inits = [zeros(1, batch, hidden, name) for name in ("c0", "h0")]
    scan = te.scan(inits, [next_c, next_h], [C, H], inputs=[fed], name="lstm")
    inlined = (gates, enter, change, forget, leave)
    return (X, Wx, Wh), scan, inits, fed, back, inlined, (next_c, next_h)


def lstm_data(steps, batch, inputs, hidden):
    x = normal(steps, batch, inputs)
    wx, wh = normal(4, hidden, inputs, scale=0.4), normal(4, hidden, hidden, scale=0.4)
    c, h = np.zeros((2, steps, batch, hidden), "float32")
    for t in range(1, steps):
        z = np.einsum("bp,gjp->gbj", x[t], wx) + np.einsum("bk,gjk->gbj", h[t - 1], wh)
        c[t] = sigmoid(z[2]) * c[t - 1] + sigmoid(z[0]) * np.tanh(z[1])
        h[t] = sigmoid(z[3]) * np.tanh(c[t])
    return [x, wx, wh], [c, h]


@on_cpu((1, 1, 1, 1), (3, 2, 3, 4), large=(9, 4, 16, 32))
def lstm(steps, batch, inputs, hidden):
    """An LSTM: the product with the last output in parts of 4 units, its loops reordered; all gates inlined."""
    args, scan, _, fed, back, inlined, (next_c, _) = lstm_cell(steps, batch, inputs, hidden)
    s = te.create_schedule(scan[0].op)
    for T in inlined:
        s[T].compute_inline()
    _, i, g, j = back.op.axis
    jo, ji = s[back].split(j, factor=4)
    s[back].reorder(i, jo, s[back].op.reduce_axis[0], g, ji)
    s[back].unroll(g)
    s[fed].parallel(fed.op.axis[0])
    s[next_c].vectorize(s[next_c].split(next_c.op.axis[2], factor=4)[1])
    data, want = lstm_data(steps, batch, inputs, hidden)
    return Subject(s, [*args, *scan], data, want, near=1e-4)


@on_cpu((1, 1), (4, 5), (3, 8), large=(30, 50))
def gated_recurrent_unit(steps, hidden):
    """A GRU: the candidate needs the reset gate, which is a product itself; both products of a step stand in a row."""
    X, W = te.placeholder((steps, 3, hidden), name="X"), te.placeholder((3, hidden, hidden), name="W")
    state = te.placeholder((steps, hidden), name="state")
    k, l = te.reduce_axis((0, hidden), name="k"), te.reduce_axis((0, hidden), name="l")
    init = te.compute((1, hidden), lambda t, j: te.const(0.0, "float32"), name="init")
    both = te.compute((steps, 2, hidden), lambda t, g, j: te.sum(state[t - 1, k] * W[g, j, k], axis=k), name="both")
    reset = te.compute(
        (steps, hidden), lambda t, j: te.sigmoid(both[t, 0, j] + X[t, 0, j]) * state[t - 1, j], name="reset"
    )
    product = te.compute((steps, hidden), lambda t, j: te.sum(reset[t, l] * W[2, j, l], axis=l), name="product")

    def mixed(t, j):
        keep = te.sigmoid(both[t, 1, j] + X[t, 1, j])
        return keep * state[t - 1, j] + (1 - keep) * te.tanh(product[t, j] + X[t, 2, j])

    update = te.compute((steps, hidden), mixed, name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    s = te.create_schedule(S.op)
    part = s.rfactor(both, s[both].split(k, factor=4)[1], factor_axis=3)
    s[part].compute_at(s[both], s[both].op.axis[2])
    jo, _ = s[update].split(update.op.axis[1], factor=8)
    s[product].compute_at(s[update], jo)
    x, w = normal(steps, 3, hidden), normal(3, hidden, hidden, scale=0.4)
    want = np.zeros((steps, hidden), "float32")
    for t in range(1, steps):
        z, r = sigmoid(w[:2] @ want[t - 1] + x[t, :2])[::-1]
        want[t] = z * want[t - 1] + (1 - z) * np.tanh(w[2] @ (r * want[t - 1]) + x[t, 2])
    return Subject(s, [X, W, S], [x, w], [want], near=1e-4)


def living(blocks, *threads):
    """The thread axes of a kernel that lives over all steps: blockIdx.x, then threadIdx.x, threadIdx.y."""
    tags = ("blockIdx.x", "threadIdx.x", "threadIdx.y")
    return [te.thread_axis((0, count), tag) for count, tag in zip((blocks, *threads), tags, strict=False)]


@on_gpu((1, 1, 8, 2, 2), (3, 2, 8, 2, 4), large=(12, 4, 64, 8, 8))
def persistent_lstm(steps, batch, hidden, blocks, threads):
    """All steps in one kernel: each thread keeps its rows of the weights, the blocks wait for each other."""
    args, scan, inits, fed, back, inlined, nexts = lstm_cell(steps, batch, 3, hidden)
    s = te.create_schedule(scan[0].op)
    for T in inlined:
        s[T].compute_inline()
    block, thread = living(blocks, threads)
    s[scan[0]].env_threads([block, thread])
    s[fed].bind(s[fed].fuse(*fed.op.axis[:3]), te.thread_axis("blockIdx.x"))
    s[fed].bind(s[fed].split(fed.op.axis[3], factor=8)[1], te.thread_axis("threadIdx.x"))
    for T in (*inits, *nexts, back):
        outer, rest = s[T].split(T.op.axis[-1], nparts=blocks)
        middle, inner = s[T].split(rest, nparts=threads)
        s[T].reorder(outer, middle, *T.op.axis[1:-1], inner)
        s[T].bind(outer, block)
        s[T].bind(middle, thread)
    s[back].set_scope("global")
    own = s.cache_read(args[2], "local", [back])
    s[own].compute_at(s[scan[0]], thread)
    data, want = lstm_data(steps, batch, 3, hidden)
    return Subject(s, [*args, *scan], data, want, near=1e-3)


@on_gpu((1, 1, 8, 1, 2, 2), (3, 2, 8, 2, 2, 4), large=(16, 4, 1152, 24, 48, 8))
def persistent_matrix_powers(steps, rows, size, blocks, threads, parts):
    """h[t] = h[t-1] W.T: weights in registers, each product in parts summed across threadIdx.y, one thread stores."""
    W, X = te.placeholder((size, size), name="W"), te.placeholder((1, rows, size), name="X")
    state = te.placeholder((steps, rows, size), name="state")
    init = te.compute((1, rows, size), lambda _, i, j: X[0, i, j], name="init")
    k = te.reduce_axis((0, size), name="k")
    update = te.compute(
        (steps, rows, size), lambda t, i, j: te.sum(state[t - 1, i, k] * W[j, k], axis=k), name="update"
    )
    H = te.scan(init, update, state, name="H")
    s = te.create_schedule(H.op)
    block, thread, part = living(blocks, threads, parts)
    own = s.rfactor(update, s[update].split(k, nparts=parts)[0])
    s[H].env_threads([block, part, thread])
    for T in (init, update):
        outer, rest = s[T].split(s[T].op.axis[2], nparts=blocks)
        middle, inner = s[T].split(rest, nparts=threads)
        s[T].reorder(outer, middle, s[T].op.axis[1], inner, *s[T].op.reduce_axis)
        s[T].bind(outer, block)
        s[T].bind(middle, thread)
    joined = s[update].op.reduce_axis[0]
    s[update].bind(joined, part)
    s[own].compute_at(s[update], joined)
    s[update].set_store_predicate(part.var.equal(0))
    s[own].pragma(s[own].op.reduce_axis[0], "auto_unroll_max_step", 128)
    kept = s.cache_read(W, "local", [own])
    s[kept].compute_at(s[H], thread)
    w, x = normal(size, size, scale=size**-0.5), normal(1, rows, size)
    want = np.zeros((steps, rows, size), "float32")
    want[0] = x[0]
    for t in range(1, steps):
        want[t] = want[t - 1] @ w.T
    return Subject(s, [W, X, H], [w, x], [want], near=1e-3)
