"""Which iterations of a loop need one another.

Two iterations are independent where no element that one writes is touched by the other; a loop is, where any two of its
iterations are.

    for i: for j: b[i, j] = b[i, j - 1] + a[i, j]      i is independent. j is not: b[i, j] is b[i, j - 1] of the next
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

from ...arith.overlap import Overlap
from ...ir import expr as E
from ...ir.stmt import Alloc, Buffer, For, Stmt
from ...ir.visit import walk
from .exact import Access, Accesses


class Dependences:
    """Answers for the loops of one body."""

    def __init__(self, body: Stmt) -> None:
        self.reader = Accesses(body)

    def between_iterations(self, loop: For, around: For | None = None) -> str:
        """Say why iterations of `loop` cannot run at once, or in another order; nothing where they can.

        They are compared at one value of the loops outside; with `around`, a loop outside, at any values of those from
        it inwards.
        """
        owner = self.reader.values[loop.var]
        assert isinstance(owner, E.Var)
        private = self.reader.variables(around or loop) - {owner}
        overlap = Overlap([owner], private.__contains__)
        for a, b in self._pairs(loop):
            if not overlap.apart(a.place, b.place):
                return _reason(a, b, loop)
        return ""

    def _pairs(self, loop: For) -> Iterator[tuple[Access, Access]]:
        """Yield the pairs of accesses to the same memory, made outside of the loop, of which the first writes."""
        own = {node.buffer for node in walk(loop.body) if isinstance(node, Alloc)}
        by_buffer: dict[Buffer, list[Access]] = {}
        for access in dict.fromkeys(self.reader.of(loop.body)):
            if access.buffer not in own:
                by_buffer.setdefault(access.buffer, []).append(access)
        for accesses in by_buffer.values():
            writes_first = sorted(accesses, key=_reads)
            yield from (pair for pair in combinations_with_replacement(writes_first, 2) if pair[0].writes)


def _reads(access: Access) -> bool:
    return not access.writes


def _reason(a: Access, b: Access, loop: For) -> str:
    name, memory = loop.var.name, a.buffer.name
    if b.writes and a.loc == b.loc:
        return f"line {_line(a)} may write one element of '{memory}' in several iterations of '{name}'"
    verb = "writes" if b.writes else "reads"
    other = "it" if a.loc == b.loc else f"line {_line(b)}"
    return f"line {_line(a)} writes an element of '{memory}' that {other} {verb} in another iteration of '{name}'"


def _line(access: Access) -> int:
    return 0 if access.loc is None else access.loc.line
