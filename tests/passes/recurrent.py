"""Recurrent programs in one kernel over all steps, each with its meaning in NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tecomp import te


class Recurrence(NamedTuple):
    """A schedule, its arguments, arrays of the inputs, the outputs expected."""

    schedule: Any
    args: list[Any]
    inputs: list[np.ndarray]
    expected: list[np.ndarray]


def living_threads(blocks: int, threads: int) -> tuple[Any, Any]:
    return te.thread_axis((0, blocks), "blockIdx.x"), te.thread_axis((0, threads), "threadIdx.x")


def bound_to(schedule: Any, tensor: Any, axis: Any, block: Any, thread: Any) -> tuple[Any, ...]:
    """Divide an axis among blocks and their threads; return the loops block, thread, rest."""
    stage = schedule[tensor]
    outer, inner = stage.split(axis, nparts=int(block.dom.extent.value))
    middle, rest = stage.split(inner, nparts=int(thread.dom.extent.value))
    time = stage.state.time_axis
    others = [leaf for leaf in stage.leaf_iter_vars if leaf not in (time, outer, middle, rest)]
    stage.reorder(outer, middle, *others, rest)
    stage.bind(outer, block)
    stage.bind(middle, thread)
    return outer, middle, rest


def matrix_powers(
    steps: Any, size: int = 16, rows: int = 3, blocks: int = 2, threads: int = 4, keep: str = "local", value: int = 5
) -> Recurrence:
    """h[t] = tanh(h[t - 1] @ W.T) + X[t]; W is kept by each thread, or by each block."""
    W, X = te.placeholder((size, size), name="W"), te.placeholder((steps, rows, size), name="X")
    state = te.placeholder((steps, rows, size), name="state")
    init = te.compute((1, rows, size), lambda _, i, j: X[0, i, j], name="init")
    k = te.reduce_axis((0, size), name="k")
    product = te.compute(
        (steps, rows, size), lambda t, i, j: te.sum(state[t - 1, i, k] * W[j, k], axis=k), name="product"
    )
    update = te.compute((steps, rows, size), lambda t, i, j: te.tanh(product[t, i, j]) + X[t, i, j], name="update")
    H = te.scan(init, update, state, inputs=[X], name="H")
    s = te.create_schedule(H.op)
    block, thread = living_threads(blocks, threads)
    s[H].env_threads([block, thread])
    bound_to(s, init, init.op.axis[2], block, thread)
    _, _, rest = bound_to(s, update, update.op.axis[2], block, thread)
    s[product].compute_at(s[update], rest)
    if keep:
        kept = s.cache_read(W, keep, [product])
        s[kept].compute_at(s[H], thread if keep == "local" else block)
        if keep == "shared":
            s[kept].bind(s[kept].split(s[kept].fuse(*kept.op.axis), nparts=threads)[0], thread)
    data = np.random.default_rng(7)
    w = (data.standard_normal((size, size)) * 0.1).astype("f")
    x = data.standard_normal((value, rows, size)).astype("f")
    want = x.copy()
    for t in range(1, value):
        want[t] += np.tanh(want[t - 1] @ w.T)
    return Recurrence(s, [W, X, H], [w, x], [want])


def powers_in_parts(steps: int = 4, size: int = 16, rows: int = 2) -> Recurrence:
    """h[t] = h[t - 1] @ W.T, each product shared out among the threads of threadIdx.y, which keep their part of W."""
    W, X = te.placeholder((size, size), name="W"), te.placeholder((1, rows, size), name="X")
    state = te.placeholder((steps, rows, size), name="state")
    init = te.compute((1, rows, size), lambda _, i, j: X[0, i, j], name="init")
    k = te.reduce_axis((0, size), name="k")
    update = te.compute(
        (steps, rows, size), lambda t, i, j: te.sum(state[t - 1, i, k] * W[j, k], axis=k), name="update"
    )
    H = te.scan(init, update, state, name="H")
    s = te.create_schedule(H.op)
    block, thread = living_threads(2, 4)
    parts = te.thread_axis((0, 2), "threadIdx.y")
    partial = s.rfactor(update, s[update].split(k, nparts=2)[0])
    s[H].env_threads([block, parts, thread])
    bound_to(s, init, init.op.axis[2], block, thread)
    bound_to(s, update, update.op.axis[2], block, thread)
    joined = s[update].op.reduce_axis[0]
    _time, outer, middle, *others = (leaf for leaf in s[update].leaf_iter_vars if leaf is not joined)
    s[update].reorder(outer, middle, *others, joined)
    s[update].bind(joined, parts)
    s[partial].compute_at(s[update], joined)
    s[update].set_store_predicate(parts.var.equal(0))
    kept = s.cache_read(W, "local", [partial])
    s[kept].compute_at(s[H], thread)
    data = np.random.default_rng(5)
    w = (data.standard_normal((size, size)) * 0.3).astype("f")
    want = np.zeros((steps, rows, size), "f")
    want[0] = data.standard_normal((rows, size))
    for t in range(1, steps):
        want[t] = want[t - 1] @ w.T
    return Recurrence(s, [W, X, H], [w, want[:1].copy()], [want])


def lstm(steps: int = 4, batch: int = 2, size: int = 8, blocks: int = 2, threads: int = 2) -> Recurrence:
    """An LSTM cell over time: the gates of each step from the last output, two states, weights in shared memory."""
    X = te.placeholder((steps, batch, 4, size), name="X")
    U = te.placeholder((4, size, size), name="U")
    state_c, state_h = (te.placeholder((steps, batch, size), name=name) for name in ("state_c", "state_h"))
    init_c = te.compute((1, batch, size), lambda _, i, j: te.const(0.0), name="init_c")
    init_h = te.compute((1, batch, size), lambda _, i, j: te.const(0.0), name="init_h")
    k = te.reduce_axis((0, size), name="k")
    gates = te.compute(
        (steps, batch, 4, size),
        lambda t, i, g, j: te.sum(state_h[t - 1, i, k] * U[g, j, k], axis=k),
        name="gates",
    )

    def gate(t: Any, i: Any, g: int, j: Any) -> Any:
        return gates[t, i, g, j] + X[t, i, g, j]

    next_c = te.compute(
        (steps, batch, size),
        lambda t, i, j: (
            te.sigmoid(gate(t, i, 1, j)) * state_c[t - 1, i, j]
            + te.sigmoid(gate(t, i, 0, j)) * te.tanh(gate(t, i, 2, j))
        ),
        name="next_c",
    )
    next_h = te.compute(
        (steps, batch, size), lambda t, i, j: te.sigmoid(gate(t, i, 3, j)) * te.tanh(next_c[t, i, j]), name="next_h"
    )
    C, H = te.scan([init_c, init_h], [next_c, next_h], [state_c, state_h], inputs=[X], name="lstm")
    s = te.create_schedule(C.op)
    block, thread = living_threads(blocks, threads)
    s[C].env_threads([block, thread])
    for tensor in (init_c, init_h, next_c, next_h):
        bound_to(s, tensor, tensor.op.axis[2], block, thread)
    s[gates].set_scope("global")
    bound_to(s, gates, gates.op.axis[3], block, thread)
    kept = s.cache_read(U, "local", [gates])
    s[kept].compute_at(s[C], thread)
    data = np.random.default_rng(3)
    x = data.standard_normal((steps, batch, 4, size)).astype("f")
    u = (data.standard_normal((4, size, size)) * 0.3).astype("f")
    c, h = np.zeros((2, steps, batch, size), "f")
    for t in range(1, steps):
        z = np.einsum("bk,gjk->bgj", h[t - 1], u) + x[t]
        one = 1 / (1 + np.exp(-z))
        c[t] = one[:, 1] * c[t - 1] + one[:, 0] * np.tanh(z[:, 2])
        h[t] = one[:, 3] * np.tanh(c[t])
    return Recurrence(s, [X, U, C, H], [x, u], [c, h])
