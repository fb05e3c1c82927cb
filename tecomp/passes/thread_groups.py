"""Which threads of a block join their parts: how a group lies in the warps, and how its members are numbered.

The hardware numbers the threads of a block x + X*(y + Y*z), and 32 in a row are the lanes of a warp. Threads that agree
in the axes which do not join are a group. Lanes of one warp exchange values directly; what the lanes of a group have
become then, one value for each *squad* of lanes that exchanged, goes through shared memory.

    threadIdx.x = 256 joins                         squads of 32 lanes, 8 in the group
    threadIdx.x = 16 joins, threadIdx.y = 8         squads of 16 lanes: each is a whole group
    threadIdx.x = 8, threadIdx.y = 64 joins         squads of 4 lanes, 8 apart; 16 in a group
    threadIdx.x = 7 joins, threadIdx.y = 5          groups lie across warps: squads of 1
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..arith import can_prove, simplify
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..target.limits import WARP

ZERO, ONE = make.index(0), make.index(1)


@dataclass(frozen=True, slots=True)
class Groups:
    """How the threads of a block join their parts. The expressions are over the variables of its thread axes."""

    lane: Expr
    """The number of this thread in its warp."""
    here: Expr
    """How many lanes of this warp have a thread: all, but for the last warp of some blocks."""
    lanes: int
    """How many lanes a squad has, a power of two."""
    apart: int
    """By how much the numbers of neighbours in a squad differ, a power of two."""
    is_whole: bool
    """Whether every lane of every squad has a thread. Where not, a squad is a warp, and has `here`."""
    rank: Expr
    """The number of this lane in its squad."""
    squad: Expr
    """The number of this thread's squad in its group."""
    squads: Expr
    """How many a group has."""
    group: Expr
    """The number of this thread's group."""
    groups: Expr
    """How many the block has."""

    @property
    def fills_warps(self) -> bool:
        """Whether all lanes of every warp have a thread, of one group."""
        return self.lanes == WARP and self.is_whole


def groups_of(axes: Mapping[str, E.Var], joining: Collection[str]) -> Groups:
    """Return how the threads along `axes`, in the order x, y, z, meet where those along `joining` join their parts."""
    block = [(var, tag in joining) for tag, var in axes.items() if not _is_one(_extent(var))]
    thread, threads = _numbered([var for var, _ in block])
    others = [var for var, joins in block if not joins]
    if not others:
        return _one_group(thread, threads)
    group, groups = _numbered(others)
    below, run, above = _runs(block)
    _, apart = _numbered(below)
    member, members = _numbered(run)
    lanes = _whole_squad(apart, members)
    more, many = _numbered(above)
    squads = simplify(make.floordiv(members, lanes))
    return Groups(
        lane=simplify(make.floormod(thread, WARP)),
        here=_here(thread, threads),
        lanes=lanes,
        apart=int(apart.value) if isinstance(apart, E.Const) and lanes > 1 else 1,
        is_whole=True,
        rank=simplify(make.floormod(member, lanes)),
        squad=simplify(make.add(make.floordiv(member, lanes), make.mul(squads, more))),
        squads=simplify(make.mul(squads, many)),
        group=group,
        groups=groups,
    )


def _one_group(thread: Expr, threads: Expr) -> Groups:
    """Return how all threads of a block meet: a squad is a warp, the last with as many lanes as there are threads."""
    lanes = WARP
    if isinstance(threads, E.Const):
        lanes = min(WARP, 1 << (int(threads.value) - 1).bit_length())
    lane = simplify(make.floormod(thread, WARP))
    return Groups(
        lane=lane,
        here=_here(thread, threads),
        lanes=lanes,
        apart=1,
        is_whole=can_prove(make.eq(make.floormod(threads, lanes), ZERO)),
        rank=lane,
        squad=simplify(make.floordiv(thread, WARP)),
        squads=simplify(make.floordiv(make.add(threads, WARP - 1), WARP)),
        group=ZERO,
        groups=ONE,
    )


def _here(thread: Expr, threads: Expr) -> Expr:
    """Return how many lanes of this thread's warp have a thread."""
    if can_prove(make.eq(make.floormod(threads, WARP), ZERO)):
        return make.index(WARP)
    first = make.mul(make.floordiv(thread, WARP), WARP)
    return simplify(make.minimum(make.sub(threads, first), make.index(WARP)))


def _runs(block: list[tuple[E.Var, bool]]) -> tuple[list[E.Var], list[E.Var], list[E.Var]]:
    """Return the axes below the first that joins, the neighbours of it that join, and those that join above a gap."""
    joins = [joining for _, joining in block]
    first = joins.index(True) if True in joins else len(block)
    end = joins.index(False, first) if False in joins[first:] else len(block)
    axes = [var for var, _ in block]
    return axes[:first], axes[first:end], [var for var, joining in block[end:] if joining]


def _whole_squad(apart: Expr, members: Expr) -> int:
    """Return how many neighbours, each `apart` from the next, always lie in one warp: a power of two."""
    if not (isinstance(apart, E.Const) and isinstance(members, E.Const)):
        return 1
    step, count = int(apart.value), int(members.value)
    if step & (step - 1) or step >= WARP:
        return 1
    return min(count & -count, WARP // step)


def _numbered(axes: list[E.Var]) -> tuple[Expr, Expr]:
    """Return the number of a point on these axes, the first running fastest, and how many points there are."""
    number, count = ZERO, ONE
    for var in axes:
        number, count = make.add(number, make.mul(count, var)), make.mul(count, _extent(var))
    return simplify(number), simplify(count)


def _extent(var: E.Var) -> Expr:
    assert var.extent is not None
    return var.extent


def _is_one(extent: Expr) -> bool:
    return isinstance(extent, E.Const) and extent.value == 1
