"""Scans whose states differ in rank, and scans of which only the first steps are needed."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir.interpret import interpret
from tests.differential.guards import Guarded


def run(s, args, arrays, want) -> None:
    """Compare LLVM and the interpreter with `want`, by output."""
    func = tecomp.lower(s, args)
    for call in (tecomp.build(s, args), lambda *given: interpret(func, *given)):
        given = [Guarded.of(arrays[arg]) if arg in arrays else Guarded(want[arg].shape, "float32") for arg in args]
        call(*(one.array for one in given))
        for arg, one in zip(args, given, strict=True):
            one.check(arg.name)
            np.testing.assert_allclose(one.array, (arrays | want)[arg], rtol=1e-5)


@pytest.mark.parametrize("asked", ["pz", "p", "z"])
def test_states_of_different_rank_need_not_all_be_arguments(asked: str) -> None:
    m, x = 5, np.arange(5, dtype="float32")
    X, p, z = te.placeholder((m,), name="X"), te.placeholder((m,), name="p"), te.placeholder((m, 3, 2), name="z")
    firsts = [te.compute((1,), lambda t: X[t], name="p0"), te.compute((1, 3, 2), lambda t, i, j: 0.5, name="z0")]
    nexts = [
        te.compute((m,), lambda t: z[t - 1, 2, 1] + X[t], name="p1"),
        te.compute((m, 3, 2), lambda t, i, j: z[t - 1, 2 - i, j] + p[t - 1], name="z1"),
    ]
    scans = dict(zip("pz", te.scan(firsts, nexts, [p, z], inputs=[X]), strict=True))
    want_p, want_z = np.zeros(m, "float32"), np.zeros((m, 3, 2), "float32")
    want_p[0], want_z[0] = x[0], 0.5
    for t in range(1, m):
        want_p[t], want_z[t] = want_z[t - 1, 2, 1] + x[t], want_z[t - 1, ::-1] + want_p[t - 1]
    outputs = [scans[name] for name in asked]
    want = {scans["p"]: want_p, scans["z"]: want_z}
    run(te.create_schedule(outputs[0].op), [X, *outputs], {X: x}, {out: want[out] for out in outputs})


@pytest.mark.parametrize("factor", [2, 3, 4, 7])
@pytest.mark.parametrize("steps", [2, 3, 8])
def test_a_split_time_stops_at_the_last_step_that_is_needed(factor: int, steps: int) -> None:
    x = np.arange(9 * 5, dtype="float32").reshape(9, 5)
    X, state = te.placeholder((9, 5), name="X"), te.placeholder((9, 5), name="state")
    first = te.compute((2, 5), lambda t, i: X[t, i], name="first")
    new = te.compute((9, 5), lambda t, i: state[t - 1, i] + state[t - 2, i] + X[t, i], name="new")
    S = te.scan(first, new, state, inputs=[X])
    D = te.compute((steps, 2), lambda t, i: S[t, i + 2] * 2.0, name="D")
    s = te.create_schedule(D.op)
    s[S].split(S.op.scan_axis, factor)
    want = x.copy()
    for t in range(2, 9):
        want[t] = want[t - 1] + want[t - 2] + x[t]
    run(s, [X, D], {X: x}, {D: want[:steps, 2:4] * 2})
