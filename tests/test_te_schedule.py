"""What programs for TVM ask te.schedule: bounds, the first loop nest, the graph, automatic inlining."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError, UserTypeError
from tecomp.ir import interpret

S = te.schedule


def chain(n=16, m=12):
    A = te.placeholder((n, m), name="A")
    B = te.compute((n, m), lambda i, j: A[i, j] * 2, name="B")
    C = te.compute((n, m), lambda i, j: B[i, j] + 1, name="C")
    return A, B, C, te.create_schedule(C.op)


def scan(update=lambda state, X, t, i: state[t - 1, i] + X[t, i]):
    m, n = te.var("m"), te.var("n")
    X, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    step = te.compute((m, n), lambda t, i: update(state, X, t, i), name="step")
    return te.scan(init, step, state, inputs=[X], name="S"), m, n


def test_bounds_of_constant_loops() -> None:
    _, B, C, s = chain()
    outer, inner = s[C].split(C.op.axis[0], 5)
    s[C].bind(inner, thread := te.thread_axis("threadIdx.x"))
    bounds = S.InferBound(s.normalize())
    axes = (*C.op.axis, outer, inner, thread, *B.op.axis)
    assert [bounds[axis].extent.value for axis in axes] == [16, 12, 4, 5, 5, 16, 12]
    assert all(bounds[axis].min.value == 0 for axis in bounds)


def test_bounds_over_sizes_and_outer_axes() -> None:
    n = te.var("n")
    _, B, C, s = chain(n)
    outer, inner = s[C].split(C.op.axis[0], 4)
    s[B].compute_at(s[C], outer)
    bounds = S.InferBound(s)
    assert bounds[C.op.axis[0]].extent is n and bounds[outer].extent == (n + 3) // 4
    assert bounds[B.op.axis[0]].min == outer.var * 4 and bounds[B.op.axis[0]].extent.value == 4
    assert bounds[inner].extent.dtype == "int32"


def test_bounds_of_int64_sizes() -> None:
    n = te.var("n", "int64")
    _, _, C, s = chain(n)
    outer, _ = s[C].split(C.op.axis[0], 4)
    bounds = S.InferBound(s)
    assert bounds[C.op.axis[0]].extent is n and bounds[outer].extent.dtype == "int64"


def test_bounds_of_a_scan() -> None:
    result, m, n = scan()
    bounds = S.InferBound(te.create_schedule(result.op))
    time, step = result.op.scan_axis, result.op.update[0].op
    assert bounds[time].min.value == 1 and bounds[time].extent == m - 1
    assert bounds[step.axis[0]].min is time.var and bounds[step.axis[0]].extent.value == 1
    assert bounds[step.axis[1]].extent is n


def test_the_first_loop_nest() -> None:
    s = chain()[-1]
    body = S.ScheduleOps(s, S.InferBound(s))
    found = []
    tir.stmt_functor.post_order_visit(body, found.append)
    assert found[-1] is body and isinstance(body, tir.Allocate)
    loops = [node for node in found if isinstance(node, tir.For)]
    assert [(loop.loop_var.name, loop.min.value, loop.extent.value) for loop in loops] == [
        ("j", 0, 12), ("i", 0, 16), ("j", 0, 12), ("i", 0, 16),
    ]  # fmt: skip
    order = {id(node): at for at, node in enumerate(found)}
    for store in (node for node in found if isinstance(node, tir.BufferStore)):
        assert all(order[id(part)] < order[id(store)] for part in store.expressions())


def test_create_prim_func() -> None:
    A, _, C, _ = chain()
    a, c = np.ones((16, 12), "float32"), np.zeros((16, 12), "float32")
    interpret(te.create_prim_func([A, C]), a, c)
    assert (c == 3).all()
    built = tecomp.build(te.create_prim_func([A, C]), target="llvm")
    c[:] = 0
    built(a, c)
    assert (c == 3).all()


def test_create_prim_func_of_an_intermediate_too() -> None:
    A, B, C, _ = chain()
    a, b, c = (np.ones((16, 12), "float32") for _ in range(3))
    interpret(te.create_prim_func([A, B, C]), a, b, c)
    assert (b == 2).all() and (c == 3).all()


def test_the_graph() -> None:
    A, B, C, s = chain()
    graph = S.CreateReadGraph([C.op])
    assert graph == {A.op: (), B.op: (A,), C.op: (B,)}
    assert S.CreateFeedGraph(graph) == {A: (B.op,), B: (C.op,)}
    assert S.PostDFSOrder([C.op], graph) == [A.op, B.op, C.op]
    i, j = C.op.axis
    s[B].compute_at(s[C], j)
    assert S.CreateAttachPath(s) == {A.op: [], B.op: [j, i], C.op: []}


@pytest.mark.parametrize(
    ("update", "fixed"),
    [
        (lambda s, X, t, i: s[t - 1, i] + X[t, i], 1),
        (lambda s, X, t, i: s[t - 1, i] + X[t, i + 0], 1),
        (lambda s, X, t, i: te.if_then_else(i > 0, s[t - 1, te.max(i - 1, 0)], 0.0), 0),
        (lambda s, X, t, i: s[t - 1, 0], 0),
        (lambda s, X, t, i: X[t, i], 1),
    ],
)
def test_axes_along_which_steps_are_independent(update, fixed: int) -> None:
    result, *_ = scan(update)
    found = S.ScanFixPointAnalysis(result.op)
    assert [value.value for value in found.values()] == [fixed] and list(found) == list(result.op.spatial_axis_)


def test_axes_that_meet_or_cross_are_not_independent() -> None:
    n = te.var("n")
    X, p, q = (te.placeholder((n, 8), name=name) for name in "Xpq")
    r = te.placeholder((n, 8, 8), name="r")
    rows = te.compute((1, 8), lambda _, i: X[0, i])
    cube = te.compute((1, 8, 8), lambda _, i, j: X[0, i])
    mixed = te.scan([rows, te.compute((1, 8), lambda _, i: X[0, i])],
                    [te.compute((n, 8), lambda t, i: p[t - 1, i] + q[t - 1, i]),
                     te.compute((n, 8), lambda t, i: q[t - 1, i])], [p, q])  # fmt: skip
    assert [value.value for value in S.ScanFixPointAnalysis(mixed[0].op).values()] == [0, 0]
    turned = te.scan(cube, te.compute((n, 8, 8), lambda t, i, j: r[t - 1, j, i]), r)
    assert [value.value for value in S.ScanFixPointAnalysis(turned.op).values()] == [0, 0]


def test_scan_body() -> None:
    result, *_ = scan()
    assert S.ScanGetBody(result.op) == [result.op.update[0].op]


def graph_to_inline():
    A = te.placeholder((8, 8), name="A")
    same = te.compute((8, 8), lambda i, j: A[i, j] + 1, name="same")
    row = te.compute((8,), lambda i: same[i, 0], name="row")
    wide = te.compute((8, 8), lambda i, j: row[j] * 2, name="wide")
    turned = te.compute((8, 8), lambda i, j: wide[j, i], name="turned")
    k = te.reduce_axis((0, 8), name="k")
    total = te.compute((8,), lambda i: te.sum(turned[i, k], axis=k), name="total")
    out = te.compute((8,), lambda i: total[i] + 1, name="out")
    return A, out, te.create_schedule(out.op)


@pytest.mark.parametrize(
    ("inline", "names"),
    [
        (S.AutoInlineElemWise, ["same"]),
        (S.AutoInlineBroadcast, ["same", "wide"]),
        (S.AutoInlineInjective, ["same", "row", "wide", "turned"]),
    ],
)
def test_automatic_inlining(inline, names: list[str]) -> None:
    A, out, s = graph_to_inline()
    inline(s)
    assert [stage.name for stage in s.stages if str(stage.attach_type) == "Fixed.INLINE"] == names
    a, result = np.random.default_rng(0).random((8, 8), "float32"), np.zeros(8, "float32")
    tecomp.build(s, [A, out])(a, result)
    row = a[:, 0] + 1
    np.testing.assert_allclose(result, (np.tile(row * 2, (8, 1)).T).sum(1) + 1, rtol=1e-6)


def test_what_is_scheduled_already_is_not_inlined() -> None:
    _, B, _, s = chain()
    s[B].split(B.op.axis[0], 4)
    S.AutoInlineInjective(s)
    assert s[B].leaf_iter_vars != B.op.axis and "INLINE" not in str(s[B].attach_type)


A_, B_, C_, s_ = chain()


@pytest.mark.parametrize(
    ("call", "kind", "asked", "because"),
    [
        (lambda: S.InferBound(3), UserTypeError, "te.schedule.InferBound of 3", "it is a int"),
        (lambda: S.ScanGetBody(C_), UserTypeError, f"te.schedule.ScanGetBody of {C_!r}", "it is a Tensor"),
        (
            lambda: S.ScheduleOps(s_, None, True), UserError, "ScheduleOps with debug_keep_trivial_loop=True",
            "a loop of one iteration is its value here",
        ),
        (
            lambda: S.VerifyCompactBuffer(None), UserError, "te.schedule.VerifyCompactBuffer",
            "every function takes arrays of any strides; where a foreign function needs none, the call sees to that",
        ),
        (
            lambda: S.SchedulePostProcToPrimFunc([], None), UserError, "te.schedule.SchedulePostProcToPrimFunc",
            "a loop nest is made with its arguments",
        ),
        (
            lambda: te.create_prim_func([A_, C_], "int64"), UserError, "te.create_prim_func with index_dtype_override",
            "loop variables are exact integers, for which each target chooses a width",
        ),
        (
            lambda: S.CreateReadGraph(3), UserTypeError, "te.schedule.CreateReadGraph of 3",
            "it is no list of operations",
        ),
        (lambda: S.PostDFSOrder([3]), UserTypeError, "te.schedule.PostDFSOrder of [3]", "it is no list of operations"),
        (lambda: te.create_prim_func([]), UserTypeError, "te.create_prim_func of []", "it takes tensors"),
        (lambda: te.create_prim_func(3), UserTypeError, "te.create_prim_func of 3", "it is of type int"),
        (lambda: te.trace([3]), UserError, "te.trace", "values are looked at where a program is run step by step"),
        (
            lambda: te.SpecializedCondition([]), UserError, "te.SpecializedCondition",
            "what usually holds is found out: loops are divided where a guard ends",
        ),
    ],
)  # fmt: skip
def test_refusals(call, kind, asked: str, because: str) -> None:
    with pytest.raises(UserError) as caught:
        call()
    assert (type(caught.value), caught.value.asked, caught.value.because) == (kind, asked, because)
    assert caught.value.legal


@pytest.mark.parametrize(
    ("module", "name"), [(tecomp, "rpc"), (tecomp.ir, "register_op_attr"), (te.hybrid, "build"), (tir, "mma_fill")]
)
def test_names_that_there_are_not_say_what_serves(module, name: str) -> None:
    assert not hasattr(module, name)
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert isinstance(caught.value, UserError) and caught.value.legal
    with pytest.raises(AttributeError, match=r"has no attribute 'no_such_name'$"):
        module.no_such_name
