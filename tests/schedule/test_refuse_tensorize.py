"""What tensorize refuses, word for word: by the call, and by what the loops and the memory turn out to be."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import ScheduleError, UserTypeError
from tests.conftest import Refused
from tests.intrinsics import declared, elementwise, gemv, vadd

A, B = te.placeholder((64,), name="A"), te.placeholder((64,), name="B")
C = te.compute((64,), lambda i: A[i] + B[i], name="C")
D = te.compute((64,), lambda i: C[i] * 2.0, name="D")


def tiled() -> Any:
    s = te.create_schedule(C.op)
    return s, *s[C].split(C.op.axis[0], factor=16)


def test_what_is_no_intrinsic(refused: Refused) -> None:
    s, _, inner = tiled()
    with refused(
        UserTypeError,
        """
        tensorize: 3 is no tensor intrinsic
          --> test_refuse_tensorize.py:LINE
           |     s[C].tensorize(inner, 3)
           |     ^
          because: it is of type int
          legal: te.decl_tensor_intrin(...)
        """,
    ):
        s[C].tensorize(inner, 3)


def test_results_of_another_type(refused: Refused) -> None:
    s, _, inner = tiled()
    other = elementwise(lambda x: x + 1, ((16,), "int32"), name="other")
    with refused(
        ScheduleError,
        """
        tensorize: 'C' by 'other'
          --> test_refuse_tensorize.py:LINE
           |     s[C].tensorize(inner, other)
           |     ^
          because: 'C' gives float32, the intrinsic int32
          legal: an intrinsic that gives float32
        """,
    ):
        s[C].tensorize(inner, other)


def test_a_scan(refused: Refused) -> None:
    state = te.placeholder((8, 16), name="state")
    init = te.compute((1, 16), lambda _, i: 0.0, name="init")
    update = te.compute((8, 16), lambda t, i: state[t - 1, i] + 1.0, name="update")
    scan = te.scan(init, update, state, name="scan")
    s = te.create_schedule(scan.op)
    with refused(
        ScheduleError,
        """
        tensorize: 'scan' by 'vadd'
          --> test_refuse_tensorize.py:LINE
           |     s[scan].tensorize(scan.op.scan_axis, vadd())
           |     ^
          because: 'scan' is a ScanOp, which has no formula to compare
          legal: a compute
        """,
    ):
        s[scan].tensorize(scan.op.scan_axis, vadd())


@pytest.mark.parametrize("again", [0, 1])
def test_two_intrinsics_in_one_stage(refused: Refused, again: int) -> None:
    s, *loops = tiled()
    s[C].tensorize(loops[1], vadd())
    with refused(
        ScheduleError,
        """
        tensorize: 'C' by 'wide'
          --> test_refuse_tensorize.py:LINE
           |     s[C].tensorize(loops[again], vadd(64, "wide"))
           |     ^
          because: 'vadd' takes the place of its loops from 'i.inner' on, and a stage has one
          legal: one intrinsic for each stage
        """,
    ):
        s[C].tensorize(loops[again], vadd(64, "wide"))


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("split", "split"),
        ("vectorize", "vectorize"),
        ("parallel", "parallelize"),
        ("unroll", "unroll"),
    ],
)
def test_the_loops_of_an_intrinsic_are_no_more(refused: Refused, verb: str, said: str) -> None:
    s, _, inner = tiled()
    s[C].tensorize(inner, vadd())
    more = {"factor": 4} if verb == "split" else {}
    with refused(
        ScheduleError,
        f"""
        cannot {said} 'i.inner' of 'C'
          --> test_refuse_tensorize.py:LINE
           |     getattr(s[C], verb)(inner, **more)
           |     ^
          because: the intrinsic 'vadd' takes the place of the loops from 'i.inner' on
          legal: {verb} first, then tensorize; the loops outside are i.outer
        """,
    ):
        getattr(s[C], verb)(inner, **more)


def test_a_thread_inside(refused: Refused) -> None:
    s, outer, inner = tiled()
    s[C].bind(inner, te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """
        cannot tensorize 'i.outer' of 'C'
          --> test_refuse_tensorize.py:LINE
           |     s[C].tensorize(outer, vadd(64))
           |     ^
          because: 'i.inner' is bound to threadIdx.x, and one thread runs the whole intrinsic
          legal: tensorize a loop inside 'i.inner'
        """,
    ):
        s[C].tensorize(outer, vadd(64))


def test_a_loop_inside_that_is_no_plain_one(refused: Refused) -> None:
    s, outer, inner = tiled()
    s[C].vectorize(inner)
    with refused(
        ScheduleError,
        """
        cannot tensorize 'i.outer' of 'C'
          --> test_refuse_tensorize.py:LINE
           |     s[C].tensorize(outer, vadd(64))
           |     ^
          because: 'i.inner' is vectorized, and the intrinsic takes the place of that loop
          legal: tensorize a loop inside 'i.inner'
        """,
    ):
        s[C].tensorize(outer, vadd(64))


def test_a_producer_inside(refused: Refused) -> None:
    s = te.create_schedule(D.op)
    outer, inner = s[D].split(D.op.axis[0], factor=16)
    s[C].compute_at(s[D], inner)
    double = elementwise(lambda x: x * 2.0, ((16,), "float32"), name="double")
    with refused(
        ScheduleError,
        """
        cannot tensorize 'i.inner' of 'D'
          --> test_refuse_tensorize.py:LINE
           |     s[D].tensorize(inner, double)
           |     ^
          because: 'C' is computed in 'i.inner', and the intrinsic takes the place of that loop
          legal: s[C].compute_at a loop outside 'i.inner'
        """,
    ):
        s[D].tensorize(inner, double)
    s[C].compute_at(s[D], outer)
    s[D].tensorize(inner, double)
    with refused(
        ScheduleError,
        """
        compute_at: 'C' cannot be placed at loop 'i.inner' of 'D'
          --> test_refuse_tensorize.py:LINE
           |     s[C].compute_at(s[D], inner)
           |     ^
          because: the intrinsic 'double' takes the place of that loop
          legal: a loop outside 'i.inner' of 'D'
        """,
    ):
        s[C].compute_at(s[D], inner)


@pytest.mark.parametrize("called", [False, True])
def test_work_that_moves_to_a_new_stage(refused: Refused, called: bool) -> None:
    P, Q = te.placeholder((6, 16), name="P"), te.placeholder((6, 16), name="Q")
    add = vadd()
    R = te.compute((6, 16), (lambda j: add(P[j], Q[j])) if called else lambda j, i: P[j, i] + Q[j, i], name="R")
    s = te.create_schedule(R.op)
    if not called:
        s[R].tensorize(R.op.axis[1], add)
    with refused(
        ScheduleError,
        """
        cache_write: 'R' in 'global'
          --> test_refuse_tensorize.py:LINE
           |     s.cache_write(R, "global")
           |     ^
          because: 'vadd' takes the place of its loops from 'i' on, and its work moves to a new stage
          legal: this on a te.compute of the formula, then tensorize of the new stage
        """,
    ):
        s.cache_write(R, "global")


def lowered(make: Callable[[], Any]) -> None:
    """Lower what `make` gives: a schedule and arguments."""
    s, args = make()
    tecomp.lower(s, args)


def matvec(l: int = 12, body: Callable[..., Any] = lambda a, b: a * b, fold: Any = te.sum) -> Any:
    P, Q = te.placeholder((4, l), name="P"), te.placeholder((16, l), name="Q")
    k = te.reduce_axis((0, l), name="k")
    R = te.compute((4, 16), lambda i, j: fold(body(P[i, k], Q[j, k]), axis=k), name="R")
    return te.create_schedule(R.op), P, Q, R, k


def other_formula() -> Any:
    s, P, Q, R, _ = matvec(body=lambda a, b: a * (b + 1.0))
    s[R].tensorize(R.op.axis[1], gemv(16, 12))
    return s, [P, Q, R]


def other_reduction() -> Any:
    s, P, Q, R, _ = matvec(fold=te.max)
    s[R].tensorize(R.op.axis[1], gemv(16, 12))
    return s, [P, Q, R]


def other_extents() -> Any:
    s, P, Q, R, _ = matvec(l=8)
    s[R].tensorize(R.op.axis[1], gemv(16, 12))
    return s, [P, Q, R]


def other_types() -> Any:
    X = te.placeholder((4, 16), "int8", name="X")
    Y = te.compute((4, 16), lambda i, j: X[i, j].astype("float32"), name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(Y.op.axis[1], elementwise(lambda x: x.astype("float32"), ((16,), "int32"), name="convert"))
    return s, [X, Y]


def no_region() -> Any:
    X = te.placeholder((16, 16), name="X")
    Y = te.compute((4, 16), lambda i, j: X[i, te.max(j, 3)], name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(Y.op.axis[1], elementwise(lambda x: x, ((16,), "float32"), name="copy"))
    return s, [X, Y]


def two_regions() -> Any:
    X = te.placeholder((4, 17), name="X")
    Y = te.compute((4, 16), lambda i, j: X[i, j] * X[i, j + 1], name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(Y.op.axis[1], elementwise(lambda x: x * x, ((16,), "float32"), name="square"))
    return s, [X, Y]


def changing_number() -> Any:
    x, v = te.placeholder((16,), name="x"), te.var("v", "float32")
    out = te.compute((16,), lambda i: x[i] * v, name="out")
    scaled = te.decl_tensor_intrin(
        out.op, lambda ins, outs, v: outs[0].vstore(0, ins[0].vload(0)), "scaled", scalar_params=[v]
    )
    X, Z = te.placeholder((4, 16), name="X"), te.placeholder((4, 16), name="Z")
    Y = te.compute((4, 16), lambda i, j: X[i, j] * Z[i, j], name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(Y.op.axis[1], scaled)
    return s, [X, Z, Y]


def two_numbers() -> Any:
    x, v = te.placeholder((16,), name="x"), te.var("v", "float32")
    out = te.compute((16,), lambda i: x[i] * v + v, name="out")
    scaled = te.decl_tensor_intrin(
        out.op, lambda ins, outs, v: outs[0].vstore(0, ins[0].vload(0)), "scaled", scalar_params=[v]
    )
    X, a, b = te.placeholder((4, 16), name="X"), te.var("a", "float32"), te.var("b", "float32")
    Y = te.compute((4, 16), lambda i, j: X[i, j] * a + b, name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(Y.op.axis[1], scaled)
    return s, [X, a, b, Y]


def number_of_another_type() -> Any:
    x, v = te.placeholder((16,), name="x"), te.var("v", "int8")
    out = te.compute((16,), lambda i: x[i] * v.astype("float32"), name="out")
    scaled = te.decl_tensor_intrin(
        out.op, lambda ins, outs, v: outs[0].vstore(0, ins[0].vload(0)), "scaled", scalar_params=[v]
    )
    X, a = te.placeholder((4, 16), name="X"), te.var("a", "uint8")
    Y = te.compute((4, 16), lambda i, j: X[i, j] * a.astype("float32"), name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(Y.op.axis[1], scaled)
    return s, [X, a, Y]


def results_are_no_region() -> Any:
    X = te.placeholder((4, 24), name="X")
    Y = te.compute((4, 24), lambda i, j: X[0, 0] + 1.0, name="Y")
    s = te.create_schedule(Y.op)
    _, inner = s[Y].split(s[Y].fuse(*Y.op.axis), factor=16)
    x = te.placeholder((1,), name="x")
    out = te.compute((16,), lambda i: x[0] + 1.0, name="out")
    s[Y].tensorize(inner, te.decl_tensor_intrin(out.op, lambda ins, outs: outs[0].vstore(0, ins[0].vload(0)), "same"))
    return s, [X, Y]


def body_only() -> Any:
    s, P, Q, R, k = matvec()
    ko, ki = s[R].split(k, factor=4)
    s[R].reorder(R.op.axis[0], ko, R.op.axis[1], ki)
    s[R].tensorize(R.op.axis[1], gemv(16, 4, parts="b"))
    return s, [P, Q, R]


def no_body() -> Any:
    s, P, Q, R, _ = matvec()
    s[R].tensorize(R.op.axis[1], gemv(16, 12, parts="u"))
    return s, [P, Q, R]


def no_body_of_a_plain_one() -> Any:
    s, _, inner = tiled()
    intrin = vadd()
    intrin.body = None
    s[C].tensorize(inner, intrin)
    return s, [A, B, C]


def vectorized_outside() -> Any:
    s, outer, inner = tiled()
    s[C].vectorize(outer)
    s[C].tensorize(inner, vadd())
    return s, [A, B, C]


def shared_out() -> Any:
    s, P, Q, R, k = matvec()
    ko, ki = s[R].split(k, factor=4)
    s[R].reorder(R.op.axis[0], ko, R.op.axis[1], ki)
    s[R].bind(ko, te.thread_axis("threadIdx.x"))
    s[R].tensorize(R.op.axis[1], gemv(16, 4))
    return s, [P, Q, R]


def predicate_inside() -> Any:
    s, _, inner = tiled()
    s[C].tensorize(inner, vadd())
    s[C].set_store_predicate(C.op.axis[0] < 20)
    return s, [A, B, C]


def compact() -> Any:
    s, P, Q, R, k = matvec(l=24)
    ko, ki = s[R].split(k, factor=12)
    s[R].reorder(R.op.axis[0], ko, R.op.axis[1], ki)
    s[R].tensorize(R.op.axis[1], gemv(16, 12, strided=False))
    return s, [P, Q, R]


def other_strides() -> Any:
    X = te.placeholder((16, 4), name="X")
    Y = te.compute((4, 16), lambda i, j: X[j, i], name="Y")
    x = te.placeholder((16,), name="x")
    out = te.compute((16,), lambda i: x[i], name="out")
    binds = {x: tir.decl_buffer((16,), "float32", "x", strides=[2])}
    s = te.create_schedule(Y.op)
    s[Y].tensorize(
        Y.op.axis[1],
        te.decl_tensor_intrin(out.op, lambda ins, outs: outs[0].vstore(0, ins[0].vload(0)), "copy", binds=binds),
    )
    return s, [X, Y]


def copy_of(**more: Any) -> Any:
    x = te.placeholder((16,), name="x")
    out = te.compute((16,), lambda i: x[i], name="out")
    binds = {x: declared(x, True, **more)}
    return te.decl_tensor_intrin(out.op, lambda ins, outs: outs[0].vstore(0, ins[0].vload(0)), "copy", binds=binds)


def other_scope() -> Any:
    Y = te.compute((64,), lambda i: A[i], name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(s[Y].split(Y.op.axis[0], factor=16)[1], copy_of(scope="shared"))
    return s, [A, Y]


def other_offset() -> Any:
    X = te.placeholder((100,), name="X")
    Y = te.compute((64,), lambda i: X[i + 4], name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(s[Y].split(Y.op.axis[0], factor=16)[1], copy_of(offset_factor=8))
    return s, [X, Y]


def other_alignment() -> Any:
    X = te.placeholder((100,), name="X")
    Y = te.compute((64,), lambda i: X[i + 4], name="Y")
    s = te.create_schedule(Y.op)
    s[Y].tensorize(s[Y].split(Y.op.axis[0], factor=16)[1], copy_of(data_alignment=64))
    return s, [X, Y]


def uneven() -> Any:
    X = te.placeholder((64,), name="X")
    Y = te.compute((64,), lambda i: X[i] * 2.0, name="Y")
    Z = te.compute((64,), lambda i: Y[i], name="Z")
    s = te.create_schedule(Z.op)
    s[Y].transform_layout(lambda i: [i % 4, i // 4])
    s[Z].tensorize(s[Z].split(Z.op.axis[0], factor=16)[1], copy_of())
    return s, [X, Z]


def beyond_its_end() -> Any:
    x, c = te.placeholder((16,), name="x"), te.var("c", "bool")
    out = te.compute((16,), lambda i: te.if_then_else(c, x[i], 0.0), name="out")
    intrin = te.decl_tensor_intrin(
        out.op, lambda ins, outs, c: outs[0].vstore(0, ins[0].vload(0)), "copy", scalar_params=[c]
    )
    Z = te.compute((5, 16), lambda i, j: te.if_then_else(i < 4, A[i * 16 + j], 0.0), name="Z")
    s = te.create_schedule(Z.op)
    s[Z].tensorize(Z.op.axis[1], intrin)
    return s, [A, Z]


REFUSALS = [
    other_formula, other_reduction, other_extents, other_types, no_region, two_regions, changing_number, two_numbers,
    number_of_another_type, results_are_no_region, body_only, no_body, no_body_of_a_plain_one, vectorized_outside,
    shared_out, predicate_inside, compact, other_strides, other_scope, other_offset, other_alignment, uneven,
    beyond_its_end,
]  # fmt: skip


@pytest.mark.parametrize("make", REFUSALS, ids=lambda make: make.__name__)
def test_refused_when_it_is_lowered(make: Callable[[], Any], golden: Any) -> None:
    with pytest.raises(ScheduleError) as caught:
        lowered(make)
    golden(re.sub(r"(--> \w+\.py):\d+", r"\1:LINE", str(caught.value)))
