"""What schedules refuse of opaque operations, word for word."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tecomp import te, tir
from tecomp.errors import ScheduleError


@pytest.fixture
def graph() -> SimpleNamespace:
    """Return A -> P -> E (opaque) -> D, and a schedule of D."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    P = te.compute((n,), lambda i: A[i] + 1, name="P")
    E = te.extern((n,), [P], lambda ins, outs: tir.call_packed("f", ins[0], outs[0]), name="E")
    D = te.compute((n,), lambda i: E[i] + P[i], name="D")
    return SimpleNamespace(A=A, P=P, E=E, D=D, s=te.create_schedule(D.op))


def test_compute_inline_of_what_it_reads(graph, refused) -> None:
    with refused(
        ScheduleError,
        """
        compute_inline: 'P' is read by the opaque operation 'E', which needs it in memory, and cannot be inlined
          --> test_refuse_opaque.py:LINE
           |     graph.s[graph.P].compute_inline()
           |     ^
          legal: compute_root
    """,
    ):
        graph.s[graph.P].compute_inline()


def test_compute_inline_of_itself(graph, refused) -> None:
    with refused(
        ScheduleError,
        """
        compute_inline: 'E' is an opaque operation and cannot be inlined
          --> test_refuse_opaque.py:LINE
           |     graph.s[graph.E].compute_inline()
           |     ^
          legal: compute_inline of a compute
    """,
    ):
        graph.s[graph.E].compute_inline()


def test_compute_at_in_it(graph, refused) -> None:
    with refused(
        ScheduleError,
        """
        compute_at: 'P' cannot be placed at loop 'i' of 'E'
          --> test_refuse_opaque.py:LINE
           |     graph.s[graph.P].compute_at(graph.s[graph.E], graph.D.op.axis[0])
           |     ^
          because: 'E' is an opaque operation: its loops are its own, and it reads its inputs whole
          legal: compute_root, or a loop of another stage that is around all readers
    """,
    ):
        graph.s[graph.P].compute_at(graph.s[graph.E], graph.D.op.axis[0])


def test_compute_at_of_itself(graph, refused) -> None:
    n = graph.D.shape[0]
    E = te.extern((n,), [graph.A], lambda ins, outs: tir.call_packed("f", ins[0], outs[0]), name="E")
    D = te.compute((n,), lambda i: E[i] + 1, name="D")
    s = te.create_schedule(D.op)
    with refused(
        ScheduleError,
        """
        compute_at: 'E' cannot be placed at loop 'i' of 'D'
          --> test_refuse_opaque.py:LINE
           |     s[E].compute_at(s[D], D.op.axis[0])
           |     ^
          because: 'E' is an opaque operation, which runs once and as a whole
          legal: compute_root
    """,
    ):
        s[E].compute_at(s[D], D.op.axis[0])


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("split", {"factor": 4}),
        ("vectorize", {}),
        ("parallel", {}),
        ("unroll", {}),
    ],
)
def test_loops(graph, verb, arguments, refused) -> None:
    with refused(
        ScheduleError,
        f"""
        {verb}: 'E' has no loops
          --> test_refuse_opaque.py:LINE
           |     getattr(graph.s[graph.E], verb)(graph.D.op.axis[0], **arguments)
           |     ^
          because: it is an opaque operation, whose loops are its own
          legal: schedule the stages around it
    """,
    ):
        getattr(graph.s[graph.E], verb)(graph.D.op.axis[0], **arguments)


def test_its_scope(graph, refused) -> None:
    with refused(
        ScheduleError,
        """
        set_scope: 'E' has no loops
          --> test_refuse_opaque.py:LINE
           |     graph.s[graph.E].set_scope("shared")
           |     ^
          because: it is an opaque operation, whose loops are its own
          legal: schedule the stages around it
    """,
    ):
        graph.s[graph.E].set_scope("shared")


def test_root_is_where_it_is(graph) -> None:
    graph.s[graph.E].compute_root()
    assert "s[E].compute_root()" in graph.s.text()
    assert str(graph.s).count("E: f32[n]") == 1


def statements(around=None):
    A = te.placeholder((4,), name="A")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        if around is not None:
            ib.scope_attr(around, "thread_extent", 1)
        ib.buffer_ptr(outs[0])[0] = ib.buffer_ptr(ins[0])[0]
        return ib.get()

    E = te.extern((1,), [A], body, name="E")
    return te.create_schedule(E.op), E


def test_a_thread_for_what_says_its_own(graph, refused) -> None:
    s, E = statements(te.thread_axis("threadIdx.x"))
    for stage in (graph.s[graph.E], s[E]):
        with refused(
            ScheduleError,
            """
            fuse of no loops of 'E'
              --> test_refuse_opaque.py:LINE
               |     stage.fuse()
               |     ^
              because: its body says itself which threads run it, or is a Python function's
              legal: schedule the stages around it
        """,
        ):
            stage.fuse()


def test_two_threads_for_one_body(refused) -> None:
    s, E = statements()
    s[E].bind(s[E].fuse(), te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """
        fuse of no loops of 'E'
          --> test_refuse_opaque.py:LINE
           |     s[E].fuse()
           |     ^
          because: it has a loop of one iteration already
          legal: bind of that loop to a thread
    """,
    ):
        s[E].fuse()
