"""Schedule primitives: one computation, many loop programs. Each primitive, and what it makes of the loops.

    python tutorials/04_schedule_primitives.py

Three groups: primitives that shape the loops of a stage, primitives that say where a stage is computed, and
primitives about memory. Every program below computes the same; the last line of each section checks that against
NumPy.
"""

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError


def show(title, text):
    print(f"== {title}\n\n{str(text).strip()}\n")


# The problem: brighten an image and take the differences of neighbours in each row, 6 rows of 20. Two stages: B, the
# brighter image, is read by C at j and at j + 1.
A = te.placeholder((6, 21), name="A")
B = te.compute((6, 21), lambda i, j: A[i, j] * 2, name="B")
C = te.compute((6, 20), lambda i, j: B[i, j + 1] - B[i, j], name="C")
args = [A, C]

image = np.random.default_rng(0).random((6, 21), dtype=np.float32)
expected = np.diff(image * 2, axis=1)


def after(title, s):
    """Show the program of a schedule, and check what it computes."""
    show(title, tecomp.lower(s, args, name="differences", simple_mode=True))
    result = np.empty((6, 20), np.float32)
    tecomp.build(s, args)(image, result)
    np.testing.assert_array_equal(result, expected)


# ---- 1. The loops of a stage ---------------------------------------------------------------------------------------
# A fresh schedule: one loop for each axis, stages one after the other. (simple_mode shows the loops as scheduled;
# without it, lowering also splits loops where a guard would cost something, as tutorial 01 shows.)
s = te.create_schedule(C.op)
after("as created", s)

# split: one loop becomes two. `factor` is the extent of the inner one, `nparts` that of the outer one. What does not
# divide is guarded: 3 loops of 8 reach beyond 20, so there is an `if`. split returns the new loops; the old one is
# gone.
s = te.create_schedule(C.op)
i, j = C.op.axis
outer, inner = s[C].split(j, factor=8)
after("split(j, factor=8)", s)

# reorder: the order of loops of one stage, outermost first. tile is two splits and a reorder.
s = te.create_schedule(C.op)
row, column, in_row, in_column = s[C].tile(i, j, x_factor=2, y_factor=5)
after("tile(i, j, 2, 5)", s)
s[C].reorder(column, row, in_column, in_row)
show("and reorder(column, row, in_column, in_row)", s)

# fuse: two loops, one directly inside the other, become one over all their iterations. Often before parallel or bind,
# which want one long loop.
s = te.create_schedule(C.op)
both = s[C].fuse(i, j)
after("fuse(i, j)", s)

# The kind of a loop: parallel (cores), vectorize (lanes of one instruction), unroll (copies of the body), bind
# (blocks and threads of a GPU; tutorial 06). The extent of a vectorized loop must be known; ramp(0, 1, 4) is 0, 1, 2,
# 3.
s = te.create_schedule(C.op)
outer, inner = s[C].split(j, factor=10)
_, lanes = s[C].split(inner, factor=5)
s[C].parallel(i)
s[C].unroll(outer)
s[C].vectorize(lanes)
after("parallel(i), unroll(outer), vectorize(lanes)", s)

# ---- 2. Where a stage is computed ----------------------------------------------------------------------------------
# compute_inline: nowhere; its formula stands where it is read. Least memory, most arithmetic: almost every pixel is
# brightened twice.
s = te.create_schedule(C.op)
s[B].compute_inline()
after("B: compute_inline()", s)

# compute_at: in a loop of its reader, just the part that is needed there. Bound inference finds that part: here one
# row. Nothing is computed twice, and the row is still in cache when it is read.
s = te.create_schedule(C.op)
s[B].compute_at(s[C], i)
after("B: compute_at(C, i)", s)

# In a deeper loop less memory is needed, and, where readers overlap, more is computed: for 5 elements of C, 6 of B.
s = te.create_schedule(C.op)
outer, inner = s[C].split(j, factor=5)
s[B].compute_at(s[C], outer)
after("B: compute_at(C, outer), 5 at a time", s)

# rolling_buffer keeps what the last iteration has computed already: each pixel once again, in memory for 6.
s[B].rolling_buffer()
after("and rolling_buffer()", s)

# ---- 3. Memory -----------------------------------------------------------------------------------------------------
# cache_read and cache_write put a copy between a tensor and its readers, or between a computation and its result. The
# copy is a new stage, which has loops and a place of its own. On a GPU its scope would be "shared" or "local".
s = te.create_schedule(C.op)
s[B].compute_inline()
row = s.cache_read(A, "global", [B])
s[row].compute_at(s[C], i)
after('cache_read(A, "global", [B]), at i', s)

s = te.create_schedule(C.op)
s[B].compute_inline()
block = s.cache_write(C, "local")
_, column, _, _ = s[C].tile(i, j, x_factor=2, y_factor=5)
s[block].compute_at(s[C], column)
after('cache_write(C, "local"), at the tiles of C', s)

# storage_align: rows of B begin at multiples of 8 elements, plus 1, so that columns fall into different banks.
s = te.create_schedule(C.op)
s[B].storage_align(B.op.axis[0], factor=8, offset=1)
after("B: storage_align(i, 8, 1)", s)

# What was done so far, as Python that does it again: for a log, a test, a bug report.
show("s.text()", s.text())

# ---- 4. What goes wrong --------------------------------------------------------------------------------------------
# A primitive checks itself when it is called. A refused call leaves the schedule as it was.
s = te.create_schedule(C.op)
i, j = C.op.axis
outer, inner = s[C].split(j, factor=8)
for attempt in (
    lambda: s[C].fuse(i, inner),  # not one directly inside the other
    lambda: s[C].reorder(inner, j),  # j was split: it is no loop any more
    lambda: s[B].compute_at(s[C], j),
    s[C].compute_inline,  # the caller wants it
):
    try:
        attempt()
    except ScheduleError as error:
        show("ScheduleError", error)
