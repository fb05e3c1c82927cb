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


@pytest.mark.parametrize("steps", [1, 2, 5, 6])
def test_time_goes_no_further_than_there_are_steps(steps: int) -> None:
    """Row i reads the first min(i + 1, n) steps, of which there may be fewer than i + 1."""
    x = np.arange(steps * 5, dtype="float32").reshape(steps, 5)
    n = te.var("n")
    X, state = te.placeholder((n, 5), name="X"), te.placeholder((n, 5), name="state")
    first = te.compute((1, 5), lambda t, i: X[t, i], name="first")
    new = te.compute((n, 5), lambda t, i: state[t - 1, i] + X[t, i], name="new")
    S = te.scan(first, new, state, inputs=[X])
    D = te.compute((5,), lambda i: _sum_below(te.min(i + 1, n), lambda k: S[k, i]), name="D")
    sums = x.cumsum(0)
    run(te.create_schedule(D.op), [X, D], {X: x}, {D: np.array([sums[: i + 1, i].sum() for i in range(5)], "float32")})


def _sum_below(end, term):
    k = te.reduce_axis((0, end), name="k")
    return te.sum(term(k), axis=k)


@pytest.mark.parametrize("length", [2, 8])
def test_a_loop_longer_than_the_one_step_it_is_of_reads_no_other_step(length: int) -> None:
    """A copy of a state in a step is of the step before, also where a loop bound to threads is longer."""
    x = np.arange(15, dtype="float32").reshape(3, 5)
    X, state = te.placeholder((3, 5), name="X"), te.placeholder((3, 5), name="state")
    first = te.compute((1, 5), lambda t, i: X[t, i], name="first")
    half = te.compute((3, 5), lambda t, i: state[t - 1, i] * 0.5, name="half")
    new = te.compute((3, 5), lambda t, i: half[t, i] + X[t, i], name="new")
    S = te.scan(first, new, state, inputs=[X])
    s = te.create_schedule(S.op)
    s.cache_read(state, "global", [half])
    s[half].bind(s[half].split(half.op.axis[0], factor=length)[1], te.thread_axis("blockIdx.x"))
    func = tecomp.lower(s, [X, S])
    assert "[0, ax1] = scan[scan_idx, ax1]" in str(func)
    result = np.zeros((3, 5), "float32")
    interpret(func, x, result)
    np.testing.assert_array_equal(result, [x[0], x[0] * 0.5 + x[1], (x[0] * 0.5 + x[1]) * 0.5 + x[2]])
