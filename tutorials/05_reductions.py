"""Reductions: sums and their like, the loops over them, partial results by rfactor.

    python tutorials/05_reductions.py

Read tutorial 04, on loops, first.
"""

import numpy as np

import tecomp
from tecomp import te
from tecomp.errors import TecompError


def show(title, text):
    print(f"== {title}\n\n{str(text).strip()}\n")


# 1. The problem: the sum of each row. `k` runs over what is added up: an axis of the reduction, not of the result.
#    Lowered, an element begins with 0 in the loop that computes it, then k adds to it.
n, m = te.var("n"), te.var("m")
A = te.placeholder((n, m), name="A")
k = te.reduce_axis((0, m), name="k")
B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
s = te.create_schedule(B.op)
show("sums of rows", tecomp.lower(s, [A, B], name="sums"))

# 2. The loop over k can stand anywhere. With rows inside it, 8 sums are begun together, then each k adds to all of
#    them. You do not say where the start goes: lowering puts it before the first reduction loop.
i = B.op.axis[0]
outer, inner = s[B].split(i, factor=8)
s[B].reorder(outer, k, inner)
show("8 rows at once", tecomp.lower(s, [A, B], name="sums", simple_mode=True))

# 3. More than a sum: te.prod, te.max, te.min; several axes; a condition, `where`; a first value other than 0, `init`.
#    What `where` says of k alone becomes the range of its loop, the rest an `if`. A sum over nothing is its init, or
#    0; a maximum over nothing is -inf.
bias = te.placeholder((n,), name="bias")
above = te.compute(
    (n,), lambda i: te.sum(A[i, k], axis=k, where=te.all(A[i, k] > 0, k > i), init=bias[i]), name="above"
)
show("bias and what is positive, right of the diagonal", tecomp.lower(te.create_schedule(above.op), [A, bias, above]))

#    And reducers of one's own: how two results join, and what joins without a change.
joined = te.comm_reducer(lambda x, y: x + y - x * y, lambda dtype: te.const(0, dtype), name="either")
either = te.compute((n,), lambda i: joined(A[i, k], axis=k), name="either")  # of independent chances

# 4. The numbers of a row are added one after another: each addition waits for the one before. To use the lanes of the
#    processor, sum 16 interleaved parts of a row and then add those up. That is what rfactor does: the loop given to
#    it becomes a dimension of a new stage of partial results, and `B` sums these.
s = te.create_schedule(B.op)
_, part = s[B].split(k, factor=16)
P = s.rfactor(B, part, factor_axis=1)
show("the stage of partial sums", f"{P}\n{P.op.body[0]}\nits condition: {P.op.body[0].condition}")

#    P is a stage like any other. Its lanes are the vector; it is computed where a row is summed. Compare with the
#    first program: 16 sums at once.
row, lanes = s[P].op.axis
(step,) = s[P].op.reduce_axis
s[P].reorder(row, step, lanes)
s[P].vectorize(lanes)
s[P].compute_at(s[B], i)
show("16 partial sums", s)
show("its program", tecomp.lower(s, [A, B], name="sums"))

#    The other loop of the split, and parallel: whole parts of a long row on different cores.
s2 = te.create_schedule(B.op)
part, _ = s2[B].split(k, nparts=4)
P = s2.rfactor(B, part)
s2[P].parallel(s2[P].op.axis[0])
show("4 parts on as many cores", tecomp.lower(s2, [A, B], name="sums", simple_mode=True))

# 5. The numbers. Sums in another order round differently, so floats are compared with a tolerance; integers are
#    exact.
in_parts, in_cores = tecomp.build(s, [A, B]), tecomp.build(s2, [A, B])
for rows, columns in ((3, 0), (1, 1), (3, 15), (3, 16), (3, 17), (100, 1001)):
    a = np.random.default_rng(columns).standard_normal((rows, columns)).astype(np.float32)
    for function in (in_parts, in_cores):
        b = np.empty(rows, np.float32)
        function(a, b)
        np.testing.assert_allclose(b, a.sum(1), rtol=1e-4, atol=1e-4)
a = np.random.default_rng(0).random((4, 5), dtype=np.float32)
result = np.empty(4, np.float32)
tecomp.build(te.create_schedule(either.op), [A, either])(a, result)
np.testing.assert_allclose(result, 1 - np.prod(1 - a, axis=1), rtol=1e-5)
print("sums and chances of several sizes: equal to NumPy's\n")


# 6. What goes wrong. The iterations of k change one element: as lanes or on cores, they would overwrite each other.
def vectorized():
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(k, factor=16)[1])


# A reduction is the whole formula of its stage: what is done with the sum is another stage.
def inside():
    te.compute((n,), lambda i: te.sqrt(te.sum(A[i, k], axis=k)), name="norm")


# An axis belongs to the stage whose formula reduces over it, which must say so.
def forgotten():
    te.compute((n,), lambda i: A[i, k] * 2, name="C")


# Partial results are joined in an order of the schedule's choice, so a reducer must not depend on it.
def subtracted():
    te.comm_reducer(lambda x, y: x - y, lambda dtype: te.const(0, dtype), name="difference")(A[0, k], axis=k)


for mistake in (vectorized, inside, forgotten, subtracted):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)
