"""storage_align, double_buffer, prefetch and whole splits in a schedule's record, picture and text."""

from __future__ import annotations

from types import SimpleNamespace

from tecomp import te
from tecomp.schedule import create_schedule
from tests.schedule.test_text import made_again


def test_the_last_alignment_of_a_dimension_holds(chain: SimpleNamespace) -> None:
    stage = chain.s[chain.B]
    i, j = chain.B.op.axis
    stage.storage_align(i, 16, 1)
    stage.storage_align(j, 4, 0)
    stage.storage_align(i, 32, -1)
    assert set(stage.state.alignments) == {(1, 4, 0), (0, 32, 31)}
    assert made_again(chain.s) == chain.s.text()


def test_the_dimensions_of_a_scan_can_be_padded(cumsum: SimpleNamespace) -> None:
    s, S = cumsum.s, cumsum.S
    s[S].storage_align(S.op.spatial_axis_[0], 4, 1)
    s[S].storage_align(S.op.scan_axis, 8, 1)
    assert set(s[S].state.alignments) == {(1, 4, 1), (0, 8, 1)}


def test_picture_and_text(chain: SimpleNamespace) -> None:
    s = chain.s
    s[chain.B].compute_at(s[chain.C], chain.C.op.axis[0])
    s[chain.B].double_buffer()
    s[chain.B].storage_align(chain.B.op.axis[0], 32, 1)
    outer, _ = s[chain.C].split(chain.k, 8, disable_predication=True)
    s[chain.B].prefetch(chain.A, chain.B.op.axis[1], 4)
    s[chain.C].unroll(outer)
    assert repr(s).splitlines()[1:6] == [
        "C: f32[64]",
        "  for i in range(64)",
        "    B: f32[64, 48] padded, double buffered",
        "      for i in range(64)",
        "        for j in range(48, prefetch=A 4 ahead)",
    ]
    assert s.text() == (
        "A = s.stages[0].op\n"
        "B = s.stages[1].op\n"
        "C = s.stages[2].op\n"
        "\n"
        "s[B].compute_at(s[C], C.axis[0])\n"
        "s[B].double_buffer()\n"
        "s[B].storage_align(B.axis[0], 32, 1)\n"
        "k_outer, k_inner = s[C].split(C.reduce_axis[0], factor=8, disable_predication=True)\n"
        "s[B].prefetch(A.output(0), B.axis[1], 4)\n"
        "s[C].unroll(k_outer)\n"
    )
    assert made_again(s) == s.text()


def test_virtual_threads_in_a_stage() -> None:
    A = te.placeholder((64,), name="A")
    C = te.compute((64,), lambda i: A[i] + 1, name="C")
    s = create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], nparts=2)
    middle, inner = s[C].split(inner, nparts=4)
    s[C].bind(outer, te.thread_axis("vthread"))
    s[C].bind(middle, te.thread_axis((0, 4), "vthread", name="second"))
    assert repr(s).splitlines()[2:] == [
        "  for i.outer in vthread(2)",
        "    for i.inner.outer in vthread(4)",
        "      for i.inner.inner in range(8)",
    ]
    assert made_again(s) == s.text()
