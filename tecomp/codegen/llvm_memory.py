"""Loads and stores: contiguous vectors, gathers and scatters, masks.

A buffer is flat here: an access has one element offset, or none for a 0-D buffer. A ramp of stride 1 is one contiguous
access; any other vector of offsets is a gather or a scatter. A lane whose mask is false is not touched, and reads 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator

from ..dtype import DType
from ..errors import InternalError
from ..ir import expr as E
from ..ir.make import TRUE
from ..ir.node import Expr
from ..ir.stmt import Buffer, Store
from .llvm_code import Code
from .llvm_convert import from_memory, to_memory
from .llvm_types import MEMORY, Value, constant, lanes_of, memory_type, suffix, value_type, vector

Steps = Generator[Expr, Value, Value]
"""Emits code for one node: yields each expression whose value it needs, is sent that, returns its own value."""

_ZERO = E.Const(0, DType("int64"))


def load(code: Code, node: E.Load) -> Steps:
    """Read buffer[index]."""
    buffer, index = node.buffer, _offset(node.buffer, node.indices)
    mask = None if node.mask is TRUE else (yield node.mask)
    if index.dtype.lanes == 1:
        alive = _one_alive(code, mask)
        return (yield from guarded(code, alive, node.dtype, _element(code, buffer, index)))
    if buffer.dtype.lanes > 1:
        raise InternalError(f"a vector of offsets into {buffer.name!r}", because="its elements are vectors")
    lanes = index.dtype.lanes
    alive = _alive(code, mask, lanes)
    if isinstance(index, E.Broadcast):
        return (yield from _spread(code, buffer, index, alive))
    return (yield from _lanes(code, buffer, index, alive))


def _offset(buffer: Buffer, indices: tuple[Expr, ...]) -> Expr:
    if len(indices) > 1:
        raise InternalError(f"an access of {buffer.name!r} has {len(indices)} indices", because="it was not flattened")
    return indices[0] if indices else _ZERO


def _alive(code: Code, mask: Value | None, lanes: int) -> Value | None:
    """Return the lanes that are read: those of the mask that are wanted here; None is all."""
    if mask is None:
        return None if code.mask is None else code.narrowed(constant(True, vector("i1", lanes)))
    return code.narrowed(code.splat(mask, lanes))


def _one_alive(code: Code, mask: Value | None) -> Value | None:
    """Return whether one element is read: where its mask holds and a lane is wanted."""
    if mask is None:
        return None if code.mask is None else code.any_lane(code.mask)
    return code.narrowed(code.any_lane(mask))


def guarded(code: Code, alive: Value | None, dtype: DType, steps: Steps) -> Steps:
    """Run `steps` in a block of their own where `alive` holds; elsewhere the value is 0."""
    if alive is None:
        return (yield from steps)
    return (yield from choice(code, alive, steps, constant(0, value_type(dtype))))


def choice(code: Code, condition: Value, yes: Steps, no: Steps | Value) -> Steps:
    """Run one of two: each in a block of its own, so that the other is never evaluated."""
    then, otherwise, join = code.label("then"), code.label("else"), code.label("join")
    code.branch(condition, then, otherwise)
    code.start(then)
    with code.scope():
        first = yield from yes
    from_then = code.block
    code.jump(join)
    code.start(otherwise)
    with code.scope():
        second = no if isinstance(no, Value) else (yield from no)
    from_else = code.block
    code.jump(join)
    code.start(join)
    return code.op(first.type, f"phi {first.type} [ {first.name}, %{from_then} ], [ {second.name}, %{from_else} ]")


def _element(code: Code, buffer: Buffer, index: Expr) -> Steps:
    position = yield index
    pointer = _address(code, buffer, position, index.dtype)
    type = memory_type(buffer.dtype)
    name = f"{buffer.name}.value"
    raw = code.op(type, f"load {type}, {pointer}, align {_alignment(code, buffer, index)}", name)
    return from_memory(code, raw, buffer.dtype.element, name)


def _spread(code: Code, buffer: Buffer, index: E.Broadcast, alive: Value | None) -> Steps:
    """One element in every lane that is alive: read once."""
    one = yield from guarded(code, alive and code.any_lane(alive), buffer.dtype, _element(code, buffer, index.value))
    every = code.splat(one, index.lanes)
    return every if alive is None else code.select(alive, every, code.like(0, every))


def _lanes(code: Code, buffer: Buffer, index: Expr, alive: Value | None) -> Steps:
    lanes = index.dtype.lanes
    type = vector(MEMORY[buffer.dtype], lanes)
    base = _contiguous(index)
    position = yield index if base is None else base
    pointer = _address(code, buffer, position, index.dtype)
    align = _alignment(code, buffer, index if base is None else base)
    if base is not None and alive is None:
        raw = code.op(type, f"load {type}, {pointer}, align {align}", f"{buffer.name}.value")
    else:
        mask = alive or constant(True, vector("i1", lanes))
        raw = _masked(code, "load" if base is not None else "gather", type, pointer, align, mask)
    return from_memory(code, raw, buffer.dtype, f"{buffer.name}.value")


def _masked(code: Code, verb: str, type: str, pointer: Value, align: int, mask: Value) -> Value:
    symbol = f"llvm.masked.{verb}.{suffix(type)}.{suffix(pointer.type)}"
    return code.call(symbol, type, pointer, Value("i32", str(align)), mask, constant(0, type), name=verb, attributes="")


def _contiguous(index: Expr) -> Expr | None:
    """Return where a vector of offsets starts when they are neighbours, else None."""
    if isinstance(index, E.Ramp) and isinstance(index.stride, E.Const) and index.stride.value == 1:
        return index.base
    return None


def store(code: Code, node: Store, index: Value, value: Value, mask: Value | None) -> None:
    """Write value to buffer[index] in the lanes of `mask`; `index` is the first of neighbours, or every offset."""
    buffer, written = node.buffer, _offset(node.buffer, node.indices)
    pointer = _address(code, buffer, index, written.dtype)
    base = written if written.dtype.lanes == 1 else _contiguous(written)
    if written.dtype.lanes > lanes_of(value.type):
        value = code.splat(value, written.dtype.lanes)
    raw = to_memory(code, value, buffer.dtype.element)
    align = _alignment(code, buffer, written if base is None else base)
    if base is not None and mask is None:
        code.do(f"store {raw}, {pointer}, align {align}")
        return
    verb = "scatter" if base is None else "store"
    alive = mask or constant(True, vector("i1", lanes_of(raw.type)))
    symbol = f"llvm.masked.{verb}.{suffix(raw.type)}.{suffix(pointer.type)}"
    code.call(symbol, "void", raw, pointer, Value("i32", str(align)), alive, attributes="")


def stored_at(node: Store) -> Expr:
    """Return the expression whose value `store` takes as `index`."""
    index = _offset(node.buffer, node.indices)
    base = _contiguous(index)
    return index if base is None else base


def _address(code: Code, buffer: Buffer, index: Value, dtype: DType) -> Value:
    """Return the address of an element, or of each where `index` is a vector."""
    if index.name == "0":
        return code.pointers[buffer]
    lanes = lanes_of(index.type)
    wide = vector("i64", lanes)
    if dtype.kind == "uint" and index.type != wide:  # an address would extend the sign
        index = code.op(wide, f"zext {index} to {wide}")
    if buffer.dtype.lanes > 1:
        index = code.op(index.type, f"mul {index}, {buffer.dtype.lanes}")
    element = MEMORY[buffer.dtype.element]
    text = f"getelementptr inbounds {element}, {code.pointers[buffer]}, {index}"
    return code.op(vector("ptr", lanes), text, f"{buffer.name}.at")


def _alignment(code: Code, buffer: Buffer, index: Expr) -> int:
    """Return the greatest power of two, in bytes, known to divide the address of buffer[index]."""
    known = math.gcd(code.module.aligned.get(buffer, buffer.align), multiple(index) * buffer.dtype.bytes)
    return known & -known


def multiple(node: Expr) -> int:
    """Return a number that divides `node` whatever its variables are; 0 where it is 0."""
    match node:
        case E.Const():
            return abs(int(node.value))
        case E.Add() | E.Sub():
            return math.gcd(multiple(node.a), multiple(node.b))
        case E.Mul():
            return multiple(node.a) * multiple(node.b)
        case E.Broadcast():
            return multiple(node.value)
        case E.Cast() if node.value.dtype.is_integer:
            return multiple(node.value)
        case _:
            return 1


def address(code: Code, node: E.Address) -> Steps:
    """The address of the element `offset` elements behind the first."""
    position = yield node.offset
    return _address(code, node.buffer, position, node.offset.dtype)


def prefetch(code: Code, call: E.Call, value: Callable[[Expr], Value]) -> None:
    """Ask for the cache line of the element that the call names; reading past the end would be harmless."""
    (place,) = call.args
    assert isinstance(place, E.Load)
    index = _offset(place.buffer, place.indices)
    pointer = _address(code, place.buffer, value(index), index.dtype)
    read, soon, data = Value("i32", "0"), Value("i32", "3"), Value("i32", "1")
    code.call("llvm.prefetch.p0", "void", pointer, read, soon, data, attributes="")
