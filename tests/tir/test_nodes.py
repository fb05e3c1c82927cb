"""The nodes of a program by TVM's names, and the visitor that sees each of them once."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te, tir
from tecomp.errors import UserError, UserTypeError
from tecomp.ir import interpret


def guarded():
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: tir.exp(tir.Cast("float32", A[i])) + tir.FloatImm("float32", 1), name="B")
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], 4)
    return tecomp.lower(s, [A, B], simple_mode=True)


def test_a_program_is_the_function_of_its_name() -> None:
    func = guarded()
    assert func["main"] is func and isinstance(func, tir.PrimFunc)
    with pytest.raises(UserError) as caught:
        func["other"]
    assert (caught.value.asked, caught.value.because) == ("'main' has no function 'other'", "it is one function")


def test_names_of_the_nodes() -> None:
    loop = guarded().body
    assert isinstance(loop, tir.For) and loop.loop_var.name == "i.outer" and loop.kind is tir.ForKind.SERIAL
    branch = loop.body.body
    assert isinstance(branch, tir.IfThenElse) and branch.else_case is None
    store = branch.then_case
    assert isinstance(store, tir.BufferStore) and store.buffer.name == "B" and len(store.indices) == 1


def test_each_node_is_visited_once_after_its_parts() -> None:
    seen = []
    tir.stmt_functor.post_order_visit(guarded(), seen.append)
    assert len({id(node) for node in seen}) == len(seen)
    assert isinstance(seen[-1], tir.For) and sum(isinstance(node, tir.BufferLoad) for node in seen) == 1
    place = {id(node): at for at, node in enumerate(seen)}
    for node in seen:
        parts = [*node.expressions(), *node.substatements()] if isinstance(node, tir.Stmt) else node.operands()
        assert all(place[id(part)] < place[id(node)] for part in parts)


def test_nodes_that_are_functions() -> None:
    A = te.placeholder((9,), "int32", name="A")
    pairs = [
        (tir.Add, lambda x: x + 3), (tir.Sub, lambda x: x - 3), (tir.Mul, lambda x: x * 3),
        (tir.FloorDiv, lambda x: x // 3), (tir.FloorMod, lambda x: x % 3), (tir.Mod, lambda x: np.fmod(x, 3)),
        (tir.Min, lambda x: np.minimum(x, 3)), (tir.Max, lambda x: np.maximum(x, 3)),
        (tir.EQ, lambda x: x == 3), (tir.NE, lambda x: x != 3), (tir.LT, lambda x: x < 3), (tir.LE, lambda x: x <= 3),
        (tir.GT, lambda x: x > 3), (tir.GE, lambda x: x >= 3),
    ]  # fmt: skip
    out = te.compute((9,), lambda i: tuple(f(A[i], tir.IntImm("int32", 3)).astype("int32") for f, _ in pairs))
    a, results = np.arange(-4, 5, dtype="int32"), [np.zeros(9, "int32") for _ in pairs]
    interpret(tecomp.lower(te.create_schedule(out[0].op), [A, *out]), a, *results)
    for result, (_, want) in zip(results, pairs, strict=True):
        np.testing.assert_array_equal(result, want(a))


def test_vectors() -> None:
    assert repr(tir.Ramp(te.var("n"), 2, 8)) == "ramp(n, 2, 8)"
    assert repr(tir.Broadcast(1.5, 4)) == "broadcast(f32(1.5), 4)"
    for make, because in (
        (lambda: tir.Ramp(0, 1, 1), "a vector has two lanes at least"),
        (lambda: tir.Broadcast(tir.Ramp(0, 1, 4), 2), "it is int32x4"),
    ):
        with pytest.raises(UserTypeError) as caught:
            make()
        assert (caught.value.because, caught.value.legal) == (because, "a number, and 2 lanes or more")


def test_all_names_are_there() -> None:
    assert [name for name in tir.__all__ if not hasattr(tir, name)] == []
