"""Whether a GPU has the instructions that a kernel calls."""

from __future__ import annotations

from ..errors import UnsupportedError
from ..instructions import MATRIX_ROWS, ROWS, Instruction, Typed
from ..ir.expr import Call
from ..ir.instruction import stray
from ..ir.stmt import Stmt
from ..ir.visit import walk
from ..target import Target
from .cuda_mma import instruction


def check_instructions(body: Stmt, target: Target) -> None:
    """Raise UnsupportedError, at the user's line, for an instruction that `target` has not."""
    for stmt in walk(body):
        if isinstance(stmt, Stmt):
            _check(stmt, target)


def _check(stmt: Stmt, target: Target) -> None:
    part = stray(stmt)
    if part is not None:
        because = "it is part of a value, and what it finds in memory it changes: it must happen once"
        legal = "a name for its whole value, and that in its place"
        raise UnsupportedError(f"{part.name} in a kernel", because, legal, location=stmt.loc, ir=repr(stmt))
    for root in stmt.expressions():
        for node in walk(root):
            if isinstance(node, Call):
                _check_call(node, stmt, target)


def _check_call(node: Call, stmt: Stmt, target: Target) -> None:
    row = instruction(node, stmt) if node.name in MATRIX_ROWS else ROWS.get(node.name)
    if row is not None and not has(target.arch, row):
        raise UnsupportedError(
            f"{row.name} on {target.arch}",
            because=f"GPUs have it from {first(row)} on, and the target is {target.arch}"
            if not row.needs
            else f"only {first(row)} has it, and the target is {target.arch}",
            legal=f'target="cuda -arch={first(row)}"',
            location=stmt.loc,
            ir=repr(node),
        )


def gives_registers(body: Stmt) -> bool:
    """Return whether warps give each other registers: how many each begins with must be known."""
    return any(
        isinstance(node, Call) and node.name in ROWS and ROWS[node.name].kind == "registers" for node in walk(body)
    )


def first(row: Instruction | Typed) -> str:
    """Return the first architecture that has an instruction."""
    return f"sm_{row.since}{row.needs}"


def has(arch: str, row: Instruction | Typed) -> bool:
    """Return whether an architecture has an instruction: any from the first on, or only that one."""
    return arch == first(row) if row.needs else int("".join(filter(str.isdigit, arch))) >= row.since
