"""Which vector accesses move several lanes at once: those proved contiguous and aligned.

C[ramp(i*4, 1, 4)] = A[ramp(i*4, 1, 4)] + 1      A, C aligned to 16 bytes
const Vec<float, 4> A_v = vec<4>(A + i * 4);      one 16-byte load
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ..arith import modular
from ..dtype import DType
from ..ir import expr as E
from ..ir.node import Expr
from ..ir.stmt import Buffer
from .cuda_types import C_TYPES
from .temporaries import always

WIDEST: Final = 16
"""Bytes one instruction moves."""
SHARED_ALIGN: Final = 16
"""What every shared array is aligned to."""


class Access(NamedTuple):
    """A contiguous vector access: `lanes` elements from `base`, `align` bytes at a time.

    Of a buffer whose elements are vectors, which stand in registers, it is the element at `base`.
    """

    buffer: Buffer
    base: Expr | None
    lanes: int
    align: int

    @property
    def template(self) -> str:
        """The arguments of `vec` and of the end of `Vec`: lanes, and the alignment where it is not the natural one."""
        return (
            f"{self.lanes}" if self.align == natural(self.buffer.dtype, self.lanes) else f"{self.lanes}, {self.align}"
        )

    @property
    def type(self) -> str:
        """The C++ type of the lanes together."""
        return f"Vec<{C_TYPES[self.buffer.dtype.element]}, {self.template}>"

    @property
    def in_registers(self) -> bool:
        """Whether it is a vector of its own, nothing of an array."""
        return self.buffer.dtype.lanes > 1


def natural(dtype: DType, lanes: int) -> int:
    """Return the alignment of so many elements as a `Vec` of its own has it, in bytes."""
    size = lanes * dtype.element.bytes
    return min(size & -size, WIDEST)


def access(buffer: Buffer, indices: tuple[Expr, ...]) -> Access | None:
    """Return how the lanes of an access are moved together; None where they go one by one.

    Local arrays are registers: their elements are moved one by one, for nothing.
    """
    if (lanes := buffer.dtype.lanes) > 1:
        return Access(buffer, indices[0] if indices else None, lanes, natural(buffer.dtype, lanes))
    if buffer.scope == "local" or not indices or not isinstance(indices[0], E.Ramp):
        return None
    ramp = indices[0]
    if not (isinstance(ramp.stride, E.Const) and ramp.stride.value == 1):
        return None
    align = alignment(buffer, ramp.base, ramp.lanes)
    return Access(buffer, ramp.base, ramp.lanes, align) if align > buffer.dtype.bytes else None


def alignment(buffer: Buffer, base: Expr, lanes: int) -> int:
    """Return the bytes that may be moved at a time: a power of two that divides the lanes and every address."""
    known = max(buffer.align, SHARED_ALIGN) if buffer.is_shared else buffer.align
    size = buffer.dtype.bytes
    coefficient, remainder = modular(base)
    best = size
    while best < WIDEST and (lanes * size) % (2 * best) == 0 and known % (2 * best) == 0:
        elements = 2 * best // size
        if coefficient % elements or remainder % elements:
            break
        best *= 2
    return best


def wide_loads(roots: Iterable[Expr], held: Iterable[Expr]) -> Iterator[tuple[E.Load, Access]]:
    """Yield the loads that are evaluated whenever `roots` are, and move several lanes at once.

    A masked load is among them when its mask holds, and so is in `held`.
    """
    certain = set(held)
    for node in always(roots):
        found = access(node.buffer, node.indices) if isinstance(node, E.Load) and node.mask in certain else None
        if isinstance(node, E.Load) and found is not None and not found.in_registers:
            yield node, found
