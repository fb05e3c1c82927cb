"""Every rule fires on its own pattern, means the same on both sides, and none is hidden behind an earlier one."""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

from tecomp.arith import NO_FACTS, rules
from tecomp.arith.pattern import ANY, EXACT, FLOAT, NAMES, RING, Rule, Table, construction
from tecomp.dtype import BOOL, FLOAT32, INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir.node import Expr
from tests.arith.meaning import assert_same, grid
from tests.arith.scope import loop

TABLES = [
    table
    for module in pkgutil.iter_modules(rules.__path__)
    for table in vars(importlib.import_module(f"tecomp.arith.rules.{module.name}")).values()
    if isinstance(table, Table)
]
CASES = [(table, position) for table in TABLES for position in range(len(table.rules))]
INT8 = DType("int8")
LANES = 4
CONSTANTS = (1, 2, 3, 4, 6, -2)


def kinds(rule: Rule, table: Table) -> tuple[DType, ...]:
    """Return the types on which a rule is tried."""
    if rule.kind == FLOAT or (rule.kind == ANY and table.operator in (E.Div, E.Add, E.Sub, E.Mul)):
        return (FLOAT32,)
    if rule.kind == ANY and table.operator in (E.Min, E.Max, E.Select, E.IfElse):
        return INDEX, INT8, FLOAT32
    return INDEX, INT8


def names_in(text: str) -> list[str]:
    found = {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    return sorted(name for name in found if len(name) == 1 or name[1:].isdigit())


def values(rule: Rule, dtype: DType) -> Iterator[dict[str, Any]]:
    """Yield what the names of a rule may stand for: variables, small constants, a number of lanes."""
    names = names_in(rule.before)
    constants = [name for name in names if name[0] == "c" and name[1:]]
    bounded = rule.kind == EXACT or "proved" in rule.when
    low = 1 if "proved" in rule.when else -2
    for numbers in itertools.product(CONSTANTS, repeat=len(constants)):
        things: dict[str, Any] = dict(zip(constants, numbers, strict=True))
        for name in set(names) - set(constants):
            if name == "L":
                things[name] = LANES
            elif name in "pqr":
                things[name] = E.Var(name, BOOL)
            else:
                things[name] = loop(name, low, 5, dtype) if bounded and dtype is not FLOAT32 else E.Var(name, dtype)
        yield things


def build(text: str, things: dict[str, Any], dtype: DType) -> Expr:
    source = construction(ast.parse(text, mode="eval").body, "like")
    constants = {name: value for name, value in things.items() if name[0] == "c" and name[1:]}
    return eval(source, {**NAMES, **things, **constants, "like": dtype})


def instance(table: Table, position: int, dtype: DType) -> tuple[Expr, Expr]:
    """Return an expression on which exactly that rule of the table fires, and what it becomes."""
    rule = table.rules[position]
    vector = "L" in names_in(rule.before)
    for things in values(rule, dtype):
        before = build(rule.before, things, dtype.with_lanes(LANES) if vector else dtype)
        count = table.fired[position]
        after = table(before, NO_FACTS)
        if table.fired[position] > count:
            assert after is not None
            return before, after
    raise AssertionError(f"{rule} never fired")


@pytest.mark.parametrize(
    ("table", "position"), CASES, ids=[f"{table.operator.__name__}: {table.rules[at].before}" for table, at in CASES]
)
def test_rule_fires_and_keeps_the_value(table: Table, position: int) -> None:
    rule = table.rules[position]
    for dtype in kinds(rule, table):
        before, after = instance(table, position, dtype)
        assert type(before) is table.operator
        assert after.dtype is before.dtype
        assert assert_same(before, after, grid(before, after, most=600)) > 0


def test_there_is_one_table_an_operator() -> None:
    operators = [table.operator for table in TABLES]
    assert len(set(operators)) == len(operators) == 15


def test_rules_of_floats_leave_integers_alone() -> None:
    assert {rule.kind for table in TABLES for rule in table.rules} <= {ANY, RING, EXACT, FLOAT}
