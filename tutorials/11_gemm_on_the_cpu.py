"""A matrix product on the CPU, step by step: the same three loops, many times as fast.

    python tutorials/11_gemm_on_the_cpu.py                the programs, checked against NumPy
    python tutorials/11_gemm_on_the_cpu.py --time 1024    how fast each is on this machine, for that size

The numbers depend on the machine, so the first form prints none. Two busy cores of a server went from 0.6 GFLOP/s in
step 1 to 13 in step 4 and 49 in step 6.
"""

import argparse

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError

parser = argparse.ArgumentParser()
parser.add_argument("--time", metavar="SIZE", type=int, help="time each step on matrices of SIZE x SIZE")
TIMED = parser.parse_args().time
SIZE = TIMED or 64  # a multiple of 32
BLOCK = 32  # a block of C, 32 x 32 floats, is 4 kB: with its parts of A and B it fits into the first cache

A = te.placeholder((SIZE, SIZE), name="A")
B = te.placeholder((SIZE, SIZE), name="B")
k = te.reduce_axis((0, SIZE), name="k")
C = te.compute((SIZE, SIZE), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

a, b = np.random.default_rng(0).random((2, SIZE, SIZE), dtype=np.float32)
expected = a @ b


def step(title, s, result=C, first=0):
    """Show the program of a schedule from its line `first` on, check it, and time it if that is asked for."""
    print(f"== {title}\n")
    function = tecomp.build(s, [A, B, result], name="gemm")
    c = np.empty_like(expected)
    function(a, b, c)
    np.testing.assert_allclose(c, expected, rtol=1e-4)
    if TIMED:
        seconds = function.time_evaluator(function.entry_name, tecomp.cpu(), number=1, repeat=5)(a, b, c).results
        print(f"{2 * SIZE**3 / min(seconds) / 1e9:.1f} GFLOP/s\n")
        return
    program = str(tecomp.lower(s, [A, B, result], name="gemm")).splitlines()
    print("\n".join(line.partition("  #")[0] for line in program[first:]), end="\n\n")


# 1. As created. For each element of C, a column of B is read: each k is another row, another line of the cache, of
#    which one float in sixteen is used before it is gone.
s = te.create_schedule(C.op)
step("three loops", s)

# 2. Blocking. C in blocks of 32 x 32, k in parts of 4: what a block needs stays in the first cache until it was used
#    32 times. `tile` makes four loops, and reorder puts k between the blocks and their elements.
s = te.create_schedule(C.op)
io, jo, ii, ji = s[C].tile(*C.op.axis, BLOCK, BLOCK)
ko, ki = s[C].split(k, factor=4)
s[C].reorder(io, jo, ko, ki, ii, ji)
step("blocks", s)

# 3. Vectors. The innermost loop walks along a row of B and of C: 32 neighbours are two registers of AVX-512,
#    or four of AVX2.
s[C].vectorize(ji)
step("vectors", s)

# 4. The order of the loops in a block. With ki inside of ii a row of C stays in registers while four k are added to
#    it, and A is read along its rows. Only reorder changes.
s = te.create_schedule(C.op)
io, jo, ii, ji = s[C].tile(*C.op.axis, BLOCK, BLOCK)
ko, ki = s[C].split(k, factor=4)
s[C].reorder(io, jo, ko, ii, ki, ji)
s[C].vectorize(ji)
step("rows outside k", s)

# 5. Packing. From row to row of a block of B there is a jump of a whole row of the matrix. A stage of its own stores
#    B block by block, so that a block is read from beginning to end. That is another formula, not only another
#    schedule.
P = te.compute((SIZE // BLOCK, SIZE, BLOCK), lambda block, k, j: B[k, block * BLOCK + j], name="P")
D = te.compute((SIZE, SIZE), lambda i, j: te.sum(A[i, k] * P[j // BLOCK, k, j % BLOCK], axis=k), name="D")


def packed():
    s = te.create_schedule(D.op)
    s[P].vectorize(P.op.axis[2])
    s[P].parallel(P.op.axis[0])
    return s


s = packed()
io, jo, ii, ji = s[D].tile(*D.op.axis, BLOCK, BLOCK)
ko, ki = s[D].split(k, factor=4)
s[D].reorder(io, jo, ko, ii, ki, ji)
s[D].vectorize(ji)
step("packed", s, D)

# 6. A cache for what is written. So far each part of k loads a block of C and stores it again. cache_write gives the
#    block memory of its own, next to itself, from the first k to the last; C is written once. Its loops are those of
#    a new stage, and unroll(ki) lets four products follow each other without a branch.
s = packed()
block = s.cache_write(D, "global")
io, jo, ii, ji = s[D].tile(*D.op.axis, BLOCK, BLOCK)
s[block].compute_at(s[D], jo)
i, j = s[block].op.axis
ko, ki = s[block].split(s[block].op.reduce_axis[0], factor=4)
s[block].reorder(ko, i, ki, j)
s[block].vectorize(j)
s[block].unroll(ki)
s[D].vectorize(ji)
step("a cache for the block", s, D, first=5)

# 7. Parallel. Blocks of rows are independent: each core takes one at a time. The cache moves into the parallel loop
#    by itself: each core has its own.
s[D].parallel(io)
step("parallel", s, D, first=5)

# 8. And smaller blocks of registers. A CPU has 16 or 32 vector registers. A block of 4 x 32 sums in registers, with
#    the whole of k inside, loads each value of B once for 4 rows, and stores nothing until the end. The loops over
#    these 4 rows are unrolled, so that each sum has a register of its own.
s = packed()
block = s.cache_write(D, "local")
io, jo, ii, ji = s[D].tile(*D.op.axis, 4, BLOCK)
s[D].reorder(jo, io, ii, ji)
s[D].parallel(jo)
s[D].vectorize(ji)
s[D].unroll(ii)
s[block].compute_at(s[D], io)
i, j = s[block].op.axis
s[block].reorder(s[block].op.reduce_axis[0], i, j)
s[block].vectorize(j)
s[block].unroll(i)
step("sums in registers", s, D, first=5)

# 9. The program that a schedule nobody wrote gives: tutorial 17.
step("te.default_schedule", te.default_schedule(C, "llvm"))

# 10. What goes wrong. The parts of k add to the same sums, so cores cannot take one each; rfactor (tutorial 05) makes
#     sums of their own for them.
if not TIMED:
    s = te.create_schedule(C.op)
    ko, ki = s[C].split(k, nparts=4)
    try:
        s[C].parallel(ko)
    except ScheduleError as error:
        print(f"== ScheduleError\n\n{error}")
