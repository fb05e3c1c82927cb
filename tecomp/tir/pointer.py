"""The elements of a buffer, as a statement builder reads and writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..dtype import INT32, DType
from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.node import Expr
from ..ir.stmt import Buffer, Stmt, Store
from ..location import caller


class Pointer:
    """`p[i, j]` is an element, `p[i, j] = value` gives a store to `emit`.

    One index into several dimensions counts row by row. A te.ramp-like vector index reads or writes its lanes.
    """

    __slots__ = ("_emit", "buffer")

    def __init__(self, emit: Callable[[Stmt], None], buffer: Buffer) -> None:
        self._emit, self.buffer = emit, buffer

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        return self.buffer.dtype

    def __getitem__(self, index: Any) -> Expr:
        """Return the element at `index`."""
        return make.load(self.buffer, self._indices(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        """Store a value of the buffer's type; a number takes that type."""
        store = Store(self.buffer, self._indices(index), make.FALSE, make.TRUE, loc=caller())
        stored = make.convert(value, self.dtype)
        wanted = self.dtype.with_lanes(store.lanes)
        if stored.dtype is wanted.element:
            stored = make.broadcast(stored, store.lanes)
        if stored.dtype is not wanted:
            raise UserTypeError(
                f"a {stored.dtype} is stored to '{self.buffer.name}'",
                because=f"it holds {wanted}",
                legal=f"value.astype('{wanted.element}')",
            )
        self._emit(store.copy(value=stored))

    def __iter__(self) -> NoReturn:
        """Refuse: without this Python would index forever."""
        raise UserTypeError(
            f"'{self.buffer.name}' as a sequence", because="it is a buffer", legal="its elements by index"
        )

    def _indices(self, index: Any) -> tuple[Expr, ...]:
        given = index if isinstance(index, tuple) else (index,)
        parts = tuple(make.convert(part) for part in given)
        for part in parts:
            if not part.dtype.is_integer:
                raise UserTypeError(
                    f"'{self.buffer.name}' indexed by {part!r}", because=f"it is {part.dtype}", legal="integers"
                )
        rank = len(self.buffer.shape)
        if len(parts) == 1 != rank and rank and parts[0].dtype.lanes == 1:
            return self._unraveled(parts[0])
        if len(parts) != rank:
            raise UserError(
                f"'{self.buffer.name}' indexed with {len(parts)} indices",
                because=f"it has {rank} dimension{'' if rank == 1 else 's'}",
                legal="one for each, or one that counts row by row",
            )
        return parts

    def _unraveled(self, flat: Expr) -> tuple[Expr, ...]:
        """Return the indices of the element that lies `flat` elements behind the first, row by row."""
        found: list[Expr] = []
        for extent in reversed(self.buffer.shape[1:]):
            found.insert(0, make.floormod(flat, extent))
            flat = make.floordiv(flat, extent)
        return (flat, *found)

    def asobject(self) -> Buffer:
        """Return the buffer."""
        return self.buffer

    def as_expr(self) -> Expr:
        """Return the address of the first element, for a function that reads and writes."""
        return E.Address(self.buffer, (), make.const(0, INT32), "rw")
