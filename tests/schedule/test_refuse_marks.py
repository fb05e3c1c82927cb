"""What bind, vectorize, unroll, parallel and pragma refuse: whole messages in golden files, one for each."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

import tecomp
from tecomp import te
from tecomp.ir.axis import AxisKind, IterVar
from tecomp.ir.expr import Var
from tecomp.ir.stmt import LoopKind
from tecomp.schedule import check_extent, create_schedule, declared_domains

from .messages import messages
from .programs import chain, cumsum, grid

Attempt = Callable[[SimpleNamespace], object]
Attempts = dict[str, Attempt]


def tx(dom: tuple[int, int] | None = None) -> IterVar:
    return te.thread_axis(dom, "threadIdx.x") if dom else te.thread_axis("threadIdx.x")


def after_a_split(verb: str, *arguments: object) -> Attempt:
    def attempt(p: SimpleNamespace) -> object:
        p.s[p.D].split(p.i, factor=4)
        return getattr(p.s[p.D], verb)(p.i, *arguments)

    return attempt


def built(extent: int, tag: str) -> Attempt:
    """Build a kernel of so many threads, or blocks."""

    def attempt(_: SimpleNamespace) -> object:
        T = te.compute((extent,), lambda i: i, name="T")
        s = create_schedule(T.op)
        s[T].bind(T.op.axis[0], te.thread_axis(tag))
        return tecomp.build(s, [T], target="cuda -arch=sm_90a")

    return attempt


def whole_sum(p: SimpleNamespace) -> tuple[SimpleNamespace, object, object]:
    r = te.reduce_axis((0, 48), name="r")
    S = te.compute((), lambda: te.sum(p.A[0, r], axis=r), name="S")
    return create_schedule(S.op), S, r


def parallel_whole_sum(p: SimpleNamespace) -> None:
    s, S, r = whole_sum(p)
    s[S].parallel(r)


def too_many_lanes(_: SimpleNamespace) -> None:
    C = te.compute((4096,), lambda i: i, name="C")
    create_schedule(C.op)[C].vectorize(C.op.axis[0])


def foo_axis(p: SimpleNamespace) -> IterVar:
    return IterVar(None, Var("foo", p.i.dtype), AxisKind.THREAD, "foo.x")


def inferred_extent(p: SimpleNamespace) -> None:
    stage = p.s[p.C]
    check_extent(stage, p.j, LoopKind.UNROLLED, declared_domains(stage.state)[p.j].extent)


BIND: Attempts = {
    "a reduce axis to blocks": lambda p: p.s[p.C].bind(p.k, te.thread_axis("blockIdx.x")),
    "to a loop": lambda p: p.s[p.D].bind(p.i, p.i),
    "to a name": lambda p: p.s[p.D].bind(p.i, "threadIdx.x"),
    "to an unknown tag": lambda p: p.s[p.D].bind(p.i, foo_axis(p)),
    "no such thread axis": lambda p: te.thread_axis("foo.x"),
    "a thread axis without a tag": lambda p: te.thread_axis((0, 4)),
    "TE's pipeline": lambda p: te.thread_axis("pipeline"),
    "twice": lambda p: (p.s[p.D].bind(p.i, tx()), p.s[p.D].bind(p.i, te.thread_axis("threadIdx.y"))),
    "to another extent": lambda p: p.s[p.D].bind(p.s[p.D].split(p.i, factor=32)[1], tx((0, 64))),
    "a whole axis to another extent": lambda p: p.s[p.D].bind(p.i, tx((0, 32))),
    "to threads from one": lambda p: p.s[p.D].bind(p.i, tx((1, 65))),
    "lanes": lambda p: (p.s[p.D].vectorize(p.i), p.s[p.D].bind(p.i, tx())),
    "a split axis": after_a_split("bind", te.thread_axis("threadIdx.x")),
    "2048 threads": built(2048, "threadIdx.x"),
    "128 threads along z": built(128, "threadIdx.z"),
    "65536 blocks along y": built(65536, "blockIdx.y"),
}
BIND_OF_SIZES: Attempts = {
    "two loops to one thread axis": lambda p: (p.s[p.C].bind(p.i, tx()), p.s[p.C].bind(p.j, tx())),
    "a loop with a pragma": lambda p: (p.s[p.C].pragma(p.i, "unroll_explicit", False), p.s[p.C].bind(p.i, tx())),
}
BIND_OF_A_SCAN: Attempts = {
    "its steps": lambda p: p.s[p.S].bind(p.time, tx()),
    "a dimension": lambda p: p.s[p.S].bind(p.S.op.spatial_axis_[0], tx()),
    "the time of its update": lambda p: p.s[p.s2].bind(p.s2.op.axis[0], tx()),
}
VECTORIZE: Attempts = {
    "a reduce axis": lambda p: p.s[p.C].vectorize(p.k),
    "a piece of a reduce axis": lambda p: p.s[p.C].vectorize(p.s[p.C].split(p.k, factor=8)[1]),
    "twice": lambda p: (p.s[p.D].vectorize(p.i), p.s[p.D].vectorize(p.i)),
    "threads": lambda p: (p.s[p.D].bind(p.i, tx()), p.s[p.D].vectorize(p.i)),
    "a split axis": after_a_split("vectorize"),
    "too many lanes": too_many_lanes,
}
VECTORIZE_OF_SIZES: Attempts = {
    "a symbolic extent": lambda p: p.s[p.C].vectorize(p.j),
    "a symbolic factor": lambda p: p.s[p.C].vectorize(p.s[p.C].split(p.j, factor=p.n // 2)[1]),
}
UNROLL: Attempts = {
    "a split axis": after_a_split("unroll"),
    "an axis of another stage": lambda p: p.s[p.D].unroll(p.k),
}
UNROLL_OF_SIZES: Attempts = {
    "a symbolic extent": lambda p: p.s[p.C].unroll(p.i),
    "an inferred symbolic extent": inferred_extent,
}
PARALLEL: Attempts = {
    "a reduce axis": lambda p: p.s[p.C].parallel(p.k),
    "a full reduction": parallel_whole_sum,
    "a split axis": after_a_split("parallel"),
    "threads": lambda p: (p.s[p.D].bind(p.i, tx()), p.s[p.D].parallel(p.i)),
}
PARALLEL_OF_SIZES: Attempts = {
    "inside parallel": lambda p: (p.s[p.C].parallel(p.i), p.s[p.C].parallel(p.j)),
    "an unrolled loop": lambda p: (p.s[p.C].unroll(p.l), p.s[p.C].parallel(p.l)),
}
MARKS_OF_A_SCAN: Attempts = {
    "parallel steps": lambda p: p.s[p.S].parallel(p.time),
    "steps as lanes": lambda p: p.s[p.S].vectorize(p.time),
    "the time of its update in parallel": lambda p: p.s[p.s2].parallel(p.s2.op.axis[0]),
}
OF_TE = (
    "import_c", "import_llvm", "debug_skip_region", "loop_partition_hint", "parallel_launch_point",
    "parallel_barrier_when_finish", "parallel_stride_pattern", "tensor_core", "aarch64_pstate_sm", "aarch64_pstate_za",
)  # fmt: skip
PRAGMA: Attempts = {
    **{f"TE's {name}": lambda p, name=name: p.s[p.D].pragma(p.i, name, 1) for name in OF_TE},
    "unknown": lambda p: p.s[p.D].pragma(p.i, "my_pragma"),
    "a name that is none": lambda p: p.s[p.D].pragma(p.i, ["unroll"]),
    "without its value": lambda p: p.s[p.D].pragma(p.i, "auto_unroll_max_step"),
    "with a wrong value": lambda p: p.s[p.D].pragma(p.i, "auto_unroll_max_step", "16"),
    "with a value of another type": lambda p: p.s[p.D].pragma(p.i, "unroll_explicit", "yes"),
    "with a value where there is none": lambda p: p.s[p.D].pragma(p.i, "unroll", 1),
    "twice": lambda p: (
        p.s[p.D].pragma(p.i, "auto_unroll_max_step", 16),
        p.s[p.D].pragma(p.i, "auto_unroll_max_step", 8),
    ),
    "on threads": lambda p: (p.s[p.D].bind(p.i, tx()), p.s[p.D].pragma(p.i, "auto_unroll_max_step", 8)),
    "on a split axis": after_a_split("pragma", "unroll_explicit", True),
}


@pytest.mark.parametrize(
    ("attempts", "program"),
    [
        pytest.param(BIND, chain, id="bind"),
        pytest.param(BIND_OF_SIZES, grid, id="bind of symbolic sizes"),
        pytest.param(BIND_OF_A_SCAN, cumsum, id="bind of a scan"),
        pytest.param(VECTORIZE, chain, id="vectorize"),
        pytest.param(VECTORIZE_OF_SIZES, grid, id="vectorize of symbolic sizes"),
        pytest.param(UNROLL, chain, id="unroll"),
        pytest.param(UNROLL_OF_SIZES, grid, id="unroll of symbolic sizes"),
        pytest.param(PARALLEL, chain, id="parallel"),
        pytest.param(PARALLEL_OF_SIZES, grid, id="parallel of symbolic sizes"),
        pytest.param(MARKS_OF_A_SCAN, cumsum, id="marks of a scan"),
        pytest.param(PRAGMA, chain, id="pragma"),
    ],
)
def test_refused(attempts, program, golden):
    golden(messages(attempts, program))
