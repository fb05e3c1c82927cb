"""The matrix tiles of AMX: values of a type of their own in LLVM, which saves and configures their registers itself.

    llvm.x86.tilestored64.internal(16, 64, c, 64, llvm.x86.tdpbusd.internal(16, 64, 64, c's tile, a's tile, b's tile))

A tile is a value of one expression: no variable and no function takes one. In a program its type is handle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ..errors import UnsupportedError
from .llvm_code import Code
from .llvm_compile import Cpu
from .llvm_types import Value


class TileCall(NamedTuple):
    """The LLVM type that an intrinsic gives, and the feature that it needs, as LLVM and as Linux name it."""

    result: str
    feature: str
    flag: str


_TILE: Final = "x86_amx"
_MULTIPLICATIONS: Final = {
    **dict.fromkeys(("tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud"), ("amx-int8", "amx_int8")),
    "tdpbf16ps": ("amx-bf16", "amx_bf16"),
}
TILE_CALLS: Final = {
    "llvm.x86.tilezero.internal": TileCall(_TILE, "amx-tile", "amx_tile"),
    "llvm.x86.tileloadd64.internal": TileCall(_TILE, "amx-tile", "amx_tile"),
    "llvm.x86.tilestored64.internal": TileCall("void", "amx-tile", "amx_tile"),
    **{f"llvm.x86.{name}.internal": TileCall(_TILE, *feature) for name, feature in _MULTIPLICATIONS.items()},
}
"""The intrinsics about tiles, by name."""

_CPUS: Final = ("sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d", "diamondrapids")
"""The CPUs that have tiles, as LLVM names them."""


def tile_call(code: Code, symbol: str, args: list[Value]) -> Value:
    """Emit a call about tiles."""
    result = TILE_CALLS[symbol].result
    code.module.declare(symbol, result, tuple(arg.type for arg in args), "")
    code.module.tiles.add(symbol)
    text = f"call {result} @{symbol}({', '.join(map(str, args))})"
    if result == "void":
        code.do(text)
        return Value("i32", "0")
    return code.op(result, text, "tile")


def required_flags(symbols: Iterable[str], cpu: Cpu) -> tuple[str, ...]:
    """Return what a CPU must have for these calls, as Linux names it; UnsupportedError where `cpu` has it not."""
    for symbol in sorted(symbols):
        feature = TILE_CALLS[symbol].feature
        if cpu.name not in _CPUS and not cpu.has(feature):
            raise UnsupportedError(
                f"the intrinsic {symbol!r} on {cpu.name}",
                because=f"it needs {feature}, which that CPU has not",
                legal=f'target="llvm -mcpu={_CPUS[0]}"',
            )
    return tuple(sorted({TILE_CALLS[symbol].flag for symbol in symbols} | ({"amx_tile"} if symbols else set())))
