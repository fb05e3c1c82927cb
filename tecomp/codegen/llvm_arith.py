"""Arithmetic, comparison and choice on values that are computed already.

No operation can trap or is undefined: integers wrap (index cannot, so LLVM may assume it does not), a quotient or
remainder by zero is 0, the least integer divided by -1 wraps to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..dtype import DType
from ..ir import expr as E
from ..ir.node import Expr
from .llvm_code import Code
from .llvm_convert import convert, rounded
from .llvm_types import Value, constant, lanes_of, value_type, vector

Emit = Callable[..., Value]
"""(code, node, value of each operand) -> value of the node."""


def _arithmetic(name: str) -> Emit:
    def emit(code: Code, node: E.Binary, a: Value, b: Value) -> Value:
        dtype = node.dtype.element
        if not dtype.is_float:
            exact = " nsw" if dtype == "index" else ""
            return code.op(a.type, f"{name}{exact} {a}, {b.name}", name)
        contract = " contract" if dtype.bits > 16 else ""
        return rounded(code, code.op(a.type, f"f{name}{contract} {a}, {b.name}", name), dtype)

    return emit


def _divided(code: Code, node: E.Div, a: Value, b: Value) -> Value:
    return rounded(code, code.op(a.type, f"fdiv {a}, {b.name}", "div"), node.dtype.element)


def _extreme(name: str) -> Emit:
    def emit(code: Code, node: E.Binary, a: Value, b: Value) -> Value:
        if node.dtype.is_float:
            return _float_extreme(code, f"llvm.{name}imum", a, b)
        return code.intrinsic(f"llvm.{'u' if node.dtype.kind in ('uint', 'bool') else 's'}{name}", a, b, name=name)

    return emit


def _float_extreme(code: Code, stem: str, a: Value, b: Value) -> Value:
    """NaN when either is NaN. The order of 0.0 and -0.0 is left open (nsz), as NumPy leaves it."""
    symbol = (
        f"{stem}.{'v' + str(lanes_of(a.type)) if lanes_of(a.type) > 1 else ''}{'f64' if 'double' in a.type else 'f32'}"
    )
    code.module.declare(symbol, a.type, (a.type, b.type), "")
    return code.op(a.type, f"call nsz {a.type} @{symbol}({a}, {b})", stem[5:8])


_PREDICATES: Final[dict[type[E.Compare], tuple[str, str, str]]] = {
    E.Eq: ("oeq", "eq", "eq"),
    E.Ne: ("une", "ne", "ne"),
    E.Lt: ("olt", "slt", "ult"),
    E.Le: ("ole", "sle", "ule"),
}
"""Of floats, of signed integers, of unsigned ones and bools."""


def _compare(code: Code, node: E.Compare, a: Value, b: Value) -> Value:
    of_float, of_signed, of_unsigned = _PREDICATES[type(node)]
    dtype = node.a.dtype
    type_ = vector("i1", lanes_of(a.type))
    if dtype.is_float:
        return code.op(type_, f"fcmp {of_float} {a}, {b.name}", "cmp")
    predicate = of_unsigned if dtype.kind in ("uint", "bool") else of_signed
    return code.op(type_, f"icmp {predicate} {a}, {b.name}", "cmp")


def _not(code: Code, node: E.Not, a: Value) -> Value:
    return code.op(a.type, f"xor {a}, {constant(True, a.type).name}", "not")


def _select(code: Code, node: E.Select, condition: Value, yes: Value, no: Value) -> Value:
    return code.select(condition, yes, no, "select")


def _cast(code: Code, node: E.Cast, value: Value) -> Value:
    return convert(code, value, node.value.dtype.element, node.dtype.element)


def _constant(code: Code, node: E.Const) -> Value:
    return constant(node.value, value_type(node.dtype))


def _variable(code: Code, node: E.Var) -> Value:
    return code.values[node]


def _broadcast(code: Code, node: E.Broadcast, value: Value) -> Value:
    if isinstance(node.value, E.Const):
        return constant(node.value.value, value_type(node.dtype))
    return code.splat(value, node.lanes)


def _ramp(code: Code, node: E.Ramp, base: Value, stride: Value) -> Value:
    """base + <0, 1, 2, ...> * stride."""
    type = value_type(node.dtype)
    exact = " nsw" if node.dtype.element == "index" else ""
    element = base.type
    if isinstance(node.stride, E.Const):
        numbers = ", ".join(f"{element} {lane * int(node.stride.value)}" for lane in range(node.lanes))
        steps = Value(type, f"<{numbers}>")
    else:
        numbers = ", ".join(f"{element} {lane}" for lane in range(node.lanes))
        steps = code.op(type, f"mul{exact} {code.splat(stride, node.lanes)}, <{numbers}>")
    return code.op(type, f"add{exact} {code.splat(base, node.lanes)}, {steps.name}", "ramp")


def _division(floor: bool, remainder: bool) -> Emit:
    """Return how one of the four divisions of integers is done."""

    def emit(code: Code, node: E.Binary, a: Value, b: Value) -> Value:
        divisor = _divisor(node.b)
        if divisor == 0:
            return constant(0, a.type)
        if node.dtype.kind == "uint":
            return _unsigned(code, a, b, remainder, known=divisor is not None)
        if divisor is not None and divisor > 0:
            return _by_positive(code, a, divisor, floor, remainder)
        return _signed(code, node.dtype.element, a, b, floor, remainder)

    return emit


def _divisor(node: Expr) -> int | None:
    """Return a divisor that is a constant, in every lane."""
    if isinstance(node, E.Broadcast):
        node = node.value
    return int(node.value) if isinstance(node, E.Const) else None


def _op(code: Code, name: str, a: Value, b: Value | int, hint: str = "t") -> Value:
    other = constant(b, a.type) if isinstance(b, int) else b
    return code.op(a.type, f"{name} {a}, {other.name}", hint)


def _test(code: Code, predicate: str, a: Value, b: Value | int) -> Value:
    other = constant(b, a.type) if isinstance(b, int) else b
    return code.op(vector("i1", lanes_of(a.type)), f"icmp {predicate} {a}, {other.name}", "is")


def _unsigned(code: Code, a: Value, b: Value, remainder: bool, known: bool) -> Value:
    name, hint = ("urem", "mod") if remainder else ("udiv", "div")
    if known:
        return _op(code, name, a, b, hint)
    zero = _test(code, "eq", b, 0)
    result = _op(code, name, a, code.select(zero, code.like(1, b), b), hint)
    return code.select(zero, code.like(0, a), result, hint)


def _by_positive(code: Code, a: Value, divisor: int, floor: bool, remainder: bool) -> Value:
    """A power of two floors by a shift or a mask; others divide, and correct the sign for floor."""
    hint = "mod" if remainder else "div"
    if floor and divisor & (divisor - 1) == 0:
        return _op(
            code, "and" if remainder else "ashr", a, divisor - 1 if remainder else divisor.bit_length() - 1, hint
        )
    if not floor:
        return _op(code, "srem" if remainder else "sdiv", a, divisor, hint)
    rest = _op(code, "srem", a, divisor)
    below = _test(code, "slt", rest, 0)
    if remainder:
        return code.select(below, _op(code, "add", rest, divisor), rest, hint)
    quotient = _op(code, "sdiv", a, divisor)
    return code.select(below, _op(code, "sub", quotient, 1), quotient, hint)


def _signed(code: Code, dtype: DType, a: Value, b: Value, floor: bool, remainder: bool) -> Value:
    """Divide by 1 in place of 0 and -1, whose quotients are 0 and -a; their remainders are 0."""
    zero, minus = _test(code, "eq", b, 0), _test(code, "eq", b, -1)
    safe = code.select(code.op(zero.type, f"or {zero}, {minus.name}"), code.like(1, b), b)
    rest = _op(code, "srem", a, safe)
    correct = _corrected(code, rest, safe) if floor else None
    if remainder:
        return code.select(correct, _op(code, "add", rest, safe), rest, "mod") if correct else rest
    quotient = _op(code, "sdiv", a, safe)
    if correct:
        quotient = code.select(correct, _op(code, "sub", quotient, 1), quotient)
    negated = _op(code, "sub", code.like(0, a), a)
    return code.select(zero, code.like(0, a), code.select(minus, negated, quotient), "div")


def _corrected(code: Code, rest: Value, divisor: Value) -> Value:
    """Return where floor differs from truncation: the rest is not zero and its sign is not the divisor's."""
    differs = _test(code, "slt", _op(code, "xor", rest, divisor), 0)
    inexact = _test(code, "ne", rest, 0)
    return code.op(differs.type, f"and {differs}, {inexact.name}")


STRICT: dict[type[Any], Emit] = {
    E.Var: _variable,
    E.Const: _constant,
    E.Add: _arithmetic("add"),
    E.Sub: _arithmetic("sub"),
    E.Mul: _arithmetic("mul"),
    E.Div: _divided,
    E.FloorDiv: _division(floor=True, remainder=False),
    E.FloorMod: _division(floor=True, remainder=True),
    E.TruncDiv: _division(floor=False, remainder=False),
    E.TruncMod: _division(floor=False, remainder=True),
    E.Min: _extreme("min"),
    E.Max: _extreme("max"),
    **dict.fromkeys(_PREDICATES, _compare),
    E.Not: _not,
    E.Select: _select,
    E.Cast: _cast,
    E.Ramp: _ramp,
    E.Broadcast: _broadcast,
}
"""The nodes whose operands are always all evaluated."""
