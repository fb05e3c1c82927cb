"""Expressions as Python source over scalars: the heart of the interpreter.

Integers and bools are Python's, wrapped after each operation; floats are NumPy scalars of the very type. A vector is
computed lane by lane, `lane` being the source text of the lane's number: what holds for scalars then holds for lanes,
and a side that a lane does not take is not evaluated in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ..dtype import INDEX, DType
from ..errors import InternalError
from . import expr as E
from .atomic import is_atomic
from .foreign import foreign, layout_vars
from .instruction import EXCHANGES
from .interpret_atomic import atomic_call
from .interpret_calls import VALUELESS, joined, meaning, part_of, unknown
from .interpret_foreign import address, foreign_call
from .interpret_operators import HELPERS, OPERATORS, wrapped
from .node import Expr
from .rounding import rounder
from .stmt import Buffer
from .visit import walk

_LONGEST: Final = 160
"""Characters of source in one expression: longer ones are cut, so that none nests too deeply for Python's parser."""

_NESTED: Final = 4
"""Choices within choices: deeper ones are functions of their own, so that none nests too deeply or is written often."""

Memo = dict[tuple[Expr, str], str]


class Source:
    """Lines of Python source under construction, each with what it stands for, and the constants they use."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str, Any]] = []
        self.depth = 0
        self.owner: Any = None
        self.constants: dict[str, Any] = dict(HELPERS)
        self.names: dict[Any, str] = {}
        self.serial = 0
        self.nested = 0
        self.parts: dict[tuple[Expr, str], str] = {}
        """Expressions that are functions, with the arguments they need."""
        self.unwritten: list[tuple[str, str, Expr, Any]] = []
        self.free: dict[Expr, list[E.Var | Buffer]] = {}

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
        if kind not in OPERATORS:
            raise InternalError(f"the interpreter met {kind.__name__}", because="it exists only before lowering")
        return OPERATORS[kind](node, operands)

    def branch(self, root: Expr, lane: str, done: Memo) -> tuple[list[tuple[int, str, Any]], str]:
        """Return the lines and the text of an expression that is not always evaluated."""
        if _key(root, lane) in done:
            return [], done[_key(root, lane)]
        if self.nested >= _NESTED and root.operands():
            return [], self.outlined(root, lane)
        kept, self.lines = self.lines, []
        self.depth, self.nested = self.depth + 1, self.nested + 1
        text = self.value(root, lane, dict(done))
        self.depth, self.nested = self.depth - 1, self.nested - 1
        kept, self.lines = self.lines, kept
        return kept, text

    def outlined(self, root: Expr, lane: str) -> str:
        """Return the call of a function, written later, that computes `root`."""
        if root not in self.free:
            self.free[root] = list(dict.fromkeys(_names_in(root)))
        needed = [self.local(thing) + ("" if isinstance(thing, E.Var) else "_read") for thing in self.free[root]]
        arguments = ", ".join(needed)
        name = self.parts.get((root, arguments))
        if name is None:
            name = self.parts[root, arguments] = self.fresh("part")
            self.unwritten.append((name, arguments, root, self.owner))
        return f"{name}({', '.join([lane, arguments])})"

    def write_parts(self) -> None:
        """Add the functions that the source calls so far."""
        self.depth = self.nested = 0
        while self.unwritten:
            name, arguments, root, self.owner = self.unwritten.pop()
            self.line(f"def {name}({', '.join(['lane', arguments])}):")
            self.depth = 1
            self.line(f"return {self.value(root, 'lane')}")
            self.depth = 0

    def local(self, thing: E.Var | Buffer) -> str:
        """Return the name of a variable, or the stem of the names that read and write a buffer."""
        name = self.names.get(thing)
        if name is None:
            kind = "variable" if isinstance(thing, E.Var) else "buffer"
            raise InternalError(f"{kind} {thing.name!r} has no value", because="nothing above its use makes it")
        return name

    def var(self, node: E.Var, lane: str, _done: Memo, _operands: list[str]) -> str:
        return self.local(node) if node.dtype.lanes == 1 else f"{self.local(node)}[{lane}]"

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
        return f"{self.local(node.buffer)}_read({', '.join(self.indices(node.buffer, node.indices, lane, done))})"

    def indices(self, buffer: Buffer, indices: tuple[Expr, ...], lane: str, done: Memo | None) -> list[str]:
        """Return the texts of an access in one lane; an element that is a vector is indexed once more."""
        lanes = buffer.dtype.lanes
        if lanes == 1:
            return [self.value(index, lane, done) for index in indices]
        return [*(self.value(index, f"({lane} // {lanes})", done) for index in indices), f"{lane} % {lanes}"]

    def call(self, node: E.Call, lane: str, done: Memo, operands: list[str]) -> str:
        called = foreign(node.name)
        if called is not None:
            return foreign_call(self, node, called, operands)
        if node.name in VALUELESS:
            return "0"
        if is_atomic(node):
            return atomic_call(self, node, operands)
        if node.name == "regroup":
            return self.regroup(node, lane, done)
        if node.name in EXCHANGES:
            return self.shuffle(node, operands)
        function = meaning(node)
        if function is None:
            raise unknown(node)
        kind = node.args[0].dtype.element if node.args else node.dtype
        return f"{self.constant(f'{node.name}_{kind}', function)}({', '.join(operands)})"

    def regroup(self, node: E.Call, lane: str, done: Memo) -> str:
        """Return one lane of what the bits of other lanes are: several of them joined, or a part of one."""
        (whole,) = node.args
        lane = lane if node.dtype.lanes > 1 else "0"
        source, result = whole.dtype.element, node.dtype.element
        if result.bits > source.bits:
            ratio = result.bits // source.bits
            parts = [self.value(whole, f"({lane}) * {ratio} + {part}", done) for part in range(ratio)]
            return f"{self.constant(f'join_{source}_{result}', joined(source, result))}({', '.join(parts)})"
        ratio = source.bits // result.bits
        value = self.value(whole, f"({lane}) // {ratio}", done)
        return f"{self.constant(f'part_{source}_{result}', part_of(source, result))}({value}, ({lane}) % {ratio})"

    def shuffle(self, node: E.Call, operands: list[str]) -> str:
        """Return the value that another lane gives."""
        raise InternalError(f"{node.name} outside a statement of a kernel", because="no lanes come there together")

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


def _names_in(root: Expr) -> Iterator[E.Var | Buffer]:
    for node in walk(root):
        if isinstance(node, E.Var):
            yield node
        elif isinstance(node, (E.Load, E.Address)):
            yield node.buffer
            yield from layout_vars(node) if isinstance(node, E.Address) else ()


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
    if isinstance(node, E.Call) and node.name == "regroup":
        return []
    if isinstance(node, E.Load):
        if _masked(node):
            return [node.mask]
        return list(node.indices) if node.buffer.dtype.lanes == 1 else []
    return node.operands()


_SPECIAL: Final[dict[type, Callable[[Source, Any, str, Memo, list[str]], str]]] = {
    E.Var: Source.var,
    E.Const: Source.const,
    E.IfElse: Source.either,
    E.And: Source.logic,
    E.Or: Source.logic,
    E.Load: Source.load,
    E.Address: address,
    E.Call: Source.call,
    E.Cast: Source.cast,
    E.Ramp: Source.ramp,
}
