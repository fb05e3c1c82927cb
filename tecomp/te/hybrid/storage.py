"""Memory that a hybrid function makes: its outputs, and what it allocates."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...dtype import FLOAT32, DType
from ...ir import expr as E
from ...ir.dtype_name import dtype_of
from ...ir.node import Expr
from ...ir.stmt import Buffer, LoopKind
from ...ir.visit import walk
from ..shape import plain, shape_of
from .arguments import bound
from .memory import Memory, Role

if TYPE_CHECKING:
    from .parser import Parser

SCOPES: Final = ("global", "shared", "local")


def output_tensor(parser: Parser, node: ast.Call, name: str) -> Memory:
    """Return a new result of `shape` elements of `dtype`; of a function that is called, memory of the caller."""
    shape, dtype = bound(parser, node, "shape dtype", (FLOAT32,))
    if len(parser.written.blocks) > 1 and len(parser.written.functions) == 1:
        raise parser.refuse(
            node, f"output_tensor '{name}' in a block", "results are made once", "before the loops and conditions"
        )
    buffer = _buffer(parser, node, name, shape, dtype, "global")
    if len(parser.written.functions) > 1:
        _allocated(parser, node, buffer)
    else:
        parser.written.outputs.append(buffer)
    return Memory(buffer, Role.OUTPUT)


def allocate(parser: Parser, node: ast.Call, name: str) -> Memory:
    """Return memory that lasts to the end of the block: everyone's, a block's, or a thread's own."""
    shape, dtype, scope = bound(parser, node, "shape dtype scope", (FLOAT32, "global"))
    if scope not in SCOPES:
        raise parser.refuse(node, f"allocate '{name}' in {scope!r}", "no memory is called so", SCOPES)
    buffer = _buffer(parser, node, name, shape, dtype, scope)
    for extent in buffer.shape:
        if scope != "global" and not isinstance(extent, E.Const):
            raise parser.refuse(
                node,
                f"allocate '{name}' in {scope} memory",
                f"its extent {plain(extent)} is not constant",
                "a constant extent, or global memory",
            )
    _allocated(parser, node, buffer)
    return Memory(buffer, Role.ALLOCATED)


MAKERS: Final[dict[str, Callable[[Parser, ast.Call, str], Memory]]] = {
    "output_tensor": output_tensor,
    "allocate": allocate,
}
"""What makes memory for the name that it is assigned to."""


def unnamed(parser: Parser, node: ast.Call) -> Any:
    """Refuse memory that no name is given to."""
    raise parser.refuse(node, f"{ast.unparse(node)} in an expression", "memory has a name", f"b = {ast.unparse(node)}")


def scalar(parser: Parser, node: ast.AST, name: str, dtype: DType) -> Memory:
    """Return memory for a number that is assigned again later."""
    buffer = Buffer(name, (), dtype, "local", loc=parser.source.line(node))
    parser.written.block.allocate(buffer, parser.source.line(node))
    return Memory(buffer, Role.SCALAR)


def _buffer(parser: Parser, node: ast.Call, name: str, shape: Any, dtype: Any, scope: str) -> Buffer:
    asked = f"{ast.unparse(node.func)} '{name}'"
    extents = parser.apply(node, shape_of, asked, shape)
    for extent in extents:
        _check_extent(parser, node, asked, extent)
    return Buffer(name, extents, parser.apply(node, dtype_of, asked, dtype), scope, loc=parser.source.line(node))


def _check_extent(parser: Parser, node: ast.Call, asked: str, extent: Expr) -> None:
    """Refuse a size that changes while the function runs."""
    for part in walk(extent):
        if isinstance(part, E.Load) or (isinstance(part, E.Var) and part.extent is not None):
            raise parser.refuse(
                node, asked, f"its extent {plain(extent)} changes while the function runs", "constants, sizes"
            )


def _allocated(parser: Parser, node: ast.Call, buffer: Buffer) -> None:
    threads = parser.written.loops_of(LoopKind.THREAD)
    if threads and buffer.scope == "global":
        raise parser.refuse(
            node,
            f"global memory '{buffer.name}' inside the loop over '{threads[-1].name}'",
            "a kernel cannot allocate global memory",
            'scope "shared" or "local", or before the loops over threads',
        )
    parser.written.block.allocate(buffer, parser.source.line(node))
