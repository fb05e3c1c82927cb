"""Texts that are no programs: the message says where and why."""

from __future__ import annotations

import pytest

from tecomp.dtype import INDEX
from tecomp.ir import expr as E
from tecomp.ir.alpha import difference
from tecomp.ir.func import Level
from tecomp.ir.parse import parse
from tecomp.ir.parse_expr import ParseError, parse_expr
from tecomp.ir.stmt import Alloc, Seq
from tecomp.ir.text import text
from tecomp.ir.visit import walk

HEAD = "def f(X: f32[n], Y: out[f32[n]]):\n"

BAD = [
    ("x = 3\n", "line 1, column 1: a program is one def"),
    ("", "line 1, column 1: a program is one def"),
    ("def f(:\n", "line 1, column 7: invalid syntax"),
    ("def f(X) -> flat:\n    pass\n", "line 1, column 7: parameter 'X' has no type | X: f32[n], n: i32"),
    ("def f() -> deep:\n    pass\n", "line 1, column 12: no level | loops, device, flat"),
    ("def f(X: q8[n]):\n    pass\n", "line 1, column 10: no element type | "),
    ("def f(X: g(f32[n])):\n    pass\n", "line 1, column 10: no parameter | f32, f32[n], buffer("),
    ("def f(n: i32[:5]):\n    pass\n", "line 1, column 10: the range of a variable is [least:] or [least:end]"),
    ("def f(X: buffer(f32[n], size=3)):\n    pass\n", "line 1, column 30: no property 'size' of a buffer | strides="),
    ("def f(X: buffer(f32[n], g)):\n    pass\n", "line 1, column 25: a number or a string stands here"),
    (HEAD + "    Y[q] = X[0]\n", "line 2, column 7: no variable 'q' is in scope | n"),
    (HEAD + "    Z[0] = X[0]\n", "line 2, column 5: no buffer 'Z' is in scope | X, Y"),
    (HEAD + "    Y[0] = X[0] @ X[1]\n", "line 2, column 12: MatMult is not part of the notation"),
    (
        HEAD + "    Y[0] = -X[0]\n",
        "line 2, column 12: of unary operators only not is part of the notation | 0 - x, x * -1.0",
    ),
    (HEAD + "    Y[0] = 'a'\n", "line 2, column 12: 'a' is no number"),
    (HEAD + "    Y[0] = [1]\n", "line 2, column 12: List is not part of the notation"),
    (
        HEAD + "    Y[1.5] = X[0]\n",
        "line 2, column 7: a fraction where a value of index stands | the type written out, as in f32(1.5)",
    ),
    (HEAD + "    Y[0] = f32(i8(300))\n", "line 2, column 19: 300 does not fit in int8: int8 holds -128 to 127"),
    (
        HEAD + "    if 0 < n < 3:\n        pass\n",
        "line 2, column 8: a comparison is one of ==, !=, <, <= between two values | a < b and b < c",
    ),
    (
        HEAD + "    if n > 3:\n        pass\n",
        "line 2, column 8: a comparison is one of ==, !=, <, <= between two values | a < b and b < c",
    ),
    (HEAD + "    Y[0] = min(X[0])\n", "line 2, column 12: 1 arguments where 2 stand"),
    (HEAD + "    Y[ramp(0, 1, n)] = X[0]\n", "line 2, column 18: the number of lanes is a positive integer"),
    (HEAD + "    Y[0] = X[0].exp()\n", "line 2, column 12: only names are called"),
    (HEAD + "    address(X, 'x')\n", "line 2, column 16: no mode of an address | 'r', 'w', 'rw'"),
    (HEAD + "    address(3, 'r')\n", "line 2, column 13: no buffer '' is in scope | X, Y"),
    (HEAD + "    while n:\n        pass\n", "line 2, column 5: While is not part of the notation"),
    (
        HEAD + "    for i in n:\n        pass\n",
        "line 2, column 14: no kind of loop | range, parallel, vectorized, unrolled, thread, vthread",
    ),
    (HEAD + "    for i in range():\n        pass\n", "line 2, column 14: a loop has an end, or a start and an end"),
    (
        HEAD + "    for i in range(n, step=2):\n        pass\n",
        "line 2, column 28: a loop has pragmas=[(name, value), ...]",
    ),
    (HEAD + "    for i in range(n, pragmas=[1]):\n        pass\n", "line 2, column 32: a pragma is (name, value)"),
    (
        HEAD + "    with open(n):\n        pass\n",
        "line 2, column 10: no such block | launch(...), across(...), scope()",
    ),
    (
        HEAD + "    with across(['threadIdx.x'], [X]):\n        pass\n",
        "line 2, column 10: across takes threads, buffers, start values and how two of them join",
    ),
    (
        HEAD + "    with across(['threadIdx.x'], [X], [0.0], lambda x: x):\n        pass\n",
        "line 2, column 10: across of 1 buffers joins as many values with as many others",
    ),
    (HEAD + "    with launch(x=n):\n        pass\n", "line 2, column 19: no thread axis 'x' | blockIdx_x, "),
    (HEAD + "    with launch(blockIdx_x=n) as (a, b):\n        pass\n", "line 2, column 10: 1 thread axes and 2 names"),
    (HEAD + "    X.a = 3\n", "line 2, column 5: a store is B[indices] = value"),
]


@pytest.mark.parametrize(("source", "message"), BAD, ids=[message for _, message in BAD])
def test_what_does_not_parse(source: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(source)
    where, _, rest = message.partition(": ")
    because, _, legal = rest.partition(" | ")
    assert caught.value.asked == f"{where} does not parse"
    assert caught.value.because == because
    assert caught.value.legal.startswith(legal)


def test_the_message_underlines_the_place() -> None:
    with pytest.raises(ParseError) as caught:
        parse(HEAD + "    Y[0] = X[q]\n")
    assert caught.value.ir == "    Y[0] = X[q]\n             ^"


@pytest.mark.parametrize("source", ["", "x = 1", "x; x"])
def test_no_expression(source: str) -> None:
    with pytest.raises(ValueError, match="is no expression"):
        parse_expr(source, x=E.Var("x", INDEX))


def test_scopes_end_with_their_suite() -> None:
    func = parse(
        HEAD + "    with scope():\n        t: f32\n        t = X[0]\n    t = alloc(f32, 'shared')\n    t = X[1]\n"
    )
    assert isinstance(func.body, Seq)
    kinds = [(type(stmt), stmt.buffer.scope) for stmt in func.body.stmts if isinstance(stmt, Alloc)]
    assert kinds == [(Alloc, "local"), (Alloc, "shared")]


def test_copies_of_memory_and_virtual_threads() -> None:
    source = (
        HEAD
        + "    for v in vthread(2):\n"
        + "        for i in range(n):\n"
        + "            t = alloc(f32[4], 'shared.dyn', strides=[8], align=64, copies=2)\n"
        + "            s = alloc(f32, 'local', copies=3)\n"
        + "            s = X[i]\n"
        + "            t[v] = s\n"
        + "            Y[i] = t[v]\n"
    )
    func = parse(source)
    assert text(func) == source
    assert [(node.buffer.is_shared, node.copies) for node in walk(func.body) if isinstance(node, Alloc)] == [
        (True, 2),
        (False, 3),
    ]
    assert difference(func, parse(source.replace("copies=2", "copies=4"))) == "copies of 't': 2 against 4"


def test_sizes_of_other_types() -> None:
    func = parse("def f(X: f32[n, m], k: i64) -> flat:\n    n: size[i64[0:]]\n    m: size[i32[1:9]]\n    pass\n")
    assert func.level is Level.FLAT
    assert [(size.name, str(size.dtype), size.min, size.extent) for size in func.sizes()].__repr__() == (
        "[('n', 'int64', i64(0), None), ('m', 'int32', i32(1), i32(8))]"
    )
    (extent,) = [size.extent for size in func.sizes() if size.name == "m"]
    assert isinstance(extent, E.Const)


DIFFERENT = [
    ("", " -> device", "level: 'loops' against 'device'"),
    ("X[i]", "X[i + 1]", "store to 'Y': X[i] against X[i + 1]"),
    (
        "range(n)",
        "parallel(n)",
        "kind of a loop: (<LoopKind.SERIAL: 'range'>, '') against (<LoopKind.PARALLEL: 'parallel'>, '')",
    ),
    ("range(n)", "range(1, n)", "range of 'i': 0 against 1"),
    ("range(n)", "range(n, pragmas=[('a', 1)])", "number of pragmas: 0 against 1"),
    ("Y[i] = X[i]", "Z[i] = X[i]", "buffer stored to: False against True"),
    ("Y[i] = X[i]", "pass", "statements of a suite: ['Store'] against []"),
    ("X: f32[n]", "X: f32[n + 0]", "shape of 'X': n against n + 0"),
    ("X: f32", "X: f16", "dtype of 'X': 'float32' against 'float16'"),
    ("Z: f32", "Z: out[f32[n]], W: f32", "number of parameters: 3 against 4"),
    ("out[f32[n]]", "f32[n]", "outputs: {1} against set()"),
    ("    for", "    assert n < 3, 'few'\n    for", "number of requirements: 0 against 1"),
]


@pytest.mark.parametrize(("old", "new", "message"), DIFFERENT, ids=[message for *_, message in DIFFERENT])
def test_programs_that_differ(old: str, new: str, message: str) -> None:
    source = "def f(X: f32[n], Y: out[f32[n]], Z: f32[n]):\n    for i in range(n):\n        Y[i] = X[i]\n"
    changed = source.replace(old, new, 1) if old else source.replace("):\n", f"){new}:\n", 1)
    assert difference(parse(source), parse(changed)) == message
    assert difference(parse(source), parse(source.replace("[i]", "[t]").replace("for i", "for t"))) == ""
