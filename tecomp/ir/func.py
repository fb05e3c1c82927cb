"""Functions: a program with its arguments, and how far it is lowered."""

from __future__ import annotations

from enum import Enum

from ..errors import UserError
from .expr import Expr, Var
from .stmt import STMT_TEXT, Buffer, Stmt
from .visit import walk


class Level(Enum):
    """How far a function is lowered; `verify` knows what each level allows."""

    LOOPS = "loops"
    """Loop nests over buffers, as the schedule says, thread-bound loops among them."""
    DEVICE = "device"
    """For a GPU: host statements and Launches; for a CPU: loops, vectors, allocations."""
    FLAT = "flat"
    """DEVICE with one element offset an access and machine integers: what code is generated from."""


class Func:
    """A program: name, arguments (buffers, scalars) in the caller's order, body.

    Sizes that only occur in the shapes of buffers are not arguments: a call solves them from the arrays. `outputs` are
    the arguments the program writes. `requires` are conditions on sizes that a call checks, each with its reason.
    """

    __slots__ = ("body", "level", "name", "outputs", "params", "requires")

    def __init__(
        self,
        name: str,
        params: tuple[Buffer | Var, ...],
        outputs: tuple[Buffer, ...],
        body: Stmt,
        level: Level,
        requires: tuple[tuple[Expr, str], ...] = (),
    ) -> None:
        self.name, self.params, self.outputs, self.body, self.level = name, params, outputs, body, level
        self.requires = requires

    def sizes(self) -> tuple[Var, ...]:
        """Return the variables of shapes, then of strides, that a call solves from its arrays, as they occur."""
        buffers = [param for param in self.params if isinstance(param, Buffer)]
        extents = [extent for buffer in buffers for extent in buffer.shape]
        strides = [stride for buffer in buffers for stride in buffer.strides or ()]
        found: dict[Var, None] = {}
        for expr in (*extents, *strides):
            found.update((node, None) for node in walk(expr) if isinstance(node, Var))
        return tuple(var for var in found if not any(var is param for param in self.params))

    def named(self, name: str) -> Func:
        """Return this function under another name."""
        return Func(name, self.params, self.outputs, self.body, self.level, self.requires)

    def __getitem__(self, name: str) -> Func:
        """Return the function of that name: this one. A program of TVM is a module of functions; here it is one."""
        if name != self.name:
            raise UserError(f"{self.name!r} has no function {name!r}", "it is one function", repr(self.name))
        return self

    def with_body(self, body: Stmt, level: Level | None = None) -> Func:
        """Return this function with another body; itself when it is the same."""
        if body is self.body and level in (None, self.level):
            return self
        return Func(self.name, self.params, self.outputs, body, level or self.level, self.requires)

    def __repr__(self) -> str:
        return STMT_TEXT[0](self) if STMT_TEXT else object.__repr__(self)
