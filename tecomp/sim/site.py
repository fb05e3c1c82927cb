"""Places in a program where memory is touched or an instruction stands, numbered, so that a report can name them."""

from __future__ import annotations

from typing import Any

from ..codegen.cuda_vector import access
from ..ir import expr as E
from ..ir import make
from ..ir.stmt import Buffer, Stmt, Store


class Site:
    """An access or a call in a statement.

    `wide` says whether the lanes of a vector are moved together, `align` bytes at a time; what a mask guards is not.
    """

    __slots__ = ("align", "buffer", "node", "number", "slot", "stmt", "wide")

    def __init__(self, number: int, stmt: Stmt, node: Any, slot: int) -> None:
        self.number, self.stmt, self.node, self.slot = number, stmt, node, slot
        self.buffer: Buffer | None = getattr(node, "buffer", None)
        whole = isinstance(node, (E.Load, Store)) and node.mask is make.TRUE
        found = access(node.buffer, node.indices) if whole else None
        self.wide = found is not None
        self.align = 0 if found is None or found.in_registers else found.align


class Sites:
    """The places of one kernel; `slots` says where a gang keeps each buffer."""

    def __init__(self, slots: Any) -> None:
        self._slots = slots
        self.all: list[Site] = []

    def of(self, stmt: Stmt, node: Any) -> Site:
        """Return the place that `node` is in a statement."""
        buffer = getattr(node, "buffer", None)
        site = Site(len(self.all), stmt, node, -1 if buffer is None else self._slots[buffer])
        self.all.append(site)
        return site
