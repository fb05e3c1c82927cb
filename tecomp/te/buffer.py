"""Buffers that users declare, for the statements they write: extern bodies, tensor intrinsics, hybrid functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from ..dtype import FLOAT32, INT32, DType
from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.dtype_name import dtype_of
from ..ir.matrix import FRAGMENT_SCOPES
from ..ir.node import Expr
from ..ir.stmt import Buffer, Store
from ..location import caller
from .shape import name_of, plain, shape_of

SCOPES: Final = ("global", "shared", "shared.dyn", "warp", "local", *FRAGMENT_SCOPES)
"""The memories there are: everyone's, a block's (of a size that its launch says: dyn), a warp's, a thread's; the
registers of a warp, for matrices that tensor cores multiply."""
_MODES: Final = {1: "r", 2: "w", 3: "rw", "r": "r", "w": "w", "rw": "rw", "wr": "rw"}
"""What an access mask allows, by how TE programs write it."""


class DeclaredBuffer(Buffer):
    """A buffer of a user's statement; when that is placed in a program, the memory of a tensor takes its place.

    `strides` and `elem_offset` may be variables, which then take the values that they have for that memory.
    `offset_factor`: what the offset of element 0 is a multiple of, 0 where that does not matter.
    """

    __slots__ = ("elem_offset", "offset_factor")

    def __init__(
        self,
        name: str,
        shape: tuple[Expr, ...],
        dtype: DType,
        scope: str = "global",
        strides: tuple[Expr, ...] | None = None,
        align: int = 0,
        elem_offset: Expr | None = None,
        offset_factor: int = 0,
    ) -> None:
        super().__init__(name, shape, dtype, scope, strides, align, caller())
        self.elem_offset, self.offset_factor = elem_offset, offset_factor

    @property
    def data(self) -> Expr:
        """The address that `elem_offset` counts from, for reading and writing; without one, that of element 0."""
        return self.access_ptr("rw", offset=0 if self.elem_offset is None else make.sub(0, self.elem_offset))

    def access_ptr(
        self,
        access_mask: str | int,
        ptr_type: str = "handle",
        content_lanes: int = 1,
        offset: Any = 0,
        extent: Any = None,
    ) -> Expr:
        """Return the address of the element `offset` elements behind the first.

        access_mask  what is done there: "r", "w", "rw", or 1, 2, 3. The whole buffer counts as read or written
        extent       how many elements that is; nothing depends on it
        """
        asked = f"access_ptr of '{self.name}'"
        mode = _MODES.get(access_mask)
        if mode is None:
            raise UserError(f"{asked}: mask {access_mask!r}", because="no access is called so", legal="r, w, rw")
        if ptr_type != "handle" or content_lanes != 1:
            raise UserError(
                f"{asked} as {ptr_type!r} of {content_lanes} lanes",
                because=f"an address has the type of the buffer, {self.dtype}",
                legal="access_ptr(mask), vload and vstore for vectors",
            )
        return E.Address(self, (), _integer(asked, "offset", offset), mode)

    def vload(self, begin: Any, dtype: str | None = None) -> Expr:
        """Return the elements from `begin` on along the last dimension, as many as `dtype` has lanes."""
        kind = self._vector("vload", dtype)
        return make.load(self, self._lanes("vload", begin, kind.lanes))

    def vstore(self, begin: Any, value: Any) -> Store:
        """Return the statement that stores `value`, a number or a vector, from `begin` on."""
        stored = make.convert(value, self.dtype)
        self._vector("vstore", stored.dtype)
        indices = self._lanes("vstore", begin, stored.dtype.lanes)
        return Store(self, indices, stored, make.TRUE, loc=caller())

    def __getitem__(self, indices: Any) -> Expr:
        """Return the element at `indices`, one for each dimension."""
        return make.load(self, self.indices("[]", indices))

    def __iter__(self) -> NoReturn:
        """Refuse: without this Python would index forever."""
        raise UserTypeError(f"'{self.name}' as a sequence", because="it is a buffer", legal="its elements by index")

    def indices(self, verb: str, given: Any) -> tuple[Expr, ...]:
        """Return indices as expressions: one for each dimension, integers."""
        asked = f"{verb} of '{self.name}'"
        parts = given if isinstance(given, (tuple, list)) else (given,)
        if len(parts) != len(self.shape):
            raise UserError(
                f"{asked} with {len(parts)} indices",
                because=f"it has {len(self.shape)} dimension{'' if len(self.shape) == 1 else 's'}",
                legal="one index for each",
            )
        return tuple(_integer(asked, f"index {position}", part) for position, part in enumerate(parts))

    def _vector(self, verb: str, dtype: str | None) -> DType:
        """Return the type that is loaded or stored, of the buffer's own elements."""
        kind = self.dtype if dtype is None else dtype_of(f"{verb} of '{self.name}'", dtype)
        if kind.element is not self.dtype.element:
            raise UserTypeError(
                f"{verb} of '{self.name}' as {kind}",
                because=f"its elements are {self.dtype}",
                legal=f"{self.dtype.element} of any lanes; .astype, te.reinterpret on the value",
            )
        return kind

    def _lanes(self, verb: str, begin: Any, lanes: int) -> tuple[Expr, ...]:
        """Return the indices of that many elements from `begin` on, along the last dimension and then the next row."""
        indices = self.indices(verb, begin)
        if lanes in (1, self.dtype.lanes):
            return indices
        if not indices or indices[-1].dtype.lanes > 1:
            raise UserError(
                f"{verb} of '{self.name}' of {lanes} lanes",
                because="it has no dimension" if not indices else "the last index has lanes already",
                legal="a scalar index, and a buffer of one dimension or more",
            )
        last = indices[-1]
        lane = E.Ramp(last, make.const(1, last.dtype), lanes)
        row = self.shape[-1]
        if self.strides is None and isinstance(row, E.Const) and int(row.value) < lanes:
            return self._over_rows(indices[:-1], lane)
        return (*indices[:-1], lane)

    def _over_rows(self, indices: tuple[Expr, ...], lane: Expr) -> tuple[Expr, ...]:
        """Return the indices of lanes that go on from row to row: these lie one behind the other."""
        found: list[Expr] = []
        for index, extent in zip(reversed(indices), reversed(self.shape[1:]), strict=True):
            found.insert(0, make.floormod(lane, extent))
            lane = make.add(index, make.floordiv(lane, extent))
        return (lane, *found)


def decl_buffer(
    shape: Any,
    dtype: str | None = None,
    name: str = "buffer",
    data: Any = None,
    strides: Sequence[Any] | None = None,
    elem_offset: Any = None,
    scope: str = "",
    data_alignment: int = -1,
    offset_factor: int = 0,
    buffer_type: str = "",
    axis_separators: Sequence[int] | None = None,
) -> DeclaredBuffer:
    """Return a buffer for statements: `shape` elements of `dtype`, float32 when none is given.

    strides         elements between neighbours along each dimension; None is row-major without gaps
    elem_offset     where element 0 lies in the memory, in elements
    data_alignment  what its address is a multiple of, in bytes; -1 asks for no more than the type does
    offset_factor   what elem_offset is a multiple of

        tir.decl_buffer((16,), "uint8", "A", strides=[te.var("s")], elem_offset=te.var("o"), offset_factor=1)
    """
    asked = f"decl_buffer '{name_of('decl_buffer', name)}'"
    for what, given in (("data", data), ("buffer_type", buffer_type), ("axis_separators", axis_separators)):
        if given not in (None, "", [], ()):
            raise UserError(
                f"{asked}: {what}={given!r}",
                because="a declared buffer is memory of its own, with one address for each element",
                legal=f"leave {what} out",
            )
    if scope and scope not in SCOPES:
        raise UserError(f"{asked}: scope={scope!r}", because="no memory is called so", legal=SCOPES)
    extents = shape_of(asked, shape)
    steps = None if not strides else tuple(_integer(asked, f"stride {n}", step) for n, step in enumerate(strides))
    if steps is not None and len(steps) != len(extents):
        raise UserError(
            f"{asked}: {len(steps)} strides",
            because=f"its shape ({', '.join(map(plain, extents))}) has {len(extents)} dimensions",
            legal="one for each",
        )
    offset = None if elem_offset is None else _integer(asked, "elem_offset", elem_offset)
    if offset is None and offset_factor:
        offset = E.Var(f"{name}_elem_offset", INT32)
    return DeclaredBuffer(
        name, extents, FLOAT32 if dtype is None else dtype_of(asked, dtype), scope or "global", steps,
        max(data_alignment, 0), offset, offset_factor,
    )  # fmt: skip


def _integer(asked: str, what: str, value: Any) -> Expr:
    """Return an integer expression of any lanes; UserError for other values."""
    found = make.convert(value)
    if found.dtype.is_integer:
        return found
    raise UserTypeError(f"{asked}: {what} is {value!r}", because=f"it is {found.dtype}", legal="an integer")
