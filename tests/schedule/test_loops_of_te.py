"""How TE cut and ran loops: what it found out too late, or not at all, is refused here or computes the right result.

What tests/schedule/test_refuse_loops.py, test_refuse_marks.py and test_refuse_scans.py show is not shown again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import TecompError
from tecomp.ir.interpret import interpret
from tecomp.schedule import create_schedule

from .test_cache import computed

CUDA = "cuda -arch=sm_90a"
Attempt = Callable[[SimpleNamespace], object]


def program() -> SimpleNamespace:
    """A -> B -> C = sum of B -> D = 2 C, and a scan S of A."""
    A = te.placeholder((16, 12), name="A")
    B = te.compute((16, 12), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, 12), name="k")
    C = te.compute((16,), lambda i: te.sum(B[i, k], axis=k), name="C")
    D = te.compute((16,), lambda i: C[i] * 2, name="D")
    state = te.placeholder((16, 12), name="state")
    init = te.compute((1, 12), lambda _, i: A[0, i], name="init")
    update = te.compute((16, 12), lambda t, i: state[t - 1, i] + A[t, i], name="update")
    S = te.scan(init, update, state, inputs=[A], name="S")
    s = create_schedule([D.op, S.op])
    tx, bx = te.thread_axis("threadIdx.x"), te.thread_axis("blockIdx.x")
    return SimpleNamespace(**{name: value for name, value in locals().items() if name != "s"}, s=s, i=D.op.axis[0])


def after_a_split(verb: str, *arguments: object) -> Attempt:
    def attempt(p: SimpleNamespace) -> object:
        p.s[p.D].split(p.i, factor=4)
        return getattr(p.s[p.D], verb)(p.i, *arguments)

    return attempt


def built(threads: int, tag: str) -> Attempt:
    """Build a kernel of that many threads, or blocks."""

    def attempt(_: SimpleNamespace) -> object:
        T = te.compute((threads,), lambda i: i, name="T")
        s = create_schedule(T.op)
        s[T].bind(T.op.axis[0], te.thread_axis(tag))
        return tecomp.build(s, [T], target=CUDA)

    return attempt


def _two_blocks_of_one_kernel(p: SimpleNamespace) -> None:
    s = create_schedule(p.D.op)
    s[p.D].bind(p.i, p.bx)
    s[p.B].compute_inline()
    s[p.C].compute_at(s[p.D], p.i)
    s[p.C].bind(p.C.op.axis[0], te.thread_axis("blockIdx.y"))
    tecomp.lower(s, [p.A, p.D], target=CUDA)


def _nothing_bound(p: SimpleNamespace) -> None:
    tecomp.build(create_schedule(p.D.op), [p.A, p.D], target=CUDA)


def _a_megabyte_of_shared_memory(_: SimpleNamespace) -> None:
    n = 1 << 18
    A = te.placeholder((8, n), name="A")
    B = te.compute((8, n), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((8, n), lambda i, j: B[i, n - 1 - j], name="C")
    s = create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[C].bind(s[C].split(C.op.axis[1], nparts=32)[0], te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].set_scope("shared")
    tecomp.build(s, [A, C], target=CUDA)


SPLIT: dict[str, Attempt] = {
    "a dimension of a scan": lambda p: p.s[p.S].split(p.S.op.spatial_axis_[0], factor=4),
    "lanes": lambda p: (p.s[p.D].vectorize(p.i), p.s[p.D].split(p.i, factor=4)),
    "a tile of a float": lambda p: p.s[p.B].tile(*p.B.op.axis, 2.0, 2),
    "without a guard that is needed": lambda p: p.s[p.D].split(p.i, factor=5, disable_predication=True),
}
FUSE: dict[str, Attempt] = {
    "lanes": lambda p: (p.s[p.B].vectorize(p.B.op.axis[1]), p.s[p.B].fuse(*p.B.op.axis)),
    "threads": lambda p: (p.s[p.B].bind(p.B.op.axis[0], p.tx), p.s[p.B].fuse(*p.B.op.axis)),
    "an axis of another stage": lambda p: p.s[p.B].fuse(p.B.op.axis[0], p.k),
    "an axis that was split": lambda p: (p.s[p.B].split(p.B.op.axis[1], 4), p.s[p.B].fuse(*p.B.op.axis)),
}
REORDER: dict[str, Attempt] = {
    "a list": lambda p: p.s[p.B].reorder(list(p.B.op.axis)),
    "the time of a scan": lambda p: p.s[p.S].reorder(p.S.op.scan_axis),
    "an axis of another stage": lambda p: p.s[p.B].reorder(p.B.op.axis[1], p.i),
}
BIND: dict[str, Attempt] = {
    "an axis that was split": after_a_split("bind", te.thread_axis("threadIdx.x")),
    "a dimension of a scan": lambda p: p.s[p.S].bind(p.S.op.spatial_axis_[0], p.tx),
    "the time of a scan": lambda p: p.s[p.S].bind(p.S.op.scan_axis, p.tx),
    "no such thread axis": lambda p: te.thread_axis("foo.x"),
    "a thread axis without a tag": lambda p: te.thread_axis((0, 4)),
    "TE's pipeline": lambda p: te.thread_axis("pipeline"),
    "2048 threads": built(2048, "threadIdx.x"),
    "128 threads along z": built(128, "threadIdx.z"),
    "65536 blocks along y": built(65536, "blockIdx.y"),
    "a megabyte of shared memory": _a_megabyte_of_shared_memory,
    "blocks inside another stage's blocks": _two_blocks_of_one_kernel,
    "nothing": _nothing_bound,
}
MARK: dict[str, Attempt] = {
    "vectorize an axis that was split": after_a_split("vectorize"),
    "vectorize threads": lambda p: (p.s[p.D].bind(p.i, p.tx), p.s[p.D].vectorize(p.i)),
    "unroll an axis that was split": after_a_split("unroll"),
    "unroll an axis of another stage": lambda p: p.s[p.D].unroll(p.k),
    "parallel an axis that was split": after_a_split("parallel"),
    "parallel threads": lambda p: (p.s[p.D].bind(p.i, p.tx), p.s[p.D].parallel(p.i)),
}
PRAGMAS = (
    "import_c", "import_llvm", "debug_skip_region", "loop_partition_hint", "parallel_launch_point",
    "parallel_barrier_when_finish", "parallel_stride_pattern", "tensor_core", "aarch64_pstate_sm", "aarch64_pstate_za",
    "my_copy",
)  # fmt: skip
PRAGMA: dict[str, Attempt] = {
    **{f"TE's {name}": lambda p, name=name: p.s[p.D].pragma(p.i, name, 1) for name in PRAGMAS},
    "no value": lambda p: p.s[p.D].pragma(p.i, "auto_unroll_max_step"),
    "a value of another type": lambda p: p.s[p.D].pragma(p.i, "unroll_explicit", "yes"),
    "a value where there is none": lambda p: p.s[p.D].pragma(p.i, "unroll", 1),
    "a loop that was split": after_a_split("pragma", "unroll_explicit", True),
}
TABLES = {"split": SPLIT, "fuse": FUSE, "reorder": REORDER, "bind": BIND, "mark": MARK, "pragma": PRAGMA}


@pytest.mark.parametrize("cases", TABLES.values(), ids=TABLES)
def test_refused(cases, golden):
    messages = []
    for name, attempt in cases.items():
        with pytest.raises(TecompError) as caught:
            attempt(program())
            pytest.fail(f"{name} was not refused")
        message = re.sub(r"(--> \w+\.py):\d+", r"\1:LINE", str(caught.value))
        messages.append(f"# {name}\n{type(caught.value).__name__}: {message}\n")
    golden("\n".join(messages))


def lanes_inside_lanes(s, p):
    s[p.B].vectorize(p.B.op.axis[0])
    s[p.B].vectorize(p.B.op.axis[1])


def lanes_around_lanes_of_another_stage(s, p):
    s[p.C].compute_at(s[p.D], p.i)
    s[p.B].compute_at(s[p.C], p.C.op.axis[0])
    s[p.B].vectorize(p.B.op.axis[1])
    s[p.D].vectorize(p.i)


def lanes_outside_a_loop(s, p):
    s[p.B].vectorize(p.B.op.axis[1])
    s[p.B].reorder(p.B.op.axis[1], p.B.op.axis[0])


def seven_lanes_with_a_tail(s, p):
    s[p.B].vectorize(s[p.B].split(p.B.op.axis[1], factor=7)[1])


def lanes_under_a_guard_of_the_whole_loop(s, p):
    s[p.B].vectorize(s[p.B].split(s[p.B].fuse(*p.B.op.axis), factor=1024)[1])


def parallel_inside_parallel_of_another_stage(s, p):
    s[p.C].compute_at(s[p.D], p.i)
    s[p.B].compute_at(s[p.C], p.C.op.axis[0])
    s[p.B].parallel(p.B.op.axis[1])
    s[p.D].parallel(p.i)


def parallel_moved_inside(s, p):
    s[p.B].parallel(p.B.op.axis[0])
    s[p.B].reorder(p.B.op.axis[1], p.B.op.axis[0])


def data_and_reduction_fused_around_a_producer(s, p):
    s[p.B].compute_at(s[p.C], s[p.C].fuse(p.C.op.axis[0], p.k))


def reduction_and_data_fused_and_split_around_a_producer(s, p):
    s[p.C].reorder(p.k, p.C.op.axis[0])
    s[p.B].compute_at(s[p.C], s[p.C].split(s[p.C].fuse(p.k, p.C.op.axis[0]), factor=5)[0])


def fuse_in_the_other_order(s, p):
    i, j = p.B.op.axis
    s[p.B].split(s[p.B].fuse(j, i), factor=7)


def fuse_of_nothing(s, p):
    s[p.C].compute_at(s[p.D], s[p.D].fuse())


def steps_unrolled(s, p):
    s[p.S].unroll(p.S.op.scan_axis)


def steps_split_and_fused_again(s, p):
    s[p.S].split(s[p.S].fuse(*s[p.S].split(p.S.op.scan_axis, factor=4)), factor=7)


def steps_with_a_pragma(s, p):
    s[p.S].pragma(p.S.op.scan_axis, "auto_unroll_max_step", 64)


@pytest.mark.parametrize(
    "schedule",
    [
        lanes_inside_lanes, lanes_around_lanes_of_another_stage, lanes_outside_a_loop, seven_lanes_with_a_tail,
        lanes_under_a_guard_of_the_whole_loop, parallel_inside_parallel_of_another_stage, parallel_moved_inside,
        data_and_reduction_fused_around_a_producer, reduction_and_data_fused_and_split_around_a_producer,
        fuse_in_the_other_order, fuse_of_nothing, steps_unrolled, steps_split_and_fused_again, steps_with_a_pragma,
    ],
)  # fmt: skip
def test_right(schedule):
    p = program()
    schedule(p.s, p)
    a = np.random.default_rng(0).integers(-9, 9, (16, 12)).astype("f")
    d, sums = computed(p.s, [p.A, p.D, p.S], [a], [(16,), (16, 12)])
    np.testing.assert_array_equal(d, (a + 1).sum(1) * 2)
    np.testing.assert_array_equal(sums, a.cumsum(0))


@pytest.mark.parametrize("factor", [5, 8, 16])
def test_thread_axes_of_one_tag_and_other_extents(factor):
    """In TE the kernel had inconsistent extents, and wrote beyond its shared memory."""
    p = program()
    s = create_schedule(p.D.op)
    outer, inner = s[p.D].split(p.i, factor)
    s[p.D].bind(outer, p.bx)
    s[p.D].bind(inner, te.thread_axis("threadIdx.x"))
    s[p.B].compute_at(s[p.D], outer)
    s[p.B].set_scope("shared")
    s[p.B].bind(p.B.op.axis[1], te.thread_axis("threadIdx.x"))
    s[p.C].compute_at(s[p.D], inner)
    a = np.random.default_rng(0).integers(-9, 9, (16, 12)).astype("f")
    found = np.zeros(16, "f")
    interpret(tecomp.lower(s, [p.A, p.D], target=CUDA), a, found)
    np.testing.assert_array_equal(found, (a + 1).sum(1) * 2)
    assert tecomp.build(s, [p.A, p.D], target=CUDA).artifact.binary
