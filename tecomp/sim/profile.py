"""What each kernel of a built function asks of a GPU, counted in the simulator, and what bounds it there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tecomp_runtime.errors import NotCompact

from .count import Counters
from .counts import Counts
from .cubin import registers
from .function import SimFunction
from .gpus import Gpu, gpu_named
from .occupancy import Occupancy, occupancy
from .options import options
from .plot import plot
from .roofline import Bound, bounds
from .simulate import simulated
from .table import rows


@dataclass(frozen=True)
class KernelProfile:
    """One kernel: its counts, what an SM holds of it, and what bounds it, the longest first.

    Every count is an attribute here too: `.global_load.sectors`, `.shared_load.conflicts`, `.flops["float32"]`.
    """

    name: str
    counts: Counts
    occupancy: Occupancy
    bounds: Sequence[Bound]

    @property
    def bound(self) -> Bound:
        """What takes longest."""
        return self.bounds[0]

    @property
    def seconds(self) -> float:
        """The least that the kernel takes, in all its launches: an estimate, not a measurement."""
        return self.bound.seconds

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.counts, name)


@dataclass(frozen=True, repr=False)
class Profile:
    """What `profile` found; str() is a table."""

    name: str
    gpu: Gpu
    kernels: dict[str, KernelProfile]
    sampled: bool
    """Whether only some blocks ran, and the counts are theirs times what the grid has more."""

    @property
    def seconds(self) -> float:
        """The least that all kernels take, one after the other."""
        return sum(kernel.seconds for kernel in self.kernels.values())

    def __str__(self) -> str:
        return "\n".join(rows(self))

    def __repr__(self) -> str:
        return f"<Profile of {self.name} on {self.gpu.name}>"

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the roofline of the GPU, the kernels under it, into a file where `path` names one; return the figure.

        It needs matplotlib: UserError that says how to install it.
        """
        return plot(self, path)


def profile(
    module: Any, *args: Any, gpu: str = "h200", blocks: int | Sequence[int] | None = None, show: bool = True
) -> Profile:
    """Run a module in the simulator and count what each of its kernels asks of a GPU; print that and return it.

    module  built for "cuda", which needs no GPU here, or for "cuda-sim"
    args    what it is called with, NumPy arrays; results are written as in any call
    gpu     whose rates and limits the estimates are of: h200, h100, a100, rtx4090, l4, ...
    blocks  so many blocks of each launch run, or those of these numbers, and their counts stand for the grid; what the
            others would have written is then missing in the results
    show    whether to print

    It counts, and does not look for races: `simulate` does. SimulationFault for other faults of the program,
    ArgumentError for arguments that do not fit, UserError for a GPU that the table has not, UserTypeError for what is
    no such module.

    Counts of requests, sectors, wavefronts, flops, barriers and matrix instructions are exact where all blocks run;
    instructions by class are of the program as printed; times are estimates.
    """
    machine = gpu_named(gpu)
    built = simulated(module)
    counters = Counters()
    given = {} if blocks is None else {"blocks": blocks}
    with options(sanitize=False, **given):
        try:
            SimFunction(built.artifact).simulate(args, counters)
        except NotCompact:
            SimFunction(built.strided_artifact()).simulate(args, counters)
    counters.end()
    held = registers(module.artifact.binary)
    kernels = {
        name: KernelProfile(
            name, counts, occupancy(machine, counts.threads, counts.shared, held.get(name)), bounds(counts, machine)
        )
        for name, counts in counters.kernels.items()
    }
    found = Profile(module.name, machine, kernels, counters.sampled)
    if show:
        sys.stdout.write(f"{found}\n")
    return found
