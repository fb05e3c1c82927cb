"""Warp memory: each thread along threadIdx.x keeps its elements in registers, and the others read them from there.

    P = alloc(f32[34], 'warp')                      P_held = alloc(f32[2], 'local')
    for j in range(2):                              for j in range(2):
        if j * 32 + threadIdx_x < 34:                   if j * 32 + threadIdx_x < 34:
            P[j * 32 + threadIdx_x] = ...     ->            P_held[j] = ...
    B[threadIdx_x] = P[33 - threadIdx_x]            low = shuffle(P_held[0], (33 - threadIdx_x) % 32, -1)
                                                    high = shuffle(P_held[1], (33 - threadIdx_x) % 32, -1)
                                                    B[threadIdx_x] = select((33 - threadIdx_x) // 32 == 0, low, high)

Of 32 threads, element i of the last dimension is kept by thread i % 32, in its register i // 32; so it is of 16, 8, 4
or 2, which are a part of a warp. All lanes of a warp come to an exchange: guards go below it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..arith import can_prove, interval, simplify
from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, Evaluate, For, If, Launch, Let, LoopKind, Seq, Stmt, Store, in_order
from ..ir.visit import rewrite, rewrite_expr, walk
from ..target import Target
from ..target.limits import WARP
from .accesses import has
from .events import Scope
from .simplify import simplified
from .thread_groups import ZERO, Groups, groups_of
from .thread_join import first_lanes
from .together import apart, below

WHAT: Final = "lanes exchange values"
ALONG: Final = "threadIdx.x"
MOST_REGISTERS: Final = 8
"""From how many registers of another thread the one is chosen that only this thread knows."""


def run(func: Func, target: Target) -> Func:
    """Return `func` with warp memory as registers."""

    def kernel(node: Launch) -> Stmt:
        held = [below.buffer for below in walk(node.body) if isinstance(below, Alloc) and below.buffer.scope == "warp"]
        return node.copy(body=_Warp(node, held).body()) if held else node

    return func.with_body(rewrite(func.body, stmts={Launch: kernel}))


class _Exchange(NamedTuple):
    """A name for what another thread holds, and the exchange that gives it."""

    var: E.Var
    value: Expr


class _Warp:
    """One kernel with warp memory, in `held`."""

    def __init__(self, launch: Launch, held: list[Buffer]) -> None:
        self.launch = launch
        axes = {tag: var for tag, var in sorted(launch.threads) if tag.startswith("threadIdx")}
        self.threads = frozenset(axes.values())
        self.keepers = frozenset(var for tag, var in axes.items() if tag == ALONG)
        self.me: Expr = axes.get(ALONG, ZERO)
        self.width = _width(axes.get(ALONG), held[0])
        lanes: Groups = groups_of(axes, (ALONG,))
        self.first = simplify(make.mul(make.floordiv(lanes.lane, self.width), self.width))
        self.present = first_lanes(lanes.here)
        self.mask = self.present if isinstance(self.present, E.Const) else E.Var("mask", self.present.dtype)
        self.registers = {buffer: self._registers(buffer) for buffer in held}

    def _registers(self, buffer: Buffer) -> Buffer:
        if not buffer.shape:
            raise _refusal(buffer, "it is one element, and each thread keeps elements of its last dimension", "local")
        *outer, last = buffer.shape
        count = simplify(make.floordiv(make.add(last, self.width - 1), self.width))
        return Buffer(f"{buffer.name}_held", (*outer, count), buffer.dtype, "local", loc=buffer.loc)

    def body(self) -> Stmt:
        """Return the kernel's body."""
        body = rewrite(self.launch.body, stmts={Store: self.store})
        body = self.stmt(body, Scope(varying=self.threads), Scope(varying=self.keepers))
        body = rewrite(body, stmts={Alloc: self.alloc})
        return Let(self.mask, self.present, body) if isinstance(self.mask, E.Var) else body

    def alloc(self, node: Alloc) -> Stmt:
        """Return registers in place of warp memory."""
        return node.copy(buffer=self.registers.get(node.buffer, node.buffer))

    def cleared(self, node: Alloc) -> Stmt:
        """Return warp memory with its registers zero: lanes exchange also what none of them has stored to."""
        registers = self.registers[node.buffer]
        at = [E.Var("r", INDEX, ZERO, extent) for extent in registers.shape]
        clear: Stmt = Store(registers, tuple(at), make.const(0, registers.dtype), make.TRUE, loc=node.loc)
        for var in reversed(at):
            clear = For(var, LoopKind.UNROLLED, clear, loc=node.loc)
        return node.copy(body=Seq((simplified(clear), *in_order(node.body))))

    def store(self, node: Store) -> Stmt:
        """Return the store to a register; ScheduleError unless the thread that keeps the element does it."""
        registers = self.registers.get(node.buffer)
        if registers is None:
            return node
        *outer, last = node.indices
        if last.dtype.lanes > 1 or not can_prove(make.eq(make.floormod(last, self.width), self.me)):
            raise _refusal(
                node.buffer,
                f"element {last!r} is stored, which not provably this thread keeps: i % {self.width} is its {ALONG}",
                f"split the loop over the last dimension by {self.width}, and bind the inner one to {ALONG}",
            )
        return node.copy(buffer=registers, indices=(*outer, simplify(make.floordiv(last, self.width))))

    def stmt(self, node: Stmt, scope: Scope, lanes: Scope) -> Stmt:
        """Return a statement that all threads come to; `scope` tells which values differ between the threads of a
        block, `lanes` which do between those that keep elements together."""
        if not self.meets(node):
            return node
        found: list[_Exchange] = []

        def expr(root: Expr) -> Expr:
            return self.expr(root, lanes, found)

        def part(below: Stmt) -> Stmt:
            return self.stmt(below, scope, lanes)

        match node:
            case If(otherwise=None, then=Store() | Evaluate()):
                return _after(found, node.map(lambda leaf: leaf.map(part, expr), expr))
            case If() if scope.varies(node.condition) and any(map(self.meets, node.substatements())):
                return self.stmt(below(node, self.meets, WHAT), scope, lanes)
            case For() if scope.varies(node.min, node.extent):
                raise apart(node, f"how often the loop '{node.var.name}' runs", WHAT)
            case For():
                scope, lanes = scope.inside(node.var, varies=False), lanes.inside(node.var, varies=False)
            case Let():
                scope = scope.inside(node.var, scope.varies(node.value))
                lanes = lanes.inside(node.var, lanes.varies(node.value))
            case _:
                pass
        new = _after(found, node.map(part, expr))
        return self.cleared(new) if isinstance(new, Alloc) and new.buffer in self.registers else new

    def meets(self, node: Stmt) -> bool:
        """Return whether threads read each other's elements in a statement."""
        return any(isinstance(below, E.Load) and below.buffer in self.registers for below in walk(node))

    def expr(self, root: Expr, lanes: Scope, found: list[_Exchange]) -> Expr:
        """Return an expression over registers, its exchanges added to those found."""

        def load(node: E.Load) -> Expr:
            return self.read(node, lanes, found) if node.buffer in self.registers else node

        return rewrite_expr(root, {E.Load: load})

    def read(self, node: E.Load, lanes: Scope, found: list[_Exchange]) -> Expr:
        """Return the value of an element: from a register of this thread, or by way of exchanges."""
        *outer, last = node.indices
        self._check(node, outer, lanes)
        slot = simplify(make.floordiv(last, self.width))
        lane = simplify(make.floormod(last, self.width))
        registers = self.registers[node.buffer]
        if can_prove(make.eq(lane, self.me)):
            return make.load(registers, (*outer, slot))
        *rows, count = map(_constant, registers.shape)
        place = [_clamped(index, extent) for index, extent in zip(outer, rows, strict=True)]
        if not lanes.varies(slot) and _within(slot, count):
            return self.exchanged(registers, (*place, slot), lane, found)
        if count > MOST_REGISTERS:
            raise _refusal(
                node.buffer,
                f"which of {count} registers holds element {last!r} differs from thread to thread",
                "shared",
            )
        choices = [self.exchanged(registers, (*place, make.index(n)), lane, found) for n in range(count)]
        value = choices[-1]
        for number, choice in reversed(list(enumerate(choices[:-1]))):
            value = make.select(make.eq(slot, make.index(number)), choice, value)
        return value

    def exchanged(self, registers: Buffer, place: tuple[Expr, ...], lane: Expr, found: list[_Exchange]) -> Expr:
        """Return the name of what the thread numbered `lane` holds in its register at `place`."""
        held = make.load(registers, place)
        value = make.call("shuffle", held.dtype, held, simplify(make.add(self.first, lane)), self.mask)
        known = next((exchange.var for exchange in found if exchange.value is value), None)
        if known is None:
            known = E.Var(f"{registers.name}_by", held.dtype)
            found.append(_Exchange(known, value))
        return known

    def _check(self, node: E.Load, outer: list[Expr], lanes: Scope) -> None:
        last = node.indices[-1]
        if node.dtype.lanes > 1 or node.mask is not make.TRUE:
            raise _refusal(node.buffer, f"{node.dtype} is read at once, and lanes exchange single values", "shared")
        if has(last, E.Load):
            raise _refusal(node.buffer, f"its index {last!r} reads memory, which not every thread may", "shared")
        differs = next((index for index in outer if lanes.varies(index)), None)
        if differs is not None:
            raise _refusal(
                node.buffer,
                f"threads read different rows of it at once, {differs!r}, and one thread gives one value",
                "shared",
            )


def _after(found: list[_Exchange], node: Stmt) -> Stmt:
    """Return a statement behind the exchanges that it needs."""
    for exchange in reversed(found):
        node = Let(exchange.var, exchange.value, node, loc=node.loc)
    return node


def _width(along: E.Var | None, buffer: Buffer) -> int:
    """Return how many threads keep elements together."""
    extent = make.index(1) if along is None else along.extent
    if isinstance(extent, E.Const) and WARP % int(extent.value) == 0:
        return int(extent.value)
    raise _refusal(buffer, f"{ALONG} has the extent {extent!r}, and groups of that many do not fill a warp", "shared")


def _constant(extent: Expr) -> int:
    assert isinstance(extent, E.Const)
    return int(extent.value)


def _within(index: Expr, extent: int) -> bool:
    known = interval(index)
    return known.lo is not None and known.hi is not None and known.lo >= 0 and known.hi < extent


def _clamped(index: Expr, extent: int) -> Expr:
    """Return an index as it is where it may be used; elsewhere, below which a guard may have gone, one that may."""
    if _within(index, extent):
        return index
    return simplify(make.minimum(make.maximum(index, ZERO), make.index(extent - 1)))


def _refusal(buffer: Buffer, because: str, instead: str) -> ScheduleError:
    legal = instead if " " in instead else f"set_scope({instead!r}) of {buffer.name}"
    return ScheduleError(f"buffer {buffer.name} in warp memory", because, legal, location=buffer.loc)
