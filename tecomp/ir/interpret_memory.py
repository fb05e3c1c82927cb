"""Memory under the interpreter: arrays whose every access is checked."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .interpret_races import Clock, Touched
from .stmt import Buffer


class Fault(Exception):
    """The program did what no program may; the interpreter adds the statement and reports it."""


_ACCESS = """
def access(array, marks, extents, fault, touched):
    {unpack}
    def read({indices}):
        if not ({inside}):
            raise fault("reads", ({key}))
        if {unmarked}:
            raise fault("reads", ({key}))
        {note_read}
        return {load}
    def write({indices}value):
        if not ({inside}):
            raise fault("writes", ({key}))
        {note_write}
        array[{key}] = value
        {mark}
    def update({indices}join, value):
        if not ({inside}):
            raise fault("updates", ({key}))
        if {unmarked}:
            raise fault("updates", ({key}))
        {note_update}
        array[{key}] = join({load}, value)
    return read, write, update
"""


class Memory:
    """The elements of one buffer. `read(*indices)` and `write(*indices, value)` check that they lie within its extents.

    `marks` tells which elements hold something, those that were stored to; None means all do. With a `clock`, threads
    share the memory, and must not meet in one element. A read gives a Python int or bool, or a NumPy float. An element
    that is a vector takes one more index, its lane.
    """

    __slots__ = ("array", "lanes", "marks", "name", "read", "update", "write")

    def __init__(self, buffer: Buffer, array: np.ndarray, marks: np.ndarray | None, clock: Clock | None = None) -> None:
        self.name, self.array, self.marks, self.lanes = buffer.name, array, marks, buffer.dtype.lanes
        make = _accessors(array.ndim, buffer.dtype.is_float, marks is not None, clock is not None)
        touched = None if clock is None else Touched(clock, self.race)
        self.read, self.write, self.update = make(array, marks, array.shape, self.fault, touched)
        self.read.memory = self

    def fault(self, verb: str, indices: tuple[int, ...]) -> Fault:
        """Return the report of an access that may not be."""
        place = self.place(indices)
        for axis, (index, extent) in enumerate(zip(indices, self.array.shape, strict=True)):
            if not 0 <= index < extent:
                shape = ", ".join(map(str, self.array.shape))
                return Fault(f"it {verb} {place}, but dimension {axis} has extent {extent} (shape [{shape}])")
        return Fault(f"it {verb} {place}, which holds nothing: no store has written it")

    def race(self, verb: str, indices: tuple[int, ...], meanwhile: str) -> Fault:
        """Return the report of an access that another thread's may come before or after."""
        return Fault(f"it {verb} {self.place(indices)} {meanwhile}")

    def place(self, indices: tuple[int, ...]) -> str:
        """Return how a program names an element."""
        return f"{self.name}[{', '.join(map(str, indices)) or '()'}]"


@functools.lru_cache(maxsize=64)
def _accessors(rank: int, floating: bool, marked: bool, shared: bool) -> Callable[..., tuple[Any, Any, Any]]:
    """Return the maker of (read, write, update) for arrays of that rank, with the checks written out."""
    indices = "".join(f"i{axis}, " for axis in range(rank))
    key = indices or "()"
    source = _ACCESS.format(
        unpack=f"{''.join(f'n{axis}, ' for axis in range(rank))} = extents" if rank else "",
        indices=indices,
        key=key,
        inside=" and ".join(f"0 <= i{axis} < n{axis}" for axis in range(rank)) or "True",
        unmarked=f"not marks[{key}]" if marked else "False",
        load=f"array[{key}]" if floating else f"array.item({indices})",
        mark=f"marks[{key}] = True" if marked else "",
        note_read=f"touched.read(({key}))" if shared else "",
        note_write=f"touched.write(({key}))" if shared else "",
        note_update=f"touched.update(({key}))" if shared else "",
    )
    scope: dict[str, Any] = {}
    exec(compile(source, "<memory access>", "exec"), scope)
    return scope["access"]


def allocated(
    buffer: Buffer, extents: Sequence[int], strides: Sequence[int] | None, flat: bool, clock: Clock | None = None
) -> Memory:
    """Return fresh memory that holds nothing yet; `flat` is for programs that address it by element offset."""
    shape = tuple(max(0, extent) for extent in extents)
    if flat and shape:
        shape = (span(shape, strides or compact(shape)),)
    if buffer.dtype.lanes > 1:
        shape = (*shape, buffer.dtype.lanes)
    return Memory(buffer, np.zeros(shape, buffer.dtype.numpy), np.zeros(shape, np.bool_), clock)


def compact(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the row-major strides, in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def span(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return how many elements lie from the first to the last one addressed, both included."""
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))


def flat_view(buffer: Buffer, array: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return `array` addressed by element offset, as `buffer` lays it out, and whether that is a copy of it.

    A buffer with strides is seen through them; a compact one whose array is not compact needs the copy.
    """
    if buffer.strides is None:
        lanes = array.shape[array.ndim - (buffer.dtype.lanes > 1) :]
        return array.reshape(-1, *lanes), not array.flags.c_contiguous
    strides = [stride // array.itemsize for stride in array.strides]
    extent = span(array.shape, strides)
    return np.lib.stride_tricks.as_strided(array, (extent,), (array.itemsize,), writeable=array.flags.writeable), False
