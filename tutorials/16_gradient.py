"""te.gradient: derivatives as tensors, to schedule and build like any other. A layer is trained at the end.

python tutorials/16_gradient.py
"""

import numpy as np

import tecomp
from tecomp import te, tir
from tecomp.errors import TecompError


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


def formula(tensor):
    """Return a tensor with its formula, as text."""
    return f"{tensor} = {tensor.op.body[tensor.value_index]}"


# 1. The problem: a layer Y = tanh(X W), a loss, and how the loss changes with W.
rows, inputs, units = te.var("rows"), te.var("inputs"), te.var("units")
X, W = te.placeholder((rows, inputs), name="X"), te.placeholder((inputs, units), name="W")
k = te.reduce_axis((0, inputs), name="k")
P = te.compute((rows, units), lambda i, j: te.sum(X[i, k] * W[k, j], axis=k), name="P")
Y = te.compute((rows, units), lambda i, j: te.tanh(P[i, j]), name="Y")

# 2. Reverse mode: given how the loss changes with Y (the head, of Y's shape), te.gradient gives how it changes with
#    each input. The results are tensors. That of a matrix product is a matrix product, with the sum over what is
#    left.
head = te.placeholder((rows, units), name="head")
dX, dW = te.gradient(Y, [X, W], head=head)
show("how X and W change it", f"{formula(dX)}\n{formula(dW)}")
show("by way of", "\n".join(formula(tensor) for tensor in dW.op.input_tensors if tensor is not X))

# 3. No sum over comparisons is left where an index can be solved for: a convolution's gradient is a convolution, with
#    the conditions of its border; a transpose's a transpose; a gather's a scatter (tutorial 15).
A, F = te.placeholder((20,), name="A"), te.placeholder((3,), name="F")
u = te.reduce_axis((0, 3), name="u")
windows = te.compute((9,), lambda i: te.sum(A[i * 2 + u] * F[u], axis=u), name="windows")
slope = te.placeholder((9,), name="slope")
dA, dF = te.gradient(windows, [A, F], head=slope)
show("of a convolution with stride 2", f"{formula(dA)}\n{formula(dF)}")

# 4. Without a head: every element of the result by every element of the input. That is the Jacobian, and rather
#    large; for a loss, which has no dimensions, it is the gradient itself.
target = te.placeholder((rows, units), name="target")
i, j = te.reduce_axis((0, rows), name="i"), te.reduce_axis((0, units), name="j")
loss = te.compute((), lambda: te.sum((Y[i, j] - target[i, j]) * (Y[i, j] - target[i, j]), axis=[i, j]), name="loss")
(step,) = te.gradient(loss, [W])
show("the gradient of the loss", formula(step))

# 5. Schedule it. The stages are those of the layer and those of its derivative, in one program; what both need is
#    computed once. te.default_schedule (tutorial 17) is enough here.
s = te.default_schedule([loss, step], "llvm")
descend = tecomp.build(s, [X, W, target, loss, step], name="descend")

random = np.random.default_rng(0)
x = random.standard_normal((64, 5)).astype(np.float32)
wanted = np.tanh(x @ random.standard_normal((5, 3)).astype(np.float32))
w, d, l = np.zeros((5, 3), np.float32), np.empty((5, 3), np.float32), np.empty((), np.float32)

# Check it first: against the difference that a small change makes. The loss has about seven digits in float32, so the
# change must not be too small.
w[...] = random.standard_normal((5, 3))
descend(x, w, wanted, l, d)
y = np.tanh(x @ w)
np.testing.assert_allclose(d, x.T @ ((1 - y * y) * 2 * (y - wanted)), rtol=1e-3, atol=1e-3)
print("the gradient: equal to what one derives by hand\n")

for turn in range(101):
    descend(x, w, wanted, l, d)
    w -= 0.005 * d
    if turn % 25 == 0:
        print(f"after {turn:3} steps the loss is {l:.0f}")
print()


# 6. What goes wrong. A head has the shape of the result, as it weighs its elements.
def another_shape():
    te.gradient(Y, [X], head=te.placeholder((units, rows), name="head"))


# What is inside of a call no one knows, and so no derivative of it.
def of_a_call():
    order = te.extern((rows, units), [Y], lambda ins, outs: tir.call_packed("sort", *ins, *outs), name="order")
    te.gradient(order, [X])


for mistake in (another_shape, of_a_call):
    try:
        mistake()
    except TecompError as error:
        show(type(error).__name__, error)
