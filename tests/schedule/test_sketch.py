"""Schedules as pictures."""

from __future__ import annotations

from tecomp import te
from tecomp.schedule import create_schedule

from .test_text import everything


def test_fresh(chain, golden):
    golden(repr(chain.s))


def test_every_primitive(golden):
    golden(repr(everything()))


def test_scan(cumsum, golden):
    s = cumsum.s
    s[cumsum.S].split(cumsum.S.op.scan_axis, factor=4)
    outer, _ = s[cumsum.s2].split(cumsum.s2.op.axis[1], factor=32)
    s[cumsum.s1].compute_at(s[cumsum.s2], outer)
    golden(repr(s))


def test_several_outputs_and_an_axis_that_begins_elsewhere():
    A = te.placeholder((8, 8), name="A")
    k = te.reduce_axis((2, 8), name="k")
    B = te.compute((8,), lambda i: te.max(A[i, k], axis=k), name="B")
    P, _ = te.compute((8,), lambda i: (B[i], i), name="PQ")
    s = create_schedule(P.op)
    assert repr(s) == (
        "A: f32[8, 8] placeholder\n"
        "B: f32[8]\n"
        "  for i in range(8)\n"
        "    for reduce k in range(2, 8)\n"
        "PQ: f32[8], i32[8] output\n"
        "  for i in range(8)"
    )
