"""Expressions as Python source over scalars: the heart of the interpreter.

Integers and bools are Python's, wrapped after each operation; floats are NumPy scalars of the very type. A vector is
computed lane by lane, `lane` being the source text of the lane's number: what holds for scalars then holds for lanes,
and a side that a lane does not take is not evaluated in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..dtype import INDEX, DType
from ..errors import InternalError
from . import expr as E
from .interpret_calls import EFFECT_CALLS, meaning
from .make import trunc_quotient
from .node import Expr
from .rounding import rounder, truncated

_LONGEST: Final = 160
"""Characters of source in one expression: longer ones are cut, so that none nests too deeply for Python's parser."""

Memo = dict[tuple[Expr, str], str]


class Source:
    """Lines of Python source under construction, each with what it stands for, and the constants they use."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str, Any]] = []
        self.depth = 0
        self.owner: Any = None
        self.constants: dict[str, Any] = dict(_HELPERS)
        self.names: dict[Any, str] = {}
        self.serial = 0

    def line(self, text: str) -> None:
        """Add a line at the current depth."""
        self.lines.append((self.depth, text, self.owner))

    def fresh(self, stem: str) -> str:
        """Return a name not used before."""
        self.serial += 1
        return f"{stem}{self.serial}"

    def constant(self, name: str, value: Any) -> str:
        """Return the name by which the source reaches `value`."""
        self.constants[name] = value
        return name

    def text(self) -> str:
        """Return the source."""
        return "".join(f"{' ' * depth}{line}\n" for depth, line, _ in self.lines)

    def value(self, root: Expr, lane: str = "0", memo: Memo | None = None) -> str:
        """Return the source text of `root` in one lane, after adding the lines it needs before it."""
        done: Memo = {} if memo is None else memo
        stack = [root]
        while stack:
            node = stack[-1]
            if _key(node, lane) in done:
                stack.pop()
                continue
            waiting = [operand for operand in _needed(node) if _key(operand, lane) not in done]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            text = self.node(node, lane, done)
            if len(text) > _LONGEST:
                self.line(f"{(name := self.fresh('t'))} = {text}")
                text = name
            done[_key(node, lane)] = text
        return done[_key(root, lane)]

    def node(self, node: Expr, lane: str, done: Memo) -> str:
        """Return the text of `node`, whose needed operands are in `done`."""
        kind = type(node)
        operands = [done[_key(operand, lane)] for operand in _needed(node)]
        if kind in _SPECIAL:
            return _SPECIAL[kind](self, node, lane, done, operands)
        if kind not in _PLAIN:
            raise InternalError(f"the interpreter met {kind.__name__}", because="it exists only before lowering")
        return _PLAIN[kind](node, operands)

    def branch(self, root: Expr, lane: str, done: Memo) -> tuple[list[tuple[int, str, Any]], str]:
        """Return the lines and the text of an expression that is not always evaluated."""
        kept, self.lines = self.lines, []
        self.depth += 1
        text = self.value(root, lane, dict(done))
        self.depth -= 1
        kept, self.lines = self.lines, kept
        return kept, text

    def var(self, node: E.Var, lane: str, _done: Memo, _operands: list[str]) -> str:
        name = self.names.get(node)
        if name is None:
            raise InternalError(f"variable {node.name!r} has no value", because="nothing above its use binds it")
        return name if node.dtype.lanes == 1 else f"{name}[{lane}]"

    def const(self, node: E.Const, _lane: str, _done: Memo, _operands: list[str]) -> str:
        if node.dtype.is_float:
            return self.constant(f"c_{node.dtype}_{len(self.constants)}", node.dtype.numpy.type(node.value))
        return f"({node.value})" if node.value < 0 else str(node.value)

    def either(self, node: E.IfElse, lane: str, done: Memo, operands: list[str]) -> str:
        yes_lines, yes = self.branch(node.yes, lane, done)
        no_lines, no = self.branch(node.no, lane, done)
        if not yes_lines and not no_lines:
            return f"({yes} if {operands[0]} else {no})"
        return self.choice(operands[0], yes_lines, yes, no_lines, no)

    def choice(self, test: str, yes_lines: list[Any], yes: str, no_lines: list[Any], no: str) -> str:
        """Add an if statement that gives a fresh name one of two values; return the name."""
        name = self.fresh("t")
        self.line(f"if {test}:")
        self.lines += yes_lines
        self.lines.append((self.depth + 1, f"{name} = {yes}", self.owner))
        self.line("else:")
        self.lines += no_lines
        self.lines.append((self.depth + 1, f"{name} = {no}", self.owner))
        return name

    def logic(self, node: E.And | E.Or, lane: str, done: Memo, operands: list[str]) -> str:
        lines, second = self.branch(node.b, lane, done)
        conjunction = isinstance(node, E.And)
        if not lines:
            return f"({operands[0]} {'and' if conjunction else 'or'} {second})"
        return self.choice(operands[0], *((lines, second, [], "False") if conjunction else ([], "True", lines, second)))

    def load(self, node: E.Load, lane: str, done: Memo, operands: list[str]) -> str:
        if not _masked(node):
            return self.read(node, lane, done)
        lines, text = self.branch(E.Load(node.buffer, node.indices, _TRUE), lane, done)
        zero = self.value(_zero(node.dtype.element))
        return (
            f"({text} if {operands[0]} else {zero})" if not lines else self.choice(operands[0], lines, text, [], zero)
        )

    def read(self, node: E.Load, lane: str, done: Memo) -> str:
        return f"{self.memory(node.buffer)}_read({', '.join(self.indices(node.buffer, node.indices, lane, done))})"

    def memory(self, buffer: Any) -> str:
        """Return the stem of the names that read and write `buffer`."""
        name = self.names.get(buffer)
        if name is None:
            raise InternalError(
                f"buffer {buffer.name!r} has no memory", because="it is no parameter and no Alloc stands above its use"
            )
        return name

    def indices(self, buffer: Any, indices: tuple[Expr, ...], lane: str, done: Memo | None) -> list[str]:
        """Return the texts of an access in one lane; an element that is a vector is indexed once more."""
        lanes = buffer.dtype.lanes
        if lanes == 1:
            return [self.value(index, lane, done) for index in indices]
        return [*(self.value(index, f"({lane} // {lanes})", done) for index in indices), f"{lane} % {lanes}"]

    def call(self, node: E.Call, _lane: str, _done: Memo, operands: list[str]) -> str:
        if node.name in EFFECT_CALLS:
            return "0"
        function = meaning(node)
        if function is None:
            kinds = ", ".join(arg.dtype for arg in node.args)
            raise InternalError(f"call of {node.name}({kinds})", because="the interpreter knows no such operation")
        kind = node.args[0].dtype.element if node.args else node.dtype
        return f"{self.constant(f'{node.name}_{kind}', function)}({', '.join(operands)})"

    def cast(self, node: E.Cast, _lane: str, _done: Memo, operands: list[str]) -> str:
        (value,) = operands
        source, target = node.value.dtype.element, node.dtype.element
        if target.is_bool:
            return f"({value} != 0)"
        if target.is_float:
            return f"{self.constant(f'to_{target}', rounder(target))}({value})"
        if source.is_float:
            low, high = (-(1 << 63), (1 << 63) - 1) if target is INDEX else target.limits()
            return f"truncated({value}, {low}, {high})"
        return wrapped(f"int({value})" if source.is_bool else value, target)

    def ramp(self, node: E.Ramp, lane: str, _done: Memo, operands: list[str]) -> str:
        base, stride = operands
        return wrapped(f"{base} + {lane} * {stride}", node.dtype)


_TRUE = E.Const(True, DType("bool"))


def _zero(dtype: DType) -> Expr:
    return E.Const(0.0 if dtype.is_float else False if dtype.is_bool else 0, dtype)


def _key(node: Expr, lane: str) -> tuple[Expr, str]:
    return node, lane if node.dtype.lanes > 1 else ""


def _masked(node: E.Load) -> bool:
    return not (isinstance(node.mask, E.Const) and node.mask.value)


def _needed(node: Expr) -> list[Expr]:
    """Return the operands that are evaluated whenever `node` is, in its lane."""
    if isinstance(node, E.IfElse):
        return [node.condition]
    if isinstance(node, (E.And, E.Or)):
        return [node.a]
    if isinstance(node, E.Load):
        if _masked(node):
            return [node.mask]
        return list(node.indices) if node.buffer.dtype.lanes == 1 else []
    return node.operands()


def wrapped(text: str, dtype: DType) -> str:
    """Return the source of an integer sum, product or the like, as its type keeps it (index is exact)."""
    element = dtype.element
    if element is INDEX:
        return f"({text})"
    mask = (1 << element.bits) - 1
    if element.kind == "uint":
        return f"({text} & {mask})"
    half = 1 << element.bits - 1
    return f"(({text} + {half} & {mask}) - {half})"


def _arithmetic(symbol: str) -> Callable[[Any, list[str]], str]:
    def source(node: E.Binary, operands: list[str]) -> str:
        text = f" {symbol} ".join(operands)
        return f"({text})" if node.dtype.is_float else wrapped(text, node.dtype)

    return source


def _extreme(name: str) -> Callable[[Any, list[str]], str]:
    return lambda node, operands: f"{name}{'_float' if node.dtype.is_float else ''}({', '.join(operands)})"


def _between(symbol: str) -> Callable[[Any, list[str]], str]:
    return lambda _, operands: f"({operands[0]} {symbol} {operands[1]})"


def _min_float(a: Any, b: Any) -> Any:
    return a if a < b or np.isnan(a) else b


def _max_float(a: Any, b: Any) -> Any:
    return a if a > b or np.isnan(a) else b


_HELPERS: Final[dict[str, Any]] = {
    "quotient": trunc_quotient,
    "select": lambda condition, yes, no: yes if condition else no,
    "min_float": _min_float,
    "max_float": _max_float,
    "truncated": truncated,
}
_PLAIN: Final[dict[type, Callable[[Any, list[str]], str]]] = {
    E.Add: _arithmetic("+"),
    E.Sub: _arithmetic("-"),
    E.Mul: _arithmetic("*"),
    E.Div: _between("/"),
    E.FloorDiv: _arithmetic("//"),
    E.FloorMod: _between("%"),
    E.TruncDiv: lambda node, operands: wrapped(f"quotient({', '.join(operands)})", node.dtype),
    E.TruncMod: lambda _, operands: "({0} - {1} * quotient({0}, {1}))".format(*operands),
    E.Min: _extreme("min"),
    E.Max: _extreme("max"),
    E.Eq: _between("=="),
    E.Ne: _between("!="),
    E.Lt: _between("<"),
    E.Le: _between("<="),
    E.Not: lambda _, operands: f"(not {operands[0]})",
    E.Select: lambda _, operands: f"select({', '.join(operands)})",
    E.Broadcast: lambda _, operands: operands[0],
}
_SPECIAL: Final[dict[type, Callable[[Source, Any, str, Memo, list[str]], str]]] = {
    E.Var: Source.var,
    E.Const: Source.const,
    E.IfElse: Source.either,
    E.And: Source.logic,
    E.Or: Source.logic,
    E.Load: Source.load,
    E.Call: Source.call,
    E.Cast: Source.cast,
    E.Ramp: Source.ramp,
}
