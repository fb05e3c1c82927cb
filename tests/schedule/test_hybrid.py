"""The loops of a hybrid function under primitives: what is done, and what is refused."""

# ruff: noqa: E501, F821 (a message has no breaks; the names of the language)
from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError, UserError
from tecomp.ir.axis import AxisKind
from tests.te.hybrid_check import check, compiled, floats

SIZES = (0, 1, 3, 4, 5, 13)


@te.hybrid.script
def sums(a):
    c = output_tensor((a.shape[0],), "float32")
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            c[i] = a[i, k] if k == 0 else c[i] + a[i, k]
    return c


@te.hybrid.script
def blur(a):
    b = output_tensor((a.shape[0] - 2, a.shape[1] - 2), a.dtype)
    for i in range(a.shape[0] - 2):
        for j in range(a.shape[1] - 2):
            total = 0.0
            for di in range(3):
                for dj in range(3):
                    total += a[i + di, j + dj]
            b[i, j] = total / 9.0
    return b


@te.hybrid.script
def offsets(a):
    b = output_tensor((a.shape[0], 30), "float32")
    for i in range(1, a.shape[0]):
        for j in range(29, 2, -2):
            b[i, j] = a[i, j] + i - j
    return b


def test_which_loops_are_independent():
    op = sums(te.placeholder((8, 8), name="a")).op
    k, i = op.axis
    assert (k.name, k.kind, i.name, i.kind) == ("k", AxisKind.CARRIED, "i", AxisKind.DATA)
    assert [axis.kind.value for axis in blur(te.placeholder((8, 8), name="a")).op.axis] == ["data"] * 2 + ["opaque"] * 2


@pytest.mark.parametrize(("n", "m"), [(0, 3), (1, 1), (4, 5), (13, 7)])
def test_independent_loops_go_anywhere(n, m):
    def schedule(s, op):
        k, i = op.axis
        outer, inner = s[op].split(i, 4)
        s[op].reorder(outer, inner, k)
        s[op].parallel(outer)
        s[op].unroll(s[op].split(k, 3)[1])

    check(sums, floats(n, m), schedule=schedule, tolerance=1e-5)


@pytest.mark.parametrize("size", SIZES)
def test_vectors_around_loops_and_variables(size):
    def schedule(s, op):
        i, j = op.axis[:2]
        s[op].vectorize(s[op].split(j, 4)[1])
        s[op].parallel(i)

    check(blur, floats(size + 2, 9), schedule=schedule, tolerance=1e-5)


@pytest.mark.parametrize("size", SIZES)
def test_fuse_split_tile_and_pragma(size):
    def fused(s, op):
        outer, _ = s[op].split(s[op].fuse(*op.axis[:2]), nparts=3)
        s[op].pragma(outer, "auto_unroll_max_step", 4)

    def tiled(s, op):
        s[op].tile(*op.axis[:2], 4, 4)

    for schedule in (fused, tiled):
        check(blur, floats(size + 2, 8), schedule=schedule, tolerance=1e-5)


def test_loops_that_do_not_begin_at_0():
    params, (b,), (a,) = compiled(offsets, floats(11, 30))
    s = te.create_schedule(b.op)
    s[b].tile(*b.op.axis, 4, 4)
    found, wanted = np.full((11, 30), np.nan, "float32"), offsets(a)
    tecomp.build(s, params)(a, found)
    np.testing.assert_allclose(found, wanted)


def test_the_text_of_a_schedule_makes_it_again():
    op = sums(te.placeholder((8, 8), name="a")).op
    s = te.create_schedule(op)
    outer, inner = s[op].split(op.axis[1], factor=4)
    s[op].reorder(outer, inner, op.axis[0])
    s[op].bind(outer, te.thread_axis("blockIdx.x"))
    assert s.text() == (
        "sums = s.stages[1].op\n"
        "blockIdx_x = te.thread_axis('blockIdx.x', name='blockIdx.x')\n"
        "\n"
        "i_outer, i_inner = s[sums].split(sums.axis[1], factor=4)\n"
        "s[sums].reorder(i_outer, i_inner, sums.axis[0])\n"
        "s[sums].bind(i_outer, blockIdx_x)\n"
    ).replace(", name='blockIdx.x'", "")
    again = te.create_schedule(op)
    exec(s.text(), {"s": again, "te": te})
    assert again.text() == s.text()


def test_producers_and_consumers_are_inlined():
    x = te.placeholder((30, 30), name="x")
    before = te.compute((30, 30), lambda i, j: te.Select(i > 0, x[i - 1, j], 0.0) + x[i, j], name="before")
    middle = blur(before)
    after = te.compute((28, 28), lambda i, j: middle[i, j] * 2.0, name="after")
    out = te.compute((28, 28), lambda i, j: after[i, j] + 1.0, name="out")
    s = te.create_schedule(out.op)
    s[before].compute_inline()
    s[after].compute_inline()
    s[middle].parallel(middle.op.axis[0])
    data, found = floats(30, 30), np.zeros((28, 28), "float32")
    tecomp.build(s, [x, out])(data, found)
    summed = data + np.pad(data, ((1, 0), (0, 0)))[:-1]
    windows = sum(summed[i : i + 28, j : j + 28] for i in range(3) for j in range(3))
    np.testing.assert_allclose(found, windows / 9 * 2 + 1, rtol=1e-4, atol=1e-5)


def test_an_inlined_producer_of_a_producer():
    x = te.placeholder((9,), name="x")
    one = te.compute((9,), lambda i: x[i] + 1.0, name="one")
    two = te.compute((9,), lambda i: one[8 - i] * 2.0, name="two")

    @te.hybrid.script
    def copied(a):
        b = output_tensor(a.shape, a.dtype)
        for i in range(9):
            b[i] = a[i]
        return b

    out = copied(two)
    s = te.create_schedule(out.op)
    s[one].compute_inline()
    s[two].compute_inline()
    data, found = floats(9), np.zeros(9, "float32")
    tecomp.build(s, [x, out])(data, found)
    np.testing.assert_allclose(found, (data[::-1] + 1) * 2, rtol=1e-6)


def staged(function, *shape):
    out = function(te.placeholder(shape, name="a"))
    s = te.create_schedule(out.op)
    return s[out], out.op.axis


@pytest.mark.parametrize("verb", ["parallel", "vectorize"])
def test_iterations_that_need_one_another_at_once(refused, verb):
    stage, (k, _) = staged(sums, 8, 8)
    said = {"parallel": "parallelize", "vectorize": "vectorize"}[verb]
    with refused(
        ScheduleError,
        f"""
        cannot {said} 'k' of 'sums'
          --> test_hybrid.py:LINE
           |     getattr(stage, verb)(k)
           |     ^
          because: line 23 may write one element of 'c' in several iterations of 'k'
          legal: a data axis of 'sums': i
        """,
    ):
        getattr(stage, verb)(k)


def test_iterations_that_need_one_another_in_threads(refused):
    stage, (k, _) = staged(sums, 8, 8)
    with refused(
        ScheduleError,
        """
        cannot bind 'k' of 'sums'
          --> test_hybrid.py:LINE
           |     stage.bind(k, te.thread_axis("threadIdx.x"))
           |     ^
          because: line 23 may write one element of 'c' in several iterations of 'k'
          legal: a data axis of 'sums': i
        """,
    ):
        stage.bind(k, te.thread_axis("threadIdx.x"))


def test_another_order_of_loops_that_carry_values(refused):
    stage, (k, _) = staged(sums, 8, 8)
    outer, inner = stage.split(k, 3)
    with refused(
        ScheduleError,
        """
        reorder: 'k.inner' of 'sums' outside 'k.outer'
          --> test_hybrid.py:LINE
           |     stage.reorder(inner, outer)
           |     ^
          because: line 23 may write one element of 'c' in several iterations of 'k'; 'k.outer' carries values too, and their order decides which
          legal: loops that carry nothing in any order, the others as they are
        """,
    ):
        stage.reorder(inner, outer)


def test_a_loop_of_an_imperfect_nest(refused):
    stage, axes = staged(blur, 8, 8)
    with refused(
        ScheduleError,
        """
        split: 'di' is no loop of 'blur'
          --> test_hybrid.py:LINE
           |     stage.split(axes[2], 3)
           |     ^
          because: it is in no perfect nest: inside 'j' it is not alone, a statement stands at line 32
          legal: the loops of 'blur': i, j
        """,
    ):
        stage.split(axes[2], 3)


@te.hybrid.script
def two_nests(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(8):
        b[i] = 0.0
    for j in range(8):
        b[j] += a[j]
    return b


@te.hybrid.script
def triangle(a):
    b = output_tensor((8, 8), a.dtype)
    for i in range(8):
        for j in range(i + 1):
            b[i, j] = a[i]
    return b


def test_several_nests(refused):
    stage, axes = staged(two_nests, 8)
    with refused(
        ScheduleError,
        """
        parallel: 'i' is no loop of 'two_nests'
          --> test_hybrid.py:LINE
           |     stage.parallel(axes[0])
           |     ^
          because: it is in no perfect nest: other statements stand beside the outermost loops
          legal: the loops of 'two_nests': none
        """,
    ):
        stage.parallel(axes[0])


def test_a_loop_whose_length_depends_on_another(refused):
    stage, (i, j) = staged(triangle, 8)
    stage.parallel(i)
    with refused(
        ScheduleError,
        """
        vectorize: 'j' is no loop of 'triangle'
          --> test_hybrid.py:LINE
           |     stage.vectorize(j)
           |     ^
          because: how long 'j' is depends on the loops around it, so it stays inside them
          legal: the loops of 'triangle': i
        """,
    ):
        stage.vectorize(j)


def test_what_is_not_about_loops(refused):
    stage, _ = staged(two_nests, 8)
    with refused(
        ScheduleError,
        """
        set_scope of 'two_nests'
          --> test_hybrid.py:LINE
           |     stage.set_scope("local")
           |     ^
          because: it is a hybrid function, of which only loops can be changed
          legal: split, fuse, reorder, bind, vectorize, unroll, parallel, pragma
        """,
    ):
        stage.set_scope("local")
    with refused(
        ScheduleError,
        """
        compute_inline: 'two_nests' is a hybrid function and cannot be inlined
          --> test_hybrid.py:LINE
           |     stage.compute_inline()
           |     ^
          legal: compute_inline of a compute
        """,
    ):
        stage.compute_inline()


def test_places_around_a_hybrid_function(refused):
    x = te.placeholder((8,), name="x")
    before = te.compute((8,), lambda i: x[i] + 1.0, name="before")
    middle = two_nests(before)
    after = te.compute((8,), lambda i: middle[i] + 1.0, name="after")
    s = te.create_schedule(after.op)
    with refused(
        ScheduleError,
        """
        compute_at: 'before' cannot be placed at loop 'i' of 'two_nests'
          --> test_hybrid.py:LINE
           |     s[before].compute_at(s[middle], middle.op.axis[0])
           |     ^
          because: 'two_nests' is a hybrid function: its loops are its own, and it reads its inputs whole
          legal: compute_root, or a loop of another stage that is around all readers
        """,
    ):
        s[before].compute_at(s[middle], middle.op.axis[0])
    with refused(
        ScheduleError,
        """
        compute_at: 'two_nests' cannot be placed at loop 'i' of 'after'
          --> test_hybrid.py:LINE
           |     s[middle].compute_at(s[after], after.op.axis[0])
           |     ^
          because: 'two_nests' is a hybrid function, which runs once and as a whole
          legal: compute_root
        """,
    ):
        s[middle].compute_at(s[after], after.op.axis[0])


def test_in_the_steps_of_a_scan(refused):
    n, m = te.var("n"), te.var("m")
    x, state = te.placeholder((m, n), name="x"), te.placeholder((m, n), name="state")

    @te.hybrid.script
    def doubled(a):
        b = output_tensor(a.shape, a.dtype)
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] * 2.0
        return b

    init = te.compute((1, n), lambda _, i: x[0, i])
    twice = doubled(state)
    update = te.compute((m, n), lambda t, i: twice[t - 1, i] + x[t, i])
    with refused(
        UserError,
        """
        te.scan 'scan': 'doubled' is computed in each step
          --> test_hybrid.py:LINE
           |     te.scan(init, update, state, inputs=[x])
           |     ^
          because: it is an opaque operation, which reads all of its inputs, and later steps do not exist yet
          legal: te.compute; or what 'doubled' reads left out of the scan's inputs
        """,
    ):
        te.scan(init, update, state, inputs=[x])
