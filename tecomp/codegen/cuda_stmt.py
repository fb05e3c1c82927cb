"""Statements as CUDA C++, one function each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..errors import InternalError
from ..instructions import ROWS
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import foreign
from ..ir.matrix import is_matrix_call
from ..ir.stmt import Alloc, Evaluate, For, If, Let, LoopKind, Seq, Stmt, Store
from ..ir.visit import suite, walk
from .cuda_foreign import foreign_call
from .cuda_index import narrowed
from .cuda_intrinsics import spread
from .cuda_lanes import declare, named_wholes, vector_store
from .cuda_matrix import matrix_call
from .cuda_memory import declaration
from .cuda_tensor import tensor_of, tensor_position
from .cuda_types import C_TYPES, c_type
from .cuda_writer import Writer
from .precedence import RANKS, Text
from .unrolling import is_unrolled

LONG: Final = 30
"""Characters of a loop's end that are read at a glance."""


def write(out: Writer, root: Stmt) -> None:
    """Print a statement. A declaration and what it is for stand in one block."""
    for node in suite(root):
        verb = _PRINT.get(type(node))
        if verb is None:
            raise InternalError(
                f"a {type(node).__name__} in a kernel", because="no pass should leave one", ir=repr(node)
            )
        verb(out, node)


def _alloc(out: Writer, node: Alloc) -> None:
    name = out.exprs.names[node.buffer] = out.scopes.declare(node.buffer.name)
    if _begins_with_value(node):
        out.undeclared[node.buffer] = c_type(node.buffer.dtype)
    else:
        out.line(declaration(node.buffer, name, out.shared))


def _begins_with_value(node: Alloc) -> bool:
    """Return whether a scalar gets its first value at once, so that this may be its declaration."""
    if node.buffer.scope != "local" or node.buffer.shape or node.buffer.dtype.lanes > 1:
        return False
    first = node.body
    while isinstance(first, Seq) and first.stmts:
        first = first.stmts[0]
    if not isinstance(first, Store) or first.buffer is not node.buffer or first.mask is not make.TRUE:
        return False
    return not any(isinstance(part, E.Load) and part.buffer is node.buffer for part in walk(first.value))


def _let(out: Writer, node: Let) -> None:
    if node.value.dtype.is_integer:
        out.exprs.integers.index(node.var, node.value)
    declare(out, node.var, named_wholes(out, node.value))


def _loop(out: Writer, node: For) -> None:
    if node.kind in (LoopKind.THREAD, LoopKind.VECTORIZED):
        raise InternalError(
            f"a {node.kind.value} loop in a kernel", because="a pass should have lowered it", ir=repr(node)
        )
    first, end = out.text(narrowed(node.min)), _end(out, node)
    if is_unrolled(node):
        out.line("#pragma unroll")
    with out.scopes.block():
        name = out.exprs.names[node.var] = out.scopes.declare(node.var.name)
        out.exprs.integers.index(node.var)
        with out.block(f"for ({C_TYPES[node.var.dtype]} {name} = {first}; {name} < {end}; ++{name})"):
            write(out, node.body)


def _end(out: Writer, node: For) -> str:
    """Return min + extent of a loop; a long one, or one that is read from memory, gets a name before it."""
    end = make.add(node.min, node.extent)
    if isinstance(node.extent, E.Sub) and node.extent.b is node.min:  # range(1, n) has n - 1 iterations
        end = node.extent.a
    text = out.text(narrowed(end)).at(RANKS["<<"])
    if len(text) <= LONG and not any(isinstance(part, E.Load) for part in walk(end)):
        return text
    name = out.scopes.declare(f"{node.var.name}_end")
    out.line(f"const {C_TYPES[end.dtype]} {name} = {text};")
    return name


def _branch(out: Writer, node: If) -> None:
    condition, then = node.condition, node.then
    while node.otherwise is None and isinstance(then, If) and then.otherwise is None:
        condition, then = E.And(condition, then.condition), then.then
    with out.block(f"if ({out.text(condition)})"):
        out.exprs.assume(condition)
        write(out, then)
    if node.otherwise is not None:
        with out.alternative():
            out.exprs.assume(make.logical_not(node.condition))
            write(out, node.otherwise)


def _evaluate(out: Writer, node: Evaluate) -> None:
    """Print a call as it is: the function may give nothing."""
    if is_matrix_call(node.value):
        matrix_call(out, node)
        return
    value = node.value
    tensor = tensor_position(value)
    if isinstance(value, E.Call) and tensor is not None:
        operands = [out.text(arg) if at != tensor else None for at, arg in enumerate(value.args)]
        operands[tensor] = Text(f"&{out.maps[tensor_of(value)]}")
        out.line(f"{ROWS[value.name].cuda.format(*operands)};")
        return
    called = foreign(value.name) if isinstance(value, E.Call) else None
    if isinstance(value, E.Call) and called is not None:
        out.line(f"{foreign_call(value, called, [out.text(arg) for arg in value.args])};")
        return
    out.line(f"{out.text(node.value)};")


def _store(out: Writer, node: Store) -> None:
    value = named_wholes(out, node.value)
    node = node if value is node.value else node.copy(value=value)
    mask = spread(node.mask)
    if mask.dtype.lanes > 1:  # it is tested lane by lane
        vector_store(out, node)
        return
    with out.where(mask):
        out.exprs.held.add(node.mask)
        if node.value.dtype.lanes > 1:
            vector_store(out, node)
            return
        out.update(node)


_PRINT: Final[dict[type[Stmt], Callable[[Writer, Any], None]]] = {
    Alloc: _alloc,
    Let: _let,
    For: _loop,
    If: _branch,
    Evaluate: _evaluate,
    Store: _store,
}
