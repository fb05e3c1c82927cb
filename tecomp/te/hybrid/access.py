"""Elements of memory: as many indices as dimensions, integers, inside the extents wherever that can be known."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...dtype import INT32, INT64
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ..element import dimensions
from ..ranges import reach_outside
from ..shape import plain
from .memory import Memory

if TYPE_CHECKING:
    from .parser import Parser


def indices_of(parser: Parser, node: ast.expr, memory: Memory, given: Sequence[ast.expr]) -> tuple[Expr, ...]:
    """Return the indices of the element of `memory` that `node` names; a[i, j] and a[i][j] are the same."""
    nodes = [part for index in given for part in (index.elts if isinstance(index, ast.Tuple) else [index])]
    if len(nodes) != memory.ndim:
        raise parser.refuse(
            node,
            f"{ast.unparse(node)}",
            f"'{memory.name}' has {dimensions(memory.ndim)}, and {len(nodes)} {_indices(len(nodes))} given",
            f"{memory.name}[{', '.join(f'i{dim}' for dim in range(memory.ndim))}]",
        )
    indices = tuple(_index(parser, part, memory) for part in nodes)
    if not _never_runs([var for var, _, _ in parser.written.loops]):
        for dim, (part, index) in enumerate(zip(nodes, indices, strict=True)):
            _check_inside(parser, part, memory, dim, index)
    return indices


def _indices(count: int) -> str:
    return "index is" if count == 1 else "indices are"


def _index(parser: Parser, node: ast.expr, memory: Memory) -> Expr:
    given = parser.number(node)
    wide = isinstance(given, int) and not -(2**31) <= given < 2**31
    value = make.convert(given, INT64 if wide else None)
    if value.dtype.is_bool:
        return make.cast(INT32, value)
    if not value.dtype.is_integer:
        raise parser.refuse(
            node,
            f"{ast.unparse(node)} as an index of '{memory.name}'",
            f"it is {value.dtype}, and indices are integers",
            f"int32({ast.unparse(node)})",
        )
    return value


def _never_runs(loops: Sequence[E.Var]) -> bool:
    """Return whether a loop around has no iterations."""
    return any(isinstance(var.extent, E.Const) and var.extent.value <= 0 for var in loops)


def _check_inside(parser: Parser, node: ast.expr, memory: Memory, dim: int, index: Expr) -> None:
    """Refuse an index that leaves its dimension at some values of the loops, with these values."""
    extent = memory.buffer.shape[dim]
    reach = reach_outside(index, extent, tuple(parser.written.guards))
    if reach:
        raise parser.refuse(
            node,
            f"index {dim} of '{memory.name}', {ast.unparse(node)}, leaves it",
            f"it {reach}; '{memory.name}' has extent {plain(extent)} there",
            f"0 to {plain(make.sub(extent, 1))}, or an if around it",
        )
