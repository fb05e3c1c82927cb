"""THE TABLE: every pass, in order, with the reason why it stands where it does."""

from __future__ import annotations

from ..ir.func import Func, Level
from ..target import Target
from . import (
    across,
    barrier,
    carry,
    double_buffer,
    flatten,
    hoist,
    launch,
    narrow,
    one_launch,
    partition,
    prefetch,
    share,
    simplify,
    solve,
    unroll,
    unswitch,
    vectorize,
    vthread,
    warp_memory,
)
from .manager import Pass

ALL, CUDA = ("llvm", "cuda"), ("cuda",)
LOOPS, DEVICE, FLAT = Level.LOOPS, Level.DEVICE, Level.FLAT


def _offsets(func: Func, target: Target) -> Func:
    """Return `func` with one element offset an access, in machine integers."""
    return narrow.run(flatten.run(func, target), target)


PIPELINE = (
    Pass("simplify", simplify.run, ALL, LOOPS, "lowering writes guards and indices as the relations give them"),
    Pass("solve", solve.run, ALL, LOOPS, "a guard on a loop's variable is plain, and no loop is divided for it yet"),
    Pass("vthread", vthread.run, ALL, LOOPS, "what virtual threads share is plain before loops are split or moved"),
    Pass("double_buffer", double_buffer.run, ALL, LOOPS, "allocations still stand in their loops; guards are whole"),
    Pass("partition", partition.run, ALL, LOOPS, "a loop vectorizes whole only where its guard is gone"),
    Pass("one_launch", one_launch.run, CUDA, LOOPS, "needs one affine index a dimension, before vectors and copies"),
    Pass("vectorize", vectorize.run, ALL, LOOPS, "guards left are tails; they become masks"),
    Pass("unroll", unroll.run, ALL, LOOPS, "copies what is final: vector code, not lanes"),
    Pass("tidy", simplify.run, ALL, LOOPS, "unrolled indices are constants now"),
    Pass("hoist", hoist.run, ALL, LOOPS, "invariant guards leave loops before registers are looked for in them"),
    Pass("unswitch", unswitch.run, CUDA, LOOPS, "vectorize asked each guard for all lanes; carry needs loops without"),
    Pass("carry", carry.run, CUDA, LOOPS, "a loop over time is inside its thread only after one_launch"),
    Pass("prefetch", prefetch.run, CUDA, LOOPS, "waits on loads only where carry made iterations depend on registers"),
    Pass("trim", simplify.run, CUDA, LOOPS, "loops that prefetch cut end where the required sizes let them"),
    Pass("launch", launch.run, ALL, DEVICE, "everything that moves loops in and out of kernels is done"),
    Pass("across", across.run, CUDA, DEVICE, "who joins whom is known once kernels are; what it stores needs barriers"),
    Pass("warp_memory", warp_memory.run, CUDA, DEVICE, "which thread holds an element is known once kernels are"),
    Pass("barrier", barrier.run, CUDA, DEVICE, "which threads meet is known once kernels are"),
    Pass("join", hoist.run, CUDA, DEVICE, "guards that were taken apart for barriers stand together again"),
    Pass("choose", unswitch.run, CUDA, DEVICE, "what lies between two barriers is a thread's own, and stands together"),
    Pass(
        "share",
        share.run,
        CUDA,
        DEVICE,
        "proofs about threads need the arithmetic itself; from here readers come first",
    ),
    Pass(
        "offsets", _offsets, ALL, FLAT, "last: dimensions are of no more use, and the interval of each offset is final"
    ),
)

LOOP_PASSES = ("simplify", "solve", "vthread", "double_buffer", "partition", "vectorize", "unroll", "tidy", "hoist")
"""The passes whose result `tecomp.lower` shows when no target is given."""
