"""s.explain(): what a schedule makes of each stage, and what may still be done to it."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.bounds.explain.attempts import ON_LOOPS, ON_STAGES
from tecomp.errors import TecompError
from tecomp.schedule import create_schedule
from tecomp.schedule.primitive import PRIMITIVES

from ..differential.programs import KINDS, case
from ..differential.schedules import random_schedule


def chain(n=64):
    A = te.placeholder((n, 48), name="A")
    B = te.compute((n, 48), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, 48), name="k")
    C = te.compute((n,), lambda i: te.sum(B[i, k], axis=k), name="C")
    D = te.compute((n,), lambda i: C[i] * 2, name="D")
    s = create_schedule(D.op)
    outer, _ = s[D].split(D.op.axis[0], factor=8)
    s[D].parallel(outer)
    s[C].compute_at(s[D], outer)
    return A, B, C, D, s


def test_all_stages(golden):
    *_, s = chain()
    golden(repr(s.explain()) + "\n")


def test_symbolic(golden):
    *_, C, D, s = chain(te.var("n"))
    golden(repr(s.explain(C, D.op)) + "\n")


def test_parts():
    _A, _B, C, _D, s = chain()
    (report,) = s.explain(C)
    assert report.name == "C"
    assert report.memory == "f32[8] in global, 32 bytes"
    assert "vectorize" in report.legal["i"]
    assert [one.primitive for one in report.refused["k"] if "combine" in one.because] == [
        "vectorize",
        "parallel",
        "bind to blockIdx",
        "bind to vthread",
    ]
    assert report.places == "s[D] at i.inner, s[D] at i.outer, root"


def test_asking_changes_nothing():
    *_, s = chain()
    before = repr(s), s.text()
    s.explain()
    assert (repr(s), s.text()) == before


def test_a_schedule_that_cannot_be_lowered():
    _A, B, C, D, s = chain()
    s[B].compute_at(s[C], C.op.axis[0])
    E = te.compute((64, 48), lambda i, j: B[i, j] * D[i], name="E")
    s = create_schedule(E.op)
    s[B].compute_at(s[C], C.op.axis[0])
    (report,) = s.explain(B)
    assert report.region.startswith("unknown: compute_at: 'B' cannot be placed at loop 'i' of 'C': 'E' also reads 'B'")


def test_inlined_and_scanned(golden):
    X, state = te.placeholder((6, 5), name="X"), te.placeholder((6, 5), name="state")
    Y = te.compute((6, 5), lambda t, i: X[t, i] * 2, name="Y")
    init = te.compute((1, 5), lambda _, i: X[0, i], name="init")
    update = te.compute((6, 5), lambda t, i: state[t - 1, i] + Y[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    s = create_schedule(S.op)
    s[Y].compute_inline()
    golden(repr(s.explain()) + "\n")


@pytest.mark.parametrize("seed", range(2 * len(KINDS)))
def test_what_is_legal_can_be_done(seed):
    """Every primitive called legal is accepted, every other one refused, and the schedule stays as it is."""
    program, draw = case(seed)
    schedule = random_schedule(program, draw)
    text = schedule.text()
    for stage, report in zip(schedule.stages, schedule.explain(), strict=True):
        axes = stage.leaf_iter_vars
        tried = {axis.name: {name: (attempt, axis) for name, attempt in ON_LOOPS.items()} for axis in axes}
        tried[""] = {name: (attempt,) for name, attempt in ON_STAGES.items()}
        for place, attempts in tried.items():
            refused = {one.primitive for one in report.refused.get(place, ())}
            for name, (attempt, *axis) in attempts.items():
                if name in report.legal.get(place, ()):
                    attempt(stage, *axis)
                elif name in refused:
                    with pytest.raises(TecompError):
                        attempt(stage, *axis)
    assert schedule.text() == text


def test_every_primitive_is_tried():
    """Besides compute_at, which `places` tells about, and tile, which is split and reorder."""
    names = {name.partition("(")[0].split()[0] for name in (*ON_LOOPS, *ON_STAGES)}
    assert set(PRIMITIVES) - names == {"compute_at", "tile"}
