"""What a warp does together, in a kernel: a whole warp along threadIdx.x comes to it, and nothing is done twice.

wmma_store_row(..., address(C, 'w'), n)    ->    if threadIdx_y == 0: wmma_store_row(..., address(C, 'w'), n)
"""

from __future__ import annotations

from typing import Final

from ..dtype import INDEX
from ..errors import ScheduleError
from ..ir import expr as E
from ..ir import make
from ..ir.matrix import is_fragment, is_matrix_call
from ..ir.node import Expr
from ..ir.stmt import Evaluate, If, Stmt
from ..ir.visit import walk
from ..target.limits import WARP

ALONG: Final = "threadIdx.x"
"""The axis whose threads are the lanes of warps."""


def warp_of(root: Stmt) -> list[tuple[str, Expr]]:
    """Return the thread axis and the extent that a kernel with matrix instructions needs; nothing for others."""
    return [(ALONG, make.const(WARP, INDEX))] if any(map(is_matrix_call, walk(root))) else []


def by_warps(node: Evaluate, others: dict[str, E.Var]) -> Stmt:
    """Return a matrix instruction as all threads come to it; `others` are the axes that no loop around it names.

    One that only fills a warp's own registers every warp does; of one that stores, the first along each such axis.
    """
    lanes = others.get(ALONG)
    if lanes is None or not (isinstance(lanes.extent, E.Const) and int(lanes.extent.value) % WARP == 0):
        raise _refusal(node, lanes)
    targets = [arg.buffer for arg in node.value.operands() if isinstance(arg, E.Address) and "w" in arg.mode]
    if all(map(is_fragment, targets)):
        return node
    first = [make.eq(var, make.const(0, INDEX)) for tag, var in others.items() if tag != ALONG]
    if int(lanes.extent.value) > WARP:
        first.append(make.lt(lanes, make.const(WARP, INDEX)))
    return If(make.logical_and(*first), node, loc=node.loc) if first else node


def _refusal(node: Evaluate, lanes: E.Var | None) -> ScheduleError:
    because = f"a loop around it is bound to {ALONG}, whose threads are the lanes of the warp that does it together"
    legal = f"bind that loop to threadIdx.y, and leave {ALONG} to stages that copy"
    if lanes is not None:
        because = f"{ALONG} has the extent {lanes.extent!r}, and a warp has {WARP} threads"
        legal = f"bind loops of {WARP}, or a multiple of it, to {ALONG}"
    assert isinstance(node.value, E.Call)
    return ScheduleError(f"{node.value.name} in a kernel", because, legal, location=node.loc)
