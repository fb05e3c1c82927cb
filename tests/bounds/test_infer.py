"""Over which ranges each stage runs, as text."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tecomp import te
from tecomp.errors import ScheduleError
from tests.bounds.describe import described


def agrees(schedule, args, want: str) -> None:
    assert described(schedule, args) == dedent(want).strip()


def neighbours(extent):
    """B of `extent` elements, C[i] = B[i] + B[i + 1]."""
    A = te.placeholder((extent,), name="A")
    B = te.compute((extent,), lambda i: A[i] * 2, name="B")
    C = te.compute((extent - 1,), lambda i: B[i] + B[i + 1], name="C")
    return A, B, C, te.create_schedule(C.op)


def test_at_the_root_all_is_computed_that_is_read() -> None:
    A, _, C, s = neighbours(16)
    agrees(
        s,
        [A, C],
        """
        C: [0, +15]
          i = i, 15 values
        B: [0, +16]
          i = i, 16 values
        """,
    )


def test_of_a_tensor_only_what_is_read() -> None:
    A = te.placeholder((100,), name="A")
    B = te.compute((100,), lambda i: A[i] * 2, name="B")
    C = te.compute((5,), lambda i: B[i * 3 + 10], name="C")
    agrees(
        te.create_schedule(C.op),
        [A, C],
        """
        C: [0, +5]
          i = i, 5 values
        B: [10, +13]
          i = i + 10, 13 values
        """,
    )


def test_an_argument_is_computed_whole() -> None:
    A = te.placeholder((100,), name="A")
    B = te.compute((100,), lambda i: A[i] * 2, name="B")
    C = te.compute((5,), lambda i: B[i * 3 + 10], name="C")
    assert "B: [0, +100]" in described(te.create_schedule(C.op), [A, B, C])


def test_inside_a_loop_what_one_iteration_reads() -> None:
    A, B, C, s = neighbours(te.var("n"))
    outer, _ = s[C].split(C.op.axis[0], factor=8)
    s[B].compute_at(s[C], outer)
    agrees(
        s,
        [A, C],
        """
        C: [0, +n - 1]
          i.outer = i_outer, (n + 6) // 8 values
          i.inner = i_inner, 8 values
          i = i_outer * 8 + i_inner, n - 1 values
          where i_outer * 8 + i_inner < n - 1
        B: [i_outer * 8, +9]
          i = i_outer * 8 + i, 9 values
          where i_outer * 8 + i < n
        """,
    )


def test_a_split_that_divides_asks_nothing() -> None:
    A, _, C, s = neighbours(17)
    outer, _ = s[C].split(C.op.axis[0], factor=4)
    s[C].split(outer, nparts=2)
    assert "where" not in described(s, [A, C])


def test_splits_that_do_not_divide_at_any_depth() -> None:
    A, _, C, s = neighbours(18)
    outer, _ = s[C].split(C.op.axis[0], factor=4)
    s[C].split(outer, nparts=2)
    agrees(
        s,
        [A, C],
        """
        C: [0, +17]
          i.outer.outer = i_outer_outer, 2 values
          i.outer.inner = i_outer_inner, 3 values
          i.inner = i_inner, 4 values
          i.outer = i_outer_outer * 3 + i_outer_inner, 5 values
          i = i_outer_outer * 12 + i_outer_inner * 4 + i_inner, 17 values
          where i_outer_outer * 3 + i_outer_inner < 5
          where i_outer_outer * 12 + i_outer_inner * 4 + i_inner < 17
        B: [0, +18]
          i = i, 18 values
        """,
    )


def test_every_output_counts() -> None:
    """C reads element i of the first result and i + 1 of the second: both are computed for both."""
    A = te.placeholder((8, 2), name="A")
    first, second = te.compute((8,), lambda i: (A[i, 0], A[i, 1]), name="T")
    C = te.compute((7,), lambda i: first[i] + second[i + 1], name="C")
    s = te.create_schedule(C.op)
    s[first].compute_at(s[C], C.op.axis[0])
    agrees(
        s,
        [A, C],
        """
        C: [0, +7]
          i = i, 7 values
        T: [i, +2]
          i = i + i_1, 2 values
        """,
    )


def test_what_threads_share_serves_all_of_them() -> None:
    """Registers hold what one thread reads, shared memory what the threads of a block read."""
    for scope, region in (("local", "[i_outer * 64 + i_inner, +2]"), ("shared", "[i_outer * 64, +65]")):
        A, B, C, s = neighbours(1025)
        outer, inner = s[C].split(C.op.axis[0], factor=64)
        s[C].bind(outer, te.thread_axis("blockIdx.x"))
        s[C].bind(inner, te.thread_axis("threadIdx.x"))
        s[B].compute_at(s[C], inner)
        s[B].set_scope(scope)
        assert f"B in {scope}: {region}" in described(s, [A, C])


def test_memory_where_nothing_is_said() -> None:
    for depth, scope in enumerate(("", " in shared", " in local")):
        A, B, C, s = neighbours(1025)
        plain, rest = s[C].split(C.op.axis[0], nparts=2)
        outer, inner = s[C].split(rest, factor=64)
        s[C].bind(outer, te.thread_axis("blockIdx.x"))
        s[C].bind(inner, te.thread_axis("threadIdx.x"))
        s[B].compute_at(s[C], (plain, outer, inner)[depth])
        assert f"B{scope}: " in described(s, [A, C])


def test_an_index_from_the_data_needs_everything() -> None:
    A, P = te.placeholder((8,), name="A"), te.placeholder((4,), "int32", name="P")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    C = te.compute((4,), lambda i: B[P[i]], name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    assert "B: [0, +8]" in described(s, [A, P, C])


def test_the_steps_of_a_scan() -> None:
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((2, n), lambda t, i: X[t, i], name="init")
    twice = te.compute((m, n), lambda t, i: state[t - 2, i] * 2, name="twice")
    update = te.compute((m, n), lambda t, i: twice[t, i] + X[t, i], name="update")
    scan = te.scan(init, update, state, inputs=[X])
    agrees(
        te.create_schedule(scan.op),
        [X, scan],
        """
        scan: [0, +m], [0, +n]
          scan.idx = scan_idx + 2, m - 2 values
        update: [scan_idx + 2, +1], [0, +n]
          t = scan_idx + 2, 1 values
          i = i, n values
        twice: [scan_idx + 2, +1], [0, +n]
          t = scan_idx + 2, 1 values
          i = i, n values
        init: [0, +2], [0, +n]
          t = t, 2 values
          i = i, n values
        """,
    )


def test_a_reduce_axis_that_ends_where_a_data_axis_is() -> None:
    A = te.placeholder((10, 10), name="A")

    def row(i):
        k = te.reduce_axis((0, i + 1), "k")
        return te.sum(A[i, k], axis=k)

    B = te.compute((10,), row, name="B")
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], factor=5)
    agrees(
        s,
        [A, B],
        """
        B: [0, +10]
          i.outer = i_outer, 2 values
          i.inner = i_inner, 5 values
          i = i_outer * 5 + i_inner, 10 values
          k = k, i_outer * 5 + i_inner + 1 values
        """,
    )


def test_a_result_that_is_an_argument_is_written_whole(refused) -> None:
    A = te.placeholder((9,), name="A")
    B = te.compute((9,), lambda i: A[i] * 2, name="B")
    C = te.compute((8,), lambda i: B[i], name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    assert "B: [i, +1]" in described(s, [A, C])
    with refused(
        ScheduleError,
        """
        'B' is an argument and computed inside other loops
          --> test_infer.py:LINE
           |     s[B].compute_at(s[C], C.op.axis[0])
           |     ^
          because: only what is read of it is computed there, not provably all of dimension 0
          legal: s[B].compute_root(), or leave 'B' out of the arguments
    """,
    ):
        described(s, [A, B, C])


@pytest.mark.parametrize("step", [1, 2])
def test_windows_that_leave_no_gap_write_all_of_an_argument(step: int) -> None:
    """Each iteration of C computes two elements of B, the next ones `step` further on."""
    A = te.placeholder((6 * step + 2,), name="A")
    B = te.compute((6 * step + 2,), lambda i: A[i] * 2, name="B")
    C = te.compute((7,), lambda i: B[i * step] + B[i * step + 1], name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    assert described(s, [A, B, C]) == described(s, [A, C])
