"""What split, fuse, reorder and tile refuse: whole messages in golden files, one for each."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tecomp import te

from .messages import messages
from .programs import chain, cumsum, grid

Attempts = dict[str, Callable[[SimpleNamespace], object]]

SPLIT: Attempts = {
    "by zero": lambda p: p.s[p.D].split(p.i, factor=0),
    "by a negative number": lambda p: p.s[p.D].split(p.i, nparts=-4),
    "by a float": lambda p: p.s[p.D].split(p.i, factor=2.0),
    "by a bool": lambda p: p.s[p.D].split(p.i, factor=True),
    "by a float expression": lambda p: p.s[p.D].split(p.i, factor=te.var("x", "float32")),
    "by a tensor's element": lambda p: p.s[p.D].split(p.i, factor=te.placeholder((), "int32", name="N")()),
    "by an axis": lambda p: p.s[p.D].split(p.i, factor=p.B.op.axis[1] + 1),
    "by both": lambda p: p.s[p.D].split(p.i, factor=4, nparts=4),
    "by neither": lambda p: p.s[p.D].split(p.i),
    "without a guard that is needed": lambda p: p.s[p.D].split(p.i, factor=5, disable_predication=True),
    "of a split axis": lambda p: (p.s[p.D].split(p.i, factor=4), p.s[p.D].split(p.i, factor=4)),
    "of a foreign axis": lambda p: p.s[p.D].split(p.k, factor=4),
    "of an unused axis": lambda p: p.s[p.D].split(te.reduce_axis((0, 4), name="r"), factor=4),
    "of a thread axis": lambda p: p.s[p.D].split(te.thread_axis("threadIdx.x"), factor=4),
    "of no axis": lambda p: p.s[p.D].split("i", factor=4),
    "of an unrolled axis": lambda p: (p.s[p.D].unroll(p.i), p.s[p.D].split(p.i, factor=4)),
    "of lanes": lambda p: (p.s[p.D].vectorize(p.i), p.s[p.D].split(p.i, factor=4)),
    "of threads": lambda p: (p.s[p.D].bind(p.i, te.thread_axis("threadIdx.x")), p.s[p.D].split(p.i, factor=4)),
    "of an axis with a pragma": lambda p: (
        p.s[p.D].pragma(p.i, "auto_unroll_max_step", 16),
        p.s[p.D].split(p.i, factor=4),
    ),
    "of a placeholder": lambda p: p.s[p.A].split(p.i, factor=4),
    "of an inlined stage": lambda p: (p.s[p.B].compute_inline(), p.s[p.B].split(p.B.op.axis[0], factor=4)),
}
SPLIT_OF_SIZES: Attempts = {
    "by a call": lambda p: p.s[p.C].split(p.i, factor=te.popcount(p.n)),
    "of a fused axis": lambda p: (p.s[p.C].fuse(p.i, p.j), p.s[p.C].split(p.j, factor=4)),
}
SPLIT_OF_A_SCAN: Attempts = {
    "of a dimension": lambda p: p.s[p.S].split(p.S.op.spatial_axis_[0], factor=4),
    "of the time of its update": lambda p: p.s[p.s2].split(p.s2.op.axis[0], factor=4),
}
FUSE: Attempts = {
    "of distant axes": lambda p: p.s[p.C].fuse(p.i, p.l),
    "of one axis twice": lambda p: p.s[p.C].fuse(p.i, p.i),
    "of a list": lambda p: p.s[p.C].fuse([p.i, p.j]),
    "of a split axis": lambda p: (p.s[p.C].split(p.j, 4), p.s[p.C].fuse(p.i, p.j)),
    "of an axis of no stage": lambda p: p.s[p.C].fuse(p.i, te.reduce_axis((0, 4), name="r")),
    "of lanes": lambda p: (p.s[p.C].vectorize(p.l), p.s[p.C].fuse(p.j, p.l)),
    "of threads": lambda p: (p.s[p.C].bind(p.i, te.thread_axis("threadIdx.x")), p.s[p.C].fuse(p.i, p.j)),
    "of nothing on a placeholder": lambda p: p.s[p.A].fuse(),
}
REORDER: Attempts = {
    "with one axis twice": lambda p: p.s[p.C].reorder(p.j, p.i, p.j),
    "of a list": lambda p: p.s[p.C].reorder([p.j, p.i]),
    "of a split axis": lambda p: (p.s[p.C].split(p.i, nparts=4), p.s[p.C].reorder(p.j, p.i)),
    "of an axis of no stage": lambda p: p.s[p.C].reorder(p.j, te.reduce_axis((0, 4), name="r")),
    "of nothing on a placeholder": lambda p: p.s[p.A].reorder(),
}
REORDER_OF_A_SCAN: Attempts = {
    "of the time of its update": lambda p: p.s[p.s2].reorder(p.s2.op.axis[1], p.s2.op.axis[0]),
    "of the steps": lambda p: p.s[p.S].reorder(p.time),
    "of parts of the steps": lambda p: p.s[p.S].reorder(*reversed(p.s[p.S].split(p.time, factor=4))),
}
FUSE_OF_A_SCAN: Attempts = {"with the time of its update": lambda p: p.s[p.s2].fuse(*p.s2.op.axis)}
TILE: Attempts = {
    "of one axis twice": lambda p: p.s[p.C].tile(p.i, p.i, 4, 4),
    "by a float": lambda p: p.s[p.C].tile(p.i, p.j, 2.0, 2),
}


@pytest.mark.parametrize(
    ("attempts", "program"),
    [
        pytest.param(SPLIT, chain, id="split"),
        pytest.param(SPLIT_OF_SIZES, grid, id="split of symbolic sizes"),
        pytest.param(SPLIT_OF_A_SCAN, cumsum, id="split of a scan"),
        pytest.param(FUSE, grid, id="fuse"),
        pytest.param(FUSE_OF_A_SCAN, cumsum, id="fuse of a scan"),
        pytest.param(REORDER, grid, id="reorder"),
        pytest.param(REORDER_OF_A_SCAN, cumsum, id="reorder of a scan"),
        pytest.param(TILE, grid, id="tile"),
    ],
)
def test_refused(attempts, program, golden):
    golden(messages(attempts, program))
