"""What one instruction of a warp asks of memory: sectors of global memory, wavefronts of shared memory.

Global memory and its caches move sectors of 32 bytes: a request takes each that one of its lanes touches, once.

Shared memory has 32 banks of 4 bytes. A wavefront gives each bank one word, whoever of the lanes want it:

    each lane has   4 bytes or less   lanes 0-31 go together
                    8 bytes           lanes 0-15, then 16-31
                    16 bytes          lanes 0-7, 8-15, 16-23, 24-31

and twice as many lanes of a load go together where the two of each pair (n, n ^ 1), or of each (n, n ^ 2), have one
address. What goes together takes as many wavefronts as the bank has words of which most are wanted; all but the first
of these are conflicts.

Source: NVIDIA's CUDA C++ Programming Guide (memory of compute capability 5.x and later), the "Nsight Compute Metrics
Decoder", and Nsight Compute's counters, with which `tests/sim/counters.py` compares these.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from ..target.limits import WARP

SECTOR: Final = 32
"""Bytes."""
BANKS: Final = 32
WORD: Final = 4
"""Bytes of a bank."""
Array = np.ndarray[Any, Any]


class Asked(NamedTuple):
    """Requests: what threads ask for at once, `width` bytes each, at a multiple of these."""

    thread: Array
    """Who asks, of a gang whose first thread is the first of a warp."""
    instruction: Array | int
    """By which of the instructions that the access is."""
    address: Array
    """Of the first byte."""
    width: int

    @property
    def request(self) -> Array:
        """The number of the request of each: one for each warp and instruction."""
        several = int(np.max(self.instruction)) + 1
        return self.thread // WARP * several + self.instruction

    @property
    def lane(self) -> Array:
        """The lane of each in its warp."""
        return self.thread % WARP


class Wavefronts(NamedTuple):
    """How many there are, and how many there would be without conflicts."""

    all: int
    ideal: int


def distinct(keys: Array) -> Array:
    """Return the different numbers among `keys`, in order."""
    if len(keys) > 1 and not (keys[1:] >= keys[:-1]).all():
        keys = np.sort(keys)
    return keys[np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))] if len(keys) else keys


def sectors(asked: Asked) -> int:
    """Return how many sectors the requests take, all together."""
    sector = asked.address // SECTOR
    return len(distinct(asked.request * (int(sector.max()) + 1) + sector)) if len(sector) else 0


def requests(asked: Asked) -> int:
    """Return how many requests there are."""
    return len(distinct(asked.request))


def wavefronts(asked: Asked, is_load: bool) -> Wavefronts:
    """Return the wavefronts that the requests take of shared memory."""
    if not len(asked.thread):
        return Wavefronts(0, 0)
    group = _groups(asked, is_load)
    word = asked.address // WORD
    if asked.width > WORD:
        count = asked.width // WORD
        word = (word[:, None] + np.arange(count)).ravel()
        group = np.repeat(group, count)
    span = -(-(int(word.max()) + 1) // BANKS) * BANKS
    found = distinct(group * span + word)
    of_group = found // span
    first = np.concatenate([[True], of_group[1:] != of_group[:-1]])
    ordinal = np.cumsum(first) - 1
    ideal = int(ordinal[-1]) + 1
    wanted = np.bincount(ordinal * BANKS + found % BANKS, minlength=ideal * BANKS)
    return Wavefronts(int(wanted.reshape(-1, BANKS).max(axis=1).sum()), ideal)


def _groups(asked: Asked, is_load: bool) -> Array:
    """Return a number for each lane, the same for those that go together."""
    lanes = WARP if asked.width <= WORD else WARP * WORD // asked.width
    if lanes == WARP:
        return asked.request
    parts = WARP // lanes
    whole = asked.lane // lanes
    if is_load:
        whole = np.where(_paired(asked), whole // 2 * 2, whole)
    return asked.request * parts + whole


def _paired(asked: Asked) -> Array:
    """Return for each lane whether in its request the lanes of all pairs have one address."""
    _, row = np.unique(asked.request, return_inverse=True)
    table = np.full((int(row.max()) + 1, WARP), -1, np.int64)
    table[row, asked.lane] = asked.address
    alike = np.zeros(len(table), np.bool_)
    for step in (1, 2):
        other = table[:, np.arange(WARP) ^ step]
        alike |= ((table == other) | (table < 0) | (other < 0)).all(axis=1)
    return alike[row]
