"""THE TABLE of loops: what a for statement may run over."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ...dtype import INT32, INT64
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.stmt import For, LoopKind
from .arguments import bound, positional
from .names import LoopVariable
from .scripted import Scripted

if TYPE_CHECKING:
    from .parser import Parser

THREADS: Final = tuple(f"{level}Idx.{dimension}" for level in ("block", "thread") for dimension in "xyz")
MOST_COPIES: Final = 4096
"""How many iterations of a loop may be written one after the other."""


def for_statement(parser: Parser, node: ast.For) -> None:
    """Read a loop."""
    if node.orelse:
        raise parser.refuse(node.orelse[0], "else of a for", "no loop here ends early", "the statements after the loop")
    call = node.iter
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
        rule = RULES.get(call.func.id)
        if rule is not None and not isinstance(parser.names.find(call.func.id), Scripted):
            rule(parser, node, call)
            return
    values = parser.value(call)
    if not isinstance(values, tuple):
        raise parser.refuse(
            call,
            f"a loop over {ast.unparse(call)}",
            "how often it runs must be said by one of the loops of the language",
            f"{', '.join(RULES)}, or a tuple",
        )
    _copies(parser, node, _target(parser, node), values)


def _target(parser: Parser, node: ast.For) -> str:
    return _targets(parser, node, [node.target])[0]


def _targets(parser: Parser, node: ast.For, targets: Sequence[ast.expr]) -> list[str]:
    for target in targets:
        if not isinstance(target, ast.Name):
            raise parser.refuse(target, ast.unparse(target), "a loop has one variable", "for i in ...")
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _counted(kind: LoopKind) -> Callable[[Parser, ast.For, ast.Call], None]:
    def read(parser: Parser, node: ast.For, call: ast.Call) -> None:
        begin, end, step = _range(parser, call)
        name = _target(parser, node)
        _check_kind(parser, node, call, kind)
        counter, value = _variable(parser, call, name, begin, end, step)
        if kind in (LoopKind.VECTORIZED, LoopKind.UNROLLED) and not isinstance(counter.extent, E.Const):
            raise parser.refuse(
                call, ast.unparse(call), f"its extent {counter.extent!r} is not constant", "a constant extent; range"
            )
        _loop(parser, node, [(name, counter, value)], kind)

    return read


def _check_kind(parser: Parser, node: ast.For, call: ast.Call, kind: LoopKind) -> None:
    if kind is LoopKind.PARALLEL and parser.written.loops_of(kind):
        raise parser.refuse(
            call, ast.unparse(call), "the parallel loop around it takes all threads already", "one parallel loop"
        )


def _range(parser: Parser, call: ast.Call) -> tuple[Expr, Expr, int]:
    """Return first value, end and step of a loop."""
    nodes = positional(parser, call)
    if not 1 <= len(nodes) <= 3:
        name = ast.unparse(call.func)
        raise parser.refuse(
            call, ast.unparse(call), f"{len(nodes)} arguments are given", f"{name}(end), {name}(begin, end, step)"
        )
    begin, end = (make.const(0), *(_integer(parser, part) for part in nodes[:2]))[-2:]
    first, last = make.pair(begin, end)
    step = _known(parser, nodes[2], "a step") if len(nodes) == 3 else 1
    if step == 0:
        raise parser.refuse(nodes[2], "a step of 0", "the loop would not end", "another step")
    return first, last, step


def _integer(parser: Parser, node: ast.expr) -> Expr:
    given = parser.number(node)
    wide = isinstance(given, int) and not -(2**31) <= given < 2**31
    value = make.convert(given, INT64 if wide else None)
    if value.dtype not in (INT32, INT64):
        raise parser.refuse(
            node, f"{ast.unparse(node)} as an end of a loop", f"it is {value.dtype}", "an int32 or int64"
        )
    return parser.held(f"end_{node.lineno}", value, node)


def _known(parser: Parser, node: ast.expr, what: str) -> int:
    value = parser.number(node)
    value = value.value if isinstance(value, E.Const) else value
    if isinstance(value, int):
        return value
    raise parser.refuse(
        node, f"{what} of {ast.unparse(node)}", "it is known only when the program runs", "an int constant"
    )


def _variable(parser: Parser, node: ast.AST, name: str, begin: Expr, end: Expr, step: int) -> tuple[E.Var, Expr]:
    """Return what counts the iterations, and the value that the loop's name has in each."""
    distance = make.sub(end, begin)
    if isinstance(distance, E.Const):
        distance = make.const(max(0, len(range(0, int(distance.value), step))), distance.dtype)
    elif step != 1:
        distance = make.ceildiv(distance if step > 0 else make.neg(distance), abs(step))
    if step == 1:
        var = E.Var(name, begin.dtype, begin, distance)
        return var, var
    var = E.Var(name, begin.dtype, make.const(0, begin.dtype), distance)
    return var, make.add(begin, make.mul(var, step))


def _loop(
    parser: Parser, node: ast.For, axes: Sequence[tuple[str, E.Var, Expr]], kind: LoopKind, thread: str = ""
) -> None:
    """Write one loop down, or a nest of them, around the body."""
    written, where = parser.written, parser.source.at(node)
    for _, var, _ in axes:
        written.loops.append((var, kind, thread))
    with parser.nested(node) as block:
        for name, _, value in axes:
            parser.names.bind(name, LoopVariable(value))
        parser.statements(node.body)
        body = block.stmt()
    for _, var, _ in reversed(axes):
        written.loops.pop()
        body = For(var, kind, body, thread, loc=where)
    written.block.add(body)


def _bind(parser: Parser, node: ast.For, call: ast.Call) -> None:
    """A loop whose iterations are the threads, or blocks, of a GPU."""
    tag, extent = bound(parser, call, "tag extent")
    if tag not in THREADS:
        raise parser.refuse(call, f"bind to {tag!r}", "a GPU has no such axis", THREADS)
    if any(tag == thread for _, _, thread in parser.written.loops):
        raise parser.refuse(
            call, f"bind to {tag}", "a loop around it is bound to it already", "another axis, or one loop for both"
        )
    end = make.convert(extent)
    if end.dtype not in (INT32, INT64):
        raise parser.refuse(call, ast.unparse(call), f"its extent is {end.dtype}", "an int32 or int64")
    end = parser.held(f"end_{node.lineno}", end, node)
    name = _target(parser, node)
    var = E.Var(name, end.dtype, make.const(0, end.dtype), end)
    _loop(parser, node, [(name, var, var)], LoopKind.THREAD, tag)


def _grid(parser: Parser, node: ast.For, call: ast.Call) -> None:
    """One loop for each extent, the first outermost."""
    targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    ends = [_integer(parser, part) for part in positional(parser, call)]
    if len(targets) != len(ends):
        raise parser.refuse(
            node.target,
            f"{len(targets)} variables of {ast.unparse(call)}",
            f"it has {len(ends)} extents",
            "one for each",
        )
    axes = [
        (name, *_variable(parser, call, name, make.const(0, end.dtype), end, 1))
        for name, end in zip(_targets(parser, node, targets), ends, strict=True)
    ]
    _loop(parser, node, axes, LoopKind.SERIAL)


def _const_range(parser: Parser, node: ast.For, call: ast.Call) -> None:
    """The body once for each value, which is a constant in it."""
    nodes = positional(parser, call)
    if not 1 <= len(nodes) <= 3:
        raise parser.refuse(
            call,
            ast.unparse(call),
            f"{len(nodes)} arguments are given",
            "const_range(end), const_range(begin, end, step)",
        )
    _copies(parser, node, _target(parser, node), range(*(_known(parser, part, "const_range") for part in nodes)))


def _copies(parser: Parser, node: ast.For, name: str, values: Iterable[Any]) -> None:
    for number, value in enumerate(values):
        if number >= MOST_COPIES:
            raise parser.refuse(
                node.iter, ast.unparse(node.iter), f"it is written out, more than {MOST_COPIES} times", "range"
            )
        with parser.nested(node) as block:
            parser.names.bind(name, LoopVariable(value))
            parser.statements(node.body)
            body = block.stmt()
        parser.written.block.add(body)


RULES: Final[dict[str, Callable[[Parser, ast.For, ast.Call], None]]] = {
    "range": _counted(LoopKind.SERIAL),
    "unroll": _counted(LoopKind.UNROLLED),
    "vectorize": _counted(LoopKind.VECTORIZED),
    "parallel": _counted(LoopKind.PARALLEL),
    "const_range": _const_range,
    "grid": _grid,
    "bind": _bind,
}
