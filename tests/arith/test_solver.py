"""The cases of index arithmetic for all integers: a solver finds no values for which both sides differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tecomp.arith import simplify
from tecomp.dtype import INDEX
from tecomp.ir import expr as E
from tecomp.ir.node import Expr
from tecomp.ir.visit import walk
from tests.arith.meaning import variables
from tests.arith.scope import expr
from tests.arith.test_simplify import DIVISIONS, ORDER, SUMS, cases

z3 = pytest.importorskip("z3", reason="z3-solver is a development extra")
MILLISECONDS = 300


def quotient(a: Any, b: Any) -> Any:
    """Return the floor of a / b; the solver's own quotient is that for b > 0."""
    return z3.If(b > 0, a / b, -a / -b)


VERBS: dict[type, Callable[[Any, Any], Any]] = {
    E.Add: lambda a, b: a + b,
    E.Sub: lambda a, b: a - b,
    E.Mul: lambda a, b: a * b,
    E.FloorDiv: quotient,
    E.FloorMod: lambda a, b: a - b * quotient(a, b),
    E.Min: lambda a, b: z3.If(a <= b, a, b),
    E.Max: lambda a, b: z3.If(a <= b, b, a),
    E.Lt: lambda a, b: a < b,
    E.Le: lambda a, b: a <= b,
    E.Eq: lambda a, b: a == b,
    E.Ne: lambda a, b: a != b,
}


def translated(e: Expr, names: dict[Expr, Any]) -> Any:
    if isinstance(e, E.Var):
        return names[e]
    if isinstance(e, E.Const):
        return z3.BoolVal(e.value) if isinstance(e.value, bool) else z3.IntVal(e.value)
    return VERBS[type(e)](translated(e.a, names), translated(e.b, names))


def is_index_arithmetic(e: Expr) -> bool:
    """Return whether the solver can do it: index operations with constant multiples and divisors."""
    return all(
        isinstance(node, E.Const)
        or (isinstance(node, E.Var) and node.dtype is INDEX)
        or (type(node) in VERBS and node.a.dtype is INDEX and linear(node))
        for node in walk(e)
    )


def linear(node: Expr) -> bool:
    if isinstance(node, (E.FloorDiv, E.FloorMod)):
        return isinstance(node.b, E.Const) and node.b.value != 0
    return not isinstance(node, E.Mul) or isinstance(node.a, E.Const) or isinstance(node.b, E.Const)


TEXTS = [before for before, _ in cases(SUMS + DIVISIONS + ORDER) if is_index_arithmetic(expr(before))]


@pytest.mark.parametrize("text", TEXTS)
def test_no_integers_tell_them_apart(text: str) -> None:
    before = expr(text)
    after = simplify(before)
    found = variables(before, after)
    names: dict[Expr, Any] = {var: z3.Int(var.name) for var in found}
    solver = z3.Solver()
    solver.set("timeout", MILLISECONDS)
    for var in found:
        if var.min is not None:
            solver.add(translated(var.min, names) <= names[var])
        if var.min is not None and var.extent is not None:
            solver.add(names[var] < translated(var.min, names) + translated(var.extent, names))
    solver.add(translated(before, names) != translated(after, names))
    assert solver.check() != z3.sat, solver.model()


def test_most_cases_are_for_the_solver() -> None:
    assert len(TEXTS) > 40
