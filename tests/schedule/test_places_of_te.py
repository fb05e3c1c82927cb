"""Where TE computed stages: what it found out too late, or not at all, is refused here or computes the right result."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.schedule import create_schedule

from .messages import messages
from .test_cache import computed


def program() -> SimpleNamespace:
    """A -> B -> C = sum of B, D = C * 2; E reads A alone; F is a scan of A; X, Y are two results of one operation."""
    A = te.placeholder((8, 12), name="A")
    B = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, 12), name="k")
    C = te.compute((8,), lambda i: te.sum(B[i, k], axis=k), name="C")
    D = te.compute((8,), lambda i: C[i] * 2, name="D")
    E = te.compute((8,), lambda i: A[i, 0] - 1, name="E")
    X, Y = te.compute((8,), lambda i: (D[i] + 1, D[i] * 2), name="XY")
    Z = te.compute((8,), lambda i: X[i] + Y[i] + E[i], name="Z")
    state = te.placeholder((8, 12), name="state")
    init = te.compute((1, 12), lambda _, i: A[0, i], name="init")
    update = te.compute((8, 12), lambda t, i: state[t - 1, i] + A[t, i], name="update")
    F = te.scan(init, update, state, inputs=[A], name="F")
    s = create_schedule([Z.op, F.op])
    return SimpleNamespace(**{name: value for name, value in locals().items() if name != "s"}, s=s)


def lowered(p, *steps):
    del steps
    return tecomp.lower(p.s, [p.A, p.Z, p.F])


REFUSED: dict[str, Callable[[SimpleNamespace], object]] = {
    "at a stage that does not read it": lambda p: p.s[p.B].compute_at(p.s[p.E], p.E.op.axis[0]),
    "at one of two readers": lambda p: _one_of_two_readers(),
    "at itself": lambda p: p.s[p.B].compute_at(p.s[p.B], p.B.op.axis[0]),
    "in a circle": lambda p: (
        p.s[p.B].compute_at(p.s[p.C], p.C.op.axis[0]),
        p.s[p.C].compute_at(p.s[p.B], p.B.op.axis[0]),
    ),
    "an output": lambda p: p.s[p.F].compute_at(p.s[p.Z], p.Z.op.axis[0]),
    "at a stage of another schedule": lambda p: p.s[p.B].compute_at(create_schedule(p.C.op)[p.C], p.C.op.axis[0]),
    "at a loop that was split": lambda p: (
        p.s[p.C].split(p.C.op.axis[0], factor=4),
        p.s[p.B].compute_at(p.s[p.C], p.C.op.axis[0]),
    ),
    "the update of a scan": lambda p: p.s[p.update].compute_at(p.s[p.F], p.F.op.scan_axis),
    "cache_write of what has a stage in its loops": lambda p: (
        p.s[p.B].compute_at(p.s[p.C], p.C.op.axis[0]),
        p.s.cache_write(p.C, "global"),
    ),
    "an inlined reduction": lambda p: p.s[p.C].compute_inline(),
    "one of two inlined results": lambda p: p.s[p.X].compute_inline(),
    "an inlined placeholder": lambda p: p.s[p.A].compute_inline(),
    "an inlined stage that was scheduled": lambda p: (p.s[p.B].split(p.B.op.axis[0], 4), p.s[p.B].compute_inline()),
    "an inlined output": lambda p: p.s[p.Z].compute_inline(),
    "an inlined update": lambda p: p.s[p.update].compute_inline(),
    "an inlined argument": lambda p: (p.s[p.E].compute_inline(), tecomp.lower(p.s, [p.A, p.E, p.Z, p.F])),
    "inlined into code": lambda p: _inlined_into_code(),
}


def _one_of_two_readers():
    p = program()
    s = create_schedule([p.C.op, te.compute((8,), lambda i: p.B[i, 1], name="other").op])
    s[p.B].compute_at(s[p.C], p.C.op.axis[0])
    tecomp.lower(s, [p.A, *(op.output(0) for op in s.outputs)])


def _inlined_into_code():
    p = program()
    X = te.extern((8, 12), [p.B], lambda ins, outs: tecomp.tir.call_packed("f", ins[0], outs[0]), name="X")
    s = create_schedule(X.op)
    s[p.B].compute_inline()
    tecomp.lower(s, [p.A, X])


def test_refused(golden):
    golden(messages(REFUSED, program))


def place_then_reorder(s, p):
    io, ii = s[p.C].split(p.C.op.axis[0], factor=3)
    s[p.B].compute_at(s[p.C], io)
    s[p.C].reorder(ii, p.k, io)


def place_then_fuse(s, p):
    s[p.D].compute_at(s[p.X], p.X.op.axis[0])
    s[p.C].compute_at(s[p.D], p.D.op.axis[0])
    s[p.D].split(s[p.D].fuse(p.D.op.axis[0]), factor=2)


def place_the_outer_operand_of_a_fuse(s, p):
    s[p.B].compute_at(s[p.C], p.C.op.axis[0])
    s[p.C].split(s[p.C].fuse(p.C.op.axis[0], p.k), factor=5)


def place_under_a_later_place(s, p):
    s[p.B].compute_at(s[p.C], p.k)
    s[p.C].compute_at(s[p.D], p.D.op.axis[0])


def inline_two_levels(s, p):
    s[p.D].compute_inline()
    s[p.E].compute_inline()


@pytest.mark.parametrize(
    "schedule",
    [
        place_then_reorder, place_then_fuse, place_the_outer_operand_of_a_fuse, place_under_a_later_place,
        inline_two_levels,
    ],
)  # fmt: skip
def test_right(schedule):
    p = program()
    schedule(p.s, p)
    a = np.random.default_rng(0).standard_normal((8, 12)).astype("f")
    z, f = computed(p.s, [p.A, p.Z, p.F], [a], [(8,), (8, 12)])
    d = (a + 1).sum(1) * 2
    np.testing.assert_allclose(z, d + 1 + d * 2 + a[:, 0] - 1, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(f, a.cumsum(0), rtol=1e-4, atol=1e-5)
