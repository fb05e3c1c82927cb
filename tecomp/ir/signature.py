"""What a call that is an instruction takes and gives: one operand, and all of them with the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ..dtype import INT32, DType
from .expr import Address, Const, Load
from .node import Expr

VALUE, BOOL, INTEGER, CONSTANT, ELEMENT, ADDRESS = "value", "bool", "integer", "constant", "element", "address"
SWIZZLES: Final = (0, 32, 64, 128)
"""Bytes of a line in shared memory whose pieces are put elsewhere; 0 leaves all where it is."""


class Operand(NamedTuple):
    """What one operand must be."""

    name: str
    kind: str
    """A value, a bool, an integer, a constant, an element that is named and not read, an address."""
    legal: Sequence[int] = ()
    """What a constant may be, and an integer that is one; empty where it may be anything."""
    mode: str = ""
    """What is done at an address."""
    memory: str = ""
    """Where an address lies, shared or global; empty where either serves."""
    dtypes: tuple[str, ...] = ()
    """What a value, or what lies at an address, may be; empty where it may be anything."""

    def wrong(self, node: Expr) -> str | None:
        """Return why `node` is no such operand; None where it is one."""
        if self.kind == ADDRESS:
            return self._wrong_address(node)
        of = node.dtype
        fits = of.lanes == 1 and (of.is_integer or self.kind != INTEGER) and (of.is_bool or self.kind != BOOL)
        if not fits or (self.dtypes and of not in self.dtypes):
            return f"{self.name} is {of}, and must be {' or '.join(self.dtypes) or f'one {self.kind}'}"
        if self.kind == CONSTANT and not (isinstance(node, Const) and of.is_integer):
            return f"{self.name} is {node!r}, which is no constant integer"
        if self.kind == ELEMENT and not isinstance(node, Load):
            return f"{self.name} is {node!r}, which is no element of a buffer"
        if self.legal and isinstance(node, Const) and node.value not in self.legal:
            return f"{self.name} is {node.value}, and must be {spelled(self.legal)}"
        return None

    def _wrong_address(self, node: Expr) -> str | None:
        if not isinstance(node, Address):
            return f"{self.name} is {node!r}, which is no address"
        buffer = node.buffer
        if node.mode != self.mode:
            return f"{self.name} is an address for {node.mode!r}, and must be one for {self.mode!r}"
        if self.memory and self.memory != ("shared" if buffer.is_shared else buffer.scope):
            return f"{self.name} lies in {buffer.scope} memory, and must in {self.memory}"
        if self.dtypes and buffer.dtype not in self.dtypes:
            return f"{self.name} is the address of {buffer.dtype}, and must be of {' or '.join(self.dtypes)}"
        return None


def spelled(legal: Sequence[int]) -> str:
    """Return in words what a constant may be."""
    if not isinstance(legal, range):
        return " or ".join(map(str, legal))
    steps = f" in steps of {legal.step}" if legal.step > 1 else ""
    return f"{legal[0]} to {legal[-1]}{steps}"


class Signature(NamedTuple):
    """What a call of one name takes, gives and does."""

    operands: tuple[Operand, ...] = ()
    gives: str = ""
    """A type, `value` for that of the operand so called; empty where it gives nothing."""
    stays: bool = True
    """Whether it stays where it is and happens once: it may do anything. Those that do not, passes know by name."""
    alone: bool = False
    """Whether it must be the whole value of a Let, a Store or an Evaluate: what it finds in memory, it changes."""

    def result(self, args: Sequence[Expr]) -> DType:
        """Return the type of a call; int32 of one that gives nothing."""
        if self.gives != VALUE:
            return DType(self.gives) if self.gives else INT32
        at = next(at for at, operand in enumerate(self.operands) if operand.kind == VALUE)
        return args[at].dtype if at < len(args) else INT32


def at(name: str, mode: str, memory: str = "shared", *dtypes: str) -> Operand:
    """Return an operand that is an address."""
    return Operand(name, ADDRESS, (), mode, memory, dtypes)
