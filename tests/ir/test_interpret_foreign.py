"""Calls that leave the program, under the interpreter, and their text."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp.ir.alpha import difference
from tecomp.ir.evaluate import ExecutionError
from tecomp.ir.foreign import FUNCTIONS
from tecomp.ir.func import Level
from tecomp.ir.interpret import interpret
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import flatten, narrow
from tests.passes.programs import CPU

HEAD = "def f(X: f32[n, m], Y: out[f32[n, m]]):\n"


@pytest.fixture
def function():
    """Return `function(f)`: a name by which programs call f for as long as the test runs."""
    names: list[str] = []

    def register(f) -> str:
        names.append(f"tests.f{len(names)}")
        FUNCTIONS[names[-1]] = f
        return names[-1]

    yield register
    for name in names:
        del FUNCTIONS[name]


def run(source: str, *arrays: np.ndarray, level: Level = Level.LOOPS) -> None:
    func = parse(source)
    if level is Level.FLAT:
        func = narrow.run(flatten.run(func, CPU), CPU)
    assert difference(func, parse(text(func))) == ""
    interpret(func, *arrays)


@pytest.mark.parametrize("level", [Level.LOOPS, Level.FLAT])
def test_a_python_function_gets_the_arrays(function, level) -> None:
    def double(x: np.ndarray, out: np.ndarray, number: float, count: int) -> None:
        assert not x.flags.writeable
        assert (number, count) == (0.5, 2)
        out[:] = 2 * x

    x, y = np.arange(6, dtype="float32").reshape(2, 3), np.zeros((2, 3), "float32")
    body = f"    call_packed({function(double)!r}, address(X, 'r'), address(Y, 'w'), f32(0.5), i32(n))\n"
    run(HEAD + body, x, y, level=level)
    np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.parametrize("level", [Level.LOOPS, Level.FLAT])
@pytest.mark.parametrize(
    ("to", "of"), [("address(Y, 'w', 1)", "address(X, 'r', 1)"), ("address(Y[1, 0], 'w')", "address(X[0, 2], 'r')")]
)
def test_a_c_function_gets_addresses(level, to, of) -> None:
    x, y = np.arange(6, dtype="float32").reshape(2, 3), np.zeros((2, 3), "float32")
    run(HEAD + f"    call_extern[handle]('memcpy', {to}, {of}, u64(8))\n", x, y, level=level)
    expected = np.zeros(6)
    if "1, 0" in to:
        expected[3:5] = [2, 3]
    else:
        expected[1:3] = [1, 2]
    np.testing.assert_array_equal(y.ravel(), expected)


def test_a_call_happens_once_and_only_where_it_is_reached(function) -> None:
    calls: list[int] = []
    source = f"""\
def f(Y: out[f32[4]]):
    for i in range(4):
        x = 1.0 if i < 2 else f32(call_packed({function(calls.append)!r}, i32(i)))
        Y[i] = x + x
"""
    run(source, np.zeros(4, "float32"))
    assert calls == [2, 3]


def test_memory_that_a_function_writes_holds_something(function) -> None:
    name = function(lambda out: out.fill(3))
    source = "def f(Y: out[f32[4]]):\n    T = alloc(f32[4])\n    {}\n    for i in range(4):\n        Y[i] = T[i]\n"
    y = np.zeros(4, "float32")
    run(source.format(f"call_packed({name!r}, address(T, 'w'))"), y)
    np.testing.assert_array_equal(y, [3, 3, 3, 3])


FAULTS = [
    (
        "T = alloc(f32[n])\n    call_packed('tests.f0', address(T, 'r'))",
        "it gives T away to be read, and not all of it was written",
    ),
    (
        "call_packed('tests.nobody', n)",
        "it calls the Python function 'tests.nobody', and none of that name is registered",
    ),
    ("call_extern[i32]('no_such_function')", "it calls the C function 'no_such_function', which no library here has"),
    ("call_extern[i32]('memcpy', address(X, 'r'))", "it gives away the address of X, which has gaps"),
]


@pytest.mark.parametrize(("body", "because"), FAULTS)
def test_what_is_undefined(function, body, because) -> None:
    function(print)
    wide = np.zeros((2, 6), "float32")
    with pytest.raises(ExecutionError) as caught:
        run(HEAD + f"    {body}\n", wide[:, ::2], np.zeros((2, 3), "float32"))
    assert caught.value.because == because


def test_what_a_function_raises_is_the_users(function) -> None:
    def fail() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        run(f"def f(Y: out[f32[4]]):\n    call_packed({function(fail)!r})\n", np.zeros(4, "float32"))
