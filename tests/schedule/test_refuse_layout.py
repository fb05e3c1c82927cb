"""What transform_layout, reverse_compute_at, rolling_buffer, duplicate, create_group, pad refuse, in golden files."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

import tecomp
from tecomp import te
from tecomp.schedule import create_schedule

from .messages import messages


def program() -> SimpleNamespace:
    """A feeds P, which C sums up, D and the scan S read; E to V follow D, and Z has all; W, Q, M, N are a chain."""
    n = te.var("n")
    A, W = te.placeholder((8, 12), name="A"), te.placeholder((n, 12), name="W")
    P = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="P")
    k = te.reduce_axis((0, 12), name="k")
    C = te.compute((8,), lambda i: te.sum(P[i, k], axis=k), name="C")
    D = te.compute((8, 12), lambda i, j: P[i, j] * 2, name="D")
    E = te.compute((8, 12), lambda i, j: D[i, j] + D[7 - i, j], name="E")
    Q = te.compute((n, 12), lambda i, j: W[i, j] + 1, name="Q")
    l = te.reduce_axis((0, 12), name="l")
    M = te.compute((n,), lambda i: te.sum(Q[i, l], axis=l), name="M")
    N = te.compute((n,), lambda i: M[i] + 1, name="N")
    T = te.compute((12, 12), lambda i, j: E[i % 8, j] - 1, name="T")
    U = te.compute((12,), lambda i: T[i, i] * 2, name="U")
    V = te.compute((6,), lambda i: U[i] + 1, name="V")
    state = te.placeholder((8, 12), name="state")
    init = te.compute((1, 12), lambda _, i: P[0, i], name="init")
    half = te.compute((8, 12), lambda t, i: state[t - 1, i] / 2, name="half")
    update = te.compute((8, 12), lambda t, i: half[t, i] + P[t, i], name="update")
    S = te.scan(init, update, state, inputs=[P], name="S")
    Z = te.compute((6,), lambda i: V[i] + C[i] + S[i, 2], name="Z")
    other = te.placeholder((8, 12), name="other")
    lone = te.compute((8,), lambda i: _row(A, i), name="lone")
    s = create_schedule([Z.op, N.op, lone.op])
    return SimpleNamespace(**{name: value for name, value in locals().items() if name != "s"}, s=s)


def _row(A, i):
    k = te.reduce_axis((0, i + 1), name="k")
    return te.sum(A[i, k], axis=k)


def extern(p):
    """Return a schedule of a result that code makes of P."""
    X = te.extern((8, 12), [p.P], lambda ins, outs: tecomp.tir.call_packed("f", ins[0], outs[0]), name="X")
    return create_schedule(X.op)


def _reverse_of_an_output(p):
    s = create_schedule([p.M.op, p.N.op])
    s[p.N].reverse_compute_at(s[p.M], p.M.op.axis[0])


Case = Callable[[SimpleNamespace], object]
TRANSFORM: dict[str, Case] = {
    "no function": lambda p: p.s[p.P].transform_layout([0, 1]),
    "too few indices": lambda p: p.s[p.P].transform_layout(lambda i: [i]),
    "no list": lambda p: p.s[p.P].transform_layout(lambda i, j: i + j),
    "an empty list": lambda p: p.s[p.P].transform_layout(lambda i, j: []),
    "no integer": lambda p: p.s[p.P].transform_layout(lambda i, j: [i * 0.5, j]),
    "a separator at the end": lambda p: p.s[p.P].transform_layout(lambda i, j: [i, j, te.AXIS_SEPARATOR]),
    "an index left out": lambda p: p.s[p.P].transform_layout(lambda i, j: [i]),
    "a low digit left out": lambda p: p.s[p.P].transform_layout(lambda i, j: [i // 4, j]),
    "a high digit left out": lambda p: p.s[p.P].transform_layout(lambda i, j: [i % 4, j]),
    "a digit in the middle left out": lambda p: p.s[p.P].transform_layout(lambda i, j: [i // 4, i % 2, j]),
    "a high digit of a symbolic index left out": lambda p: p.s[p.W].transform_layout(lambda i, j: [i % 4, j]),
    "digits that overlap": lambda p: p.s[p.P].transform_layout(lambda i, j: [i // 2, i % 4, j]),
    "an index beside its digit": lambda p: p.s[p.P].transform_layout(lambda i, j: [i, i // 4, j]),
    "a digit twice": lambda p: p.s[p.P].transform_layout(lambda i, j: [i, j, i]),
    "a sum": lambda p: p.s[p.P].transform_layout(lambda i, j: [i + j]),
    "a slanted index": lambda p: p.s[p.P].transform_layout(lambda i, j: [i + j, j]),
    "an index from its end": lambda p: p.s[p.P].transform_layout(lambda i, j: [7 - i, j]),
    "a step too wide": lambda p: p.s[p.P].transform_layout(lambda i, j: [i * 16 + j]),
    "a division by a size": lambda p: p.s[p.W].transform_layout(lambda i, j: [i // p.n, j, i % p.n]),
    "a cut between digits": lambda p: p.s[p.P].transform_layout(lambda i, j: [(i * 12 + j) // 5, (i * 12 + j) % 5]),
    "an element read": lambda p: p.s[p.P].transform_layout(lambda i, j: [p.A[i, j].astype("int32"), j]),
    "gaps in an input": lambda p: p.s[p.A].transform_layout(lambda i, j: [i // 3, j, i % 3]),
    "gaps in an input of symbolic extent": lambda p: p.s[p.W].transform_layout(lambda i, j: [i // 4, j, i % 4]),
    "gaps in an output": lambda p: p.s[p.Z].transform_layout(lambda i: [i // 4, i % 4]),
    "gaps in an argument": lambda p: (
        p.s[p.Q].transform_layout(lambda i, j: [i // 4, j, i % 4]),
        tecomp.lower(p.s, [p.A, p.W, p.Q, p.Z, p.N, p.lone]),
    ),
    "a scan": lambda p: p.s[p.S].transform_layout(lambda i, j: [j, i]),
    "the state of a scan": lambda p: p.s[p.state].transform_layout(lambda i, j: [j, i]),
    "the update of a scan": lambda p: p.s[p.update].transform_layout(lambda i, j: [j, i]),
    "an argument that is bound to a buffer": lambda p: (
        p.s[p.A].transform_layout(lambda i, j: [j, i]),
        tecomp.lower(p.s, [p.A, p.W, p.Z, p.N, p.lone], binds={p.A: tecomp.tir.decl_buffer((8, 12), name="Ab")}),
    ),
    "what code reads": lambda p: extern(p)[p.P].transform_layout(lambda i, j: [j, i]),
    "after a split": lambda p: (
        p.s[p.P].split(p.P.op.axis[0], factor=4),
        p.s[p.P].transform_layout(lambda i, j: [j, i]),
    ),
    "after a mark": lambda p: (p.s[p.P].unroll(p.P.op.axis[0]), p.s[p.P].transform_layout(lambda i, j: [j, i])),
    "twice": lambda p: [p.s[p.A].transform_layout(lambda i, j: [j, i]) for _ in range(2)],
    "inlined": lambda p: (p.s[p.P].compute_inline(), p.s[p.P].transform_layout(lambda i, j: [j, i])),
    "and then inlined": lambda p: (p.s[p.P].transform_layout(lambda i, j: [i, j]), p.s[p.P].compute_inline()),
    "aligned": lambda p: (
        p.s[p.P].storage_align(p.P.op.axis[0], 4, 1),
        p.s[p.P].transform_layout(lambda i, j: [j, i]),
    ),
    "and then aligned": lambda p: (
        p.s[p.P].transform_layout(lambda i, j: [j, i]),
        p.s[p.P].storage_align(p.P.op.axis[0], 4, 1),
    ),
    "a fragment": lambda p: (
        p.s[p.P].set_scope("wmma.matrix_a"),
        p.s[p.P].transform_layout(lambda i, j: [j, i]),
    ),
    "and then a fragment": lambda p: (
        p.s[p.P].transform_layout(lambda i, j: [j, i]),
        p.s[p.P].set_scope("wmma.matrix_a"),
    ),
    "rolling": lambda p: (p.s[p.P].rolling_buffer(), p.s[p.P].transform_layout(lambda i, j: [j, i])),
    "padded": lambda p: (p.s[p.P].pad(0, 4), p.s[p.P].transform_layout(lambda i, j: [j, i])),
}
REVERSE: dict[str, Case] = {
    "no stage": lambda p: p.s[p.N].reverse_compute_at(p.M, p.M.op.axis[0]),
    "no axis": lambda p: p.s[p.N].reverse_compute_at(p.s[p.M], 0),
    "a placeholder": lambda p: p.s[p.Q].reverse_compute_at(p.s[p.W], p.Q.op.axis[0]),
    "another schedule": lambda p: p.s[p.N].reverse_compute_at(create_schedule(p.N.op)[p.M], p.M.op.axis[0]),
    "an axis of another stage": lambda p: p.s[p.N].reverse_compute_at(p.s[p.M], p.N.op.axis[0]),
    "what it does not read": lambda p: p.s[p.N].reverse_compute_at(p.s[p.D], p.D.op.axis[0]),
    "itself": lambda p: p.s[p.N].reverse_compute_at(p.s[p.N], p.N.op.axis[0]),
    "an output of the schedule": _reverse_of_an_output,
    "a second reader": lambda p: p.s[p.D].reverse_compute_at(p.s[p.P], p.P.op.axis[0]),
    "a scan": lambda p: p.s[p.S].reverse_compute_at(p.s[p.update], p.update.op.axis[1]),
    "inside another stage already": lambda p: (
        p.s[p.M].compute_at(p.s[p.N], p.N.op.axis[0]),
        p.s[p.N].reverse_compute_at(p.s[p.M], p.M.op.axis[0]),
    ),
    "a reduce loop": lambda p: p.s[p.N].reverse_compute_at(p.s[p.M], p.l),
    "elements of other iterations": lambda p: p.s[p.E].reverse_compute_at(p.s[p.D], p.D.op.axis[0]),
    "an element twice": lambda p: p.s[p.U].reverse_compute_at(p.s[p.T], p.T.op.axis[1]),
    "an index made of another": lambda p: p.s[p.T].reverse_compute_at(p.s[p.E], p.E.op.axis[0]),
    "another extent": lambda p: p.s[p.V].reverse_compute_at(p.s[p.U], p.U.op.axis[0]),
    "loops that were split": lambda p: (
        p.s[p.N].split(p.N.op.axis[0], factor=4),
        p.s[p.N].reverse_compute_at(p.s[p.M], p.M.op.axis[0]),
    ),
    "loops that are marked in both": lambda p: (
        p.s[p.N].parallel(p.N.op.axis[0]),
        p.s[p.M].parallel(p.M.op.axis[0]),
        p.s[p.N].reverse_compute_at(p.s[p.M], p.M.op.axis[0]),
    ),
    "the inner piece first": lambda p: (
        p.s[p.M].reorder(*reversed(p.s[p.M].split(p.M.op.axis[0], factor=4))),
        p.s[p.N].reverse_compute_at(p.s[p.M], p.s[p.M].leaf_iter_vars[0]),
    ),
    "a piece of a fused loop": lambda p: (
        p.s[p.Q].split(p.s[p.Q].fuse(*p.Q.op.axis), factor=4),
        p.s[p.M].reverse_compute_at(p.s[p.Q], p.s[p.Q].leaf_iter_vars[0]),
    ),
}


def slid(place=None, reads=None, extent=12):
    """B(14, 14) of A, read by C through a window; B rolls at the loop that `place` returns."""
    A = te.placeholder((14, 14), name="A")
    B = te.compute((14, 14), lambda y, x: A[y, x] + 1, name="B")
    reads = reads or (lambda y, x: B[y, x] + B[y + 2, x + 2])
    C = te.compute(
        (extent, 12), lambda y, x: reads(y, x) if reads.__code__.co_argcount == 2 else reads(B, y, x), name="C"
    )
    s = create_schedule(C.op)
    axis = place(s[C], *C.op.axis) if place else None
    if axis is not None:
        s[B].compute_at(s[C], axis)
    s[B].rolling_buffer()
    tecomp.lower(s, [A, C])


def parallel(s, y, x):
    s.parallel(y)
    return y


def block(s, y, x):
    s.bind(y, te.thread_axis("blockIdx.x"))
    return y


def crossed(s, y, x):
    yo, yi = s.split(y, factor=4)
    s.reorder(yo, x, yi)
    return yi


def crossed_by_reduction(s, y, x):
    yo, yi = s.split(y, factor=4)
    s.reorder(yo, s.op.reduce_axis[0], yi)
    return yi


def summed(B, y, x):
    k = te.reduce_axis((0, 3), name="k")
    return te.sum((B[y, x] + B[y + 2, x]) * k, axis=k)


def fused_and_split(s, y, x):
    s.split(s.fuse(y, x), factor=7)
    return s.leaf_iter_vars[0]


def halved(s, y, x):
    o, i = s.split(y, factor=5)
    s.reorder(i, o)
    return s.leaf_iter_vars[1]


ROLLING: dict[str, Case] = {
    "an output": lambda p: p.s[p.Z].rolling_buffer(),
    "a placeholder": lambda p: p.s[p.A].rolling_buffer(),
    "the init of a scan": lambda p: p.s[p.init].rolling_buffer(),
    "twice": lambda p: (p.s[p.P].rolling_buffer(), p.s[p.P].rolling_buffer()),
    "double buffered": lambda p: (p.s[p.P].double_buffer(), p.s[p.P].rolling_buffer()),
    "and then double buffered": lambda p: (p.s[p.P].rolling_buffer(), p.s[p.P].double_buffer()),
    "in another layout": lambda p: (p.s[p.P].transform_layout(lambda i, j: [j, i]), p.s[p.P].rolling_buffer()),
    "a fragment": lambda p: (p.s[p.P].set_scope("wmma.accumulator"), p.s[p.P].rolling_buffer()),
    "an argument": lambda p: (
        p.s[p.M].rolling_buffer(),
        tecomp.lower(p.s, [p.A, p.W, p.M, p.Z, p.N, p.lone]),
    ),
    "at the root": lambda p: slid(),
    "in a parallel loop": lambda p: slid(parallel),
    "in blocks": lambda p: slid(block),
    "windows apart": lambda p: slid(lambda s, y, x: y, lambda B, y, x: B[y, x] + B[y, x + 2]),
    "a window that stands still": lambda p: slid(lambda s, y, x: y, lambda B, y, x: B[0, x] + B[1, x + 2]),
    "a window that moves by no constant": lambda p: slid(
        lambda s, y, x: y, lambda B, y, x: B[y // 2, x] + B[y // 2 + 1, x]
    ),
    "two dimensions in turn": lambda p: slid(crossed),
    "a reduction between two loops that move it": lambda p: slid(crossed_by_reduction, summed),
    "a loop of both dimensions": lambda p: slid(fused_and_split),
    "pieces out of order": lambda p: slid(halved),
}
DUPLICATE: dict[str, Case] = {
    "no tensor": lambda p: p.s.duplicate("P", [p.C]),
    "a placeholder": lambda p: p.s.duplicate(p.A, [p.P]),
    "a scan": lambda p: p.s.duplicate(p.S, [p.Z]),
    "an update": lambda p: p.s.duplicate(p.update, [p.S]),
    "no reader": lambda p: p.s.duplicate(p.P, []),
    "a stage that does not read it": lambda p: p.s.duplicate(p.P, [p.Z]),
    "every reader": lambda p: p.s.duplicate(p.M, [p.N]),
    "inlined": lambda p: (p.s[p.P].compute_inline(), p.s.duplicate(p.P, [p.C])),
}
GROUP: dict[str, Case] = {
    "no tensors": lambda p: p.s.create_group("D", p.A),
    "a tensor of no stage": lambda p: p.s.create_group(p.D, p.other),
    "nothing between": lambda p: p.s.create_group(p.N, p.A),
    "no inputs": lambda p: p.s.create_group(p.N, []),
    "groups that overlap": lambda p: (p.s.create_group(p.E, p.P), p.s.create_group(p.T, p.D)),
    "at a member": lambda p: p.s.create_group(p.E, p.P).compute_at(p.s[p.E], p.E.op.axis[0]),
    "where one cannot be": lambda p: p.s.create_group(p.E, p.P).compute_at(p.s[p.N], p.N.op.axis[0]),
}
PAD: dict[str, Case] = {
    "no axis": lambda p: p.s[p.P].pad("j", 4),
    "an axis number it has not": lambda p: p.s[p.C].pad(2, 4),
    "an axis of another stage": lambda p: p.s[p.P].pad(p.C.op.axis[0], 4),
    "a loop made of an axis": lambda p: p.s[p.P].pad(p.s[p.P].split(p.P.op.axis[0], factor=4)[0], 4),
    "no integer": lambda p: p.s[p.P].pad(0, 1.5),
    "zero": lambda p: p.s[p.P].pad(0, 0),
    "a placeholder": lambda p: p.s[p.A].pad(0, 4),
    "a scan": lambda p: p.s[p.S].pad(0, 4),
    "an output": lambda p: p.s[p.Z].pad(0, 4),
    "the update of a scan": lambda p: p.s[p.update].pad(1, 4),
    "what code reads": lambda p: extern(p)[p.P].pad(0, 4),
    "at each step of a scan": lambda p: p.s[p.half].pad(0, 4),
    "in another layout": lambda p: (p.s[p.P].transform_layout(lambda i, j: [j, i]), p.s[p.P].pad(0, 4)),
    "a reduce axis of different lengths": lambda p: p.s[p.lone].pad(p.lone.op.reduce_axis[0], 4),
    "an argument": lambda p: (p.s[p.M].pad(0, 4), tecomp.lower(p.s, [p.A, p.W, p.M, p.Z, p.N, p.lone])),
    "and then another stage has the work": lambda p: (p.s[p.M].pad(p.l, 8), p.s.cache_write(p.M, "local")),
    "and then inlined": lambda p: (p.s[p.P].pad(1, 8), p.s[p.P].compute_inline()),
}
TABLES = {
    "transform_layout": TRANSFORM,
    "reverse_compute_at": REVERSE,
    "rolling_buffer": ROLLING,
    "duplicate": DUPLICATE,
    "create_group": GROUP,
    "pad": PAD,
}


@pytest.mark.parametrize("primitive", TABLES)
def test_refused(primitive, golden):
    golden(messages(TABLES[primitive], program))
