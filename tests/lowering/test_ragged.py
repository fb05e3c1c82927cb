"""Loops that end where other axes or data say, run on LLVM and on the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir.interpret import interpret

LENGTHS = np.array([3, 0, 7, -2, 1, 5], "int32")


def split_both(stage, axis, k):
    stage.split(axis, 4)
    stage.split(k, nparts=2)


SCHEDULES = {
    "plain": lambda s, C, B, i, k: None,
    "split": lambda s, C, B, i, k: split_both(s[C], i, k),
    "inlined": lambda s, C, B, i, k: s[B].compute_inline(),
    "inside": lambda s, C, B, i, k: (s[B].compute_at(s[C], i), s[C].split(k, 3)),
    "parallel": lambda s, C, B, i, k: s[C].parallel(i),
    "unrolled": lambda s, C, B, i, k: s[C].unroll(i),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_sums_of_rows_as_long_as_data_says(schedule: str) -> None:
    rng = np.random.default_rng(0)
    a, n = rng.standard_normal((6, 9)).astype("float32"), len(LENGTHS)
    A, L = te.placeholder((n, 9), name="A"), te.placeholder((n,), "int32", name="L")
    B = te.compute((n,), lambda i: L[i] + 1, name="B")

    def row(i):
        k = te.reduce_axis((0, B[i]), "k")
        return te.sum(A[i, k], axis=k)

    C = te.compute((n,), row, name="C")
    s = te.create_schedule(C.op)
    SCHEDULES[schedule](s, C, B, C.op.axis[0], C.op.reduce_axis[0])
    want = np.array([a[i, : max(LENGTHS[i] + 1, 0)].sum() for i in range(n)], "float32")
    func = tecomp.lower(s, [A, L, C])
    function = tecomp.build(s, [A, L, C])
    spread = np.repeat(LENGTHS, 2)[::2]
    for run, lengths in ((function, LENGTHS), (function, spread), (lambda *arrays: interpret(func, *arrays), LENGTHS)):
        c = np.full(n, np.nan, "float32")
        run(a, lengths, c)
        np.testing.assert_allclose(c, want, rtol=1e-5)
