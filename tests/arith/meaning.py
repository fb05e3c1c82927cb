"""Two expressions mean the same where the first has a value: compared on many values of their variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tecomp.ir import expr as E
from tecomp.ir.evaluate import ExecutionError, evaluate
from tecomp.ir.node import Expr
from tecomp.ir.visit import walk

Env = Mapping[Any, Any]

GRID = {
    "bool": (False, True),
    "index": (-7, -4, -1, 0, 1, 2, 3, 5, 8),
    "int8": (-128, -127, -5, -1, 0, 1, 3, 64, 127),
    "int32": (-(2**31), -3, 0, 1, 2**31 - 1),
    "uint8": (0, 1, 3, 7, 128, 255),
    "float32": (0.0, -0.0, 1.5, -2.0, float("inf"), float("nan")),
}


def value(e: Expr, env: Env) -> list[Any] | None:
    """Return what `e` is in each lane; None where it has no value: it divides by zero."""
    try:
        result = evaluate(e, env)
    except ExecutionError:
        return None
    return result if isinstance(result, list) else [result]


def same(before: list[Any], after: list[Any] | None) -> bool:
    """Return whether the values agree, NaN with NaN and -0.0 only with -0.0."""
    if after is None or len(before) != len(after):
        return False
    return all(map(same_number, before, after))


def same_number(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.floating) and a == b == 0:
        return bool(np.signbit(a) == np.signbit(b))
    return bool(a == b or (a != a and b != b))


def assert_same(before: Expr, after: Expr, envs: Iterable[Env], condition: Expr | None = None) -> int:
    """Check that `after` has `before`'s value in each environment where it has one; return in how many that was."""
    compared = 0
    for env in envs:
        if condition is not None and value(condition, env) != [True]:
            continue
        wanted = value(before, env)
        if wanted is None:
            continue
        compared += 1
        found = value(after, env)
        assert same(wanted, found), f"{before!r} is {wanted}, {after!r} is {found} for {dict(env)}"
    return compared


def variables(*roots: Expr) -> list[E.Var]:
    """Return the variables of expressions and of their ranges, ranges first."""
    found: dict[E.Var, None] = {}

    def visit(root: Expr) -> None:
        for node in walk(root):
            if isinstance(node, E.Var) and node not in found:
                for bound in (node.min, node.extent):
                    if bound is not None:
                        visit(bound)
                found[node] = None

    for root in roots:
        visit(root)
    return list(found)


def grid(*roots: Expr, most: int = 3000) -> list[Env]:
    """Return environments for the variables of expressions: every combination of a few values, each in its range."""
    envs: list[Env] = [{}]
    for var in variables(*roots):
        envs = [{**env, var: number} for env in envs for number in values_of(var, env)]
        if len(envs) > most:
            envs = list(itertools.islice(envs, 0, None, len(envs) // most + 1))
    return envs


def values_of(var: E.Var, env: Env) -> Iterable[Any]:
    if var.min is None:
        return GRID[var.dtype]
    first = evaluate(var.min, env)
    if var.extent is None:
        return (first, first + 1, first + 5, first + 300)
    count = evaluate(var.extent, env)
    return sorted({first + step for step in (0, 1, 2, count // 2, count - 2, count - 1) if 0 <= step < count})
