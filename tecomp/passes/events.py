"""What a kernel's statements do to the memory that threads share, in order, with where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from ..arith import NO_FACTS, Facts, can_prove
from ..arith.overlap import Place
from ..ir import expr as E
from ..ir import make
from ..ir.instruction import is_of_thread
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, Evaluate, For, If, Launch, Let, Seq, Stmt
from ..ir.visit import conjuncts, walk
from .accesses import Access, accesses, repeatable, uses

BARRIER: Final = make.call("barrier_block", "int32")
GRID_BARRIER: Final = make.call("barrier_grid", "int32")


@dataclass(frozen=True, slots=True)
class Scope:
    """What surrounds a statement: the variables defined there, from the outside in, and which threads come there."""

    vars: tuple[E.Var, ...] = ()
    varying: frozenset[E.Var] = frozenset()
    """The variables whose values differ from thread to thread."""
    facts: Facts = NO_FACTS
    """What conditions tell of those variables."""
    divergent: bool = False
    """Whether some threads of a block may come here without the others."""

    def inside(self, var: E.Var, varies: bool) -> Scope:
        """Return the scope in which `var` is defined."""
        return replace(self, vars=(*self.vars, var), varying=self.varying | {var} if varies else self.varying)

    def under(self, condition: Expr, varies: bool) -> Scope:
        """Return the scope of what runs where `condition` holds."""
        facts = self.facts
        for part in conjuncts(condition):
            if uses(part, self.varying.union(self.vars)) and repeatable(part):
                facts = facts.assume(part)
        return replace(self, facts=facts, divergent=self.divergent or varies)

    def varies(self, *parts: Expr) -> bool:
        """Return whether a value may differ between the threads of a block."""
        return any(self._differs(node) for part in parts for node in walk(part))

    def _differs(self, node: Expr) -> bool:
        if isinstance(node, (E.Load, E.Address)):
            return node.buffer.scope in ("local", "warp")
        return node in self.varying if isinstance(node, E.Var) else is_of_thread(node)


@dataclass(frozen=True, slots=True)
class Event:
    """One access to watched memory, what is known where it stands, and the variables defined there."""

    buffer: Buffer
    place: Place
    writes: bool
    vars: tuple[E.Var, ...]
    atomic: bool = False
    """Whether it is an indivisible update."""

    def minds(self, other: Event) -> bool:
        """Return whether it matters which of two accesses to one element comes first."""
        return (self.writes or other.writes) and not (self.atomic and other.atomic)

    @property
    def called(self) -> bool:
        """Whether a function that gets the address does it, somewhere in the buffer."""
        return any(isinstance(node, E.Address) for index in self.place.indices for node in walk(index))


class Events:
    """Events of the statements of a kernel on the buffers that are `watched`."""

    def __init__(self, watched: Iterable[Buffer]) -> None:
        self.watched = frozenset(watched)

    def of(self, node: Stmt | Expr, scope: Scope) -> list[Event]:
        """Return the events of one leaf statement or expression, reads first."""
        found = dict.fromkeys(access for access in accesses(node) if access.buffer in self.watched)
        return sorted((_event(access, scope) for access in found), key=lambda event: event.writes)

    def first(self, node: Stmt, scope: Scope) -> list[Event]:
        """Return the events of `node` that no barrier inside it comes before."""
        return self._edge(node, scope, 1)[0]

    def last(self, node: Stmt, scope: Scope) -> list[Event]:
        """Return the events of `node` that no barrier inside it comes after."""
        return self._edge(node, scope, -1)[0]

    def closes(self, node: Stmt, scope: Scope) -> bool:
        """Return whether a barrier is met in `node` for certain."""
        return self._edge(node, scope, 1)[1]

    def _edge(self, node: Stmt, scope: Scope, order: int) -> tuple[list[Event], bool]:
        """Return the events from one end up to a barrier, and whether a barrier is met for certain."""
        if is_barrier(node):
            return [], True
        match node:
            case Seq():
                return self._first_of([(part, scope) for part in node.stmts][::order], order)
            case Alloc():
                return self._edge(node.body, scope, order)
            case For():
                varies = scope.varies(node.min, node.extent)
                found, closed = self._edge(node.body, scope.inside(node.var, varies), order)
                return found, closed and can_prove(make.le(make.const(1, node.extent.dtype), node.extent))
            case Let():
                found, closed = self._edge(node.body, scope.inside(node.var, scope.varies(node.value)), order)
                return found if closed and order < 0 else found + self.of(node.value, scope), closed
            case If():
                return self._sides(node, scope, order)
            case _:
                return self.of(node, scope), False

    def _first_of(self, parts: Iterable[tuple[Stmt, Scope]], order: int) -> tuple[list[Event], bool]:
        found: list[Event] = []
        for part, scope in parts:
            more, closed = self._edge(part, scope, order)
            found += more
            if closed:
                return found, True
        return found, False

    def _sides(self, node: If, scope: Scope, order: int) -> tuple[list[Event], bool]:
        varies = scope.varies(node.condition)
        found, closed = self._edge(node.then, scope.under(node.condition, varies), order)
        other, also = [], False
        if node.otherwise is not None:
            other, also = self._edge(node.otherwise, scope.under(make.logical_not(node.condition), varies), order)
        asked = [] if closed and also and order < 0 else self.of(node.condition, scope)
        return [*asked, *found, *other], closed and also


def is_barrier(node: Stmt) -> bool:
    """Return whether all threads of a block wait for each other at a statement."""
    return isinstance(node, Evaluate) and node.value in (BARRIER, GRID_BARRIER)


def is_grid_barrier(node: Stmt | Expr) -> bool:
    """Return whether all threads of a kernel wait for each other at a statement."""
    return isinstance(node, Evaluate) and node.value is GRID_BARRIER


def _event(access: Access, scope: Scope) -> Event:
    return Event(access.buffer, Place(access.indices, scope.facts), access.writes, scope.vars, access.atomic)


def passed_between_threads(launch: Launch) -> set[Buffer]:
    """Return the buffers through which the threads of a kernel may pass values: shared, or global and read again.

    An update reads too, but nothing that only other updates have written.
    """
    read, written, updated = set[Buffer](), set[Buffer](), set[Buffer]()
    for access in accesses(launch.body):
        (updated if access.atomic else written if access.writes else read).add(access.buffer)
    passed = (written & (read | updated)) | (updated & read)
    return {
        buffer for buffer in written | updated if buffer.is_shared or (buffer.scope == "global" and buffer in passed)
    }
