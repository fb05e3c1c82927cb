"""The instructions on matrices in plain arrays of each thread: what each takes. Arrays are local memory.

    ldmatrix_x4_trans(address(F, 'w'), address(S[row, 0], 'r'))
    mma_m16n8k16(address(D, 'w'), address(A, 'r'), address(B, 'r'), address(D, 'r'))
    wgmma_m64n64k16(address(D, 'rw'), address(S, 'r'), address(T, 'r'), 128, 0, 1024, 0, 128, 0, 1024, 0, 1)

Which types of elements each has, and where the elements lie, `tecomp.instructions` says.
"""

from __future__ import annotations

from typing import Final

from .signature import CONSTANT, INTEGER, SWIZZLES, Operand, Signature, at

MOST_BYTES: Final = 1 << 18
"""What the distances inside a factor are less than."""
_DISTANCES: Final = range(0, MOST_BYTES, 16)
_HELD: Final = at("a", "r", "local")
_LOAD: Final = Signature((at("to", "w", "local"), at("row", "r")))
_STORE: Final = Signature((at("row", "w"), at("of", "r", "local")))
_MULTIPLY: Final = Signature((at("d", "w", "local"), _HELD, *(at(name, "r", "local") for name in "bc")))
_SUMS: Final = at("d", "rw", "local")
_SCALE: Final = Operand("scale_d", INTEGER, (0, 1))


def _layout(factor: str) -> tuple[Operand, ...]:
    return (
        Operand(f"swizzle_{factor}", CONSTANT, SWIZZLES),
        Operand(f"leading_{factor}", CONSTANT, _DISTANCES),
        Operand(f"stride_{factor}", CONSTANT, _DISTANCES),
        Operand(f"major_{factor}", CONSTANT, (0, 1)),
    )


_OF_GROUP: Final = {
    "": Signature((_SUMS, at("a", "r"), at("b", "r"), *_layout("a"), *_layout("b"), _SCALE)),
    "rs_": Signature((_SUMS, _HELD, at("b", "r"), *_layout("b"), _SCALE)),
}
"""With both factors in shared memory, and with the first in registers."""

MATRIX_INSTRUCTIONS: Final[dict[str, Signature]] = {
    **{
        f"{verb}_x{count}{trans}": signature
        for verb, signature in (("ldmatrix", _LOAD), ("stmatrix", _STORE))
        for count in (1, 2, 4)
        for trans in ("", "_trans")
    },
    **{f"mma_{shape}": _MULTIPLY for shape in ("m16n8k16", "m16n8k8", "m16n8k32", "m8n8k4")},
    **{
        f"wgmma_{held}m64n{n}k{k}": signature
        for held, signature in _OF_GROUP.items()
        for k in (8, 16, 32)
        for n in range(8, 257, 8)
    },
}
"""By the name of the call."""
