"""Matrices in the registers of a warp: their declarations, and the calls that load, multiply and store them.

    wmma_load_row_m16n16k16(address(AF, 'w'), 1, address(A_shared, 'r'), 24)
        ->    wmma_load_a_row_m16n16k16_f16(AF[1], A_shared, 24);

PTX spells the layouts of both factors in each multiplication, so a kernel is looked through, before it is printed, for
the layout in which each fragment is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..arith import modular
from ..errors import UnsupportedError
from ..instructions.wmma import MULTIPLICATIONS, PTX_TYPES, load_name, matrix_size, multiply_name, store_name
from ..ir import expr as E
from ..ir.matrix import ACCUMULATOR, MATRIX_CALLS, Instruction, alignment, fragments, is_matrix_call
from ..ir.node import Expr
from ..ir.stmt import Buffer, Evaluate, Stmt
from ..ir.visit import walk
from ..target import Target
from ..te.shape import plain
from .cuda_vector import SHARED_ALIGN
from .cuda_writer import Writer
from .precedence import RANKS, Text

ALIGN_ROWS: Final = 16
"""What the distance of its rows must be a multiple of, in bytes."""

Layouts = dict[Buffer, str]


def layouts_of(body: Stmt, target: Target) -> Layouts:
    """Return the layout in which each factor of a kernel's multiplications is loaded.

    UnsupportedError for one loaded in two layouts, and for types that `target` does not multiply.
    """
    found: Layouts = {}
    for node in walk(body):
        if not is_matrix_call(node):
            continue
        instruction = MATRIX_CALLS[node.name]
        if instruction.verb == "mma":
            _check_types(node, target)
        if instruction.verb == "load":
            buffer = fragments(node)[0]
            if found.setdefault(buffer, instruction.layout) != instruction.layout:
                raise UnsupportedError(
                    f"'{buffer.name}' is loaded by rows and by columns",
                    because="the instruction that multiplies it names one layout for all its matrices",
                    legal="a stage for each",
                    location=buffer.loc,
                )
    return found


def _check_types(call: E.Call, target: Target) -> None:
    d, a, b, _ = fragments(call)
    known = next((one for one in MULTIPLICATIONS if (one.factor, one.result) == (a.dtype, d.dtype)), None)
    number = int("".join(filter(str.isdigit, target.arch)))
    if known is not None and a.dtype is b.dtype and number >= known.since:
        return
    because = "no matrix instruction multiplies those types"
    if known is not None and a.dtype is b.dtype:
        because = f"{target.arch} does not, from sm_{known.since} on GPUs do"
    raise UnsupportedError(
        f"matrices of {a.dtype} and {b.dtype} multiplied in {d.dtype}",
        because=because,
        legal=[f"{one.factor} in {one.result}" for one in MULTIPLICATIONS if one.since <= number],
        location=d.loc,
    )


def matrix_call(out: Writer, node: Evaluate) -> None:
    """Print a matrix instruction."""
    call = node.value
    assert isinstance(call, E.Call)
    instruction, buffers, args = MATRIX_CALLS[call.name], fragments(call), call.args
    own = [_matrix(out, args[at], args[at + 1]) for at in range(0, 2 * len(buffers), 2)]
    if instruction.verb == "fill":
        text = f"wmma_fill({own[0]}, {out.text(args[2])})"
    elif instruction.verb == "mma":
        text = f"{_multiply_name(instruction, buffers, out.layouts)}({', '.join(map(str, own))})"
    else:
        _check_memory(instruction, buffers[0], args[2], args[3])
        name = _moving_name(instruction, buffers[0])
        text = f"{name}({own[0]}, {out.text(args[2])}, {out.text(args[3])})"
    out.line(f"{text};")


def _moving_name(instruction: Instruction, buffer: Buffer) -> str:
    if instruction.verb == "load":
        return load_name(buffer.scope, instruction.layout, instruction.shape, buffer.dtype)
    if buffer.scope != ACCUMULATOR:
        raise UnsupportedError(
            f"'{buffer.name}' in {buffer.scope} memory is stored",
            because="a matrix instruction stores results only, which are in wmma.accumulator",
            legal="a copy of what it was loaded from",
            location=buffer.loc,
        )
    return store_name(instruction.layout, instruction.shape, buffer.dtype)


def _multiply_name(instruction: Instruction, buffers: list[Buffer], layouts: Mapping[Buffer, str]) -> str:
    d, a, b, _ = buffers
    kinds = layouts.get(a, "row"), layouts.get(b, "row")
    return multiply_name(kinds, instruction.shape, d.dtype, a.dtype)


def _matrix(out: Writer, of: Expr, number: Expr) -> Text:
    """Return the text of the registers of one matrix of a fragment: AF[1]."""
    assert isinstance(of, E.Address)
    first = out.text(number)
    if not (isinstance(of.offset, E.Const) and of.offset.value == 0):
        further = out.text(of.offset)
        first = Text(f"{further.at(RANKS['/'])} / {matrix_size(of.buffer)} + {first.at(RANKS['+'])}")
    return Text(f"{out.exprs.names[of.buffer]}[{first}]")


def _check_memory(instruction: Instruction, fragment: Buffer, at: Expr, stride: Expr) -> None:
    """Raise UnsupportedError for a matrix in memory whose rows are not aligned as the instruction needs."""
    assert isinstance(at, E.Address)
    buffer, size = at.buffer, at.buffer.dtype.bytes
    rows, columns = instruction.shape.of(fragment.scope)
    align = alignment((columns if instruction.layout == "row" else rows) * size)
    base = max(buffer.align, SHARED_ALIGN) if buffer.is_shared else buffer.align
    because, legal = "", ""
    if base % align:
        because = f"its address is a multiple of {base} bytes, and a matrix must begin at a multiple of {align}"
        legal = f"data_alignment={align} in decl_buffer"
    elif not _is_multiple(at.offset, align // size):
        because = f"a matrix begins at element {plain(at.offset)} of it, and must at a multiple of {align // size}"
        legal = "tiles that begin there"
    elif not _is_multiple(stride, ALIGN_ROWS // size):
        because = f"its rows are {plain(stride)} elements apart, which must be a multiple of {ALIGN_ROWS // size}"
        legal = "storage_align, or a shape whose last extent is such a multiple"
    if because:
        kind = PTX_TYPES.get(buffer.dtype, buffer.dtype)
        raise UnsupportedError(f"a matrix of {kind} in '{buffer.name}'", because, legal, location=buffer.loc)


def _is_multiple(value: Expr, of: int) -> bool:
    coefficient, remainder = modular(value)
    return coefficient % of == 0 and remainder % of == 0
