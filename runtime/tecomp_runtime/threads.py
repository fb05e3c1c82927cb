"""A stand-in for an OpenMP runtime where none is installed: a team of Python threads for each parallel loop.

Compiled code runs without the interpreter's lock, so the threads do run together; starting them costs about 0.1 ms a
loop, which a real runtime does not. The functions have OpenMP's names and meaning.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

_WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Place(threading.local):
    """Which thread of how many this one is; a thread outside any team is the only one of its own."""

    number = 0
    size = 1


_place = _Place()


def most_threads() -> int:
    """Return how many threads a team has: OMP_NUM_THREADS, else the cores that this process may use."""
    if _place.size > 1:
        return 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_team(work: int, data: int | None, threads: int, flags: int) -> None:
    """Call the function at address `work` with `data` on each thread of a team, and wait for all; 0 threads is most."""
    size = threads or most_threads()
    function = _WORK(work)

    def member(number: int) -> None:
        outer = _place.number, _place.size
        _place.number, _place.size = number, size
        function(data)
        _place.number, _place.size = outer

    helpers = [threading.Thread(target=member, args=(number,)) for number in range(1, size)]
    for helper in helpers:
        helper.start()
    member(0)
    for helper in helpers:
        helper.join()


_CALLBACKS: dict[str, Any] = {
    "GOMP_parallel": ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)(run_team),
    "omp_get_thread_num": ctypes.CFUNCTYPE(ctypes.c_int)(lambda: _place.number),
    "omp_get_num_threads": ctypes.CFUNCTYPE(ctypes.c_int)(lambda: _place.size),
    "omp_get_max_threads": ctypes.CFUNCTYPE(ctypes.c_int)(most_threads),
}


def address(symbol: str) -> int:
    """Return the address of the stand-in for one of OpenMP's functions."""
    return ctypes.cast(_CALLBACKS[symbol], ctypes.c_void_p).value or 0
