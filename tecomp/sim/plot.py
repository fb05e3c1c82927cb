"""The roofline of a GPU, and the kernels of a profile under it: flops a second by flops for each byte of DRAM."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from ..errors import UserError

_LEAST_BYTES = 1
_INTENSITIES = (2.0**-6, 2.0**14)


def plot(profile: Any, path: str | Path | None = None) -> Any:
    """Draw a profile and return the figure; write it into a file where `path` names one, as its ending says.

    Each kernel stands where the estimate of its time puts it. UserError where matplotlib is not installed.
    """
    try:
        figures = importlib.import_module("matplotlib.figure")
    except ImportError:
        legal = 'pip install "tecomp[plot]", or print the profile'
        raise UserError("the plot of a profile", "matplotlib is not installed", legal) from None
    gpu = profile.gpu
    figure = figures.Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    tensor = any(kernel.counts.matrix_flops for kernel in profile.kernels.values())
    roofs = {"float32": gpu.flops["float32"]}
    roofs |= {f"tensor cores, {name}": gpu.tensor[name] for name in ("float16",) if tensor}
    for name, peak in roofs.items():
        ridge = peak / gpu.dram
        axes.plot([_INTENSITIES[0], ridge, _INTENSITIES[1]], [_INTENSITIES[0] * gpu.dram, peak, peak], label=name)
    for kernel in profile.kernels.values():
        counts = kernel.counts
        flops = sum(counts.flops.values()) + sum(counts.matrix_flops.values())
        moved = max(counts.dram_read + counts.dram_written, _LEAST_BYTES)
        if flops and kernel.seconds:
            axes.scatter(
                [flops / moved], [flops / kernel.seconds], label=f"{kernel.name}, {kernel.bound.name}", zorder=3
            )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("flops for each byte of DRAM")
    axes.set_ylabel("flops a second")
    axes.set_title(f"{profile.name} on {gpu.name}, estimated")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    if path is not None:
        figure.savefig(str(path))
    return figure
