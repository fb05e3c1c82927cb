"""What cache_read, cache_write and rfactor refuse: whole messages in golden files, one for each primitive."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tecomp import te
from tecomp.schedule import create_schedule

from .messages import messages


def program() -> SimpleNamespace:
    """A, P and a scan S feed C and the pair X, Y; s is a schedule of all."""
    A = te.placeholder((8, 12), name="A")
    P = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="P")
    k = te.reduce_axis((0, 12), name="k")
    C = te.compute((8, 4), lambda i, j: te.sum(P[i, k] * j, axis=k), name="C")
    X, Y = te.compute((8, 12), lambda i, j: (P[i, j] + 1, P[i, j] * 2), name="XY")
    state = te.placeholder((8, 12), name="state")
    init = te.compute((1, 12), lambda _, i: P[0, i], name="init")
    update = te.compute((8, 12), lambda t, i: state[t - 1, i] + P[t, i], name="update")
    S = te.scan(init, update, state, inputs=[P], name="S")
    Z = te.compute((8,), lambda i: C[i, 0] + X[i, 0] + Y[i, 1] + S[i, 2], name="Z")
    other = te.placeholder((8, 12), name="other")
    row = te.compute((8,), lambda i: _row(A, i), name="R")
    s = create_schedule([Z.op, row.op])
    return SimpleNamespace(**{name: value for name, value in locals().items() if name != "s"}, s=s)


def _row(A, i):
    k = te.reduce_axis((0, i + 1), name="k")
    return te.sum(A[i, k], axis=k)


READ: dict[str, Callable[[SimpleNamespace], object]] = {
    "no tensor": lambda p: p.s.cache_read("A", "shared", [p.P]),
    "a tensor of no stage": lambda p: p.s.cache_read(p.other, "shared", [p.P]),
    "an unknown scope": lambda p: p.s.cache_read(p.A, "shard", [p.P]),
    "no reader": lambda p: p.s.cache_read(p.A, "shared", []),
    "a reader that does not read it": lambda p: p.s.cache_read(p.A, "shared", [p.C]),
    "a reader that is no tensor": lambda p: p.s.cache_read(p.A, "shared", [3]),
    "a scan as the reader": lambda p: p.s.cache_read(p.update, "shared", [p.S]),
}
WRITE: dict[str, Callable[[SimpleNamespace], object]] = {
    "no tensor": lambda p: p.s.cache_write([], "local"),
    "a number": lambda p: p.s.cache_write(3, "local"),
    "an unknown scope": lambda p: p.s.cache_write(p.C, "registers"),
    "a placeholder": lambda p: p.s.cache_write(p.A, "local"),
    "a scan": lambda p: p.s.cache_write(p.S, "local"),
    "one of two outputs": lambda p: p.s.cache_write(p.X, "local"),
    "two outputs in another order": lambda p: p.s.cache_write([p.Y, p.X], "local"),
    "with a stage in its loops": lambda p: (
        p.s[p.P].compute_at(p.s[p.C], p.C.op.axis[0]),
        p.s.cache_write(p.C, "local"),
    ),
    "after a split of the reduce axis": lambda p: (p.s[p.C].split(p.k, factor=4), p.s.cache_write(p.C, "local")),
    "after a mark of the reduce axis": lambda p: (p.s[p.C].unroll(p.k), p.s.cache_write(p.C, "local")),
    "after a mark of a loop that was split": lambda p: (
        p.s[p.C].parallel(p.s[p.C].split(p.C.op.axis[0], factor=4)[0]),
        p.s.cache_write(p.C, "local"),
    ),
}
FACTOR: dict[str, Callable[[SimpleNamespace], object]] = {
    "no tensor": lambda p: p.s.rfactor("C", p.k),
    "no axis": lambda p: p.s.rfactor(p.C, 0),
    "a data axis": lambda p: p.s.rfactor(p.C, p.C.op.axis[0]),
    "no reduction": lambda p: p.s.rfactor(p.P, p.P.op.axis[0]),
    "an axis that was split": lambda p: (p.s[p.C].split(p.k, factor=4), p.s.rfactor(p.C, p.k)),
    "a marked axis": lambda p: (p.s[p.C].unroll(p.k), p.s.rfactor(p.C, p.k)),
    "an axis of another stage": lambda p: p.s.rfactor(p.C, p.row.op.reduce_axis[0]),
    "a fused axis": lambda p: (p.s[p.C].fuse(p.C.op.axis[1], p.k), p.s.rfactor(p.C, p.s[p.C].leaf_iter_vars[1])),
    "a dimension it has not": lambda p: p.s.rfactor(p.C, p.k, 3),
    "a dimension that is no integer": lambda p: p.s.rfactor(p.C, p.k, 1.5),
    "an axis of different lengths": lambda p: p.s.rfactor(p.row, p.row.op.reduce_axis[0]),
    "with a stage in its loops": lambda p: (p.s[p.P].compute_at(p.s[p.C], p.k), p.s.rfactor(p.C, p.k)),
}


@pytest.mark.parametrize("cases", [READ, WRITE, FACTOR], ids=["cache_read", "cache_write", "rfactor"])
def test_refused(cases, golden):
    golden(messages(cases, program))
