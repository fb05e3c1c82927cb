"""Assignments: names for values, variables, stores to elements of memory."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ir import make
from ...ir.node import Expr
from ...ir.stmt import Store
from .access import indices_of
from .calls import call_scripted
from .expressions import indexed
from .memory import Memory, Role, reads_memory
from .names import MISSING, LoopVariable
from .operators import BINARY
from .scripted import Scripted
from .storage import MAKERS, scalar

if TYPE_CHECKING:
    from .parser import Parser


def assign(parser: Parser, node: ast.Assign) -> None:
    """Read `x = value`, `a[i] = value`, `x, y = values`."""
    if len(node.targets) > 1:
        raise parser.refuse(node.targets[1], ast.unparse(node), "it assigns twice", "one assignment for each name")
    target = node.targets[0]
    if isinstance(target, ast.Tuple):
        _unpack(parser, node, target)
    elif isinstance(target, ast.Subscript):
        _store(parser, target, node.value, lambda old: parser.number(node.value), reads=False)
    elif isinstance(target, ast.Name):
        _bind(parser, target, node.value, _right_side(parser, target.id, node.value))
    else:
        raise parser.refuse(
            target, f"an assignment to {ast.unparse(target)}", "it is no name and no element", "x, a[i]"
        )


def _right_side(parser: Parser, name: str, node: ast.expr) -> Any:
    """Return what is assigned to a name: memory that is made for it, results of a hybrid function, a value."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        outer = parser.names.find(node.func.id)
        if isinstance(outer, Scripted):
            results = call_scripted(parser, node, outer)
            return results[0] if len(results) == 1 else results
        if node.func.id in MAKERS:
            if parser.names.local(name) is not MISSING:
                raise parser.refuse(node, f"memory for '{name}'", f"'{name}' is assigned already", "another name")
            return MAKERS[node.func.id](parser, node, name)
    return parser.value(node)


def _unpack(parser: Parser, node: ast.Assign, target: ast.Tuple) -> None:
    """Give the results of a hybrid function, the entries of a tuple, names of their own."""
    values = _right_side(parser, "", node.value)
    if not isinstance(values, tuple) or len(values) != len(target.elts):
        count = len(values) if isinstance(values, tuple) else 1
        raise parser.refuse(
            target, ast.unparse(node), f"{count} values for {len(target.elts)} names", "one name for each"
        )
    if any(isinstance(value, Expr) and reads_memory(value) for value in values):
        raise parser.refuse(
            target, ast.unparse(node), "each assignment would change what the next reads", "one at a time"
        )
    for part, value in zip(target.elts, values, strict=True):
        if not isinstance(part, ast.Name):
            raise parser.refuse(
                part, f"{ast.unparse(part)} in a tuple that is assigned", "only names are", "one at a time"
            )
        _bind(parser, part, node.value, value)


def _bind(parser: Parser, target: ast.Name, node: ast.expr, value: Any) -> None:
    """Give a name its value: once for all, or to a variable that is assigned again."""
    name, known = target.id, parser.names.local(target.id)
    if isinstance(known, Memory) and known.role is Role.SCALAR:
        _write(parser, target, node, known, (), parser.as_number(node, value))
        return
    if known is not MISSING:
        legal = "another name; b[i] = ... for an element"
        raise parser.refuse(target, f"'{name}' is assigned", f"it is {_kind(parser, name, known)}", legal)
    if isinstance(value, Memory) and value.ndim == 0 and value.role is Role.SCALAR:
        value = parser.as_number(node, value)
    if parser.assigned[name] > 1 and not isinstance(value, (Memory, tuple, str)):
        first = make.convert(parser.as_number(node, value))
        memory = scalar(parser, target, name, first.dtype)
        parser.names.bind(name, memory)
        _write(parser, target, node, memory, (), first)
        return
    parser.names.bind(name, parser.held(name, value, target) if isinstance(value, Expr) else value)


def _write(
    parser: Parser, target: ast.expr, node: ast.expr, memory: Memory, indices: tuple[Expr, ...], value: Any
) -> None:
    """Store a value to a variable or an element; it must be of the same type, a literal takes it."""
    buffer = memory.buffer
    stored = parser.apply(node, make.convert, value, buffer.dtype)
    if stored.dtype is not buffer.dtype:
        raise parser.refuse(
            node,
            f"{ast.unparse(node)} is stored to '{buffer.name}'",
            f"it is {stored.dtype}, and '{buffer.name}' is {buffer.dtype}",
            f"{buffer.dtype}({ast.unparse(node)})" + _other_start(memory, stored),
        )
    parser.written.stored.add(buffer)
    parser.written.block.add(Store(buffer, indices, stored, make.TRUE, loc=parser.source.line(target)))


def _other_start(memory: Memory, stored: Expr) -> str:
    """Say how a variable would have had another type: it has that of its first value."""
    return f"; or {memory.name} = {stored.dtype}(...) at first" if memory.role is Role.SCALAR else ""


def _store(
    parser: Parser, target: ast.Subscript, node: ast.expr, value: Callable[[Expr | None], Any], reads: bool
) -> None:
    """Store to an element of memory; value(old) is what, where `reads` with the element as it was."""
    memory, given = indexed(parser, target)
    if not isinstance(memory, Memory) or memory.role in (Role.ARGUMENT, Role.SCALAR):
        what = memory.role.value if isinstance(memory, Memory) else "no tensor"
        raise parser.refuse(
            target,
            f"a store to {ast.unparse(target)}",
            f"it is {what}",
            "elements of output_tensor(...), allocate(...)",
        )
    indices = indices_of(parser, target, memory, given)
    old = parser.load(target, memory, indices) if reads else None
    _write(parser, target, node, memory, indices, value(old))


def augment(parser: Parser, node: ast.AugAssign) -> None:
    """x += y, read and stored once."""
    rule = BINARY.get(type(node.op))
    if rule is None or rule.of_numbers is None:
        raise parser.refuse(node, "the operator @=", "it is of whole tensors", "a loop over the elements")
    combine = rule.of_numbers

    def joined(old: Any) -> Any:
        return parser.apply(node, combine, old, parser.number(node.value))

    if isinstance(node.target, ast.Subscript):
        _store(parser, node.target, node.value, joined, reads=True)
        return
    if not isinstance(node.target, ast.Name):
        raise parser.refuse(node.target, ast.unparse(node), "it is no name and no element", "x, a[i]")
    known = parser.names.local(node.target.id)
    if not isinstance(known, Memory) or known.role is not Role.SCALAR:
        raise parser.refuse(
            node.target,
            f"'{node.target.id}' is changed",
            f"it is {_kind(parser, node.target.id, known)}",
            "a variable that is assigned before, in this block or one around it",
        )
    _write(parser, node.target, node.value, known, (), joined(parser.load(node.target, known, ())))


def _kind(parser: Parser, name: str, value: Any) -> str:
    """Say what a name stands for that is no variable."""
    if value is MISSING:
        return "not assigned before"
    if isinstance(value, LoopVariable):
        return "the variable of a loop"
    if name in parser.names.arguments:
        return "an argument"
    return "a tensor" if isinstance(value, Memory) else "a constant"
