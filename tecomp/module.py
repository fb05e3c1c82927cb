"""What `build` returns: a callable that holds its program, its source and the machine code."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from tecomp_runtime.cache import kept
from tecomp_runtime.function import BuiltFunction
from tecomp_runtime.package import packed

from .artifact import Artifact
from .checked import Checked
from .dtype import INDEX
from .errors import UnsupportedError
from .ir.atomic import UPDATE
from .ir.expr import Address, Call, Var
from .ir.foreign import FUNCTIONS
from .ir.func import Func
from .ir.stmt import Buffer
from .ir.subst import substitute_stmt
from .ir.visit import walk
from .passes.manager import Pass, run_pipeline
from .target import Target

_GENERATORS: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "llvm": ("tecomp.codegen.llvm", ()),
    "cuda": ("tecomp.codegen.cuda", (kept,)),
    "cuda-sim": ("tecomp.sim.function", ()),
}
"""Whose `generate` makes each kind of artifact, and what it gets besides function and target.

Loaded when first used: one target's compiler is not needed for the other.
"""
_ALIGN: Final = {"llvm": 1, "cuda": 16, "cuda-sim": 16}
"""What addresses are a multiple of, in bytes: a GPU's vector loads fault elsewhere, and its allocators see to it."""


class Module(BuiltFunction):
    """A built function. Call it with one array (or scalar) for each argument, results included.

    Arrays are row-major without gaps, and on a GPU aligned to 16 bytes, for the function built first; the first call
    with others builds a second one, whose strides are arguments too, and later calls use whichever fits.
    """

    def __init__(self, func: Func, target: Target, pipeline: Sequence[Pass]) -> None:
        self.target = target
        self._loops, self._pipeline = func, pipeline
        self.ir: Func = run_pipeline(aligned(func, _ALIGN[target.kind]), target.hardware, pipeline)
        """The program that the source was printed from."""
        self._load(_generate(self.ir, target))

    def _load(self, artifact: Artifact) -> None:
        """Make a callable of what was built."""
        super().__init__(artifact, FUNCTIONS)
        if any(row.name == "check_accesses" for row in self._pipeline):
            self._entry = Checked(self._entry, self._loops, self.target.kind)

    @functools.cached_property
    def simulated(self) -> Module:
        """A function built for CUDA, as the simulator runs it: the same program, on NumPy arrays."""
        options = dict(self.target.options)
        return Module(self._loops, Target({"kind": "cuda-sim", **options}), self._pipeline)

    def strided_artifact(self) -> Artifact:
        """Return the artifact that takes strides as arguments."""
        return _generate(run_pipeline(strided(self._loops), self.target.hardware, self._pipeline), self.target)

    def get_source(self, fmt: str = "") -> str:
        """Return the text of the host part; "asm" is the machine code of a CPU's function."""
        if fmt in ("asm", "s") and self.target.kind == "llvm":
            compiler = importlib.import_module("tecomp.codegen.llvm_compile")
            return compiler.assembly(self.source, compiler.cpu(self.target.mcpu, self.target.mattr))
        return super().get_source(fmt)

    def export_library(self, path: str | os.PathLike[str]) -> None:
        """Write the function, for arrays of any strides, into one file that `tecomp.runtime.load_module` reads.

        The file is text; where it is read, no compiler is needed. UnsupportedError for the simulator's functions.
        """
        if self.target.kind == "cuda-sim":
            because = "what it runs is the program, of which only the compiler can make sense"
            raise UnsupportedError(f"export_library of {self!r}", because, 'target="cuda", or pickle')
        Path(path).write_text(packed([self.artifact, self.strided_artifact()]), encoding="utf-8")

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what was built, so that nothing is compiled again."""
        return {name: vars(self)[name] for name in ("target", "ir", "artifact", "_loops", "_pipeline")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._load(state["artifact"])

    def __repr__(self) -> str:
        return f"<Module {self.name} for {self.target}>"


def strided(func: Func) -> Func:
    """Return `func` with the strides of its arguments as sizes that a call takes from the arrays.

    An argument that a C function gets whole stays without gaps: that function does not know of any.
    """
    whole = _given_to_c(func)

    def change(old: Buffer) -> Buffer:
        if old in whole:
            return old
        strides = tuple(Var(f"{old.name}_s{dim}", INDEX) for dim in range(len(old.shape)))
        return Buffer(old.name, old.shape, old.dtype, old.scope, strides, loc=old.loc)

    return _with_arrays(func, change)


def _given_to_c(func: Func) -> set[Buffer]:
    """Return the buffers of which a C function, or an instruction, gets an address."""
    calls = (node for node in walk(func.body) if isinstance(node, Call) and "call_packed" not in node.name)
    addresses = (arg for call in calls for arg in call.args if isinstance(arg, Address))
    return {address.buffer for address in addresses if address.mode != UPDATE}


def aligned(func: Func, align: int) -> Func:
    """Return `func` for arrays whose first element lies at a multiple of `align` bytes."""

    def change(old: Buffer) -> Buffer:
        return Buffer(old.name, old.shape, old.dtype, old.scope, old.strides, max(align, old.align), old.loc)

    return _with_arrays(func, change)


def _with_arrays(func: Func, change: Callable[[Buffer], Buffer]) -> Func:
    """Return `func` with each of its array arguments changed, everywhere."""
    arrays = [param for param in func.params if isinstance(param, Buffer) and param.shape]
    others = {buffer: change(buffer) for buffer in arrays}
    params = tuple(others.get(param, param) if isinstance(param, Buffer) else param for param in func.params)
    outputs = tuple(others.get(output, output) for output in func.outputs)
    return Func(func.name, params, outputs, substitute_stmt(func.body, {}, others), func.level, func.requires)


def _generate(func: Func, target: Target) -> Artifact:
    module, more = _GENERATORS[target.kind]
    return importlib.import_module(module).generate(func, target, *more)
