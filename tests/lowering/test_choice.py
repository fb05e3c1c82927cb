"""Select stays where both of its sides can be evaluated, and is lazy where one may fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tecomp import te
from tecomp.ir import expr as E
from tecomp.ir.visit import walk
from tecomp.lowering.func import lower_schedule

n = te.var("n")
A, B, I = (
    te.placeholder((n,), name="A"),
    te.placeholder((8,), "int32", name="B"),
    te.placeholder((n,), "int32", name="I"),
)

STAYS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda i: te.Select(i > 0, i, 2),
    "inside": lambda i: te.Select(i > 0, A[i], 2.0),
    "at the ends": lambda i: te.Select(i > 0, A[te.max(i - 1, 0)], A[n - 1 - i]),
    "divisor": lambda i: te.Select(i > 0, B[i % 8] // 3 + i // (i + 1), 2),
    "nested": lambda i: te.Select(i > 0, te.Select(A[i] > 0, A[i], 1.0), 2.0),
}
LAZY: dict[str, Callable[[Any], Any]] = {
    "before": lambda i: te.Select(i > 0, A[i - 1], 2.0),
    "behind": lambda i: te.Select(i + 1 < n, 2.0, te.Select(i + 1 < n, A[i + 1], 2.0)),
    "data": lambda i: te.Select(I[i] >= 0, A[I[i]], 2.0),
    "divisor": lambda i: te.Select(I[i] != 0, B[0] // I[i], 2),
    "in a lazy one": lambda i: te.Select(i > 0, te.if_then_else(I[i] > 0, A[i - 1], 1.0), 2.0),
    "in a condition": lambda i: te.Select(i > 0, te.Select(A[i - 1] > 0, 1, 2), 3),
}


def choices(body: Callable[[Any], Any], split: bool) -> set[type]:
    T = te.compute((n,), body, name="T")
    s = te.create_schedule(T.op)
    if split:
        s[T].split(T.op.axis[0], 4)
    func = lower_schedule(s, [A, B, I, T], "main")
    return {type(node) for node in walk(func.body) if isinstance(node, (E.Select, E.IfElse))}


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("name", STAYS)
def test_both_sides_can_be_evaluated(name: str, split: bool) -> None:
    assert choices(STAYS[name], split) == {E.Select}


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("name", LAZY)
def test_a_side_may_fail(name: str, split: bool) -> None:
    assert E.IfElse in choices(LAZY[name], split)
    assert name == "in a condition" or E.Select not in choices(LAZY[name], split)
