"""An access of a program as requests of warps: which instructions it is, and what each thread asks of each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..codegen.cuda_vector import WIDEST
from ..ir import expr as E
from ..ir import make
from .requests import Array, Asked


def element_bytes(memory: Any) -> int:
    """Return the size of an element of a memory, all lanes of a vector together."""
    return memory.data.itemsize * (memory.data.shape[1] if memory.data.ndim == 2 else 1)


def asked(site: Any, memory: Any, found: Any, vector: bool) -> Asked:
    """Return the requests of an access.

    A vector that is moved whole is one instruction for each 16 bytes, or whatever it is aligned to; others are one for
    each lane. The elements of a copy that one thread has are one instruction.
    """
    size = element_bytes(memory)
    address = memory.address + found.x % max(memory.count, 1) * size
    if vector:
        return _of_vector(site, found, address, size)
    if memory.data.ndim == 2:
        return _pieces(found.lane, address, size, min(size & -size, WIDEST))
    own = _position_in_run(found.lane)
    if not own.any():
        return Asked(found.lane, 0, address, size)
    chosen = np.flatnonzero(own * size % WIDEST == 0)
    width = min((int(own.max()) + 1) * size, WIDEST)
    return Asked(found.lane[chosen], own[chosen] * size // WIDEST, address[chosen], width)


def _of_vector(site: Any, found: Any, address: Array, size: int) -> Asked:
    index = site.node.indices[0]
    position = (np.arange(len(found.x)) if found.at is None else found.at) % index.dtype.lanes
    if not site.wide or site.node.mask is not make.TRUE:  # what a mask guards goes lane by lane
        if isinstance(index, E.Broadcast):
            chosen = np.flatnonzero(position == 0)
            return Asked(found.lane[chosen], 0, address[chosen], size)
        return Asked(found.lane, position, address, size)
    chosen = np.flatnonzero(position * size % site.align == 0)
    return Asked(found.lane[chosen], position[chosen] * size // site.align, address[chosen], site.align)


def _pieces(thread: Array, address: Array, size: int, width: int) -> Asked:
    """Return the requests for elements that one instruction cannot move, or may not for their alignment."""
    if size == width:
        return Asked(thread, 0, address, width)
    number = np.arange(size // width)
    return Asked(
        np.repeat(thread, len(number)),
        np.tile(number, len(thread)),
        (address[:, None] + number * width).ravel(),
        width,
    )


def is_run(lane: Array, size: int) -> bool:
    """Return whether a thread has more elements than one instruction moves: a run that a copy engine moves."""
    return int(_position_in_run(lane).max()) * size >= WIDEST


def _position_in_run(lane: Array) -> Array:
    """Return for each element the how-manieth of its thread it is, where those of a thread lie side by side."""
    if len(lane) < 2 or (lane[1:] != lane[:-1]).all():
        return np.zeros(len(lane), np.int64)
    numbers = np.arange(len(lane))
    starts = np.concatenate([[True], lane[1:] != lane[:-1]])
    return numbers - np.maximum.accumulate(np.where(starts, numbers, 0))
