"""GPUs by name: what a roofline and an occupancy are computed from.

Peaks are those of the data sheets, dense, at the boost clock, without sparsity. Sources: NVIDIA's data sheets of each
product (DRAM bandwidth, peaks); the whitepapers of Turing, Ampere GA100 and GA102, Ada AD102 and Hopper GH100 (SMs,
clocks); the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (warps, blocks, registers
and shared memory of an SM). Shared memory and L1 give 128 bytes a clock and SM (32 banks of 4 bytes). L2 gives an SM 64
bytes a clock; what all SMs get together is 5120 bytes a clock on A100 (its whitepaper) and was measured as 4472 on H800
("Dissecting the NVIDIA Hopper Architecture through Microbenchmarking"), and is taken for H100 and H200 too; for others
only the port of each SM counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ..errors import UserError

_KIB: Final = 1024


class Sm(NamedTuple):
    """What one SM holds at most, and what it does in a clock."""

    warps: int
    blocks: int
    shared: int
    """Bytes."""
    l2_bytes: int = 0
    """What L2 gives all SMs together in a clock; 0 where only the port of each SM counts."""
    registers: int = 65536
    special: int = 16
    """Threads for which special functions are computed in a clock."""
    reserved: int = 1024
    """Bytes of shared memory that the system takes of each block."""


class Gpu(NamedTuple):
    """One product. Rates are of the whole GPU, in a second."""

    name: str
    sms: int
    clock: float
    """Boost, Hz."""
    dram: float
    """Bytes."""
    flops: Mapping[str, float]
    """Operations outside of tensor cores, by type."""
    tensor: Mapping[str, float]
    """Operations of tensor cores, by the type of the factors; a float32 factor is tf32."""
    sm: Sm
    aliases: tuple[str, ...] = ()


def rate(peaks: Mapping[str, float], dtype: str) -> float:
    """Return the peak for a type; that of float32, or the lowest, for one that the table has not."""
    return peaks.get(dtype) or peaks.get("float32") or min(peaks.values())


def _scalar(float32: float, float64: float, half: float) -> dict[str, float]:
    return {"float32": float32 * 1e12, "float64": float64 * 1e12, "float16": half * 1e12, "bfloat16": half * 1e12}


def _tensor(half: float, tf32: float, int8: float, fp8: float = 0, float64: float = 0) -> dict[str, float]:
    eight = {"float8_e4m3fn": fp8, "float8_e5m2": fp8}
    peaks = {"float16": half, "bfloat16": half, "float32": tf32, "int8": int8, "uint8": int8, "float64": float64}
    return {name: peak * 1e12 for name, peak in (peaks | eight).items() if peak}


_HOPPER: Final = Sm(64, 32, 228 * _KIB, 4472)
_A100: Final = Sm(64, 32, 164 * _KIB, 5120)
_GA102: Final = Sm(48, 16, 100 * _KIB)
_ADA: Final = Sm(48, 24, 100 * _KIB)
_TURING: Final = Sm(32, 16, 64 * _KIB, reserved=0)
_H100: Final = (_scalar(66.9, 33.5, 133.8), _tensor(989.4, 494.7, 1978.9, 1978.9, 66.9))
_GA100: Final = (_scalar(19.5, 9.7, 78), _tensor(312, 156, 624, float64=19.5))

_TABLE: Final = (
    Gpu("h200", 132, 1.98e9, 4.8e12, *_H100, _HOPPER),
    Gpu("h100", 132, 1.98e9, 3.35e12, *_H100, _HOPPER, ("h100-sxm",)),
    Gpu(
        "h100-pcie", 114, 1.755e9, 2.0e12,
        _scalar(51.2, 25.6, 102.4), _tensor(756.4, 378.2, 1512.9, 1512.9, 51.2), _HOPPER,
    ),
    Gpu("a100", 108, 1.41e9, 2.039e12, *_GA100, _A100, ("a100-80gb",)),
    Gpu("a100-40gb", 108, 1.41e9, 1.555e12, *_GA100, _A100),
    Gpu("a10", 72, 1.695e9, 0.6e12, _scalar(31.2, 0.49, 31.2), _tensor(125, 62.5, 250), _GA102),
    Gpu("rtx3090", 82, 1.695e9, 0.936e12, _scalar(35.6, 0.56, 35.6), _tensor(71, 35.6, 284), _GA102),
    Gpu("l4", 58, 2.04e9, 0.3e12, _scalar(30.3, 0.47, 30.3), _tensor(121, 60, 242.5, 242.5), _ADA),
    Gpu("l40s", 142, 2.52e9, 0.864e12, _scalar(91.6, 1.43, 91.6), _tensor(362, 183, 733, 733), _ADA),
    Gpu("rtx4090", 128, 2.52e9, 1.008e12, _scalar(82.6, 1.29, 82.6), _tensor(165.2, 82.6, 660.6, 330.3), _ADA),
    Gpu("t4", 40, 1.59e9, 0.32e12, _scalar(8.1, 0.25, 16.2), _tensor(65, 8.1, 130), _TURING),
)  # fmt: skip
GPUS: Final = {name: one for one in _TABLE for name in (one.name, *one.aliases)}


def gpu_named(name: str) -> Gpu:
    """Return the GPU of that name, whatever its case; UserError for one that the table has not."""
    found = GPUS.get(str(name).lower().replace(" ", ""))
    if found is None:
        raise UserError(f"profile on the GPU {name!r}", "nothing is known of it", sorted(GPUS))
    return found
