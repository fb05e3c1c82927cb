"""What no te.compute says: calls of other code by te.extern, and Python loops by te.hybrid.script.

    python tutorials/09_extern_and_hybrid.py

A te.compute is one formula for every element. Sorting is not, nor is a histogram, nor the library that you have
already.
"""

# ruff: noqa: F821 (output_tensor and const_range are names of the hybrid language)

import numpy as np

import tecomp
from tecomp import te, tir
from tecomp.errors import TecompError


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


def called(s, args, *arrays, expected):
    """Build for this CPU, call, and compare the last array."""
    tecomp.build(s, args)(*arrays)
    np.testing.assert_allclose(arrays[-1], expected, rtol=1e-5)


random = np.random.default_rng(0)
n = te.var("n")
X = te.placeholder((n,), name="X")


# 1. A Python function in the middle of a program. te.extern gets the shape of the result, the inputs, and a function
#    that makes a statement from their buffers; call_packed is a call with whole arrays, which the function gets as
#    NumPy arrays of the same memory. (Registered by name, with tecomp.register_func, it may also come from another
#    module.)
def descending(x, places):
    places[:] = np.argsort(-x, kind="stable")


order = te.extern(
    (n,), [X], lambda ins, outs: tir.call_packed(descending, ins[0], outs[0]), name="order", dtype="int32"
)
best = te.compute((3,), lambda i: X[order[i]], name="best")
s = te.create_schedule(best.op)
show("the three greatest", tecomp.lower(s, [X, best], name="best"))
x = random.random(10, dtype=np.float32)
called(s, [X, best], x, np.empty(3, np.float32), expected=np.sort(x)[:-4:-1])

#    A function of a C library, element by element, is an expression; cbrtf is in libm.
root = te.compute((n,), lambda i: tir.call_pure_extern("float32", "cbrtf", X[i]), name="root")
s = te.create_schedule(root.op)
called(s, [X, root], x, np.empty_like(x), expected=np.cbrt(x))


# 2. Statements by the IR builder. A histogram adds to elements that data chooses. Loops, ifs, memory of its own: what
#    is built is the same IR that lowering makes, and stands in the program as it is.
def count(ins, outs):
    ib = tir.ir_builder.create()
    which, counts = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    with ib.for_range(0, 4, name="bin") as bin:
        counts[bin] = 0
    with ib.for_range(0, n, name="i") as i:
        counts[which[i]] += 1
    return ib.get()


bins = te.compute((n,), lambda i: te.floor(X[i] * 4).astype("int32"), name="bins")
histogram = te.extern((4,), [bins], count, name="histogram", dtype="int32")
share = te.compute((4,), lambda b: histogram[b].astype("float32") / n, name="share")
s = te.create_schedule(share.op)
s[bins].vectorize(s[bins].split(bins.op.axis[0], factor=8)[1])
show("a histogram", tecomp.lower(s, [X, share], name="histogram", simple_mode=True))
x = random.random(1001, dtype=np.float32)
called(s, [X, share], x, np.empty(4, np.float32), expected=np.bincount((x * 4).astype(int), minlength=4) / 1001)


# 3. The same, and more, as Python: te.hybrid.script reads the function's source. It is a language of its own, a part
#    of Python: loops over range, if, assignments to elements, output_tensor, allocate. Python that is known
#    (const_range, numbers, shapes) is executed while it is read.
@te.hybrid.script
def smoothed(a):
    b = output_tensor((a.shape[0] - 2,), a.dtype)
    for i in range(a.shape[0] - 2):
        total = 0.0
        for u in const_range(3):
            total += a[i + u]
        b[i] = total / 3.0
    return b


Y = smoothed(X)
s = te.create_schedule(Y.op)
show("means of three, as created", tecomp.lower(s, [X, Y], name="smoothed"))

#    The loops that it begins with are loops of a stage, if their iterations do not depend on each other: split them,
#    run them on cores, compute what they read inside of them.
outer, inner = s[Y].split(Y.op.axis[0], factor=64)
s[Y].parallel(outer)
show("in parallel", s)
called(s, [X, Y], x, np.empty(999, np.float32), expected=np.convolve(x, np.ones(3) / 3, "valid"))

#    Called with arrays it computes, so that it can be tried out.
np.testing.assert_allclose(smoothed(x), np.convolve(x, np.ones(3) / 3, "valid"), rtol=1e-5)


# 4. Loops that do depend on each other keep their order; nothing need be said. A recursive filter:
@te.hybrid.script
def filtered(a):
    b = output_tensor(a.shape, a.dtype)
    b[0] = a[0]
    for i in range(1, a.shape[0]):
        b[i] = 0.5 * b[i - 1] + 0.5 * a[i]
    return b


Z = filtered(X)
s = te.create_schedule(Z.op)
show("a filter", tecomp.lower(s, [X, Z], name="filtered"))
expected = x.copy()
for i in range(1, len(x)):
    expected[i] = (expected[i - 1] + x[i]) / 2
called(s, [X, Z], x, np.empty_like(x), expected=expected)
print("order, histogram, means, filter: equal to NumPy's\n")


# 5. What goes wrong. Iterations that need each other, on cores:
@te.hybrid.script
def running(a):
    b = output_tensor(a.shape, a.dtype)
    for i in range(a.shape[0]):
        b[i] = a[i] if i == 0 else b[i - 1] + a[i]
    return b


def in_parallel():
    sums = running(X)
    s = te.create_schedule(sums.op)
    s[sums].parallel(sums.op.axis[0])


# Python that the language does not have; the error stands under the place in your function.
@te.hybrid.script
def until(a):
    b = output_tensor(a.shape, a.dtype)
    i = 0
    while a[i] > 0.0:
        b[i] = a[i]
    return b


# Results that are never written.
def nothing():
    te.extern((n,), [X], lambda ins, outs: tir.call_packed(print, ins[0]), name="C")


for mistake in (in_parallel, lambda: until(X), nothing):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)
