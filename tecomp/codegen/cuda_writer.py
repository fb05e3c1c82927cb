"""CUDA C++ under construction: lines in blocks, the names in them, values that were given names."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import MappingProxyType
from typing import Final

from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Buffer, Store
from ..location import Location
from .cuda_expr import ExprPrinter
from .cuda_index import narrowed
from .cuda_memory import Shared
from .cuda_names import Scopes
from .cuda_tensor import TensorMap
from .cuda_types import C_TYPES
from .precedence import Text
from .temporaries import temporaries

INDENT: Final = "  "
NO_LAYOUTS: Final[Mapping[Buffer, str]] = MappingProxyType({})


class Writer:
    """The text of one kernel's body. What a block declares ends with it: names, and what is known of values.

    `layouts` tells in which layout each fragment of a matrix is loaded.
    """

    def __init__(self, scopes: Scopes, shared: Shared, layouts: Mapping[Buffer, str] = NO_LAYOUTS) -> None:
        self.scopes, self.shared, self.layouts = scopes, shared, layouts
        self.exprs = ExprPrinter()
        self.undeclared: dict[Buffer, str] = {}
        """Scalars that their first assignment declares, and the type of each."""
        self.maps: dict[TensorMap, str] = {}
        """The parameters that tell of tensors of which boxes are copied."""
        self.lines: list[str] = []
        self._depth = 1
        self._loc: Location | None = None

    def line(self, text: str) -> None:
        """Add a line to the present block."""
        self.lines.append(INDENT * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """Open `head {`, and close it."""
        self.line(f"{head} {{")
        self._depth += 1
        with self.scopes.block(), self.exprs.block():
            yield
        self._depth -= 1
        self.line("}")

    def alternative(self) -> AbstractContextManager[None]:
        """Open the else of the block that was closed last."""
        self.lines.pop()
        return self.block("} else")

    @contextmanager
    def where(self, condition: Expr) -> Generator[None]:
        """Open `if (condition)`, unless it is known to hold."""
        if self.exprs.holds(condition):
            yield
            return
        with self.block(f"if ({self.text(condition)})"):
            self.exprs.assume(condition)
            yield

    def text(self, root: Expr) -> Text:
        """Return the text of an expression, after lines that name what it would repeat or nest too deeply."""
        with self.exprs.block():
            self.name_parts(root)
            return self.exprs.text(root)

    def name_parts(self, *roots: Expr) -> None:
        """Print `const float t = ...;` for the parts that get a name, before the text of `roots`.

        The names are for one statement: to the next, a part that reads memory may be another value.
        """
        for node, branches in temporaries(roots, self.exprs.known):
            if branches:
                name = self._branches(node)
            else:
                text = self.exprs.text(node)
                name = self.scopes.declare("t")
                self.line(f"const {C_TYPES[node.dtype.element]} {name} = {text};")
            self.exprs.known[node] = Text(name)

    def _branches(self, node: Expr) -> str:
        """Print a conditional expression as an if statement; return the variable that has its value then."""
        condition, yes, no = _conditional(node)
        test = self.exprs.text(condition)
        name = self.scopes.declare("t")
        self.line(f"{C_TYPES[node.dtype.element]} {name};")
        with self.block(f"if ({test})"):
            self.exprs.assume(condition)
            self.line(f"{name} = {self.text(yes)};")
        with self.alternative():
            self.line(f"{name} = {self.text(no)};")
        return name

    def element(self, node: Store) -> Text:
        """Return the text of what a store writes, in the present lane; of a variable's first value, its declaration."""
        index = self.exprs.text(narrowed(node.indices[0])) if node.indices else None
        place = self.exprs.element(node.buffer, index)
        type_ = self.undeclared.pop(node.buffer, "")
        return Text(f"{type_} {place}") if type_ else place

    def update(self, node: Store) -> None:
        """Print the assignment of a store, to a vector's present lane; x = x + y is `x += y`."""
        added = self._increment(node)
        if added is not None and not self.exprs.plain(node.value):  # it has to wrap
            added = None
        value = node.value if added is None else added
        with self.exprs.block():
            self.name_parts(*node.indices, value)
            symbol = "=" if added is None else "+="
            self.assign(self.element(node), self.exprs.text(value), node.loc, symbol)

    def _increment(self, node: Store) -> Expr | None:
        """Return y where a store is x = x + y, in a type that C++ computes in."""
        value = node.value
        if not isinstance(value, E.Add) or value.dtype.element.bits < 32 or not isinstance(value.a, E.Load):
            return None
        read = value.a
        same = read.buffer is node.buffer and all(x is y for x, y in zip(read.indices, node.indices, strict=True))
        return value.b if same and self.exprs.holds(read.mask) else None

    def assign(self, place: Text, value: Text, loc: Location | None, symbol: str = "=") -> None:
        """Print `place = value;`, and where the user wrote it, when the last such line was from elsewhere."""
        mark = f"  // {loc}" if loc is not None and loc != self._loc else ""
        self._loc = loc or self._loc
        self.line(f"{place} {symbol} {value};{mark}")


def _conditional(node: Expr) -> tuple[Expr, Expr, Expr]:
    """Return (condition, value where it holds, value where not) of a node that evaluates an operand conditionally."""
    if isinstance(node, E.IfElse):
        return node.condition, node.yes, node.no
    if isinstance(node, E.And):
        return node.a, node.b, make.FALSE
    if isinstance(node, E.Or):
        return node.a, make.TRUE, node.b
    assert isinstance(node, E.Load)
    zero = make.const(0, node.dtype.element)
    return node.mask, E.Load(node.buffer, node.indices, make.TRUE), make.broadcast(zero, node.dtype.lanes)
