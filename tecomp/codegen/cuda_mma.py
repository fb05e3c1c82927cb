"""Instructions on matrices in plain arrays of each thread: which one a call is, and what cannot be right about it.

    mma_m16n8k16(address(D, 'w'), address(A, 'r'), address(B, 'r'), address(D, 'r'))
        ->    mma_m16n8k16_f32_f16(D, A, B, D);

An array has as many elements as the instruction takes in registers; what lies in shared memory begins at multiples of
16 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ..arith import constant_lower, constant_upper, modular
from ..errors import UnsupportedError
from ..instructions import MATRIX_ROWS, Typed, typed
from ..instructions.ldmatrix import ROW_BYTES, MatrixMove
from ..instructions.matrix import types_of
from ..instructions.mma import Mma
from ..ir import expr as E
from ..ir.instruction import INSTRUCTIONS
from ..ir.node import Expr
from ..ir.stmt import Buffer, Evaluate, Let, Stmt
from ..ir.subst import substitute
from ..ir.visit import walk
from ..te.shape import plain
from .cuda_memory import elements

PATTERN: Final = 8
"""Lines of a swizzle after which it repeats."""
_SIZES: Final = (1, 2, 4)
"""Bytes of elements that registers are made of."""

Wrong = tuple[str, str]
"""Why not, and what would be right."""


def instruction(call: E.Call, stmt: Stmt) -> Typed:
    """Return the instruction that a call is; UnsupportedError where there is none for the types of its operands."""
    found = typed(call)
    if found is not None:
        return found
    d, a, b = types_of(call)
    because = "no matrix instruction of that shape multiplies those types"
    legal = [f"{one} and {other} in {result}" for result, one, other in MATRIX_ROWS[call.name].types]
    raise UnsupportedError(f"{call.name} of {a} and {b} in {d}", because, legal, location=stmt.loc, ir=repr(call))


def check_matrices(body: Stmt, threads: int) -> None:
    """Raise UnsupportedError for instructions on matrices that a kernel of so many threads cannot mean."""
    values: dict[E.Var, Expr] = {}
    for stmt in walk(body):
        if isinstance(stmt, Let):
            values[stmt.var] = substitute(stmt.value, values)
        call = stmt.value if isinstance(stmt, Evaluate) else None
        if not isinstance(call, E.Call) or call.name not in MATRIX_ROWS:
            continue
        row = instruction(call, stmt)
        if threads < row.threads:
            because = f"a block has {threads} threads, and {row.threads} do it together"
            legal = f"blocks of {row.threads} threads or more"
            raise UnsupportedError(call.name, because, legal, location=stmt.loc, ir=repr(call))
        _check_operands(row, call, stmt, values)


def _check_operands(row: Typed, call: E.Call, stmt: Stmt, values: Mapping[E.Var, Expr]) -> None:
    """Raise UnsupportedError for operands that an instruction cannot take; `values` is what names stand for."""
    operands = _named(call)
    for name, at in operands.items():
        if not isinstance(at, E.Address):
            continue
        wrong = _wrong_type(row, name, at.buffer) or _wrong_major(row, operands.get(f"major_{name}"))
        if wrong is None:
            offset = substitute(at.offset, values)
            shared, held = at.buffer.is_shared, row.bytes_held.get(name, 0)
            wrong = _wrong_start(at.buffer, offset) if shared else _wrong_array(at.buffer, offset, held)
        if wrong is not None:
            asked = f"{call.name}: {name} in '{at.buffer.name}'"
            raise UnsupportedError(asked, *wrong, location=stmt.loc or at.buffer.loc, ir=repr(call))


def _named(call: E.Call) -> dict[str, Expr]:
    return {one.name: arg for one, arg in zip(INSTRUCTIONS[call.name].operands, call.args, strict=True)}


def _wrong_type(row: Typed, name: str, buffer: Buffer) -> Wrong | None:
    """Return why an instruction does not take the elements of a buffer; those of d, a and b have chosen it."""
    if isinstance(row, Mma):
        wrong = name == "c" and buffer.dtype != row.result
        return (f"it holds {buffer.dtype}, and what is added has the type of d", row.result) if wrong else None
    if not isinstance(row, MatrixMove):
        return None
    legal = row.element_bytes if name == "row" else _SIZES
    if buffer.dtype.lanes == 1 and buffer.dtype.bytes in legal:
        return None
    return f"it holds {buffer.dtype}", f"elements of {' or '.join(str(8 * size) for size in legal)} bits"


def _wrong_major(row: Typed, major: Expr | None) -> Wrong | None:
    if isinstance(row, (MatrixMove, Mma)) or not isinstance(major, E.Const) or major.value in row.types.majors:
        return None
    return f"it holds {row.types.a}, and its rows lie along the bytes", "major 0; elements of 16 bits have both"


def _wrong_start(buffer: Buffer, offset: Expr) -> Wrong | None:
    """Return why what lies in shared memory does not begin where an instruction finds it."""
    step = ROW_BYTES // buffer.dtype.bytes
    coefficient, remainder = modular(offset)
    if coefficient % step == 0 and remainder % step == 0:
        return None
    because = f"its address is that of element {plain(offset)}"
    return because, f"multiples of {step} elements, which are {ROW_BYTES} bytes"


def _wrong_array(buffer: Buffer, offset: Expr, needed: int) -> Wrong | None:
    """Return why an array does not have the registers that an instruction takes."""
    count, size = needed // buffer.dtype.bytes, elements(buffer)
    first, last = constant_lower(offset), constant_upper(offset)
    if (first is None or first >= 0) and (last is None or last + count <= size):
        return None
    behind = "" if last == 0 else f" from element {plain(offset)} on"
    because = f"it holds {size} {buffer.dtype}, and the instruction takes {count}{behind}"
    return because, f"an array with {count} elements from there on"


def factors(body: Stmt) -> Iterator[tuple[Buffer, int]]:
    """Yield what warpgroups multiply in shared memory, and what it must begin at a multiple of, in bytes."""
    for call in walk(body):
        if not isinstance(call, E.Call) or call.name not in MATRIX_ROWS:
            continue
        operands = _named(call)
        for name in "ab":
            at, swizzle = operands.get(name), operands.get(f"swizzle_{name}")
            if isinstance(at, E.Address) and isinstance(swizzle, E.Const):
                yield at.buffer, max(PATTERN * int(swizzle.value), ROW_BYTES)
