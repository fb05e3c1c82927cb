"""A convolution on the GPU: shared memory, registers, virtual threads; then tensor cores.

    python tutorials/12_convolution_on_the_gpu.py

No GPU is needed: each program is lowered and run in the interpreter, thread by thread; that also finds races, and
reads of what nobody wrote. Where there is a GPU the programs run on it too.
"""

import sys

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import TecompError
from tecomp.ir import interpret
from tecomp.tir.tensor_intrin import cuda as intrinsics

TARGET = "cuda -arch=sm_90a"


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


def part(program, start, stop="\0"):
    """Return the lines of a program from the one with `start` to before the next with `stop`, without line numbers."""
    lines = [line.partition("  #")[0].partition("  //")[0] for line in str(program).splitlines()]
    first = next(at for at, line in enumerate(lines) if start in line)
    last = next((at for at, line in enumerate(lines) if at > first and stop in line), len(lines))
    return "\n".join(lines[first:last])


def checked(s, args, inputs, expected):
    """Return the program for the device; it gives what is expected, interpreted, simulated, on a GPU that is there."""
    program = tecomp.lower(s, args, name="conv", target=TARGET)
    for run in (lambda *arrays: interpret(program, *arrays), tecomp.build(s, args, target="cuda-sim")):
        result = np.full_like(expected, np.nan)
        run(*inputs, result)
        np.testing.assert_array_equal(result, expected)
    if tecomp.cuda().exist:
        given = [tecomp.nd.array(x, tecomp.cuda()) for x in (*inputs, np.full_like(expected, np.nan))]
        tecomp.build(s, args, target="cuda")(*given)
        np.testing.assert_array_equal(given[-1].numpy(), expected)
        print("CUDA: equal to NumPy's", file=sys.stderr)
    else:
        print("no GPU: interpreted and simulated only", file=sys.stderr)
    return program


# 1. The problem: 3 x 3 filters over images with a border of zeros. Rows, columns, channels, images; small, as every
#    thread will be interpreted. The border is a stage of its own in the formula; inlined, it is a condition where X
#    is read.
SIZE, CHANNELS, FILTERS, IMAGES = 4, 4, 16, 16
X = te.placeholder((SIZE, SIZE, CHANNELS, IMAGES), name="X")
W = te.placeholder((3, 3, CHANNELS, FILTERS), name="W")
P = te.compute(
    (SIZE + 2, SIZE + 2, CHANNELS, IMAGES),
    lambda y, x, c, n: te.if_then_else(
        te.all(y >= 1, y <= SIZE, x >= 1, x <= SIZE), X[y - 1, x - 1, c, n], te.const(0.0, "float32")
    ),
    name="P",
)
c, u, v = te.reduce_axis((0, CHANNELS), "c"), te.reduce_axis((0, 3), "u"), te.reduce_axis((0, 3), "v")
Y = te.compute(
    (SIZE, SIZE, FILTERS, IMAGES),
    lambda y, x, f, n: te.sum(P[y + u, x + v, c, n] * W[u, v, c, f], axis=[c, u, v]),
    name="Y",
)

random = np.random.default_rng(0)
image = random.integers(-4, 5, (SIZE, SIZE, CHANNELS, IMAGES)).astype(np.float32)
taps = random.integers(-3, 4, (3, 3, CHANNELS, FILTERS)).astype(np.float32)
windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, ((1, 1), (1, 1), (0, 0), (0, 0))), (3, 3), axis=(0, 1))
expected = np.ascontiguousarray(np.einsum("yxcnuv,uvcf->yxfn", windows, taps))

block_z, block_y, block_x = (te.thread_axis(f"blockIdx.{dim}") for dim in "zyx")

# 2. A result a thread. Right, and slow: every thread reads its 36 values of X and of W from global memory.
s = te.create_schedule(Y.op)
s[P].compute_inline()
y, x, f, n = Y.op.axis
pixel = s[Y].fuse(y, x)
s[Y].reorder(pixel, f, n)
s[Y].bind(pixel, block_z)
s[Y].bind(f, te.thread_axis("threadIdx.y"))
s[Y].bind(n, te.thread_axis("threadIdx.x"))
show("a result a thread", part(checked(s, [X, W, Y], [image, taps], expected), "def"))

# 3. All threads of a block need the same few values, so they fetch them together: cache_read into shared memory, and
#    from there into registers ("local"). Each thread makes a square of 2 x 2 results, so that a value from shared
#    memory is used twice; the sums stay in registers as well.
#
#    Which 2 x 2? If they are neighbours, threads side by side read shared memory with a stride of 2, and banks
#    conflict. A virtual thread is the answer: the two results are 4 apart, threads side by side read side by side,
#    and the code of both is interleaved in one thread.
THREADS, LANES = 4, 2
s = te.create_schedule(Y.op)
s[P].compute_inline()
shared = [s.cache_read(tensor, "shared", [Y]) for tensor in (P, W)]
local = [s.cache_read(tensor, "local", [Y]) for tensor in shared]
sums = s.cache_write(Y, "local")

thread_y, thread_x = (te.thread_axis((0, THREADS), f"threadIdx.{dim}") for dim in "yx")
y, x, f, n = Y.op.axis
pixel = s[Y].fuse(y, x)
s[Y].bind(pixel, block_z)
loops = []
for axis, block, thread, name in ((f, block_y, thread_y, "vy"), (n, block_x, thread_x, "vx")):
    outer, rest = s[Y].split(axis, factor=LANES * THREADS)
    lane, own = s[Y].split(rest, nparts=LANES)
    s[Y].bind(outer, block)
    s[Y].bind(lane, te.thread_axis((0, LANES), "vthread", name=name))
    s[Y].bind(own, thread)
    loops.append((outer, lane, own))
order = [loop for pair in zip(*loops, strict=True) for loop in pair]
s[Y].reorder(pixel, *order)

s[sums].compute_at(s[Y], order[-1])
c, u, v = s[sums].op.reduce_axis
_, _, own_f, own_n = s[sums].op.axis
s[sums].reorder(u, v, c, own_f, own_n)
for tensor in local:
    s[tensor].compute_at(s[sums], c)
for tensor in shared:  # filled at each tap (u, v), by all threads of the block
    s[tensor].compute_at(s[sums], v)
    rest, thread = s[tensor].split(s[tensor].fuse(*s[tensor].op.axis[2:]), factor=THREADS * THREADS)
    outer, inner = s[tensor].split(thread, factor=THREADS)
    s[tensor].bind(outer, thread_y)
    s[tensor].bind(inner, thread_x)
program = checked(s, [X, W, Y], [image, taps], expected)
show("for the device, from the loop over taps on", part(program, "for u"))

#    Where a thread reads what others wrote, lowering put a barrier; there is none to write by hand, and none too
#    many. In CUDA the loop over taps is this:
source = tecomp.build(s, [X, W, Y], name="conv", target=TARGET).source
show("CUDA", part(source, "for (int u", "  Y["))


# 4. Tensor cores multiply 16 x 16 matrices of float16, a warp together. Images and channels in blocks of 16 make each
#    pixel a matrix product. The instructions come as three intrinsics for tensorize (tutorial 08): load a matrix into
#    a fragment that the warp's registers hold, multiply and add, store. Fragments are scopes: cache_read and
#    cache_write name them.
SIZE, CHANNELS, FILTERS = 2, 1, 1  # in blocks of 16
X = te.placeholder((SIZE, SIZE, CHANNELS, 16, 16), "float16", name="X")  # y, x, channels, image, channel
W = te.placeholder((3, 3, CHANNELS, FILTERS, 16, 16), "float16", name="W")  # u, v, channels, filters, channel, filter
P = te.compute(
    (SIZE + 2, SIZE + 2, CHANNELS, 16, 16),
    lambda y, x, c, n, i: te.if_then_else(
        te.all(y >= 1, y <= SIZE, x >= 1, x <= SIZE), X[y - 1, x - 1, c, n, i], te.const(0.0, "float16")
    ),
    name="P",
)
c, u, v, i = (te.reduce_axis((0, extent), name) for extent, name in ((CHANNELS, "c"), (3, "u"), (3, "v"), (16, "i")))
Y = te.compute(
    (SIZE, SIZE, FILTERS, 16, 16),
    lambda y, x, f, n, o: te.sum(
        P[y + u, x + v, c, n, i].astype("float32") * W[u, v, c, f, i, o].astype("float32"), axis=[c, u, v, i]
    ),
    name="Y",
)
s = te.create_schedule(Y.op)
shared = [s.cache_read(tensor, "shared", [Y]) for tensor in (P, W)]
s[P].compute_inline()
fragments = [s.cache_read(tensor, f"wmma.matrix_{side}", [Y]) for tensor, side in zip(shared, "ab", strict=True)]
sums = s.cache_write(Y, "wmma.accumulator")

warp_lane = te.thread_axis("threadIdx.x")
y, x, f, n, o = s[Y].op.axis
s[Y].bind(s[Y].fuse(y, x), block_x)
s[Y].tensorize(n, intrinsics.wmma_store())
s[sums].compute_at(s[Y], f)
*_, n, o = s[sums].op.axis
c, u, v, i = s[sums].op.reduce_axis
s[sums].reorder(c, u, v, n, o, i)
s[sums].tensorize(n, intrinsics.wmma_mma())
for tensor, side in zip(fragments, "ab", strict=True):
    s[tensor].compute_at(s[sums], v)
    s[tensor].tensorize(s[tensor].op.axis[-2], intrinsics.wmma_load(f"wmma.matrix_{side}"))
for tensor in shared:
    s[tensor].compute_at(s[sums], v)
    _, lane = s[tensor].split(s[tensor].fuse(*s[tensor].op.axis[-2:]), factor=32)
    s[tensor].bind(lane, warp_lane)

image = random.integers(-3, 4, (SIZE, SIZE, CHANNELS, 16, 16)).astype(np.float16)
taps = random.integers(-2, 3, (3, 3, CHANNELS, FILTERS, 16, 16)).astype(np.float16)
wide = np.pad(image.astype(np.float32), ((1, 1), (1, 1), (0, 0), (0, 0), (0, 0)))
windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(0, 1))
expected = np.ascontiguousarray(np.einsum("yxcniuv,uvcfio->yxfno", windows, taps.astype(np.float32)))
show("on tensor cores", part(checked(s, [X, W, Y], [image, taps], expected), "def"))


# 5. What goes wrong. A block has 1024 threads at most, and its shared memory has an end. Both numbers are known when
#    the program is built, and are in the message.
A = te.placeholder((64, 64, 64), name="A")
B = te.compute((64, 64, 64), lambda c, y, x: A[c, y, x] * 2, name="B")


def too_many_threads():
    s = te.create_schedule(B.op)
    c, y, x = B.op.axis
    s[B].bind(c, block_x)
    s[B].bind(y, te.thread_axis("threadIdx.y"))
    s[B].bind(x, te.thread_axis("threadIdx.x"))
    tecomp.build(s, [A, B], target=TARGET)


def too_much_shared_memory():
    s = te.create_schedule(B.op)
    outer, _ = s[B].split(B.op.axis[0], factor=16)
    s[B].bind(outer, block_x)
    s[s.cache_read(A, "shared", [B])].compute_at(s[B], outer)
    tecomp.build(s, [A, B], target=TARGET)


for mistake in (too_many_threads, too_much_shared_memory):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)
