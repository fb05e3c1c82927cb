"""What one instruction is on a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

INLINE: Final = "__device__ __forceinline__"


class Instruction(NamedTuple):
    """A row of the table: the call in CUDA C++, the device function behind it, and which GPUs have it."""

    name: str
    cuda: str
    """The text of a call; {0}, {1} are its operands."""
    prelude: str = ""
    """The device function that the text calls: one PTX instruction. Empty where CUDA C++ has it."""
    since: int = 70
    """The first architecture that has it: 80 of sm_80."""
    needs: str = ""
    """A suffix without which that architecture has it not, and no other at all: a, of sm_90a."""
    kind: str = ""
    """What it is counted as: barrier, fence, mbarrier, vote, shuffle, copy, matrix, atomic, registers."""
    numpy: Any = None
    """What it does where there is no GPU."""


def by_name(rows: Iterable[Instruction]) -> dict[str, Instruction]:
    """Return a table of rows."""
    return {row.name: row for row in rows}


def preludes(rows: dict[str, Instruction]) -> dict[str, str]:
    """Return the device functions of a table, by name."""
    return {name: row.prelude for name, row in rows.items() if row.prelude}


def ptx(name: str, text: str, parameters: str = "", operands: str = "", template: str = "") -> str:
    """Return the device function that is one instruction, which the order of reads and writes keeps to."""
    inputs = f" :: {operands}" if operands else " ::"
    head = f"template <{template}> " if template else ""
    return f'''\
{head}{INLINE} void {name}({parameters}) {{
  asm volatile("{text}"{inputs} : "memory");
}}'''
