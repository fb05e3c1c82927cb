"""A function built for "cuda-sim": the host part and the kernels that CUDA gets, on NumPy arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tecomp_runtime import tensor_map
from tecomp_runtime.arguments import Arguments
from tecomp_runtime.cuda import host_part
from tecomp_runtime.cuda_launch import check_extents
from tecomp_runtime.errors import LaunchError
from tecomp_runtime.kernel import LOADERS
from tecomp_runtime.packed import FUNCTIONS, found

from ..artifact import Artifact
from ..codegen.cuda import printed
from ..codegen.cuda_kernel import Kernel
from ..codegen.launch import HostPrinter
from ..dtype import DType
from ..errors import InternalError
from ..ir.expr import Var
from ..ir.func import Func
from ..ir.stmt import Buffer, Launch
from ..ir.visit import walk
from ..target import Target
from .clock import Array, Ticker
from .kernel import Program
from .launch import Launch as Running
from .memory import GLOBAL, Memory
from .options import current

_ALIGN: Final = 256
"""What the addresses of arrays and temporaries on a GPU are a multiple of."""


@dataclass(frozen=True)
class Simulated(Artifact):
    """What is built for "cuda-sim": CUDA's source and host part, and the program they were printed from."""

    program: Func | None = None
    machine: Target | None = None


def generate(func: Func, target: Target) -> Simulated:
    """Return the artifact of `func` for the simulator; it is refused what CUDA would be."""
    plain = printed(func, target.hardware)
    fields = {name: getattr(plain, name) for name in Artifact.__dataclass_fields__}
    fields |= {"kind": "cuda-sim", "target": str(target)}
    artifact = Simulated(**fields, program=func, machine=target.hardware)
    programs(func, target.hardware)
    return artifact


@functools.lru_cache(maxsize=16)
def programs(func: Func, target: Target) -> dict[str, Program]:
    """Return the kernels of a function, by name, ready to run."""
    host = HostPrinter(func, target)
    host.print()
    launches = [node for node in walk(func.body) if isinstance(node, Launch)]
    named: list[tuple[Launch, Kernel]] = list(zip(launches, host.kernels, strict=True))
    return {kernel.name: Program(launch, kernel) for launch, kernel in named}


class _Arguments(Arguments):
    """Arguments in the simulator's memory: an array lies as far behind an aligned address as it does in its owner.

    NumPy aligns arrays to 16 bytes, a GPU's allocator to 256.
    """

    def _check_addresses(self, values: list[Any], known: Any, args: tuple[Any, ...]) -> None:
        placed = [
            behind(arg) if isinstance(arg, np.ndarray) else value for arg, value in zip(args, values, strict=False)
        ]
        for at, align in self._aligned:
            if placed[at] % align:
                self._refuse_alignment(at, f"it starts at byte {placed[at]} of the array that it is a view of")
        super()._check_shared_memory(values, known, args)


def behind(array: Array) -> int:
    """Return how many bytes an array lies behind the start of the memory that it is a part of."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]


class SimFunction:
    """A function that the simulator runs, called with NumPy arrays and numbers."""

    def __init__(self, artifact: Any, functions: Mapping[str, Callable[..., Any]] = FUNCTIONS) -> None:
        if artifact.program is None:
            raise InternalError("an artifact for cuda-sim without its program")
        self._artifact = artifact
        self._functions = found(artifact, functions)
        self._arguments = _Arguments(artifact.signature, "cpu")
        self._host = host_part(artifact.name, artifact.host)
        self._programs = programs(artifact.program, artifact.machine)

    def __call__(self, *args: Any) -> None:
        """Check the arguments and run; SimulationFault for what a GPU would do wrong, or not end."""
        self.simulate(args, None)

    def simulate(self, args: tuple[Any, ...], counters: Any) -> None:
        """Run, and count into `counters` where they are given."""
        values, views = self._arguments.bind(args)
        func, options = self._artifact.program, current()
        ticker, random = Ticker(), np.random.default_rng(options.seed)
        memories, supply = _Memories(), iter(views)
        passed = [
            memories.of(param, next(supply)) if isinstance(param, Buffer) else value
            for param, value in zip(_things(func), values, strict=True)
        ]

        things = dict(zip(_things(func), passed, strict=True))
        sizes = {thing: value for thing, value in things.items() if isinstance(thing, Var)}
        arrays = {thing: memory for thing, memory in things.items() if isinstance(thing, Buffer)}

        def launch(name: str, grid: Any, block: Any, shared: int, *operands: Any) -> None:
            program = self._programs[name]
            if min(grid) <= 0 or min(block) <= 0:
                return
            self._check_launch(name, grid, block)
            running = Running(program, grid, block, options, counters)
            running.pass_sizes(sizes)
            running.pass_arguments({**arrays, **dict(zip(program.arguments, operands, strict=False))})
            if counters is not None:
                counters.launch(program, running.shape, shared)
            running.go(ticker, random)

        def alloc(dtype: str, count: int, zero: bool = False) -> Memory:
            memory = memories.temporary(dtype, count)
            if zero or options.blocks is not None:  # what blocks that do not run would have written
                memory.marks = None
            return memory

        def call(name: str, *operands: Any) -> None:
            for memory in (arg[0] for arg in operands if isinstance(arg, tuple)):
                memory.marks = None  # what a Python function does with it is not known
            self._functions[name](*(memories.array(arg) if isinstance(arg, tuple) else arg for arg in operands))

        given = [call] * bool(self._functions) + [_tensor_map] * any(
            "tensor_map" in info["arguments"] for info in self._artifact.kernels
        )
        self._host(launch, alloc, *given, *passed)

    def _check_launch(self, name: str, grid: Any, block: Any) -> None:
        """Raise LaunchError for what the device does not allow."""
        limits = self._artifact.machine.limits
        check_extents(name, (grid, block), (limits.grid, limits.block))
        most = next(info["threads"] for info in self._artifact.kernels if info["name"] == name)
        if math.prod(block) > most:
            raise LaunchError(f"{name}: {math.prod(block)} threads in a block", f"at most {most} are allowed")


def _tensor_map(memory: Memory, dtype: str, extents: Any, strides: Any, *_box: Any) -> None:
    """Check what tells a GPU where a tensor lies, and make nothing of it: an instruction here knows its tensor."""
    tensor_map.check(memory.address, dtype, extents, strides)


def _things(func: Func) -> list[Any]:
    return [*func.params, *func.sizes()]


class _Memories:
    """The arrays of one call as memories, and its temporaries."""

    def __init__(self) -> None:
        self._end = _ALIGN

    def _placed(self, memory: Memory) -> Memory:
        memory.address = self._end
        self._end += -(-max(memory.data.nbytes, 1) // _ALIGN) * _ALIGN + _ALIGN
        return memory

    def of(self, param: Buffer, view: Any) -> Memory:
        """Return an array that was given as a memory."""
        flat = _flat(view, param)
        memory = self._placed(Memory(param, GLOBAL, len(flat), 1, flat))
        memory.first = _below(view, param.dtype.numpy.itemsize)
        memory.address += behind(view.owner) % _ALIGN if isinstance(view.owner, np.ndarray) else 0
        return memory

    def temporary(self, dtype: str, count: int) -> Memory:
        """Return fresh memory, which holds nothing yet."""
        buffer = Buffer("temporary", (), DType(dtype))
        return self._placed(Memory(buffer, GLOBAL, max(count, 0), 1))

    @staticmethod
    def array(described: Any) -> Any:
        """Return the array that a Python function gets."""
        memory, _, shape, strides = described
        item = memory.data.itemsize
        steps = None if strides is None else tuple(step * item for step in strides)
        return np.ndarray(shape, memory.data.dtype, memory.data.data if not steps else memory.data, 0, steps)


def _flat(view: Any, param: Buffer) -> Any:
    """Return all elements that an array spans, from the lowest one on, as one array over its memory."""
    dtype = param.dtype.numpy
    shape = view.shape
    strides = view.strides
    if 0 in shape:
        count = 0
    elif strides is None:
        count = int(np.prod(shape, dtype=np.int64))
    else:
        ends = zip(shape, strides, strict=True)
        count = 1 + sum((extent - 1) * abs(step) // dtype.itemsize for extent, step in ends)
    lanes = param.dtype.lanes
    if not count:
        return np.zeros((0, lanes) if lanes > 1 else 0, dtype)
    interface = {
        "data": (view.pointer - _below(view, dtype.itemsize) * dtype.itemsize, view.readonly),
        "typestr": f"|V{dtype.itemsize}",
        "shape": (count,),
        "version": 3,
    }
    holder = type("Memory", (), {"__array_interface__": interface, "owner": view.owner})()
    flat = np.asarray(holder).view(dtype)
    return flat.reshape(-1, lanes) if lanes > 1 else flat


def _below(view: Any, size: int) -> int:
    """Return how many elements of a size an array spans below its first one: those that negative strides lead to."""
    if view.strides is None or 0 in view.shape:
        return 0
    steps = zip(view.shape, view.strides, strict=True)
    return sum((extent - 1) * -step for extent, step in steps if step < 0) // size


LOADERS["cuda-sim"] = SimFunction
