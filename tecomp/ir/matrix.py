"""What the threads of a warp do together on matrices: the calls, and the fragments that they are about.

    wmma_fill(fragment, number, value)                       every element gets the value
    wmma_load_row(fragment, number, source, stride)          rows of the matrix lie `stride` elements apart in memory
    wmma_load_col(fragment, number, source, stride)          columns do
    wmma_store_row(fragment, number, target, stride), wmma_store_col
    wmma_mma(d, number, a, number, b, number, c, number)     d = a @ b + c, where d may be c

A fragment buffer holds matrices, named by number, each in the registers of all threads of a warp; its last two
dimensions are the elements of one, in an order that only these calls know. The whole warp comes to a call together.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from .expr import Address, Call, Const
from .stmt import Buffer

MATRIX_A, MATRIX_B, ACCUMULATOR = "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator"
FRAGMENT_SCOPES: Final = (MATRIX_A, MATRIX_B, ACCUMULATOR)

FILL, MULTIPLY = "wmma_fill", "wmma_mma"
LOADS: Final = {"wmma_load_row": "row", "wmma_load_col": "col"}
STORES: Final = {"wmma_store_row": "row", "wmma_store_col": "col"}
"""The layout that each names."""
MATRIX_CALLS: Final = {FILL, MULTIPLY, *LOADS, *STORES}


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


def is_fragment(buffer: Buffer) -> bool:
    """Return whether a buffer lies in the registers of a warp as matrices."""
    return buffer.scope in FRAGMENT_SCOPES


def is_matrix_call(node: Any) -> bool:
    """Return whether the threads of a warp do something together at an expression."""
    return isinstance(node, Call) and node.name in MATRIX_CALLS


def matrix_size(buffer: Buffer) -> int:
    """Return how many elements one matrix of a fragment buffer has."""
    return math.prod(int(extent.value) for extent in buffer.shape[-2:] if isinstance(extent, Const))


def fragments(call: Call) -> list[Buffer]:
    """Return the fragment buffers that a call is about, in the order of its arguments."""
    return [arg.buffer for arg in call.args if isinstance(arg, Address) and is_fragment(arg.buffer)]


def shape_of(a: Buffer, b: Buffer, c: Buffer) -> Shape | None:
    """Return the multiplication whose matrices have the sizes of these fragments; None where there is none."""
    sizes = [matrix_size(buffer) for buffer in (a, b, c)]
    return next((s for s in WMMA_SHAPES if [s.m * s.k, s.k * s.n, s.m * s.n] == sizes), None)
