"""tensorize: put an instruction of the machine, or a kernel of your own, in the place of loops that compute the same.

    python tutorials/08_tensorize.py

Any processor will do: the interpreter stands in for an instruction that yours lacks.
"""

import numpy as np

import tecomp
from tecomp import te, tir
from tecomp.errors import TecompError, UnsupportedError
from tecomp.ir import interpret
from tecomp.tir.tensor_intrin import x86


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


# 1. The problem: a processor has instructions for whole small computations, and libraries have kernels for larger
#    ones. No loop of yours becomes one by itself, because loops say what is done one element at a time. `tensorize`
#    puts such an intrinsic in the place of loops, after it has proved that they compute the same. An intrinsic has
#    two sides: what it computes, as a small te.compute, and how. Here: a block of a matrix by a vector, c[i] = sum of
#    a[i, k] * b[k].
def gemv(m, l):
    a, b = te.placeholder((m, l), name="a"), te.placeholder((l,), name="b")
    k = te.reduce_axis((0, l), name="k")
    c = te.compute((m,), lambda i: te.sum(a[i, k] * b[k], axis=k), name="c")

    # The memory of its operands: rows of `a` may lie apart by any stride, so that `a` may be a part of a larger
    # matrix.
    A = tir.decl_buffer(a.shape, a.dtype, "A", strides=[te.var("stride"), 1])

    # How: statements, here loops again so that they can be read; mostly they call C or an instruction. A reduction
    # has them in three forms: all of it, its start, one part more. Where k is divided, the start stands outside the
    # loop over the parts. The first may be None: then it is the start and one part.
    def emit(ins, outs):
        ib = tir.ir_builder.create()
        y = ib.buffer_ptr(outs[0])
        with ib.for_range(0, m, name="i") as i:
            y[i] = 0.0
        start = ib.get()
        ib = tir.ir_builder.create()
        x, v, y = (ib.buffer_ptr(buffer) for buffer in (*ins, *outs))
        with ib.for_range(0, l, name="k") as k, ib.for_range(0, m, name="i") as i:
            y[i] += x[i, k] * v[k]
        return None, start, ib.get()

    return te.decl_tensor_intrin(c.op, emit, name="gemv", binds={a: A})


# 2. A matrix product by it: C = W X.T. Shape the loops so that, from some loop on, they compute what the intrinsic
#    does; that loop is the one to tensorize. The intrinsic's rows are 8 of j, its columns 4 of k.
n, depth, units = 6, 10, 20
X, W = te.placeholder((n, depth), name="X"), te.placeholder((units, depth), name="W")
k = te.reduce_axis((0, depth), name="k")
C = te.compute((n, units), lambda i, j: te.sum(W[j, k] * X[i, k], axis=k), name="C")


def blocked():
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    jo, ji = s[C].split(j, factor=8)
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(i, jo, ko, ji, ki)
    return s, ji, ki


s, ji, ki = blocked()
s[C].tensorize(ji, gemv(8, 4))
show("the schedule", s)

# 8 does not divide 20, nor 4 divide 10: whole blocks are the intrinsic, the rest stays as loops.
program = str(tecomp.lower(s, [X, W, C], name="product", simple_mode=True))
show("the program: whole blocks, and a rest of loops", program)

random = np.random.default_rng(0)
x, w = random.integers(-4, 5, (n, depth)).astype(np.float32), random.integers(-4, 5, (units, depth)).astype(np.float32)
c = np.empty((n, units), np.float32)
tecomp.build(s, [X, W, C])(x, w, c)
np.testing.assert_array_equal(c, x @ w.T)
print("product by gemv: equal to NumPy's\n")

# 3. Loops need not look like the intrinsic's own. What counts is which elements they reach: ji and ki in the other
#    order, or fused, or the formula turned around (X times W, not W times X), are the same.
s, ji, ki = blocked()
s[C].reorder(ki, ji)
s[C].tensorize(s[C].fuse(ki, ji), gemv(8, 4))
tecomp.build(s, [X, W, C])(x, w, c)
np.testing.assert_array_equal(c, x @ w.T)
print("product by gemv through a fused loop: equal to NumPy's\n")

# 4. Products of bytes: the intrinsics of the processor are declared already, in tecomp.tir.tensor_intrin. B is stored
#    so that the four bytes of k for each of 16 columns lie together, which is what the instruction loads.
m, columns, depth = 4, 32, 24
A = te.placeholder((m, depth), "uint8", name="A")
B = te.placeholder((columns // 16, depth // 4, 16, 4), "int8", name="B")
r = te.reduce_axis((0, depth), name="r")
D = te.compute(
    (m, columns),
    lambda i, j: te.sum(A[i, r].astype("int32") * B[j // 16, r // 4, j % 16, r % 4].astype("int32"), axis=r),
    name="D",
)
s = te.create_schedule(D.op)
i, j = D.op.axis
jo, ji = s[D].split(j, factor=16)
ro, ri = s[D].split(r, factor=4)
s[D].reorder(i, jo, ro, ji, ri)
s[D].tensorize(ji, x86.dot_u8s8())
lowered = tecomp.lower(s, [A, B, D], name="bytes")
show("64 products in one instruction", lowered)

#    The processor is named here, so that this prints the same everywhere; plain "llvm" is the one you are on.
function = tecomp.build(s, [A, B, D], name="bytes", target="llvm -mcpu=znver4")
show("in the assembly", [line.split()[0] for line in function.get_source("asm").splitlines() if "vpdpbusd" in line][:1])

a = random.integers(0, 256, (m, depth)).astype(np.uint8)
b = random.integers(-128, 128, (columns // 16, depth // 4, 16, 4)).astype(np.int8)
d = np.empty((m, columns), np.int32)
try:
    tecomp.build(s, [A, B, D])(a, b, d)
except UnsupportedError:  # yours has no such instruction: the interpreter knows what it does
    interpret(lowered, a, b, d)
np.testing.assert_array_equal(d, a.astype(np.int32) @ b.astype(np.int32).transpose(1, 3, 0, 2).reshape(depth, columns))
print("product of bytes: equal to NumPy's\n")


# 5. What goes wrong. Another formula: both are shown, and where they part.
def other_formula():
    E = te.compute((n, units), lambda i, j: te.sum(W[j, k] * (X[i, k] + 1), axis=k), name="E")
    s = te.create_schedule(E.op)
    s[E].tensorize(E.op.axis[1], gemv(units, 10))
    tecomp.lower(s, [X, W, E])


# Other extents: the loops from ji on are 8 x 4.
def other_block():
    s, ji, _ = blocked()
    s[C].tensorize(ji, gemv(8, 5))
    tecomp.lower(s, [X, W, C])


# Other memory: columns of `a` lie together in the intrinsic's buffer, here they are a row apart.
def other_strides():
    T = te.placeholder((10, units), name="T")
    F = te.compute((n, units), lambda i, j: te.sum(T[k, j] * X[i, k], axis=k), name="F")
    s = te.create_schedule(F.op)
    s[F].tensorize(F.op.axis[1], gemv(units, 10))
    tecomp.lower(s, [X, T, F])


# A processor without the instruction.
def other_processor():
    tecomp.build(s, [A, B, D], target="llvm -mcpu=haswell")


for mistake in (other_formula, other_block, other_strides, other_processor):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)
