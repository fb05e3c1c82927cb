"""CUDA without a GPU: the program that CUDA gets, on NumPy arrays, checked and counted.

tecomp.build(s, [A, B], target="cuda-sim")(a, b)        raises SimulationFault with the user's line
tecomp.sim.simulate(module, a, b, seed=3)               of a module built for "cuda", or with other options
tecomp.sim.profile(module, a, b, gpu="h200")            what it asks of the machine
"""

from __future__ import annotations

from .faults import SimulationFault
from .options import options
from .profile import Profile, profile
from .simulate import simulate

__all__ = ["Profile", "SimulationFault", "options", "profile", "simulate"]
