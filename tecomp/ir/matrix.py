"""What the threads of a warp do together on matrices: the calls, and the fragments that they are about.

    wmma_fill_m16n16k16(fragment, number, value)                   every element gets the value
    wmma_load_row_m16n16k16(fragment, number, source, stride)      rows of the matrix lie `stride` elements apart
    wmma_load_col_m16n16k16(fragment, number, source, stride)      columns do
    wmma_store_row_m16n16k16(fragment, number, target, stride), wmma_store_col_m16n16k16
    wmma_mma_m16n16k16(d, number, a, number, b, number, c, number)     d = a @ b + c, where d may be c

A fragment buffer holds matrices, named by number, each in the registers of all threads of a warp; its last two
dimensions are the elements of one, in an order that only these calls know. The whole warp comes to a call together.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from .expr import Address, Call
from .stmt import Buffer

MATRIX_A, MATRIX_B, ACCUMULATOR = "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator"
FRAGMENT_SCOPES: Final = (MATRIX_A, MATRIX_B, ACCUMULATOR)


class Shape(NamedTuple):
    """The matrices of one multiplication: a is m x k, b is k x n, c and d are m x n."""

    m: int
    n: int
    k: int

    def of(self, scope: str) -> tuple[int, int]:
        """Return rows and columns of the matrix that a fragment of that scope is."""
        return {MATRIX_A: (self.m, self.k), MATRIX_B: (self.k, self.n), ACCUMULATOR: (self.m, self.n)}[scope]

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"


WMMA_SHAPES: Final = (Shape(16, 16, 16), Shape(32, 8, 16), Shape(8, 32, 16))
"""The multiplications that hardware does on 8 and 16 bit elements."""


class Instruction(NamedTuple):
    """What the name of a call says."""

    verb: str
    """fill, load, store, mma."""
    layout: str
    """row or col of a load and a store, else empty."""
    shape: Shape

    def __str__(self) -> str:
        return "_".join(part for part in ("wmma", self.verb, self.layout, str(self.shape)) if part)


def alignment(line: int) -> int:
    """Return what the address of a matrix in memory must be a multiple of, in bytes, when a row takes `line` bytes (a
    column, of one that lies by columns); the distance of its rows must be a multiple of 16 bytes."""
    return min(32, max(16, line))


_FORMS: Final = (("fill", ""), ("load", "row"), ("load", "col"), ("store", "row"), ("store", "col"), ("mma", ""))
MATRIX_CALLS: Final = {
    str(instruction): instruction
    for instruction in (Instruction(*form, shape) for form in _FORMS for shape in WMMA_SHAPES)
}
"""Every instruction by the name of its call."""


def is_fragment(buffer: Buffer) -> bool:
    """Return whether a buffer lies in the registers of a warp as matrices."""
    return buffer.scope in FRAGMENT_SCOPES


def is_matrix_call(node: Any) -> bool:
    """Return whether the threads of a warp do something together at an expression."""
    return isinstance(node, Call) and node.name in MATRIX_CALLS


def fragments(call: Call) -> list[Buffer]:
    """Return the fragment buffers that a call is about, in the order of its arguments."""
    return [arg.buffer for arg in call.args if isinstance(arg, Address) and is_fragment(arg.buffer)]
