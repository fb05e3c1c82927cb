"""Where a case runs. In every place it must give what NumPy gives, and leave the bytes around each array alone.

llvm         the compiled function
interpreter  the loop program
device       the program that CUDA is printed from, its blocks and threads run by the interpreter
nvrtc        the CUDA text, compiled and not run
simulator    the program that CUDA is printed from, all its threads at once, with every fault reported
apart        the same, each warp by itself, in an order of its own
gpu          the CUDA text on a GPU
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import sim
from tecomp.ir import interpret
from tests.differential.guards import GUARD, Guarded

CUDA = "cuda -arch=sm_90a"
SIMULATOR = "cuda-sim -arch=sm_90a"
ON_CUDA = ["device", "nvrtc", "simulator", "apart", pytest.param("gpu", marks=pytest.mark.gpu)]
"""The places of a schedule whose loops are bound to blocks and threads."""


class Program:
    """A schedule made ready in one place: `program({A: a}, {B: expected})` runs it and compares.

    Inputs are arrays, or numbers for scalar arguments; their order and that of the outputs is the order of `args`.
    Outputs are compared exactly, or to the relative (and for values near 0 the absolute) tolerance `near`.
    """

    def __init__(self, where: str, schedule: Any, args: Sequence[Any]) -> None:
        self.args, self.schedule, self._run = list(args), schedule, _MAKERS[where](schedule, args)

    def __call__(self, inputs: Mapping[Any, Any], outputs: Mapping[Any, np.ndarray], near: float = 0) -> None:
        if self._run is None:
            return
        wanted = {arg: np.asarray(value) for arg, value in {**inputs, **outputs}.items()}
        given: list[Any] = [_given(arg, wanted[arg], arg in inputs) for arg in self.args]
        self._run(given)
        for arg, guarded in zip(self.args, given, strict=True):
            if isinstance(guarded, Guarded):
                guarded.check(arg.name)
                same(guarded.array, wanted[arg], near if arg in outputs else 0, self.schedule.text())


def same(got: np.ndarray, want: np.ndarray, near: float, note: str) -> None:
    """Fail unless the arrays are equal, to the tolerance `near` where they hold floats."""
    assert got.dtype == want.dtype, note
    if near:
        np.testing.assert_allclose(
            got.astype("float64"), want.astype("float64"), rtol=near, atol=near, equal_nan=True, err_msg=note
        )
    else:
        wide = "float64" if want.dtype.name == "bfloat16" else want.dtype
        np.testing.assert_array_equal(got.astype(wide), want.astype(wide), err_msg=note)


def _given(arg: Any, value: np.ndarray, is_input: bool) -> Any:
    if isinstance(arg, tecomp.ir.expr.Var):
        return value.item()
    return Guarded.of(value) if is_input else Guarded(value.shape, value.dtype)


def _arrays(given: Sequence[Any]) -> list[Any]:
    return [value.array if isinstance(value, Guarded) else value for value in given]


Run = Callable[[list[Any]], None] | None


def _llvm(schedule: Any, args: Sequence[Any]) -> Run:
    module = tecomp.build(schedule, args)
    return lambda given: module(*_arrays(given))


def _interpreter(schedule: Any, args: Sequence[Any], target: str | None = None) -> Run:
    func = tecomp.lower(schedule, args, target=target)
    return lambda given: interpret(func, *_arrays(given))


def _device(schedule: Any, args: Sequence[Any]) -> Run:
    return _interpreter(schedule, args, CUDA)


def _nvrtc(schedule: Any, args: Sequence[Any]) -> Run:
    assert tecomp.build(schedule, args, target=CUDA).artifact.binary
    return None


def _simulator(schedule: Any, args: Sequence[Any]) -> Run:
    module = tecomp.build(schedule, args, target=SIMULATOR)
    return lambda given: module(*_arrays(given))


def _apart(schedule: Any, args: Sequence[Any]) -> Run:
    module = tecomp.build(schedule, args, target=SIMULATOR)

    def run(given: list[Any]) -> None:
        with sim.options(warps="apart", seed=1):
            module(*_arrays(given))

    return run


def _gpu(schedule: Any, args: Sequence[Any]) -> Run:
    module, cupy = tecomp.build(schedule, args, target="cuda"), importlib.import_module("cupy")

    def run(given: list[Any]) -> None:
        """Copy each array with its guards to the GPU, run, and copy all back."""
        bytes_of = {id(value): cupy.asarray(value.bytes) for value in given if isinstance(value, Guarded)}
        module(*(_on_gpu(value, bytes_of.get(id(value))) for value in given))
        for value in given:
            if isinstance(value, Guarded):
                value.bytes[...] = bytes_of[id(value)].get()

    return run


class GpuArray:
    """The part of a CuPy byte array between the guards, as elements of any type: CuPy itself knows no bfloat16."""

    def __init__(self, words: Any, like: np.ndarray) -> None:
        self.dtype = like.dtype.name
        typestr = "<V2" if self.dtype == "bfloat16" else like.dtype.str
        self.words, self.like = words, like
        self.__cuda_array_interface__ = {
            "version": 3, "shape": like.shape, "typestr": typestr, "data": (words.data.ptr + GUARD, False),
        }  # fmt: skip

    def on_host(self) -> np.ndarray:
        """Return a copy in the host's memory."""
        inside = self.words.get()[GUARD : GUARD + self.like.nbytes]
        return inside.view(self.like.dtype).reshape(self.like.shape)


def _on_gpu(value: Any, words: Any) -> Any:
    return GpuArray(words, value.array) if isinstance(value, Guarded) else value


_MAKERS: Mapping[str, Callable[[Any, Sequence[Any]], Run]] = {
    "llvm": _llvm,
    "interpreter": _interpreter,
    "device": _device,
    "nvrtc": _nvrtc,
    "simulator": _simulator,
    "apart": _apart,
    "gpu": _gpu,
}
