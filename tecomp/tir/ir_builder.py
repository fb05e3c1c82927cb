"""Statements written by running Python: the bodies of te.extern and of tensor intrinsics.

    ib = tir.ir_builder.create()
    A, B = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    with ib.for_range(0, n, name="i", kind="parallel") as i:
        with ib.if_scope(A[i] > 0):
            B[i] = A[i] * 2.0
        with ib.else_scope():
            B[i] = 0.0
    return ib.get()

What is declared (a variable by `let`, memory by `allocate`, threads by `scope_attr`) lasts to the end of its block.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, TypeVar

from ..dtype import INT32, DType
from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import IterVar
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, Evaluate, For, If, Let, LoopKind, Seq, Stmt
from ..ir.subst import substitute_stmt
from ..location import caller
from ..te.axis import VIRTUAL_TAGS
from ..te.buffer import DeclaredBuffer, decl_buffer
from ..te.logic import likely
from ..te.shape import name_of
from .pointer import Pointer

_KINDS: Final = {
    "serial": LoopKind.SERIAL,
    "parallel": LoopKind.PARALLEL,
    "vectorize": LoopKind.VECTORIZED,
    "vectorized": LoopKind.VECTORIZED,
    "unroll": LoopKind.UNROLLED,
    "unrolled": LoopKind.UNROLLED,
}

T = TypeVar("T")
Wrap = Callable[[Stmt], Stmt]
"""What a declaration makes of the rest of its block."""


class _Block:
    """The statements of an open block: those before the first declaration, those between it and the next, ..."""

    def __init__(self) -> None:
        self.parts: list[tuple[Wrap, list[Stmt]]] = [(lambda rest: rest, [])]

    @property
    def stmts(self) -> list[Stmt]:
        return self.parts[-1][1]

    def whole(self) -> Stmt:
        """Return the block as one statement."""
        rest: list[Stmt] = []
        for wrap, stmts in reversed(self.parts):
            together = [*stmts, *rest]
            rest = [wrap(together[0] if len(together) == 1 else Seq(tuple(together)))]
        return rest[0]


class IRBuilder:
    """Collects the statements that its methods and the stores to its buffers make."""

    def __init__(self) -> None:
        self._blocks = [_Block()]

    def get(self) -> Stmt:
        """Return all statements as one; UserError while a block is open."""
        if len(self._blocks) > 1:
            raise UserError("ib.get() inside a block", because="the block has not ended", legal="after the with blocks")
        return self._blocks[0].whole()

    def emit(self, stmt: Any) -> None:
        """Add a statement; of an expression, its evaluation."""
        if not isinstance(stmt, Stmt):
            stmt = Evaluate(make.convert(stmt), loc=caller())
        self._blocks[-1].stmts.append(stmt)

    def for_range(
        self, begin: Any, end: Any, name: str = "i", dtype: str = "int32", kind: str = "serial"
    ) -> AbstractContextManager[E.Var]:
        """Open the loop over the integers from `begin` up to, without, `end`, and give its variable.

        kind  serial, parallel (iterations at once, on several cores), vectorize, unroll
        """
        asked = f"ib.for_range {name!r}"
        if kind not in _KINDS:
            raise UserError(
                f"{asked}: kind {kind!r}",
                because="no loop is called so",
                legal="serial, parallel, vectorize, unroll; ib.scope_attr for the threads of a GPU",
            )
        if dtype not in ("int32", "int64"):
            legal = "int32, int64"
            raise UserTypeError(f"{asked}: dtype {dtype}", because="loops count in int32 or int64", legal=legal)
        first, last = (_integer(asked, DType(dtype), value) for value in (begin, end))
        var = E.Var(name_of("ib.for_range", name), first.dtype, first, make.sub(last, first))
        loc = caller()
        return self._scope(var, lambda body: self.emit(For(var, _KINDS[kind], body, loc=loc)))

    def if_scope(self, cond: Any) -> AbstractContextManager[None]:
        """Open the statements that run where `cond` holds."""
        condition, loc = _condition("ib.if_scope", cond), caller()
        return self._scope(None, lambda body: self.emit(If(condition, body, loc=loc)))

    def else_scope(self) -> AbstractContextManager[None]:
        """Open the statements that run where the condition of the if_scope just closed does not hold."""
        stmts = self._blocks[-1].stmts
        before = stmts[-1] if stmts else None
        if not isinstance(before, If) or before.otherwise is not None:
            because = "no if_scope stands right before it"
            raise UserError("ib.else_scope()", because, legal="with ib.if_scope(...): first")

        def close(body: Stmt) -> None:
            stmts[-1] = before.copy(otherwise=body)

        return self._scope(None, close)

    @contextmanager
    def _scope(self, given: T, close: Callable[[Stmt], None]) -> Generator[T]:
        """Collect the statements of a `with` block, and hand them to `close` at its end."""
        block = _Block()
        self._blocks.append(block)
        try:
            yield given
        finally:
            self._blocks.pop()
        close(block.whole())

    def let(self, var_name: str, value: Any) -> E.Var:
        """Return a variable that has this value, computed here, in the rest of the block."""
        given = make.convert(value)
        var = E.Var(name_of("ib.let", var_name), given.dtype)
        loc = caller()
        self._declare(lambda rest: Let(var, given, rest, loc=loc))
        return var

    def allocate(
        self, dtype: str, shape: Any, name: str = "buf", axis_separators: Any = None, scope: str = ""
    ) -> Pointer:
        """Return memory for the rest of the block; it holds anything until it is stored to."""
        asked = f"ib.allocate {name!r}"
        if axis_separators:
            raise UserError(f"{asked}: axis_separators", because="memory has one address an element", legal="without")
        buffer = decl_buffer(shape, dtype, name_of("ib.allocate", name), scope=scope)
        self._declare(lambda rest: Alloc(buffer, rest, loc=buffer.loc))
        return Pointer(self.emit, buffer)

    def buffer_ptr(self, buf: DeclaredBuffer, shape: Any = None) -> Pointer:
        """Return the elements of a buffer: `p[i, j]` reads, `p[i, j] = value` adds a store."""
        if not isinstance(buf, Buffer):
            raise UserTypeError(
                f"ib.buffer_ptr of {buf!r}", because=f"it is a {type(buf).__name__}", legal="a buffer of ins or outs"
            )
        if shape is not None:
            raise UserError("ib.buffer_ptr: shape", because="a buffer has one shape", legal="one flat index, p[i]")
        return Pointer(self.emit, buf)

    def pointer(self, content_type: str, name: str = "ptr", scope: str = "") -> Pointer:
        """Return the elements of memory that is declared here, of unknown length."""
        return Pointer(self.emit, decl_buffer((E.Var(f"{name}_size", INT32),), content_type, name, scope=scope))

    def scope_attr(self, node: Any, attr_key: str, value: Any) -> None:
        """Run the rest of the block once for each of `value` threads of the axis `node`: the key is "thread_extent"."""
        asked = f"ib.scope_attr {attr_key!r}"
        if attr_key != "thread_extent":
            raise UserError(asked, because="it has no meaning here", legal='"thread_extent" of a te.thread_axis')
        if not isinstance(node, IterVar) or not node.thread_tag:
            raise UserTypeError(
                f"{asked} of {node!r}", because="it is no thread axis", legal='te.thread_axis("threadIdx.x")'
            )
        extent = _integer(asked, node.var.dtype, value)
        var = E.Var(node.name, node.var.dtype, make.const(0, node.var.dtype), extent)
        virtual = node.thread_tag in VIRTUAL_TAGS
        kind, thread = (LoopKind.VIRTUAL, "") if virtual else (LoopKind.THREAD, node.thread_tag)
        loc = caller()
        self._declare(lambda rest: For(var, kind, substitute_stmt(rest, {node.var: var}), thread, loc=loc))

    def likely(self, expr: Any) -> Expr:
        """Return the condition: which guards usually hold is found out, not told."""
        return likely(expr)

    def while_loop(self, condition: Any) -> None:
        """Refuse: how often a loop runs is known when it begins."""
        raise UserError(
            f"ib.while_loop({condition!r})",
            because="how often a loop runs must be known when it begins",
            legal="ib.for_range up to the greatest number, with an if_scope inside",
        )

    def _declare(self, wrap: Wrap) -> None:
        self._blocks[-1].parts.append((wrap, []))


def create() -> IRBuilder:
    """Return a builder without statements."""
    return IRBuilder()


def _integer(asked: str, dtype: DType, value: Any) -> Expr:
    """Return a bound as an integer of `dtype`, or of its own wider type."""
    found = make.convert(value, dtype)
    if not found.dtype.is_integer or found.dtype.lanes > 1:
        raise UserTypeError(f"{asked}: {value!r} as a bound", because=f"it is {found.dtype}", legal="an integer")
    return make.cast(make.promoted(found.dtype, dtype), found)


def _condition(asked: str, value: Any) -> Expr:
    found = make.convert(value)
    if found.dtype.is_bool and found.dtype.lanes == 1:
        return found
    raise UserTypeError(f"{asked} of {value!r}", because=f"it is {found.dtype}", legal="a comparison, te.all, te.any")
