"""Interning: structure is identity, and nothing is kept alive."""

from __future__ import annotations

import gc
import math
import weakref

import pytest

from tecomp.dtype import BOOL, FLOAT32, INDEX, DType
from tecomp.errors import UserError
from tecomp.ir import expr as E
from tecomp.ir import make as M
from tecomp.ir.node import _INTERNED, Expr
from tecomp.ir.stmt import Buffer

i, j = E.Var("i", INDEX), E.Var("j", INDEX)
B, C = Buffer("B", (i,), FLOAT32), Buffer("B", (i,), FLOAT32)
SAMPLES: list[Expr] = [
    i + 1, i * j, E.Not(i < j), E.Cast(DType("int32"), i), E.Select(i < j, i, j), E.IfElse(i < j, i, j),
    E.Ramp(i, j, 4), E.Broadcast(i, 8), E.Load(B, (i, j), M.TRUE), M.call("exp", "float32", i, j),
]  # fmt: skip


@pytest.mark.parametrize("node", SAMPLES, ids=repr)
def test_the_same_parts_make_the_same_object(node: Expr) -> None:
    assert type(node)(*node.parts()) is node
    assert node.with_operands(node.operands()) is node


def test_what_differs_is_another_object() -> None:
    one = M.const(1)
    assert one is not M.const(1, "int64")
    assert one is not M.const(1, INDEX)
    assert M.const(0.0, FLOAT32) is not M.const(-0.0, FLOAT32)
    assert M.const(1.0, FLOAT32) is not M.const(1.0, "float64")
    assert M.const(True, BOOL) is M.TRUE is not one
    assert E.Load(B, (i,), M.TRUE) is not E.Load(C, (i,), M.TRUE)
    assert E.Var("i", INDEX) is not i
    assert E.Add(i, j) is not E.Add(j, i)


def test_there_is_one_nan_of_a_type() -> None:
    assert E.Const(float("nan"), FLOAT32) is E.Const(-math.nan, FLOAT32)
    assert E.Const(math.nan, FLOAT32) is not E.Const(math.nan, DType("float64"))


def test_operands() -> None:
    load = E.Load(B, (i, j), i < j)
    assert load.operands() == [i, j, i < j]
    other = load.with_operands([j, i, M.TRUE])
    assert other is E.Load(B, (j, i), M.TRUE)
    assert i.operands() == []


def test_equality_is_an_expression_and_its_truth_is_structure() -> None:
    assert isinstance(i == j, E.Eq)
    assert bool(i + 1 == i + 1)
    assert bool(i + 1 == j + 1) is False
    assert i != j
    assert {i + 1: "a"}[i + 1] == "a"
    assert i + 1 in [j, i + 1]
    assert (i == None) is False  # noqa: E711
    with pytest.raises(UserError) as caught:
        bool(i < j)
    assert caught.value.asked == "an expression was used as a Python condition"


def test_dead_nodes_leave_the_table() -> None:
    gc.collect()
    before = len(_INTERNED)
    node = (i + 12345) * (j + 54321)
    assert len(_INTERNED) > before
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is None
    assert len(_INTERNED) <= before


def test_a_long_chain_dies_without_recursion() -> None:
    node: Expr = E.Var("x", INDEX)
    for term in range(100_000):
        node = E.Add(node, M.const(term, INDEX))
    del node


def test_result_types() -> None:
    vector = E.Ramp(i, j, 4)
    assert [(vector < vector).dtype, E.Broadcast(M.TRUE, 2).dtype] == ["boolx4", "boolx2"]
    assert E.Load(B, (vector,), M.TRUE).dtype == "float32x4"
    assert E.Load(Buffer("V", (i,), DType("int8x4")), (vector,), M.TRUE).dtype == "int8x16"
    assert E.IfElse(i < j, i, j).dtype is INDEX
