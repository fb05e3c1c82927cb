"""Calls that leave the program, in a kernel: device functions of CUDA by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..errors import UnsupportedError
from ..ir import expr as E
from ..ir.foreign import Foreign, foreign
from ..ir.stmt import Stmt
from ..ir.visit import walk
from .precedence import Text

_REFUSED: Final = {
    "call_packed": ("the Python function", "a kernel's threads run no Python", "a call outside the loops over threads"),
    "call_llvm_intrin": ("the intrinsic", "CUDA C++ has no intrinsics of LLVM", "tir.call_extern of a device function"),
    "call_llvm_pure_intrin": (
        "the intrinsic",
        "CUDA C++ has no intrinsics of LLVM",
        "tir.call_extern of a device function",
    ),
}
"""What a kernel cannot call: what it is, why not, what would be right."""


def foreign_call(node: E.Call, called: Foreign, operands: Sequence[Text]) -> Text:
    """Return the text of a call of a device function; UnsupportedError for what is none."""
    if called.kind in _REFUSED:
        what, because, legal = _REFUSED[called.kind]
        raise UnsupportedError(f"{what} {called.symbol!r} in a kernel", because=because, legal=legal, ir=repr(node))
    return Text(f"{called.symbol}({', '.join(operand.text for operand in operands)})")


def foreign_names(body: Stmt) -> set[str]:
    """Return the names of the functions that a kernel calls, which nothing else in it may have."""
    calls = (foreign(node.name) for node in walk(body) if isinstance(node, E.Call))
    return {called.symbol.partition("::")[0] for called in calls if called is not None}
