"""simulate(): run what was built for CUDA, here."""

from __future__ import annotations

from typing import Any

from ..errors import UserTypeError
from ..module import Module
from .options import options


def simulate(module: Module, *args: Any, **given: Any) -> None:
    """Run a module that was built for "cuda" or "cuda-sim" on NumPy arrays and numbers; outputs are written in place.

    given   options of this simulation, as `tecomp.sim.options` has them: seed, sanitize, deterministic, warps, blocks

    Raises SimulationFault for what a GPU would do wrong, or not end; ArgumentError for arguments that do not fit.
    """
    built = simulated(module)
    with options(**given):
        built(*args)


def simulated(module: Module) -> Module:
    """Return a module as the simulator runs it; UserTypeError for what is no program for CUDA."""
    kind = module.target.kind if isinstance(module, Module) else ""
    if kind not in ("cuda", "cuda-sim"):
        raise UserTypeError(
            f"the simulation of {module!r}",
            because=f"it is built for {kind}" if kind else f"its type is {type(module).__name__}",
            legal='what tecomp.build(..., target="cuda") or target="cuda-sim" returns',
        )
    return module if kind == "cuda-sim" else module.simulated
