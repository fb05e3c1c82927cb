"""The value of an expression: operands before their users, lazy sides in blocks of their own or under masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..errors import InternalError, UnsupportedError
from ..ir import expr as E
from ..ir.atomic import is_atomic
from ..ir.foreign import foreign
from ..ir.instruction import INSTRUCTIONS
from ..ir.node import Expr
from .llvm_arith import STRICT
from .llvm_atomic import atomic_call
from .llvm_code import Code
from .llvm_foreign import foreign_call
from .llvm_intrinsics import CALLS
from .llvm_memory import Steps, address, choice, load
from .llvm_types import Value, constant, lanes_of


def value(code: Code, root: Expr) -> Value:
    """Emit `root` and return its value.

    The stack is explicit, so expressions may be of any depth; each is emitted once where its value is still known.
    """
    known = code.known(root)
    if known is not None:
        return known
    nodes, steps, sent = [root], [_steps(code, root)], None
    while steps:
        try:
            wanted = steps[-1].send(sent)  # type: ignore[arg-type]
        except StopIteration as done:
            steps.pop()
            sent = code.remember(nodes.pop(), done.value)
            continue
        sent = code.known(wanted)
        if sent is None:
            nodes.append(wanted)
            steps.append(_steps(code, wanted))
    assert sent is not None
    return sent


def _steps(code: Code, node: Expr) -> Steps:
    lazy = _LAZY.get(type(node))
    return lazy(code, node) if lazy is not None else _strict(code, node)


def _strict(code: Code, node: Expr) -> Steps:
    called = foreign(node.name) if isinstance(node, E.Call) else None
    if isinstance(node, E.Call) and called is not None:
        return (yield from foreign_call(code, node, called))
    if isinstance(node, E.Call) and is_atomic(node):
        return (yield from atomic_call(code, node))
    operands: list[Value] = []
    for operand in node.operands():
        operands.append((yield operand))
    if isinstance(node, E.Call):
        emit = CALLS.get(node.name)
        if emit is None:
            legal = 'target "cuda"' if node.name in INSTRUCTIONS else ""
            raise UnsupportedError(f"{node.name} on llvm", "the CPU has no such operation", legal, ir=repr(node))
        return emit(code, node, *operands)
    strict = STRICT.get(type(node))
    if strict is None:
        raise InternalError(
            f"a {type(node).__name__} reached code generation", because="it is not lowered", ir=repr(node)
        )
    return strict(code, node, *operands)


def _if_else(code: Code, node: E.IfElse) -> Steps:
    """A branch where a side reads memory, a mask on its lanes where the condition is a vector, else a select."""
    condition = yield node.condition
    if not (reads_memory(code, node.yes) or reads_memory(code, node.no)):
        yes, no = (yield node.yes), (yield node.no)
        return code.select(condition, yes, no, "choice")
    if lanes_of(condition.type) == 1:
        return (yield from choice(code, condition, _one(node.yes), _one(node.no)))
    with code.scope(code.narrowed(condition)):
        yes = yield node.yes
    inverse = code.op(condition.type, f"xor {condition}, {constant(True, condition.type).name}", "otherwise")
    with code.scope(code.narrowed(inverse)):
        no = yield node.no
    return code.select(condition, yes, no, "choice")


def _and(code: Code, node: E.And) -> Steps:
    return (yield from _connective(code, node, until=False))


def _or(code: Code, node: E.Or) -> Steps:
    return (yield from _connective(code, node, until=True))


def _connective(code: Code, node: E.And | E.Or, until: bool) -> Steps:
    """b decides unless a is `until` already; it is evaluated only there where it reads memory."""
    a = yield node.a
    decided = constant(until, a.type)
    if reads_memory(code, node.b) and lanes_of(a.type) == 1:
        sides = (_given(decided), _one(node.b)) if until else (_one(node.b), _given(decided))
        return (yield from choice(code, a, *sides))
    if reads_memory(code, node.b):
        wanted = code.op(a.type, f"xor {a}, {constant(True, a.type).name}") if until else a
        with code.scope(code.narrowed(wanted)):
            b = yield node.b
    else:
        b = yield node.b
    return code.select(a, decided, b, "or") if until else code.select(a, b, decided, "and")


def _one(node: Expr) -> Steps:
    return (yield node)


def _given(value: Value) -> Steps:
    return value
    yield  # makes this a generator of no steps


_LAZY: Final[dict[type[Any], Callable[..., Steps]]] = {
    E.Load: load,
    E.Address: address,
    E.IfElse: _if_else,
    E.And: _and,
    E.Or: _or,
}


def reads_memory(code: Code, root: Expr) -> bool:
    """Return whether evaluating `root` may read a buffer or leave the program: a side that is not taken must not."""
    memo = code.module.reads_memory
    stack = [root]
    while stack:
        node = stack[-1]
        if node in memo:
            stack.pop()
            continue
        if isinstance(node, E.Load) or (isinstance(node, E.Call) and foreign(node.name)):
            memo[node] = True
            continue
        operands = node.operands()
        waiting = [operand for operand in operands if operand not in memo]
        if waiting:
            stack.extend(waiting)
            continue
        memo[node] = any(memo[operand] for operand in operands)
    return memo[root]
