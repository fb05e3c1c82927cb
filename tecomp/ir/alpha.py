"""Whether two programs are one but for the identity of their variables and buffers, and the user's lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .expr import Address, Load, Var
from .func import Func
from .node import Expr
from .stmt import Across, Alloc, Buffer, Evaluate, For, If, Launch, Let, Seq, Stmt, Store
from .text import flattened, text
from .visit import ExprTable, rewrite_expr


def alpha_equal(f: Func, g: Func) -> bool:
    """Answer whether `f` and `g` differ in nothing but identities, names of variables and source lines."""
    return not difference(f, g)


def difference(f: Func, g: Func) -> str:
    """Return what first tells `f` from `g`, or an empty string. Nested Seqs count as one."""
    try:
        _Matching().funcs(f, g)
    except _Differ as found:
        return str(found)
    return ""


class _Differ(Exception):
    pass


class _Matching:
    """Pairs the variables and buffers of one program with those of another, walking both at once."""

    def __init__(self) -> None:
        self.pairs: dict[Any, Any] = {}
        self.memo: dict[Expr, Expr] = {}
        self.table: ExprTable = {
            Var: lambda var: self.pairs.get(var, var), Load: self.load, Address: self.address
        }  # fmt: skip

    def load(self, node: Load) -> Expr:
        return Load(self.pairs.get(node.buffer, node.buffer), node.indices, node.mask)

    def address(self, node: Address) -> Expr:
        return Address(self.pairs.get(node.buffer, node.buffer), node.indices, node.offset, node.mode)

    def same(self, what: str, a: Any, b: Any) -> None:
        """Refuse unless both values are equal."""
        if a != b:
            raise _Differ(f"{what}: {a!r} against {b!r}")

    def exprs(self, what: str, a: Sequence[Expr] | None, b: Sequence[Expr] | None) -> None:
        """Refuse unless both are the same expressions, over paired variables."""
        if a is None or b is None:
            self.same(what, a, b)
            return
        self.same(f"number of {what}", len(a), len(b))
        for x, y in zip(a, b, strict=True):
            if rewrite_expr(x, self.table, self.memo) is not y:
                raise _Differ(f"{what}: {text(x)} against {text(y)}")

    def bind(self, a: Any, b: Any) -> None:
        """Pair a variable or buffer with its counterpart."""
        if a in self.pairs:
            self.memo.clear()
        self.pairs[a] = b

    def vars(self, a: Var, b: Var) -> None:
        self.same(f"type of {a.name!r}", str(a.dtype), str(b.dtype))
        for x, y in ((a.min, b.min), (a.extent, b.extent)):
            self.exprs(f"range of {a.name!r}", None if x is None else [x], None if y is None else [y])
        self.bind(a, b)

    def buffers(self, a: Buffer, b: Buffer) -> None:
        for what in ("dtype", "scope", "align"):
            self.same(f"{what} of {a.name!r}", getattr(a, what), getattr(b, what))
        self.exprs(f"shape of {a.name!r}", a.shape, b.shape)
        self.exprs(f"strides of {a.name!r}", a.strides, b.strides)
        self.bind(a, b)

    def funcs(self, f: Func, g: Func) -> None:
        self.same("level", f.level.value, g.level.value)
        for what, ours, theirs in (("parameters", f.params, g.params), ("sizes", f.sizes(), g.sizes())):
            self.same(f"number of {what}", len(ours), len(theirs))
            self.same(f"kinds of {what}", [type(thing) for thing in ours], [type(thing) for thing in theirs])
        for a, b in _variables(f, g):
            self.vars(a, b)
        for a, b in _buffers(f, g):
            self.buffers(a, b)
        self.same(
            "outputs", {_position(f, output) for output in f.outputs}, {_position(g, output) for output in g.outputs}
        )
        self.exprs("requirements", [test for test, _ in f.requires], [test for test, _ in g.requires])
        self.same("requirements", [reason for _, reason in f.requires], [reason for _, reason in g.requires])
        self.suites(f.body, g.body)

    def suites(self, a: Stmt | None, b: Stmt | None) -> None:
        """Compare two suites; a Let or an Alloc at their end goes on in its body."""
        while True:
            ours, theirs = (flattened(stmt or Seq(())) for stmt in (a, b))
            self.same(
                "statements of a suite",
                [type(stmt).__name__ for stmt in ours],
                [type(stmt).__name__ for stmt in theirs],
            )
            if not ours:
                return
            for x, y in zip(ours[:-1], theirs[:-1], strict=True):
                self.stmts(x, y)
            a, b = ours[-1], theirs[-1]
            if not isinstance(a, (Let, Alloc)):
                break
            _HEADS[type(a)](self, a, b)
            a, b = a.body, b.body  # type: ignore[attr-defined]
        self.stmts(a, b)

    def stmts(self, a: Stmt, b: Stmt) -> None:
        _HEADS[type(a)](self, a, b)
        for field in a.bodies:
            self.suites(getattr(a, field), getattr(b, field))

    def loop(self, a: For, b: For) -> None:
        self.same("kind of a loop", (a.kind, a.thread), (b.kind, b.thread))
        self.same("number of pragmas", len(a.pragmas), len(b.pragmas))
        for (name, value), (other, counterpart) in zip(a.pragmas, b.pragmas, strict=True):
            self.same("pragma", name, other)
            same = value is counterpart if isinstance(value, Expr) else value == counterpart
            self.same(f"pragma {name}", True, same)
        self.vars(a.var, b.var)

    def launch(self, a: Launch, b: Launch) -> None:
        self.same("threads", [tag for tag, _ in a.threads], [tag for tag, _ in b.threads])
        for (_, var), (_, other) in zip(a.threads, b.threads, strict=True):
            self.vars(var, other)

    def across(self, a: Across, b: Across) -> None:
        self.same("threads", a.threads, b.threads)
        self.same("joined buffers", [self.pairs.get(x, x) for x in a.buffers], list(b.buffers))
        self.exprs("start values", a.combiner.identity, b.combiner.identity)
        ours, theirs = ((*c.lhs, *c.rhs) for c in (a.combiner, b.combiner))
        for x, y in zip(ours, theirs, strict=True):
            self.vars(x, y)
        self.exprs("join", a.combiner.result, b.combiner.result)

    def store(self, a: Store, b: Store) -> None:
        self.same("buffer stored to", self.pairs.get(a.buffer, a.buffer) is b.buffer, True)
        self.exprs(f"store to {a.buffer.name!r}", (*a.indices, a.value, a.mask), (*b.indices, b.value, b.mask))

    def branch(self, a: If, b: If) -> None:
        self.exprs("condition", [a.condition], [b.condition])

    def let(self, a: Let, b: Let) -> None:
        self.exprs(f"value of {a.var.name!r}", [a.value], [b.value])
        self.vars(a.var, b.var)

    def alloc(self, a: Alloc, b: Alloc) -> None:
        self.same(f"copies of {a.buffer.name!r}", a.copies, b.copies)
        self.buffers(a.buffer, b.buffer)

    def evaluate(self, a: Evaluate, b: Evaluate) -> None:
        self.exprs("value", [a.value], [b.value])


def _variables(f: Func, g: Func) -> Iterable[tuple[Any, Any]]:
    scalars = [(a, b) for a, b in zip(f.params, g.params, strict=True) if isinstance(a, Var)]
    return [*scalars, *zip(f.sizes(), g.sizes(), strict=True)]


def _buffers(f: Func, g: Func) -> Iterable[tuple[Any, Any]]:
    return [(a, b) for a, b in zip(f.params, g.params, strict=True) if isinstance(a, Buffer)]


def _position(func: Func, output: Buffer) -> int:
    return next((place for place, param in enumerate(func.params) if param is output), -1)


_HEADS: dict[type[Stmt], Callable[[_Matching, Any, Any], None]] = {
    For: _Matching.loop,
    Launch: _Matching.launch,
    Across: _Matching.across,
    Store: _Matching.store,
    If: _Matching.branch,
    Let: _Matching.let,
    Alloc: _Matching.alloc,
    Evaluate: _Matching.evaluate,
}
