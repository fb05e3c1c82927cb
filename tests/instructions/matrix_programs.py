"""A program for each matrix instruction on arrays of threads: one warpgroup of a kernel, at level DEVICE."""

from __future__ import annotations

from textwrap import dedent

from tecomp.dtype import DType
from tecomp.instructions import MATRIX_ROWS, Typed
from tecomp.instructions.ldmatrix import MatrixMove
from tecomp.ir.instruction import INSTRUCTIONS

Types = tuple[str, ...]
_LAYOUT = {"swizzle": "128", "leading": "16", "stride": "1024", "major": "0"}


def some_rows() -> list[tuple[str, Types]]:
    """Every instruction of a warp with each of its types; narrow and wide ones of a warpgroup."""
    wide = ("n8k", "n24k", "n256k")
    chosen = {name: row for name, row in MATRIX_ROWS.items() if "m64" not in name or any(n in name for n in wide)}
    return [(name, types) for name, row in chosen.items() for types in row.types]


def row_of(name: str, types: Types) -> Typed:
    return MATRIX_ROWS[name].typed[types]


def operand_types(name: str, types: Types) -> dict[str, str]:
    """Return the type of what each address is of."""
    if not types:
        return dict.fromkeys(("to", "of", "row"), "float16")
    return {**dict(zip("dab", types, strict=True)), "c": types[0]}


def program(name: str, types: Types, **changed: str) -> str:
    """Return the program that calls an instruction once; `changed` are operands in other words, and sizes of arrays."""
    row, kinds = row_of(name, types), operand_types(name, types)
    lines: list[str] = []
    args: list[str] = []
    for operand in INSTRUCTIONS[name].operands:
        memory, dtype = operand.memory, DType(changed.get(f"type_{operand.name}", kinds.get(operand.name, "int32")))
        given = _LAYOUT.get(operand.name.partition("_")[0], "1")
        if memory:
            held = row.bytes_held.get(operand.name, 0) // DType(kinds[operand.name]).bytes
            extent = changed.get(f"size_{operand.name}", str(held if memory == "local" else 16384 // dtype.bytes))
            lines.append(f"{operand.name} = alloc({dtype.short}[{extent}], '{memory}')")
            at = "threadIdx_x % 32 * 16" if isinstance(row, MatrixMove) and memory == "shared" else "0"
            given = f"address({operand.name}[{changed.get(f'at_{operand.name}', at)}], '{operand.mode}')"
        args.append(changed.get(operand.name, given))
    call = f"{name}({', '.join(args)})"
    around = ["wgmma_fence()", call, "wgmma_commit()", "wgmma_wait(0)"] if name.startswith("wgmma") else [call]
    body = "\n".join(f"        {line}" for line in [*lines, *around])
    return dedent(f"def f(n: i32) -> device:\n    with launch(blockIdx_x=1, threadIdx_x=128):\n{body}\n")
