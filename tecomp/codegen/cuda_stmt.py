"""Statements as CUDA C++: the body of one kernel.

A stage's first line is marked with the user's own: `scan[i] = X[i];  // scan.py:11`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..errors import InternalError
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Alloc, Evaluate, For, If, Let, LoopKind, Seq, Stmt, Store
from ..ir.visit import walk
from ..location import Location
from .cuda_expr import ExprPrinter
from .cuda_memory import Shared, declaration
from .cuda_names import Scopes
from .cuda_types import C_TYPES, c_type
from .cuda_vector import Access, access, wide_loads
from .precedence import Text
from .temporaries import temporaries

INDENT: Final = "  "


class StmtPrinter:
    """Prints statements into `lines`. What a block declares ends with it: names, and what is known of values."""

    def __init__(self, scopes: Scopes, shared: Shared) -> None:
        self.scopes, self.shared = scopes, shared
        self.exprs = ExprPrinter()
        self.lines: list[str] = []
        self.depth = 1
        self.loc: Location | None = None

    def line(self, text: str) -> None:
        """Add a line to the present block."""
        self.lines.append(INDENT * self.depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Open `head {`, and close it."""
        self.line(f"{head} {{".lstrip())
        self.depth += 1
        with self.scopes.block(), self.exprs.block():
            yield
        self.depth -= 1
        self.line("}")

    def stmt(self, root: Stmt) -> None:
        """Print a statement. A declaration and what it is for stand in one block: programs allocate in long chains."""
        stack = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, Seq):
                stack += reversed(node.stmts)
                continue
            _PRINT[type(node)](self, node)
            if isinstance(node, (Alloc, Let)):
                stack.append(node.body)

    def text(self, root: Expr) -> Text:
        """Return the text of an expression, after lines that name what it would repeat or nest too deeply."""
        self.name_parts(root)
        return self.exprs.text(root)

    def name_parts(self, *roots: Expr) -> None:
        for node, branches in temporaries(roots, self.exprs.known):
            if branches:
                name = self.branches(node)
            else:
                text = self.exprs.text(node)
                name = self.scopes.declare("t")
                self.line(f"const {C_TYPES[node.dtype.element]} {name} = {text};")
            self.exprs.known[node] = Text(name)

    def branches(self, node: Expr) -> str:
        """Print a conditional expression as an if statement; return the variable that has its value then."""
        condition, yes, no = _conditional(node)
        test = self.exprs.text(condition)
        name = self.scopes.declare("t")
        self.line(f"{C_TYPES[node.dtype.element]} {name};")
        for head, held, value in ((f"if ({test})", condition, yes), ("else", None, no)):
            with self.block(head):
                if held is not None:
                    self.exprs.assume(held)
                self.line(f"{name} = {self.text(value)};")
        return name

    def alloc(self, node: Alloc) -> None:
        name = self.exprs.names[node.buffer] = self.scopes.declare(node.buffer.name)
        self.line(declaration(node.buffer, name, self.shared))

    def let(self, node: Let) -> None:
        lanes = node.var.dtype.lanes
        if node.value.dtype.is_integer:
            self.exprs.integers.index(node.var, node.value)
        if lanes == 1:
            text = self.text(node.value)
            name = self.exprs.names[node.var] = self.scopes.declare(node.var.name)
            self.line(f"const {c_type(node.var.dtype)} {name} = {text};")
            return
        name = self.scopes.declare(node.var.name)
        self.line(f"Vec<{C_TYPES[node.var.dtype.element]}, {lanes}> {name};")
        self.load_wide(node.value)
        with self.lanes(lanes) as lane:
            self.line(f"{name}[{lane}] = {self.text(node.value)};")
        self.exprs.names[node.var] = name

    def loop(self, node: For) -> None:
        if node.kind in (LoopKind.THREAD, LoopKind.VECTORIZED):
            raise InternalError(f"a {node.kind.value} loop in a kernel", because="a pass should have lowered it", ir=repr(node))
        type_ = C_TYPES[node.var.dtype]
        first, end = self.text(node.min), self.bound(make.add(node.min, node.extent))
        unroll = dict(node.pragmas).get("unroll")
        if node.kind is LoopKind.UNROLLED or unroll is not None:
            self.line("#pragma unroll" if unroll in (None, True) else f"#pragma unroll {unroll}")
        with self.scopes.block():
            name = self.exprs.names[node.var] = self.scopes.declare(node.var.name)
            self.exprs.integers.index(node.var)
            with self.block(f"for ({type_} {name} = {first}; {name} < {end}; ++{name})"):
                self.stmt(node.body)

    def bound(self, end: Expr) -> str:
        """Return the end of a loop; one that is read from memory is read once."""
        text = self.text(end)
        if not any(isinstance(part, E.Load) for part in walk(end)):
            return text.at(11)
        name = self.scopes.declare("end")
        self.line(f"const {C_TYPES[end.dtype]} {name} = {text};")
        return name

    def branch(self, node: If) -> None:
        with self.block(f"if ({self.text(node.condition)})"):
            self.exprs.assume(node.condition)
            self.stmt(node.then)
        if node.otherwise is not None:
            self.lines.pop()
            with self.block("} else"):
                self.exprs.assume(make.logical_not(node.condition))
                self.stmt(node.otherwise)

    def evaluate(self, node: Evaluate) -> None:
        self.line(f"{self.text(node.value)};")

    def store(self, node: Store) -> None:
        mask = node.mask.value if isinstance(node.mask, E.Broadcast) else node.mask
        if mask is not make.TRUE and mask.dtype.lanes == 1:
            with self.block(f"if ({self.text(mask)})"):
                self.exprs.assume(mask)
                self.exprs.held.add(node.mask)
                self.stored(node.copy(mask=make.TRUE))
            return
        self.stored(node)

    def stored(self, node: Store) -> None:
        lanes = node.value.dtype.lanes
        if lanes > 1:
            self.vector_store(node, lanes)
            return
        self.name_parts(*node.indices, node.value)
        self.assign(node, self.exprs.text(node.value))

    def assign(self, node: Store, value: Text) -> None:
        """Print `buffer[index] = value;`, and where the user wrote it, when the last line was from elsewhere."""
        index = self.exprs.subscript(node.indices)
        mark = f"  // {node.loc}" if node.loc is not None and node.loc != self.loc else ""
        self.loc = node.loc or self.loc
        self.line(f"{self.exprs.element(node.buffer, index)} = {value};{mark}")
"""
"""
