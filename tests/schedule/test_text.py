"""Schedules as Python: the text made again from its own text is the same."""

from __future__ import annotations

import contextlib

from tecomp import te
from tecomp.schedule import PRIMITIVES, create_schedule


def made_again(s):
    """Return the text of a fresh schedule after the text of `s` was applied to it."""
    fresh = create_schedule(list(s.outputs))
    exec(s.text(), {"s": fresh, "te": te})
    assert repr(fresh) == repr(s)
    return fresh.text()


def test_nothing_applied(chain):
    assert chain.s.text() == ""
    assert made_again(chain.s) == ""


def everything():
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    B = te.compute((n, m), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, m), name="k")
    C = te.compute((n,), lambda i: te.sum(B[i, k], axis=k), name="C")
    D = te.compute((n, 8, 8), lambda i, j, l: C[i] * j + l, name="D")
    E = te.compute((n, 8, 8), lambda i, j, l: D[i, j, l] * 2, name="E")
    s = create_schedule(E.op)
    i, j, l = E.op.axis
    block, thread = te.thread_axis("blockIdx.x"), te.thread_axis((0, 64), "threadIdx.x", name="lane")
    outer, inner = s[E].split(i, factor=64)
    s[E].bind(outer, block)
    s[E].bind(inner, thread)
    x, y, xi, yi = s[E].tile(j, l, 2, y_factor=4)
    s[E].reorder(y, x)
    s[E].vectorize(yi)
    s[E].unroll(xi)
    s[D].compute_inline()
    s[C].compute_at(s[E], inner)
    ko, ki = s[C].split(k, nparts=te.max(m // 4, 1))
    s[C].prefetch(B, ki, 2)
    s[C].pragma(ko, "auto_unroll_max_step", 16)
    s[C].set_scope("local")
    s[C].storage_align(C.op.axis[0], 4, offset=1)
    s[C].double_buffer()
    s[C].set_store_predicate(te.all(thread == 0, te.any(C.op.axis[0] < n, ~(C.op.axis[0] == 1))))
    single = s[B].fuse()
    s[B].parallel(s[B].fuse(single, *B.op.axis))
    s[B].compute_root()
    return s


def moving():
    """Return a schedule whose primitives make stages, move loops from one to another, lay memory out."""
    n = te.var("n")
    A, W = te.placeholder((n * 4, n), name="A"), te.placeholder((n,), name="W")
    k = te.reduce_axis((0, n), name="k")
    B = te.compute((n * 4, n), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((n * 4,), lambda i: te.sum(B[i, k] * W[k], axis=k), name="C")
    D = te.compute((n * 4,), lambda i: te.max(C[i], 0.0), name="D")
    E = te.compute((n * 4 - 1,), lambda i: B[i, 0] + B[i + 1, 1], name="E")
    s = create_schedule([D.op, E.op])
    again = s.duplicate(B, [E])
    s[again].compute_at(s[E], E.op.axis[0])
    s[again].rolling_buffer()
    s[B].transform_layout(lambda i, j: [i // 4, j, te.AXIS_SEPARATOR, i % 4])
    read, written = s.cache_read(W, "global", [C]), s.cache_write(C, "global")
    s[read].pad(0, 8)
    rows, chunks = s[written].op.axis[0], s[written].op.reduce_axis[0]
    s[written].split(rows, factor=n)
    partial = s.rfactor(written, s[written].split(chunks, factor=8)[1], factor_axis=1)
    s[partial].pad(1, 2)
    outer, _ = s[C].split(C.op.axis[0], nparts=n)
    outer, _ = s[D].reverse_compute_at(s[C], outer)
    s[D].parallel(outer)
    return s


ELSEWHERE = {"env_threads", "tensorize"}
"""Primitives whose text is looked at where they are tested: they need a scan, or an intrinsic."""


def test_every_primitive(golden):
    schedules = {"": everything(), "moving": moving()}
    for name, s in schedules.items():
        golden(s.text(), name)
        assert made_again(s) == s.text()
    done = {applied.primitive for s in schedules.values() for applied in s.history}
    assert done | ELSEWHERE == set(PRIMITIVES)


def test_equal_names_are_told_apart():
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1, name="te")
    C = te.compute((4,), lambda i: B[i] + 1, name="te")
    s = create_schedule(C.op)
    s[B].split(B.op.axis[0], factor=2)
    s[C].split(C.op.axis[0], factor=2)
    assert s.text() == (
        "te_1 = s.stages[1].op\n"
        "te_2 = s.stages[2].op\n"
        "\n"
        "i_outer, i_inner = s[te_1].split(te_1.axis[0], factor=2)\n"
        "i_outer_1, i_inner_1 = s[te_2].split(te_2.axis[0], factor=2)\n"
    )
    assert made_again(s) == s.text()


def test_scans(cumsum):
    s = cumsum.s
    _, inner = s[cumsum.S].split(cumsum.S.op.scan_axis, factor=4)
    s[cumsum.S].unroll(inner)
    s[cumsum.s1].compute_at(s[cumsum.s2], cumsum.s2.op.axis[1])
    assert made_again(s) == s.text()
    assert "S_idx_outer, S_idx_inner = s[S].split(S.scan_axis, factor=4)\n" in s.text()


def test_an_axis_is_named_by_the_stage_that_had_it_then(chain):
    chain.s[chain.C].fuse(chain.k)
    chain.s.cache_write(chain.C, "local")
    assert "s[C].fuse(C.reduce_axis[0])\n" in chain.s.text()
    assert made_again(chain.s) == chain.s.text()


def test_a_size_that_no_shape_gives_is_named():
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n * 2,), name="A")
    C = te.compute((n * 2,), lambda i: A[i] + m, name="C")
    s = create_schedule(C.op)
    s[C].split(C.op.axis[0], factor=(n + m).astype("int64"))
    assert s.text() == (
        "C = s.stages[1].op\n"
        "# n is a variable of the computation\n"
        "# m is a variable of the computation\n"
        "\n"
        "i_outer, i_inner = s[C].split(C.axis[0], factor=(n + m).astype('int64'))\n"
    )


def test_a_size_is_taken_from_what_was_declared():
    """The stage that cache_write makes stands before the one that has the size, and is not there in the first lines."""
    n = te.var("n")
    A = te.placeholder((8,), name="A")
    C = te.compute((n,), lambda i: A[i % 8], name="C")
    s = create_schedule(C.op)
    s[C].set_store_predicate(C.op.axis[0] < n)
    s.cache_write(C, "global")
    assert "n = C.output(0).shape[0]\n" in s.text()
    assert made_again(s) == s.text()


def test_predicates(chain):
    chain.s[chain.B].set_store_predicate(chain.B.op.axis[1] * 2 >= 3)
    chain.s[chain.C].set_store_predicate(True)
    assert chain.s.text() == (
        "B = s.stages[1].op\n"
        "C = s.stages[2].op\n"
        "\n"
        "s[B].set_store_predicate(3 <= B.axis[1] * 2)\n"
        "s[C].set_store_predicate(True)\n"
    )
    assert made_again(chain.s) == chain.s.text()


def test_a_predicate_may_come_before_its_thread_is_bound(chain):
    thread = te.thread_axis("threadIdx.x")
    chain.s[chain.D].set_store_predicate(thread == 0)
    chain.s[chain.D].bind(chain.D.op.axis[0], thread)
    assert made_again(chain.s) == chain.s.text()


def test_refused_calls_leave_no_line(chain):
    with contextlib.suppress(ValueError):
        chain.s[chain.C].parallel(chain.k)
    assert chain.s.text() == ""


def test_history_holds_the_users_lines(chain):
    chain.s[chain.D].split(chain.D.op.axis[0], factor=4)
    (applied,) = chain.s.history
    assert (applied.primitive, applied.stage, applied.arguments["factor"]) == ("split", "D", 4)
    assert applied.location.source() == "chain.s[chain.D].split(chain.D.op.axis[0], factor=4)"
