"""Buffers, statements and functions: what a program is.

All kinds of statement stand here, because a pass that looks at one has to know them all.
Statements are compared by identity: two equal loops written on two lines are two loops. `loc` is the user's line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from operator import is_
from typing import Any, ClassVar, Final, Self

from ..dtype import DType
from ..location import Location
from .expr import Combiner, Expr, Var
from .flat import found, placed, rows_of


class Buffer:
    """Memory of `shape` elements of `dtype`, in `scope`; equal only to itself.

    `strides` count elements; None is row-major without gaps. `align` is what the address of element 0 is known to be a
    multiple of, in bytes. `scope` is global, shared, shared.dyn, warp or local. A 0-D local buffer is a mutable scalar.
    """

    __slots__ = ("align", "dtype", "loc", "name", "scope", "shape", "strides")

    def __init__(
        self,
        name: str,
        shape: tuple[Expr, ...],
        dtype: DType,
        scope: str = "global",
        strides: tuple[Expr, ...] | None = None,
        align: int = 0,
        loc: Location | None = None,
    ) -> None:
        self.name, self.shape, self.dtype, self.scope = name, shape, dtype, scope
        self.strides, self.align, self.loc = strides, align or dtype.element.bytes, loc

    @property
    def is_shared(self) -> bool:
        """Whether the threads of a block have it in common; "shared.dyn" is placed where a launch says how much."""
        return self.scope in ("shared", "shared.dyn")

    def __repr__(self) -> str:
        dims = ", ".join(map(repr, self.shape))
        return f"{self.name}: {self.dtype.short}[{dims}]" + ("" if self.scope == "global" else f" in {self.scope}")


class Note(Buffer):
    """Memory that threads write in any order: which of them is kept does not matter."""

    __slots__ = ()


class LoopKind(Enum):
    """How the iterations of a loop run."""

    SERIAL = "range"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    THREAD = "thread"
    """All at once, one GPU thread or block each; `For.thread` says along which."""
    VIRTUAL = "vthread"
    """As if in threads of their own, within one: they may share what none of them tells apart."""


class Stmt:
    """A step of a program. `fields` names its parts; `bodies` those that are statements, `exprs` the expressions."""

    __slots__ = ("loc",)
    fields: ClassVar[tuple[str, ...]] = ()
    exprs: ClassVar[tuple[str, ...]] = ()
    bodies: ClassVar[tuple[str, ...]] = ()
    loc: Location | None

    def substatements(self) -> Iterator[Stmt]:
        """Yield the statements directly below."""
        for field in self.bodies:
            part = getattr(self, field)
            if isinstance(part, tuple):
                yield from part
            elif part is not None:
                yield part

    def expressions(self) -> Iterator[Expr]:
        """Yield the expressions of this statement itself."""
        for field in self.exprs:
            part = getattr(self, field)
            if isinstance(part, tuple):
                yield from part
            else:
                yield part

    def map(self, on_stmt: Callable[[Stmt], Stmt], on_expr: Callable[[Expr], Expr]) -> Stmt:
        """Return this statement over mapped parts; itself when none changed."""
        parts = {field: getattr(self, field) for field in self.fields}
        changed = False
        for field in (*self.exprs, *self.bodies):
            old = parts[field]
            verb: Callable[[Any], Any] = on_expr if field in self.exprs else on_stmt
            if isinstance(old, tuple):
                new: Any = tuple([verb(part) for part in old])
                same = all(map(is_, old, new))
            else:
                new = None if old is None else verb(old)
                same = new is old
            if not same:
                parts[field], changed = new, True
        return self.copy(**parts) if changed else self

    def copy(self, **changes: Any) -> Self:
        """Return this statement with some parts replaced; its line stays."""
        parts = {field: getattr(self, field) for field in self.fields} | changes
        return type(self)(**parts, loc=self.loc)  # pyright: ignore[reportCallIssue] (every subclass takes its line)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a list of statements."""
        return _rebuilt, (rows_of(self, lambda node: node.substatements(), _row),)

    def __repr__(self) -> str:
        return STMT_TEXT[0](self) if STMT_TEXT else object.__repr__(self)


def _row(node: Stmt, places: dict[Any, int]) -> Any:
    """Return a statement of a pickled list: its class, its line, its parts."""
    parts = {field: getattr(node, field) for field in node.fields}
    return type(node), node.loc, parts | {field: placed(parts[field], places) for field in node.bodies}


def _rebuilt(rows: list[Any]) -> Stmt:
    nodes: list[Stmt] = []
    for kind, loc, parts in rows:
        nodes.append(kind(**parts | {field: found(parts[field], nodes) for field in kind.bodies}, loc=loc))
    return nodes[-1]


STMT_TEXT: list[Callable[[Any], str]] = []
"""How a statement or function prints; `text` fills it."""


class For(Stmt):
    """for var in kind(var.min, var.min + var.extent): body. Its pragmas are (name, value) pairs."""

    __slots__ = ("body", "kind", "pragmas", "thread", "var")
    fields = ("var", "kind", "body", "thread", "pragmas")
    bodies = ("body",)

    def __init__(
        self,
        var: Var,
        kind: LoopKind,
        body: Stmt,
        thread: str = "",
        pragmas: tuple[tuple[str, Any], ...] = (),
        loc: Location | None = None,
    ) -> None:
        self.var, self.kind, self.body, self.thread, self.pragmas, self.loc = var, kind, body, thread, pragmas, loc

    @property
    def loop_var(self) -> Var:
        """The variable, by TVM's name."""
        return self.var

    @property
    def min(self) -> Expr:
        """The first value of the variable."""
        assert self.var.min is not None
        return self.var.min

    @property
    def extent(self) -> Expr:
        """The number of iterations; 0 or less means none."""
        assert self.var.extent is not None
        return self.var.extent

    def expressions(self) -> Iterator[Expr]:
        """The range of the variable; a pass that changes it makes a new variable."""
        yield self.min
        yield self.extent


CLUSTER: Final = "cluster.x"


class Launch(Stmt):
    """One GPU kernel: body runs once for each value of all threads together. threads are (tag, variable) pairs.

    A variable of the tag CLUSTER counts nothing: so many neighbours along blockIdx.x are a cluster, whose blocks may
    wait for each other, and it is the number of a block in its own.
    """

    __slots__ = ("body", "threads")
    fields = ("threads", "body")
    bodies = ("body",)

    def __init__(self, threads: tuple[tuple[str, Var], ...], body: Stmt, loc: Location | None = None) -> None:
        self.threads, self.body, self.loc = threads, body, loc

    def expressions(self) -> Iterator[Expr]:
        """The extent of each thread axis."""
        for _, var in self.threads:
            assert var.extent is not None
            yield var.extent


class Store(Stmt):
    """buffer[indices] = value, in the lanes where mask holds."""

    __slots__ = ("buffer", "indices", "mask", "value")
    fields = ("buffer", "indices", "value", "mask")
    exprs = ("indices", "value", "mask")

    def __init__(
        self, buffer: Buffer, indices: tuple[Expr, ...], value: Expr, mask: Expr, loc: Location | None = None
    ) -> None:
        self.buffer, self.indices, self.value, self.mask, self.loc = buffer, indices, value, mask, loc

    @property
    def lanes(self) -> int:
        """How many elements it writes at once."""
        return self.buffer.dtype.lanes * max((index.dtype.lanes for index in self.indices), default=1)


class If(Stmt):
    """if condition: then, else: otherwise (None is nothing)."""

    __slots__ = ("condition", "otherwise", "then")
    fields = ("condition", "then", "otherwise")
    exprs = ("condition",)
    bodies = ("then", "otherwise")

    def __init__(self, condition: Expr, then: Stmt, otherwise: Stmt | None = None, loc: Location | None = None) -> None:
        self.condition, self.then, self.otherwise, self.loc = condition, then, otherwise, loc

    @property
    def then_case(self) -> Stmt:
        """What is done where the condition holds, by TVM's name."""
        return self.then

    @property
    def else_case(self) -> Stmt | None:
        """What is done elsewhere, by TVM's name."""
        return self.otherwise


class Let(Stmt):
    """var = value, then body; var is never assigned again."""

    __slots__ = ("body", "value", "var")
    fields = ("var", "value", "body")
    exprs = ("value",)
    bodies = ("body",)

    def __init__(self, var: Var, value: Expr, body: Stmt, loc: Location | None = None) -> None:
        self.var, self.value, self.body, self.loc = var, value, body, loc


class Alloc(Stmt):
    """Memory for buffer that lives as long as body; it holds anything until it is stored to.

    `copies` is how many iterations of the loop around it should have such memory at once: with 2, one fills it while
    the one before uses its own. It changes no value; the pass `double_buffer` makes the copies.
    """

    __slots__ = ("body", "buffer", "copies")
    fields = ("buffer", "body", "copies")
    bodies = ("body",)

    def __init__(self, buffer: Buffer, body: Stmt, copies: int = 1, loc: Location | None = None) -> None:
        self.buffer, self.body, self.copies, self.loc = buffer, body, copies, loc

    def expressions(self) -> Iterator[Expr]:
        """The extents of the buffer."""
        yield from self.buffer.shape


class Across(Stmt):
    """A reduction whose parts threads share out: body folds a part in each thread, then all parts are joined.

    `buffers`, local and without dimensions, one for each value of the combiner, hold its identity when body begins.
    Body joins values to them; behind it they hold, in every thread, the join over all threads of the axes `threads`.
    """

    __slots__ = ("body", "buffers", "combiner", "threads")
    fields = ("threads", "buffers", "combiner", "body")
    bodies = ("body",)

    def __init__(
        self,
        threads: tuple[str, ...],
        buffers: tuple[Buffer, ...],
        combiner: Combiner,
        body: Stmt,
        loc: Location | None = None,
    ) -> None:
        self.threads, self.buffers, self.combiner, self.body, self.loc = threads, buffers, combiner, body, loc


class Seq(Stmt):
    """One statement after the other; an empty one does nothing."""

    __slots__ = ("stmts",)
    fields = bodies = ("stmts",)

    def __init__(self, stmts: tuple[Stmt, ...], loc: Location | None = None) -> None:
        self.stmts, self.loc = stmts, loc


def in_order(stmt: Stmt) -> tuple[Stmt, ...]:
    """Return the statements of a Seq; any other statement alone."""
    return stmt.stmts if isinstance(stmt, Seq) else (stmt,)


class Evaluate(Stmt):
    """value evaluated for its effect: a barrier, a prefetch."""

    __slots__ = ("value",)
    fields = exprs = ("value",)

    def __init__(self, value: Expr, loc: Location | None = None) -> None:
        self.value, self.loc = value, loc
