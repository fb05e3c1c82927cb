"""THE TABLE of statements: what each kind of Python statement does in a hybrid function."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ...arith import can_prove
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.stmt import If, Stmt, Store
from ...ir.visit import walk
from .access import indices_of
from .calls import call_scripted
from .expressions import BINARY, indexed
from .loops import for_statement
from .memory import Memory, Role, reads_memory
from .names import MISSING, LoopVariable
from .scripted import Scripted
from .storage import MAKERS, scalar

if TYPE_CHECKING:
    from .parser import Parser


def _assign(parser: Parser, node: ast.Assign) -> None:
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
        _set(parser, target, node, known, parser.as_number(node, value))
        return
    if known is not MISSING:
        what = "the variable of a loop" if isinstance(known, LoopVariable) else "an argument"
        what = "a tensor" if isinstance(known, Memory) else what
        raise parser.refuse(target, f"'{name}' is assigned", f"it is {what}", "another name; b[i] = ... for an element")
    if isinstance(value, Memory) and value.ndim == 0 and value.role is Role.SCALAR:
        value = parser.as_number(node, value)
    if parser.assigned[name] > 1 and not isinstance(value, (Memory, tuple, str)):
        first = make.convert(parser.as_number(node, value))
        memory = scalar(parser, target, name, first.dtype)
        parser.names.bind(name, memory)
        _set(parser, target, node, memory, first)
        return
    parser.names.bind(name, parser.held(name, value, target) if isinstance(value, Expr) else value)


def _set(parser: Parser, target: ast.expr, node: ast.expr, memory: Memory, value: Any) -> None:
    """Store a value to a variable, or to an element, of the same type."""
    _write(parser, target, node, memory, (), value)


def _write(
    parser: Parser, target: ast.expr, node: ast.expr, memory: Memory, indices: tuple[Expr, ...], value: Any
) -> None:
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


def _augment(parser: Parser, node: ast.AugAssign) -> None:
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
        what = (
            "not assigned before" if known is MISSING else "an argument" if not isinstance(known, LoopVariable) else ""
        )
        raise parser.refuse(
            node.target,
            f"'{node.target.id}' is changed",
            f"it is {what or 'the variable of a loop'}",
            "a variable that is assigned before, in this block or one around it",
        )
    _set(parser, node.target, node.value, known, joined(parser.load(node.target, known, ())))


def _if(parser: Parser, node: ast.If) -> None:
    condition = parser.condition(node.test)
    if isinstance(condition, bool):
        parser.statements(node.body if condition else node.orelse)
        return
    then = _branch(parser, node, node.body, condition)
    otherwise = _branch(parser, node, node.orelse, make.logical_not(condition)) if node.orelse else None
    parser.written.block.add(If(condition, then, otherwise, loc=parser.source.line(node)))


def _branch(parser: Parser, node: ast.If, body: list[ast.stmt], condition: Expr) -> Stmt:
    with parser.under(condition), parser.nested(node) as block:
        parser.statements(body)
        return block.stmt()


def _assert(parser: Parser, node: ast.Assert) -> None:
    """What is asserted of sizes and scalars is checked by each call; of loops and data it must be known here."""
    condition = parser.condition(node.test)
    text = node.msg.value if isinstance(node.msg, ast.Constant) else ""
    reason = f"'{parser.source.name}' asserts {ast.unparse(node.test)}" + (f": {text}" if text else "")
    if condition is True or (isinstance(condition, Expr) and can_prove(condition)):
        return
    if condition is False:
        raise parser.refuse(node, f"assert {ast.unparse(node.test)}", f"it does not hold{f': {text}' if text else ''}")
    assert isinstance(condition, Expr)
    inside = parser.written.loops or parser.written.guards
    if inside or any(isinstance(part, E.Load) for part in walk(condition)):
        raise parser.refuse(
            node,
            f"assert {ast.unparse(node.test)}",
            "what depends on loops or on data cannot be checked before the program runs",
            "a condition on sizes and scalars, before the loops; an if",
        )
    parser.written.requires.append((condition, reason))


def _return(parser: Parser, node: ast.Return) -> None:
    if len(parser.written.blocks) > parser.depth:
        raise parser.refuse(node, "return in a block", "a function has one end", "return as the last statement")
    values = None if node.value is None else parser.value(node.value)
    values = values if isinstance(values, tuple) else (values,)
    for value in values:
        if not isinstance(value, Memory) or value.role is not Role.OUTPUT:
            what = f"'{value.name}' is {value.role.value}" if isinstance(value, Memory) else "it is no tensor"
            raise parser.refuse(
                node,
                f"{ast.unparse(node)}",
                f"{what}, and results are made by output_tensor",
                "b = output_tensor(shape, dtype)",
            )
        if value.buffer not in parser.written.stored:
            raise parser.refuse(node, ast.unparse(node), f"'{value.name}' is never written", "a store to its elements")
    if len(set(values)) < len(values):
        raise parser.refuse(node, ast.unparse(node), "each result is returned once", "return b, or return b, c")
    parser.returned = values


def _expression(parser: Parser, node: ast.Expr) -> None:
    """A text alone is a comment."""
    if not isinstance(node.value, ast.Constant):
        value = parser.value(node.value)
        raise parser.refuse(node, ast.unparse(node), f"its value, {value!r}, is not used", "x = ...")


_REFUSED: Final[dict[type[ast.stmt], tuple[str, str, str]]] = {
    ast.While: ("while", "how often it runs is known only when it has run", "for i in range(n), with an if inside"),
    ast.Break: ("break", "the iterations of a loop are known before it runs", "an if around the rest of the body"),
    ast.Continue: (
        "continue",
        "the iterations of a loop are known before it runs",
        "an if around the rest of the body",
    ),
    ast.With: ("with", "it is no part of the language", "for, if, assignments"),
    ast.Try: ("try", "a compiled program raises nothing", "an if"),
    ast.Raise: ("raise", "a compiled program raises nothing", "assert, of sizes and scalars"),
    ast.FunctionDef: (
        "a function in a function",
        "it is no part of the language",
        "another hybrid function beside this one",
    ),
    ast.ClassDef: ("a class", "it is no part of the language", "for, if, assignments"),
    ast.Global: ("global", "what is outside the function is constant", "an argument, a result"),
    ast.Nonlocal: ("nonlocal", "what is outside the function is constant", "an argument, a result"),
    ast.Import: ("import", "it is no part of the language", "functions of te by their name alone"),
    ast.ImportFrom: ("import", "it is no part of the language", "functions of te by their name alone"),
    ast.Delete: ("del", "names last to the end of their block", "leave it out"),
    ast.AnnAssign: ("an annotation", "types come from values", "x = float32(0)"),
}


def _refused(parser: Parser, node: ast.stmt) -> None:
    what, because, legal = _REFUSED.get(
        type(node), (ast.unparse(node), "it is no part of the language", "for, if, assignments")
    )
    raise parser.refuse(node, what, because, legal)


STATEMENTS: Final[dict[type[ast.stmt], Callable[[Parser, Any], None]]] = {
    ast.Assign: _assign,
    ast.AugAssign: _augment,
    ast.For: for_statement,
    ast.If: _if,
    ast.Assert: _assert,
    ast.Return: _return,
    ast.Expr: _expression,
    ast.Pass: lambda parser, node: None,
    ast.stmt: _refused,
}
"""By kind of node; the last row is of all others."""
