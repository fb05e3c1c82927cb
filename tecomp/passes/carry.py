"""What a loop's iteration stores and the next ones read again stays in registers.

    for t in range(1, m):                        carry = S[0, i]
        S[t, i] = S[t - 1, i] + X[t, i]    ->    for t in range(1, m):
                                                     carry = carry + X[t, i]
                                                     S[t, i] = carry

The loop must store that element in every iteration, and nothing else in it may touch the elements that are carried.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..arith import simplify
from ..arith.overlap import Overlap, Place
from ..dtype import INDEX
from ..ir import expr as E
from ..ir import make
from ..ir.foreign import addressed
from ..ir.func import Func
from ..ir.node import Expr
from ..ir.stmt import Alloc, Buffer, For, LoopKind, Seq, Stmt, Store, in_order
from ..ir.subst import substitute
from ..ir.visit import rewrite, walk
from ..target import Target
from .accesses import bound_vars
from .one_launch import in_threads

MOST_STEPS = 8
"""A value read more steps later than this is read from memory."""


class Carried(NamedTuple):
    """A store of the loop and the loads that read its element one, two, ... steps later."""

    store: Store
    loads: dict[E.Load, int]

    @property
    def steps(self) -> int:
        """How many of the last values are held."""
        return max(self.loads.values())


def run(func: Func, target: Target) -> Func:
    """Return `func` with what the loops of each thread carry in registers."""
    return func.with_body(in_threads(func.body, lambda body: rewrite(body, stmts={For: _loop})))


def _loop(loop: For) -> Stmt:
    if loop.kind is not LoopKind.SERIAL:
        return loop
    carried = _carried(loop)
    return _in_registers(loop, carried) if carried else loop


def _carried(loop: For) -> list[Carried]:
    """Return the stores at the loop's top level whose elements later iterations read, where no other store may touch
    them."""
    nodes = list(walk(loop.body))
    loads = [node for node in nodes if isinstance(node, E.Load)]
    stores = [node for node in nodes if isinstance(node, Store)]
    inner = bound_vars(loop)
    given_away = addressed(loop.body, "r") | addressed(loop.body, "w")
    found: list[Carried] = []
    top = in_order(loop.body)
    for number, store in enumerate(top):
        if not isinstance(store, Store) or store.mask is not make.TRUE:
            continue
        if store.buffer.scope != "global" or store.buffer in given_away:
            continue
        steps = {load: step for load in loads if (step := _steps_later(store, load, loop.var))}
        if _read_at_once(store, loop.var, steps, top[number + 1 :]):
            continue
        if steps and all(other is store or _never_meet(store, other, inner) for other in stores):
            found.append(Carried(store, steps))
    return found


def _read_at_once(store: Store, time: E.Var, loads: Collection[E.Load], later: Sequence[Stmt]) -> bool:
    """Return whether the element is the same in all iterations, and read in the one that has just stored it."""
    moves = any(node is time for index in store.indices for node in walk(index))
    return not moves and any(node in loads for stmt in later for node in walk(stmt))


def _steps_later(store: Store, load: E.Load, time: E.Var) -> int:
    """Return after how many iterations the load reads what the store stores; 0 when it does not."""
    if load.buffer is not store.buffer or load.dtype is not store.value.dtype or load.mask is not make.TRUE:
        return 0
    for step in range(1, MOST_STEPS + 1):
        if _at(store, time, make.sub(time, make.const(step, INDEX))) == load.indices:
            return step
    return 0


def _at(store: Store, time: E.Var, moment: Expr) -> tuple[Expr, ...]:
    """Return where the store stores at another time."""
    return tuple(simplify(substitute(index, {time: moment})) for index in store.indices)


def _never_meet(store: Store, other: Store, inner: set[E.Var]) -> bool:
    if other.buffer is not store.buffer:
        return True
    return Overlap((), lambda var: var in inner).agreeing(Place(store.indices), Place(other.indices)) is None


def _in_registers(loop: For, carried: list[Carried]) -> Stmt:
    held = {one.store: [_register(one.store, step) for step in range(1, one.steps + 1)] for one in carried}
    reads = {load: make.load(held[one.store][step - 1], ()) for one in carried for load, step in one.loads.items()}
    start = [
        _copy(register, _first(store, loop, step), store)
        for store in held
        for step, register in enumerate(held[store], 1)
    ]
    top = in_order(loop.body)
    steps: list[Stmt] = []
    shifts: list[Stmt] = []
    fresh: list[Buffer] = []

    def held_value(load: E.Load) -> Expr:
        return reads.get(load, load)

    for number, old in enumerate(top):
        new = rewrite(old, exprs={E.Load: held_value})
        if not isinstance(old, Store) or old not in held:
            steps.append(new)
            continue
        assert isinstance(new, Store)
        registers = held[old]
        latest = registers[0]
        if len(registers) > 1 or any(node in reads for later in top[number + 1 :] for node in walk(later)):
            latest = Buffer(f"{old.buffer.name}_next", (), new.value.dtype, "local", loc=old.loc)
            fresh.append(latest)
            newer = [latest, *registers[:-1]]
            shifts += [_copy(to, make.load(of, ()), old) for to, of in zip(registers[::-1], newer[::-1], strict=True)]
        steps += [_copy(latest, new.value, old), new.copy(value=make.load(latest, ()))]
    result: Stmt = Seq((*start, loop.copy(body=Seq((*steps, *shifts)))))
    for buffer in (*fresh, *(register for registers in held.values() for register in registers)):
        result = Alloc(buffer, result, loc=loop.loc)
    return result


def _first(store: Store, loop: For, step: int) -> Expr:
    """Return what stands before the loop where its first iteration would look `step` iterations back."""
    return make.load(store.buffer, _at(store, loop.var, make.sub(loop.min, make.const(step, INDEX))))


def _copy(register: Buffer, value: Expr, store: Store) -> Stmt:
    return Store(register, (), value, make.TRUE, loc=store.loc)


def _register(store: Store, step: int) -> Buffer:
    name = f"{store.buffer.name}_carry" + ("" if step == 1 else str(step))
    return Buffer(name, (), store.value.dtype, "local", loc=store.loc)
