"""What is no hybrid function: each refusal, at the user's column, as a whole."""

# ruff: noqa: E501, F821 (programs as texts; the names of the language)
from __future__ import annotations

import linecache
import math
from textwrap import dedent, indent
from typing import Any

import numpy as np
import pytest

from tecomp import te
from tecomp.errors import UserError, UserTypeError
from tests.te.hybrid_check import floats


@te.hybrid.script
def doubled(x, k=2):
    y = output_tensor(x.shape, x.dtype)
    for i in range(x.shape[0]):
        y[i] = x[i] * k
    return y


OUTSIDE = {
    "doubled": doubled, "te": te, "math": math, "np": np, "table": (1, 2, 3), "tensor": te.placeholder((4,), name="tensor"),
    "settings": {"a": 1}, "helper": lambda x: x, "n": te.var("n"),
}  # fmt: skip


def written(body: str, head: str = "def f(a, k):") -> Any:
    """Return the function of that text, in a file of its own."""
    source = f"{head}\n{indent(dedent(body).strip(), '    ')}\n"
    linecache.cache["<program>"] = (len(source), None, source.splitlines(keepends=True), "<program>")
    scope = dict(OUTSIDE)
    exec(compile(source, "<program>", "exec"), scope)
    found = scope["f"]
    return found if isinstance(found, te.hybrid.HybridFunction) else te.hybrid.script(found)


def message(body: str, head: str = "def f(a, k):") -> str:
    """Return what the function is refused with, of a vector of 8 floats and a variable."""
    function = written(body, head)
    with pytest.raises(UserError) as caught:
        function(te.placeholder((8,), name="a"), te.var("k"))
    return str(caught.value)


MAKE = "b = output_tensor((8,), 'float32')\n"
FILL = MAKE + "for i in range(8):\n    b[i] = 0.0\n"

STATEMENTS = {
    "while": "while k > 0:\n    pass",
    "break": "for i in range(8):\n    break",
    "continue": "for i in range(8):\n    if i > 2:\n        continue",
    "with": "with k:\n    pass",
    "try": "try:\n    pass\nfinally:\n    pass",
    "raise": "raise ValueError",
    "a function": "def g():\n    pass",
    "a class": "class g:\n    pass",
    "global": "global table",
    "import": "import os",
    "from import": "from os import path",
    "del": "del k",
    "annotation": "x: int = 0",
    "two targets": "x = y = 0",
    "a starred target": "[*x] = table",
    "an attribute": "a.shape = (4,)",
    "a swap": "x = a[0]\ny = a[1]\nx, y = a[1], a[0]",
    "too few names": "x, y = table",
    "an element in a tuple": MAKE + "b[0], x = 1, 2",
    "one value for two names": "x, y = 3",
    "a value that is not used": "a[0] + 1",
    "a call that is not used": "print(k)",
    "an argument that is assigned": "k = 3",
    "a loop variable that is assigned": "for i in range(8):\n    i = 3",
    "a tensor that is assigned": MAKE + "b = 3",
    "memory for a name twice": MAKE + "b = allocate((8,))",
    "a new variable that is changed": "x += 1",
    "an argument that is changed": "k += 1",
    "a loop variable that is changed": "for i in range(8):\n    i += 1",
    "an attribute that is changed": "a.ndim += 1",
    "matrix product in place": MAKE + "b[0] @= 1",
    "a store to an argument": "a[0] = 1.0",
    "a store to a constant": "table[0] = 1",
    "a store of another type": MAKE + "b[0] = k",
    "a variable of another type": "x = 0\nx = a[0]",
    "a literal that does not fit": "b = output_tensor((8,), 'int8')\nb[0] = 300",
    "nothing returned": MAKE + "b[0] = 1.0",
    "return in a loop": FILL + "for i in range(8):\n    return b",
    "after return": FILL + "return b\nx = 0",
    "an argument returned": "return a",
    "a number returned": "return k",
    "returned twice": FILL + "return b, b",
    "None returned": FILL + "return",
    "never written": MAKE + "return b",
    "not returned": FILL + "c = output_tensor((8,))\nreturn b",
    "assert of data": "assert a[0] > 0.0",
    "assert in a loop": "for i in range(8):\n    assert k > i",
    "assert that does not hold": "assert len(a) == 9, 'nine elements'",
}

LOOPS = {
    "over a tensor": "for x in a:\n    pass",
    "over a call": "for i in zip(a, a):\n    pass",
    "over nothing that counts": "for i in k:\n    pass",
    "else": "for i in range(8):\n    pass\nelse:\n    pass",
    "a target": "for i, j in range(8):\n    pass",
    "an element as target": MAKE + "for b[0] in range(8):\n    pass",
    "no end": "for i in range():\n    pass",
    "an end by name": "for i in range(stop=8):\n    pass",
    "an end of floats": "for i in range(a[0]):\n    pass",
    "a step of 0": "for i in range(0, 8, 0):\n    pass",
    "a step of a variable": "for i in range(0, 8, k):\n    pass",
    "vectorize of a size": "for i in vectorize(k):\n    pass",
    "unroll of a size": "for i in unroll(k):\n    pass",
    "const_range of a size": "for i in const_range(k):\n    pass",
    "const_range of nothing": "for i in const_range():\n    pass",
    "const_range of many": "for i in const_range(5000):\n    pass",
    "parallel in parallel": "for i in parallel(8):\n    for j in parallel(8):\n        pass",
    "grid of two for three": "for i, j, k in grid(8, 8):\n    pass",
    "bind to what is none": "for i in bind('threadIdx.w', 8):\n    pass",
    "bind twice": "for i in bind('threadIdx.x', 8):\n    for j in bind('threadIdx.x', 8):\n        pass",
    "bind of floats": "for i in bind('threadIdx.x', a[0]):\n    pass",
    "bind of nothing": "for i in bind('threadIdx.x'):\n    pass",
    "parallel iterations that write one element": MAKE + "for i in parallel(8):\n    b[0] = a[i]\nreturn b",
    "parallel iterations in a chain": FILL + "for i in parallel(1, 8):\n    b[i] = b[i - 1] + a[i]\nreturn b",
    "threads that read their neighbours": MAKE
    + "t = allocate((8,), 'float32', 'shared')\nfor i in bind('threadIdx.x', 8):\n    t[i] = a[i]\n    b[i] = t[7 - i]\nreturn b",
    "lanes that add up": FILL + "x = 0.0\nfor i in vectorize(8):\n    x += a[i]\nb[0] = x\nreturn b",
    "two statements that meet": MAKE + "for i in parallel(7):\n    b[i] = a[i]\n    b[i + 1] = a[i]\nreturn b",
}

MEMORY = {
    "read before it is written": MAKE + "x = b[0]",
    "changed before it is written": MAKE + "b[0] += 1.0",
    "read under a condition and never written": "t = allocate((8,))\n"
    + FILL
    + "for i in range(8):\n    if i > 0:\n        b[i] = t[i]\nreturn b",
    "too few indices": "b = output_tensor((8, 8))\nb[0] = 1.0",
    "too many indices": "x = a[0, 0]",
    "an index of floats": "x = a[a[0]]",
    "an index past the end": "for i in range(8):\n    x = a[i + 1]",
    "an index below 0": "x = a[-1]",
    "an index past a size": "b = output_tensor((k,))\nfor i in range(k):\n    b[i + 1] = 0.0",
    "an index under a condition": "for i in range(16):\n    if i < 9:\n        x = a[i]",
    "a slice": "x = a[1:3]",
    "memory in an expression": "x = 1 + output_tensor((8,))",
    "an output in a block": "for i in range(8):\n    b = output_tensor((8,))",
    "a scope": "t = allocate((8,), 'float32', 'texture')",
    "shared memory of a size": "t = allocate((k,), 'float32', 'shared')",
    "global memory of a thread": "for i in bind('blockIdx.x', 8):\n    t = allocate((8,))",
    "a shape of data": "t = allocate((8, int32(a[0])))",
    "a shape of a loop": "for i in range(8):\n    t = allocate((i,))",
    "a shape of floats": "t = allocate((8.5,))",
    "a dtype": "t = allocate((8,), 'float31')",
    "no shape": "t = allocate()",
    "shape twice": "t = allocate((8,), shape=(8,))",
}

EXPRESSIONS = {
    "an unknown name": "x = nowhere",
    "a name after its block": "for i in range(8):\n    x = a[i]\ny = x",
    "a loop variable after its loop": "for i in range(8):\n    pass\nx = i",
    "a tensor from outside": "x = tensor[0]",
    "a dict from outside": "x = settings",
    "a function from outside": "x = helper(k)",
    "a method": "x = a.sum()",
    "a module": "x = math.sqrt(2.0)",
    "a range alone": "x = range(8)",
    "a tensor as a number": "x = a + 1",
    "a text as a number": "x = 'one' + 1",
    "None as a number": "x = None + 1",
    "a number as a condition": "if k:\n    pass",
    "integers divided": "x = k / 2",
    "floats and floor": "x = a[0] // 2.0",
    "shifts of floats": "x = a[0] << 1",
    "bools added": "x = (k > 1) + 1",
    "constants divided by 0": "x = 1 / 0",
    "matrix product": "x = a @ a",
    "is": "x = k is table",
    "in": "x = k in table",
    "a list comprehension": "x = [i for i in range(8)]",
    "a generator": "x = max(i for i in range(8))",
    "a lambda": "x = lambda i: i",
    "a walrus": "x = (y := k) + 1",
    "a dict": "x = {1: 2}",
    "an f-string": "x = f'{k}'",
    "bytes": "x = b'one'",
    "a starred argument": "x = max(*table)",
    "an attribute": "x = a.strides",
    "a tuple by a variable": "x = table[k]",
    "a tuple past its end": "x = table[3]",
    "a number by an index": "x = k[0]",
    "a function of too few": "x = atan2(a[0])",
    "a function of too many": "x = exp(a[0], a[0])",
    "a function by name": "x = exp(x=a[0])",
    "a function of integers": "x = exp(k)",
    "len of a number": "x = len(k)",
    "inf of integers": "x = inf('int32')",
    "a hybrid function in an expression": "x = doubled(a)[0]",
    "a hybrid function of too many": "x = doubled(a, 2, 3)",
    "a hybrid function of what is not written": MAKE + "x = doubled(b)",
    "bool of a tensor chosen": "x = 1.0 if a else 2.0",
}


@pytest.mark.parametrize(
    "cases", [STATEMENTS, LOOPS, MEMORY, EXPRESSIONS], ids=["statements", "loops", "memory", "expressions"]
)
def test_refusals(cases, golden):
    golden("\n\n".join(f"# {name}\n{message(body)}" for name, body in cases.items()))


def test_an_error_in_a_called_function_points_there(golden):
    golden(
        message(
            "x = inner(a)\nreturn x",
            head="@te.hybrid.script\ndef inner(x):\n    y = output_tensor((8,))\n    y[0] = x[9]\n    return y\n\ndef f(a, k):",
        )
    )


def test_a_function_that_calls_itself(golden):
    golden(message("x = f(a, k)\nreturn x", head="@te.hybrid.script\ndef f(a, k):"))


def test_arguments_from_python(golden):
    a = te.placeholder((8,), name="a")
    calls = {
        "too many": lambda: doubled(a, 2, 3),
        "unknown": lambda: doubled(a, j=2),
        "too few": lambda: doubled(k=3),
        "too many arrays": lambda: doubled(floats(8), 2, 3),
        "a dict": lambda: doubled(a, {}),
        "an element": lambda: doubled(a, a[0]),
        "arrays among tensors": lambda: doubled(a, floats(8)),
    }
    messages = []
    for name, call in calls.items():
        with pytest.raises(UserTypeError) as caught:
            call()
        messages.append(f"# {name}\n{str(caught.value).replace(f':{caught.value.location.line}', ':LINE', 1)}")
    golden("\n\n".join(messages))


def test_what_is_no_function(golden):
    def many(*tensors):
        return tensors

    shapeless = lambda a: a
    unreadable = {}
    exec("def unreadable(a): return a", unreadable)
    messages = []
    for thing in (3, doubled, many, shapeless, unreadable["unreadable"]):
        with pytest.raises(UserError) as caught:
            te.hybrid.script(thing)
        messages.append(str(caught.value).replace(f":{caught.value.location.line}", ":LINE", 1))
    golden("\n\n".join(messages))


def test_the_column_in_an_indented_function_with_wide_letters(refused):
    größe = 3  # noqa: PLC2401

    @te.hybrid.script
    def f(a):
        b = output_tensor(a.shape, a.dtype)
        for i in range(größe):  # ÄÖÜ
            b[i] = größe * a[i + 9]
        return b

    with refused(
        UserError,
        """
        te.hybrid 'f': index 0 of 'a', i + 9, leaves it
          --> test_hybrid_refusals.py:LINE
           |     b[i] = größe * a[i + 9]
           |                      ^
          because: it lies in [9, 11] and is 9 at i = 0; 'a' has extent 8 there
          legal: 0 to 7, or an if around it
        """,
    ):
        f(te.placeholder((8,), name="a"))
