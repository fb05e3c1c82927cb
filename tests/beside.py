"""`pytest -m gpu --beside-simulator`: whatever runs on the GPU runs on the simulator too, and both must write the same.

CUDA is compiled without contraction of a * b + c then, so that float32 arithmetic has one answer. Integers and floats
must agree to the last bit; what calls C's maths library, updates floats atomically or multiplies on tensor cores, to
rounding. What the simulator reports fails the test: a false alarm, or a fault that the GPU was lucky with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tecomp.codegen import nvrtc
from tecomp.errors import UnsupportedError
from tecomp.instructions.maths import MATHS
from tecomp.ir import expr as E
from tecomp.ir.atomic import is_atomic
from tecomp.ir.foreign import foreign
from tecomp.ir.visit import walk
from tecomp.module import Module

TOLERANCE = {"float16": 4e-3, "bfloat16": 4e-2, "float32": 4e-5, "float64": 1e-11}
LARGE = 1 << 24
"""Threads of all launches together that are not worth waiting for."""
COUNTS: Counter[str] = Counter()
EXACT = {"abs", "fma", "floor", "ceil", "trunc", "round", "nearbyint", "isnan", "isinf", "isfinite", "copysign", "sqrt"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--beside-simulator", action="store_true", help="compare every call on a GPU with the simulator")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["beside"] = dict(COUNTS)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    COUNTS.update(getattr(node, "workeroutput", {}).get("beside", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for what, count in COUNTS.most_common():
        terminalreporter.write_line(f"beside the simulator: {count} {what}")


@pytest.fixture(autouse=True)
def every_call_is_simulated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.config.getoption("--beside-simulator") or request.node.get_closest_marker("gpu") is None:
        return
    monkeypatch.setattr(nvrtc, "OPTIONS", (*nvrtc.OPTIONS, "--fmad=false"))
    load = Module._load

    def loaded(module: Module, artifact: Any) -> None:
        load(module, artifact)
        if module.target.kind == "cuda":
            module._entry = _both(module, module._entry)

    monkeypatch.setattr(Module, "_load", loaded)


def _both(module: Module, entry: Callable[..., None]) -> Callable[..., None]:
    def run(*args: Any) -> None:
        before = [_on_host(arg) for arg in args]
        entry(*args)
        if any(array is None for array in before):
            COUNTS["calls of arrays that cannot be copied, not compared"] += 1
            return
        if _threads(before) > LARGE:
            COUNTS["large calls, not compared"] += 1
            return
        try:
            module.simulated(*before)
        except UnsupportedError:
            COUNTS["calls of functions that the simulator does not know, not compared"] += 1
            return
        near = _approximate(module)
        COUNTS["calls compared to rounding" if near else "calls compared to the last bit"] += 1
        for number, (arg, found) in enumerate(zip(args, before, strict=True)):
            if isinstance(found, np.ndarray):
                _compare(f"argument {number} of {module.name}", found, _on_host(arg), near)

    return run


def _threads(arrays: list[Any]) -> int:
    return sum(array.size for array in arrays if isinstance(array, np.ndarray))


def _on_host(arg: Any) -> Any:
    """Return a copy of an array with its strides; a number as it is; None for an array of another kind."""
    if hasattr(arg, "on_host"):  # places.GpuArray: bfloat16 between guards
        return arg.on_host()
    if isinstance(arg, (int, float, bool, np.generic)):
        return arg
    if isinstance(arg, np.ndarray) or not hasattr(arg, "get") or not hasattr(arg, "strides"):
        return None
    if any(step < 0 for step in arg.strides):
        return None
    owner = arg if arg.flags.c_contiguous else arg.base
    whole = (owner if owner is not None else arg).get()
    if arg.flags.c_contiguous:
        return whole
    offset = (arg.data.ptr - owner.data.ptr) // arg.itemsize
    flat = whole.reshape(-1).view(arg.dtype)[offset:]
    return np.lib.stride_tricks.as_strided(flat, arg.shape, arg.strides)


def _approximate(module: Module) -> bool:
    """Return whether two right answers of a program may differ in the last bits."""
    for node in walk(module.ir.body):
        if isinstance(node, E.Call):
            called = foreign(node.name)
            name = node.name if called is None else called.symbol
            if called is not None or (name in MATHS and name not in EXACT and node.dtype.is_float):
                return True
            if "mma" in name or (is_atomic(node) and node.dtype.is_float):
                return True
    return False


def _compare(what: str, simulated: np.ndarray, real: np.ndarray, near: bool) -> None:
    name = simulated.dtype.name
    if name in TOLERANCE:
        simulated, real = simulated.astype(np.float64), real.astype(np.float64)
    if near and name in TOLERANCE:
        # A sum may be near zero whose terms are as large as other results: what is left of them is their rounding.
        near_zero = TOLERANCE[name] * np.abs(real[np.isfinite(real)]).max(initial=0)
        np.testing.assert_allclose(simulated, real, rtol=TOLERANCE[name], atol=near_zero, err_msg=what)
        return
    np.testing.assert_array_equal(simulated, real, err_msg=what)
