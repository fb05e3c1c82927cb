"""A second meaning of expressions, to hold the simplifier against: Python integers, one lane at a time."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.node import Expr


class Undefined(Exception):
    """The expression has no value here: it divides by zero."""


BINARY = {
    E.Add: operator.add, E.Sub: operator.sub, E.Mul: operator.mul, E.Min: min, E.Max: max,
    E.Lt: operator.lt, E.Le: operator.le, E.Eq: operator.eq, E.Ne: operator.ne,
}  # fmt: skip
DIVISIONS = {
    E.FloorDiv: operator.floordiv,
    E.FloorMod: operator.mod,
    E.TruncDiv: make.trunc_quotient,
    E.TruncMod: lambda p, q: p - q * make.trunc_quotient(p, q),
}
CALLS = {
    "abs": abs,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "shift_left": operator.lshift,
    "shift_right": operator.rshift,
}


def evaluate(e: Expr, env: Mapping[Expr, int], lane: int = 0) -> int | bool:
    """Return the value of `e` in one lane; Undefined where it divides by zero."""
    match e:
        case E.Var():
            return env[e]
        case E.Const():
            return e.value
        case E.Broadcast():
            return evaluate(e.value, env)
        case E.Ramp():
            return wrapped(evaluate(e.base, env) + lane * evaluate(e.stride, env), e)
        case E.Select() | E.IfElse():
            test = evaluate(e.condition, env, lane)
            if isinstance(e, E.Select):
                evaluate(e.no if test else e.yes, env, lane)
            return evaluate(e.yes if test else e.no, env, lane)
        case E.And():
            return evaluate(e.a, env, lane) and evaluate(e.b, env, lane)
        case E.Or():
            return evaluate(e.a, env, lane) or evaluate(e.b, env, lane)
        case E.Not():
            return not evaluate(e.a, env, lane)
        case E.Cast():
            value = evaluate(e.value, env, lane)
            return value != 0 if e.dtype.is_bool else wrapped(int(value), e)
        case E.Call():
            return wrapped(CALLS[e.name](*(evaluate(arg, env, lane) for arg in e.args)), e)
    a, b = evaluate(e.a, env, lane), evaluate(e.b, env, lane)
    if type(e) in DIVISIONS:
        if b == 0:
            raise Undefined
        return wrapped(DIVISIONS[type(e)](a, b), e)
    value = BINARY[type(e)](a, b)
    return value if isinstance(e, E.Compare) else wrapped(value, e)


def wrapped(value: int, e: Expr) -> int:
    return make.wrap(value, e.dtype)
