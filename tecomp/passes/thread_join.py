"""The statements by which a group of threads joins its parts, so that each of its threads holds the join of all.

256 threads, sum:                                   B_part = B_part + shuffle_xor(B_part, 16, -1)
                                                    ... 8, 4, 2, 1: each lane has the sum of its warp
                                                    if threadIdx_x % 32 == 0:
                                                        B_parts[threadIdx_x // 32] = B_part
                                                    B_part = B_parts[0]
                                                    for squad in range(1, 8):
                                                        B_part = B_part + B_parts[squad]

Between the store to shared memory and the loads the pass `barrier` puts the one barrier that it takes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

from ..arith import simplify
from ..dtype import INDEX, DType
from ..ir import expr as E
from ..ir import make
from ..ir.join import Place, is_symmetric, join_into, join_once, stores
from ..ir.node import Expr
from ..ir.stmt import Across, Alloc, Buffer, For, If, Let, LoopKind, Seq, Stmt
from ..target.limits import WARP
from .thread_groups import ONE, ZERO, Groups

FEW: Final = 8
"""So many values from shared memory a thread joins sooner than its warp would by exchanging."""


class ThreadJoin:
    """Joins what the threads of each group have in the buffers of one Across; a block has `most` threads at most."""

    def __init__(self, across: Across, groups: Groups, most: int) -> None:
        self.buffers, self.combiner, self.loc = across.buffers, across.combiner, across.loc
        self.name = across.buffers[0].name
        self.places: list[Place] = [(buffer, ()) for buffer in across.buffers]
        self.most = most
        self.groups, self.mask = groups, first_lanes(groups.here)
        self.names: dict[E.Var, Expr] = {}
        if groups.lanes > 1 and not isinstance(groups.here, E.Const):
            self._name_lanes()

    def _name_lanes(self) -> None:
        """Give names to what each exchange takes where the lanes of warps are not all there."""
        old = self.groups
        lane = E.Var("lane", INDEX, ZERO, make.index(WARP))
        here = E.Var("lanes", INDEX, ONE, make.index(WARP))
        mask = E.Var("mask", DType("uint32"))
        self.names = {lane: old.lane, here: old.here, mask: first_lanes(here)}
        self.groups = dataclasses.replace(old, lane=lane, here=here, rank=lane if old.rank is old.lane else old.rank)
        self.mask = mask

    def statement(self) -> Stmt:
        """Return the whole join; nothing where a group is one thread."""
        groups = self.groups
        steps = list(self.exchanged(groups.lanes, groups.apart, groups.rank, None if groups.is_whole else groups.here))
        if groups.squads is not ONE:
            steps.append(self.through_memory())
        whole: Stmt = Seq(tuple(steps))
        for var, value in reversed(self.names.items() if steps else ()):
            whole = Let(var, value, whole, loc=self.loc)
        return whole

    def exchanged(self, lanes: int, apart: int, rank: Expr, present: Expr | None) -> Iterator[Stmt]:
        """Yield the exchanges after which each of `lanes` lanes holds the join of what they had.

        Each halves what is left. Where both orders of two parts join to the same, all lanes come to the same value;
        elsewhere the first lane's is the one that counts. So it is where not all lanes have a part: one is read
        only where it is among the `present` first.
        """
        step = lanes // 2
        while step:
            yield self.halved(step * apart, None if present is None else make.sub(present, step), rank)
            step //= 2
        if lanes > 1 and not (present is None and is_symmetric(self.combiner)):
            first = simplify(make.sub(self.groups.lane, make.mul(rank, apart)))
            yield stores(self.places, [self.shuffle("shuffle", part, first) for part in self.held()], self.loc)

    def halved(self, step: int, end: Expr | None, rank: Expr) -> Stmt:
        """Return the join of each lane's part with that of the lane whose number is `step` greater.

        Where there is an `end`, only lanes whose rank is below it have such a lane.
        """
        if end is None:
            others = [self.shuffle("shuffle_xor", part, make.index(step)) for part in self.held()]
            return join_once(self.places, self.combiner, others, self.name, self.loc)
        there = simplify(make.lt(rank, end))
        source = make.select(there, simplify(make.add(self.groups.lane, step)), self.groups.lane)
        others = [E.Var(f"{buffer.name}_other", buffer.dtype) for buffer in self.buffers]
        result: Stmt = If(there, join_into(self.places, self.combiner, others, self.name, self.loc), loc=self.loc)
        for other, part in reversed(list(zip(others, self.held(), strict=True))):
            result = Let(other, self.shuffle("shuffle", part, source), result, loc=self.loc)
        return result

    def through_memory(self) -> Stmt:
        """Return the join of the squads' parts: the first lane of each stores it, and every thread reads all."""
        groups = self.groups
        memory = [Buffer(f"{part.name}s", self.shape(), part.dtype, "shared", loc=self.loc) for part in self.buffers]
        stored = stores([(buffer, (self.at(groups.squad),)) for buffer in memory], self.held(), self.loc)
        if groups.lanes > 1:
            stored = If(make.eq(groups.rank, ZERO), stored, loc=self.loc)
        count = groups.squads
        many = isinstance(count, E.Const) and count.value > FEW and groups.fills_warps
        read = self.one_a_lane(memory, count) if many else self.one_by_one(memory)
        whole: Stmt = Seq((stored, *read))
        for buffer in reversed(memory):
            whole = Alloc(buffer, whole, loc=self.loc)
        return whole

    def one_by_one(self, memory: Sequence[Buffer]) -> list[Stmt]:
        """Return how a thread joins the parts of all squads by itself."""
        squad = E.Var("squad", INDEX, ONE, simplify(make.sub(self.groups.squads, ONE)))
        first, other = ([make.load(buffer, (self.at(at),)) for buffer in memory] for at in (ZERO, squad))
        fold = join_once(self.places, self.combiner, other, self.name, self.loc)
        return [stores(self.places, first, self.loc), For(squad, LoopKind.SERIAL, fold, loc=self.loc)]

    def one_a_lane(self, memory: Sequence[Buffer], count: Expr) -> list[Stmt]:
        """Return how the lanes of each warp join the parts of all squads: they read one each, and exchange them."""
        assert isinstance(count, E.Const)
        parts = int(count.value)
        lanes = 1 << (parts - 1).bit_length()
        rank = simplify(make.floormod(self.groups.lane, lanes))
        own = rank if lanes == parts else make.minimum(rank, make.index(parts - 1))
        read = stores(self.places, [make.load(buffer, (self.at(own),)) for buffer in memory], self.loc)
        return [read, *self.exchanged(lanes, 1, rank, None if lanes == parts else count)]

    def at(self, squad: Expr) -> Expr:
        """Return where in shared memory the part of a squad of this thread's group lies."""
        return simplify(make.add(make.mul(squad, self.groups.groups), self.groups.group))

    def shape(self) -> tuple[Expr, ...]:
        """Return how many parts shared memory holds."""
        count = simplify(make.mul(self.groups.squads, self.groups.groups))
        if isinstance(count, E.Const):
            return (count,)
        return (make.index(self.most // WARP if self.groups.lanes == WARP else self.most),)

    def held(self) -> list[Expr]:
        """Return the parts that this thread holds."""
        return [make.load(buffer, ()) for buffer in self.buffers]

    def shuffle(self, name: str, part: Expr, lane: Expr) -> Expr:
        """Return the part that another lane holds."""
        return make.call(name, part.dtype, part, lane, self.mask)


def first_lanes(count: Expr) -> Expr:
    """Return the mask of that many lanes, from the first."""
    if isinstance(count, E.Const):
        return make.index(-1 if count.value == WARP else (1 << int(count.value)) - 1)
    absent = make.cast("uint32", make.sub(make.index(WARP), count))
    return make.call("shift_right", "uint32", make.const((1 << WARP) - 1, DType("uint32")), absent)
