"""Small FLAT programs written by hand, built for the CPU and run between guard words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tecomp.codegen import llvm
from tecomp.dtype import INDEX, DType
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.func import Func, Level
from tecomp.ir.stmt import Buffer, For, LoopKind, Seq, Stmt, Store
from tecomp.target import Target
from tecomp_runtime import Kernel

GUARD = 0xA5
GUARD_BYTES = 256
CPU = Target.of("llvm")


def build(params: list[Any], outputs: list[Buffer], body: Stmt, name: str = "f") -> Kernel:
    """Return the kernel of a FLAT function."""
    return Kernel(llvm.generate(Func(name, tuple(params), tuple(outputs), body, Level.FLAT), CPU))


def guarded(shape: tuple[int, ...], dtype: Any) -> tuple[np.ndarray, Callable[[], bool]]:
    """Return an array with guard words on both sides, and the question whether they are intact."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.full(size + 2 * GUARD_BYTES, GUARD, np.uint8)
    inside = memory[GUARD_BYTES : GUARD_BYTES + size].view(dtype).reshape(shape)
    return inside, lambda: bool((memory[:GUARD_BYTES] == GUARD).all() and (memory[GUARD_BYTES + size :] == GUARD).all())


Function = Callable[..., Any]


def elementwise(function: Function, inputs: list[np.ndarray], lanes: int = 1, mask: Any = None) -> np.ndarray:
    """Return function(inputs...) computed in vectors of `lanes`; the length of the inputs is a multiple of them."""
    return elementwise_each([function], inputs, lanes, mask)[0]


def elementwise_each(
    functions: Iterable[Function], inputs: list[np.ndarray], lanes: int = 1, mask: Any = None
) -> list[np.ndarray]:
    """Return the same for each of several functions, each a loop of its own in one function, compiled once."""
    size = inputs[0].size
    shape = (make.const(size, INDEX),)
    buffers = [Buffer(f"A{n}", shape, DType(array.dtype.name)) for n, array in enumerate(inputs)]
    outs: list[Buffer] = []
    loops: list[Stmt] = []
    for number, function in enumerate(functions):
        i = E.Var(f"i{number}", INDEX, make.const(0, INDEX), make.const(size // lanes, INDEX))
        place: Any = i if lanes == 1 else E.Ramp(make.mul(i, lanes), make.const(1, INDEX), lanes)
        value = function(*(make.load(buffer, [place]) for buffer in buffers))
        outs.append(Buffer(f"B{number}", shape, value.dtype.element))
        store = Store(outs[-1], (place,), value, make.TRUE if mask is None else mask(place))
        loops.append(For(i, LoopKind.SERIAL, store))
    results = [guarded((size,), out.dtype.numpy) for out in outs]
    if mask is not None:
        for result, _ in results:
            result[...] = 0
    build([*buffers, *outs], outs, Seq(tuple(loops)))(*inputs, *(result for result, _ in results))
    assert all(intact() for _, intact in results)
    return [result for result, _ in results]


def samples(dtype: str, count: int, seed: int = 0) -> np.ndarray:
    """Return values of a type that matter: limits, zeros, specials, small ones, and random ones of all sizes."""
    kind = DType(dtype)
    random = np.random.default_rng(seed)
    if kind.is_bool:
        return random.integers(0, 2, count).astype(bool)
    if kind.is_integer:
        low, high = kind.limits()
        values = [low, low + 1, 0, 1, 2, 3, 7, high // 2, high - 1, high] + ([-1, -2, -7] if low else [])
        values += [int(x) for x in random.integers(low, high, count, dtype=kind.numpy, endpoint=True)]
        values += [int(x) for x in random.integers(max(low, -20), 21, count)]
        return random.permutation(np.array(values[:count] if count < 13 else values, kind.numpy))[:count]
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 3.5]
    values = np.concatenate([special, random.normal(size=count) * 10.0, random.normal(size=count)])
    with np.errstate(all="ignore"):
        return random.permutation(values[:count] if count < 10 else values)[:count].astype(kind.numpy)


def same(result: np.ndarray, expected: np.ndarray) -> None:
    """Assert equal types and values; NumPy's own comparison takes no NaN of bfloat16 for equal."""
    assert result.dtype == expected.dtype
    if result.dtype == ml_dtypes.bfloat16:
        with np.errstate(invalid="ignore"):
            result, expected = result.astype("float64"), expected.astype("float64")
    np.testing.assert_array_equal(result, expected, strict=True)


class Flat:
    """What the tests of this folder share."""

    build = staticmethod(build)
    guarded = staticmethod(guarded)
    elementwise = staticmethod(elementwise)
    elementwise_each = staticmethod(elementwise_each)
    samples = staticmethod(samples)
    same = staticmethod(same)
    bfloat16 = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture(scope="session")
def flat() -> Flat:
    return Flat()
