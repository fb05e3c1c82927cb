"""Expressions as CUDA C++.

A vector expression prints as what one lane of it is, for a loop over the lanes: `ramp(i, 1, 4)` is `i + lane`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final

from ..arith import interval
from ..arith.interval import may_wrap
from ..dtype import DType
from ..errors import UnsupportedError
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import foreign
from ..ir.node import Expr
from ..ir.stmt import Buffer
from ..ir.visit import walk
from .cuda_foreign import foreign_call
from .cuda_index import Integers, narrowed, small_constant
from .cuda_intrinsics import call, spread
from .cuda_types import C_TYPES, SMALL_FLOATS, literal
from .precedence import Text, binary, cast, choice, negated

_ARITHMETIC: Final[dict[type[Expr], str]] = {E.Add: "+", E.Sub: "-", E.Mul: "*", E.Div: "/"}
_LOGIC: Final[dict[type[Expr], str]] = {E.Eq: "==", E.Ne: "!=", E.Lt: "<", E.Le: "<=", E.And: "&&", E.Or: "||"}
_WRAPPING: Final[dict[type[Expr], str]] = {E.Add: "wrapping_add", E.Sub: "wrapping_sub", E.Mul: "wrapping_mul"}
_DIVISIONS: Final[dict[type[E.Binary], tuple[str, str]]] = {
    E.FloorDiv: ("/", "floordiv"),
    E.FloorMod: ("%", "floormod"),
    E.TruncDiv: ("/", "truncdiv"),
    E.TruncMod: ("%", "truncmod"),
}
_MIXES: Final[tuple[type[E.Binary], ...]] = (E.Add, E.Sub, E.Mul, *_DIVISIONS, E.Compare)
"""What C++ computes in long long when either operand is one."""


def _to_be_rounded(old: DType, new: DType, value: Text) -> Text:
    """Return a value of type `old` in a type from which a small float rounds it once.

    That is float for what a float holds, and for integers to float16, which is infinite where a float is not exact.
    """
    if old.is_float and old not in SMALL_FLOATS:
        return value
    if old.is_integer and old.bits >= 32 and new == "bfloat16":
        return cast("unsigned long long" if old == "uint64" else "long long", value)
    return cast("float", value)


_EXTREMES: Final[dict[type[Expr], tuple[str, str]]] = {E.Min: ("min", "nan_min"), E.Max: ("max", "nan_max")}


class ExprPrinter:
    """Prints the expressions of one kernel, over the names that its statements gave."""

    def __init__(self) -> None:
        self.names: dict[E.Var | Buffer, str] = {}
        self.known: dict[Expr, Text] = {}
        """What has a name already: temporaries and vectors that were loaded. Ends with the block it stands in."""
        self.held: set[Expr] = set()
        """Conditions that hold in the present block."""
        self.lane = ""
        """The variable of the present loop over lanes."""
        self.integers = Integers()

    @contextmanager
    def block(self) -> Generator[None]:
        """Forget at the end what became known inside."""
        known, held, lane = self.known, self.held, self.lane
        self.known, self.held = dict(known), set(held)
        yield
        self.known, self.held, self.lane = known, held, lane

    def text(self, root: Expr) -> Text:
        """Return the text of `root`; the stack is explicit, since sums may have thousands of terms."""
        done: dict[Expr, Text] = {}
        stack = [root]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            if node in self.known:
                done[node] = self.known[node]
                continue
            operands = self.operands(node)
            waiting = [operand for operand in operands if operand not in done]
            if waiting:
                stack += reversed(waiting)
                continue
            done[node] = _PRINT[type(node)](self, node, [done[operand] for operand in operands])
        return done[root]

    def operands(self, node: Expr) -> list[Expr]:
        """Return what the text of `node` is made of.

        A mask only where it has to be tested; in place of a long long, the int that C++ widens by itself: i * n.
        """
        if isinstance(node, E.Load):
            indices = [narrowed(index) for index in node.indices]
            return indices if self.holds(node.mask) else [*indices, node.mask]
        if isinstance(node, E.Address):
            return [narrowed(node.offset)]
        if is_regroup(node):
            return []
        if not isinstance(node, _MIXES) or node.a.dtype.element != "int64":
            return node.operands()
        if self.plain(node):
            return self.beside(node.a, node.b)
        return [narrowed(node.a), narrowed(node.b)] if type(node) in _DIVISIONS else node.operands()

    def beside(self, a: Expr, b: Expr) -> list[Expr]:
        """Return both operands, one of them as an int where it is no more than that."""
        for left, right in ((a, small_constant(b)), (small_constant(a), b), (a, narrowed(b)), (narrowed(a), b)):
            changed = (a if left is not a else b) if left is not a or right is not b else None
            if changed is not None and changed not in self.known:
                return [left, right]
        return [a, b]

    def holds(self, condition: Expr) -> bool:
        """Return whether `condition` is known to be true here."""
        return condition is make.TRUE or condition in self.held

    def assume(self, condition: Expr) -> None:
        """Note that `condition` holds from here to the end of the block, unless memory can change it."""
        if not any(isinstance(part, E.Load) for part in walk(condition)):
            self.held.add(condition)
        if isinstance(condition, E.And):
            self.assume(condition.a)
            self.assume(condition.b)

    def element(self, buffer: Buffer, index: Text | None) -> Text:
        """Return the text of one element, of one that is a vector its present lane; of a buffer without dimensions,
        its variable or what it points to."""
        name = self.names[buffer]
        if index is not None:
            name = f"{name}[{index}]"
        elif buffer.scope == "global":
            name = f"{name}[0]"
        return Text(f"{name}[{self.lane}]" if buffer.dtype.lanes > 1 else name)

    def var(self, node: E.Var, operands: list[Text]) -> Text:
        name = self.names[node]
        return Text(f"{name}[{self.lane}]" if node.dtype.lanes > 1 else name)

    def const(self, node: E.Const, operands: list[Text]) -> Text:
        return literal(node)

    def arithmetic(self, node: E.Binary, operands: list[Text]) -> Text:
        dtype = node.dtype.element
        a, b = operands
        if _is(node.b, -1.0) and isinstance(node, E.Mul) and dtype.is_float:
            return self.stored(dtype, negated("-", a))
        if not self.plain(node):
            return Text(f"{_WRAPPING[type(node)]}({a}, {b})")
        zero_minus = isinstance(node, E.Sub) and _is(node.a, 0) and dtype.is_integer
        text = negated("-", b) if zero_minus else binary(_ARITHMETIC[type(node)], a, b)
        if dtype.is_float:
            return self.stored(dtype, text)
        if dtype.bits >= 32 or not self.leaves(node):
            return text
        if dtype == "uint16" and isinstance(node, E.Mul):  # 65535 * 65535 is more than an int holds
            text = binary("*", cast("unsigned int", a), b)
        return cast(C_TYPES[dtype], text)

    def leaves(self, node: Expr) -> bool:
        """Return whether an integer operation may leave its type, and so has to wrap."""
        return may_wrap(node) and not self.integers.known(node).exact

    def plain(self, node: Expr) -> bool:
        """Return whether C++'s operator is defined for all that may happen here: signed ones do not wrap."""
        if isinstance(node, tuple(_DIVISIONS)):
            return self.divides_plainly(node)
        signed = node.dtype.element.kind == "int" and node.dtype.bits >= 32
        return not (signed and self.leaves(node))

    def stored(self, dtype: DType, text: Text) -> Text:
        """Return a float result as `dtype`: one rounding for the 16-bit types."""
        return Text(f"{C_TYPES[dtype]}({text})") if dtype in SMALL_FLOATS else text

    def logic(self, node: E.Binary, operands: list[Text]) -> Text:
        return binary(_LOGIC[type(node)], *operands)

    def division(self, node: E.Binary, operands: list[Text]) -> Text:
        symbol, function = _DIVISIONS[type(node)]
        a, b = operands
        if self.divides_plainly(node):
            return binary(symbol, a, b)
        return Text(f"{function}<{C_TYPES[node.dtype.element]}>({a}, {b})")

    def divides_plainly(self, node: E.Binary) -> bool:
        """Return whether C++'s own operator gives the result: no negative operand, no zero divisor.

        An index is divided only where its divisor is an extent of something, and so not zero.
        """
        low = interval(node.b).lo
        positive = (low is not None and low > 0) or (
            self.integers.known(node).exact and self.integers.known(node.b).nonnegative
        )
        truncates = isinstance(node, (E.TruncDiv, E.TruncMod))
        return positive and (truncates or self.integers.known(node.a).nonnegative)

    def extreme(self, node: E.Binary, operands: list[Text]) -> Text:
        exact, of_floats = _EXTREMES[type(node)]
        dtype = node.dtype.element
        text = Text(f"{of_floats if dtype.is_float else exact}({operands[0]}, {operands[1]})")
        return self.stored(dtype, text)

    def negation(self, node: E.Not, operands: list[Text]) -> Text:
        return negated("!", operands[0])

    def cast(self, node: E.Cast, operands: list[Text]) -> Text:
        (value,) = operands
        old, new = node.value.dtype.element, node.dtype.element
        if new.is_bool:
            return binary("!=", value, literal(make.const(0, old)))
        if new in SMALL_FLOATS:
            return Text(f"{C_TYPES[new]}({_to_be_rounded(old, new, value)})")
        if old.is_float and new == "uint64":
            return Text(f"float_to_unsigned({value})")
        if old.is_float and new.is_integer and new.bits < 64 and new != "int32":
            value = cast("int" if new.bits < 32 else "long long", value)  # what does not fit wraps
        return cast(C_TYPES[new], value)

    def choice(self, node: E.Select | E.IfElse, operands: list[Text]) -> Text:
        return choice(*operands)

    def ramp(self, node: E.Ramp, operands: list[Text]) -> Text:
        base, stride = operands
        lane = Text(self.lane)
        step = lane if _is(node.stride, 1) else binary("*", lane, stride)
        return step if _is(node.base, 0) else binary("+", base, step)

    def broadcast(self, node: E.Broadcast, operands: list[Text]) -> Text:
        return operands[0]

    def load(self, node: E.Load, operands: list[Text]) -> Text:
        index = operands[0] if node.indices else None
        element = self.element(node.buffer, index)
        if self.holds(node.mask):
            return element
        zero = literal(make.const(0, node.dtype.element))
        return choice(operands[-1], element, zero)

    def address(self, node: E.Address, operands: list[Text]) -> Text:
        name = self.names[node.buffer]
        if not node.buffer.shape and node.buffer.scope != "global":
            return negated("&", Text(name))
        return Text(name) if _is(node.offset, 0) else binary("+", Text(name), operands[0])

    def call(self, node: E.Call, operands: list[Text]) -> Text:
        if is_regroup(node):
            return self.regroup(node)
        called = foreign(node.name)
        if called is None:
            return call(node, operands)
        return cast(C_TYPES[node.dtype.element], foreign_call(node, called, operands))

    def regroup(self, node: E.Call) -> Text:
        """Return the lane of a vector that the bits of another one are, which was given a name."""
        (whole,) = node.args
        if not isinstance(whole, E.Var):
            raise UnsupportedError(
                f"{node!r} on cuda", because="it stands in a condition or an index", legal="a value that is stored"
            )
        lane = self.lane if node.dtype.lanes > 1 else "0"
        return Text(f"part_of<{C_TYPES[node.dtype.element]}>({self.names[whole]}, {lane})")


def is_regroup(node: Expr) -> bool:
    """Return whether the bits of a vector are taken as lanes of another width."""
    return isinstance(node, E.Call) and node.name == "regroup"


def _is(node: Expr, value: float) -> bool:
    """Return whether `node` is that number, in every lane."""
    node = spread(node)
    return isinstance(node, E.Const) and node.value == value


_PRINT: Final[dict[type[Expr], Callable[[ExprPrinter, Any, list[Text]], Text]]] = {
    E.Var: ExprPrinter.var,
    E.Const: ExprPrinter.const,
    **dict.fromkeys(_ARITHMETIC, ExprPrinter.arithmetic),
    **dict.fromkeys(_DIVISIONS, ExprPrinter.division),
    **dict.fromkeys(_EXTREMES, ExprPrinter.extreme),
    **dict.fromkeys(_LOGIC, ExprPrinter.logic),
    E.Not: ExprPrinter.negation,
    E.Cast: ExprPrinter.cast,
    E.Select: ExprPrinter.choice,
    E.IfElse: ExprPrinter.choice,
    E.Ramp: ExprPrinter.ramp,
    E.Broadcast: ExprPrinter.broadcast,
    E.Load: ExprPrinter.load,
    E.Address: ExprPrinter.address,
    E.Call: ExprPrinter.call,
}
