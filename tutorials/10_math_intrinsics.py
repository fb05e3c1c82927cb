"""Functions of numbers: what each target makes of them, operations on bits, and your own.

python tutorials/10_math_intrinsics.py
"""

import sys

import numpy as np

import tecomp
from tecomp import te, tir
from tecomp.errors import TecompError
from tecomp.ir import interpret
from tecomp_runtime import LaunchError

TARGET = "cuda -arch=sm_90a"


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


def lines(text, *words):
    """Return the lines in which one of the words stands, without their indentation."""
    return "\n".join(line.strip() for line in str(text).splitlines() if any(word in line for word in words))


n = te.var("n")
X = te.placeholder((n,), name="X")


def elementwise(formula, name="Y"):
    return te.compute((n,), lambda i: formula(X[i]), name=name)


def on_vectors(Y):
    s = te.create_schedule(Y.op)
    s[Y].vectorize(s[Y].split(Y.op.axis[0], factor=8)[1])
    return s


def on_threads(Y):
    s = te.create_schedule(Y.op)
    block, thread = s[Y].split(Y.op.axis[0], factor=256)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].bind(thread, te.thread_axis("threadIdx.x"))
    return s


# 1. The problem: exp on every processor, with one meaning. In a program it is `exp`, whatever the target; each target
#    has a table of what that is. On a CPU, 8 at a time, by the vector functions of the C library where it has them.
Y = elementwise(lambda x: te.exp(x) / (1 + te.exp(x)))
show("the formula", Y.op.body[0])
show("for a GPU", lines(tecomp.build(on_threads(Y), [X, Y], target=TARGET).source, "expf"))

x = np.linspace(-5, 5, 1001, dtype=np.float32)
y = np.empty_like(x)
tecomp.build(on_vectors(Y), [X, Y])(x, y)
np.testing.assert_allclose(y, np.exp(x) / (1 + np.exp(x)), rtol=1e-5)
print("the logistic function in vectors: equal to NumPy's\n")

# 2. What there is. Each is checked against NumPy in every float type by the tests; here in float32. A function keeps
#    the type of its argument: exp of a float16 is a float16.
FUNCTIONS = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tan": np.tan, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "nearbyint": np.rint, "abs": np.abs,
}  # fmt: skip
for name, numpy_says in FUNCTIONS.items():
    Y = elementwise(getattr(te, name))
    tecomp.build(on_vectors(Y), [X, Y])(x, y)
    np.testing.assert_allclose(y, numpy_says(x), rtol=1e-5, atol=1e-6)
print(f"{', '.join(FUNCTIONS)}: equal to NumPy's\n")

# 3. Two roundings that are often confused: te.round goes away from 0 at halves, as C's; te.nearbyint to the even one.
for name in ("round", "nearbyint"):
    Y = elementwise(getattr(te, name))
    halves, result = np.array([-1.5, -0.5, 0.5, 1.5, 2.5], np.float32), np.empty(5, np.float32)
    tecomp.build(te.create_schedule(Y.op), [X, Y])(halves, result)
    print(f"te.{name} of {halves}: {result}")
print()

# 4. Bits. reinterpret is the same bits as another type; with shifts, a power of two from a float's exponent. fma
#    rounds once; popcount and clz count bits.
Y = te.compute((n,), lambda i: (te.reinterpret("int32", X[i]) >> 23 & 255) - 127, name="Y")
show("the exponent of a float", Y.op.body[0])
powers, exponent = np.array([0.25, 1, 3, 1000], np.float32), np.empty(4, np.int32)
tecomp.build(te.create_schedule(Y.op), [X, Y])(powers, exponent)
print(f"of {powers}: {exponent}\n")

# 5. What one target has, by name: an intrinsic of LLVM's, or a function of CUDA's as a call of other code. Speed for
#    precision is never taken unasked: exp is exact to the last bits, and who wants the fast approximation names it.
Y = elementwise(lambda x: tir.call_llvm_pure_intrin("float32", "llvm.canonicalize", x))
Z = elementwise(lambda x: tir.call_pure_extern("float32", "__expf", x), name="Z")
show("an intrinsic of LLVM's", lines(tecomp.lower(te.create_schedule(Y.op), [X, Y]), "canonicalize"))
tecomp.build(te.create_schedule(Y.op), [X, Y])(x, y)
np.testing.assert_array_equal(y, x)
show("a function of CUDA's", lines(tecomp.build(on_threads(Z), [X, Z], target=TARGET).source, "__expf"))

# 6. Every function has its meaning in the interpreter and in the simulator too, so that a program for a GPU can be
#    tried without one.
Y = elementwise(te.exp)
interpret(tecomp.lower(on_threads(Y), [X, Y], target=TARGET), x, y)
np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)
y[:] = np.nan
tecomp.build(on_threads(Y), [X, Y], target="cuda-sim")(x, y)
np.testing.assert_allclose(y, np.exp(x), rtol=1e-6)
if tecomp.cuda().exist:
    given = [tecomp.nd.array(array, tecomp.cuda()) for array in (x, y)]
    tecomp.build(on_threads(Y), [X, Y], target="cuda")(*given)
    np.testing.assert_allclose(given[1].numpy(), np.exp(x), rtol=1e-5)
    print("CUDA: equal to NumPy's", file=sys.stderr)
else:
    print("no GPU: interpreted and simulated only", file=sys.stderr)


# 7. What goes wrong. Functions of floats want floats; integers are not converted in silence.
def of_an_integer():
    te.compute((n,), lambda i: te.exp(i * 2), name="Y")


# A comparison is no number.
def of_a_bool():
    elementwise(lambda x: (x > 0) * x)


# A function of CUDA's is none of the CPU's: found when it is built.
def of_the_other_target():
    tecomp.build(on_vectors(Z), [X, Z])


for mistake in (of_an_integer, of_a_bool, of_the_other_target):
    try:
        mistake()
    except (TecompError, LaunchError) as error:
        show(type(error).__name__, error)
