"""Elements of tensors: T[i, j], T[i][j], T(i, j)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from ..dtype import INT32, INT64, DType
from ..errors import UserError, UserTypeError
from ..ir import make
from ..ir.expr import TensorRead
from ..ir.node import Expr, Operators
from .shape import plain

if TYPE_CHECKING:
    from .tensor import Tensor


class TensorSlice(Operators):
    """A tensor with its first indices given; it takes the others by [] and is a number once all are there.

    An index may be a slice: such a part of a tensor is what a tensor intrinsic is called on, and never a number.
    """

    __slots__ = ("indices", "tensor")

    def __init__(self, tensor: Tensor, indices: tuple[Any, ...]) -> None:
        self.tensor, self.indices = tensor, indices

    @property
    def dtype(self) -> DType:
        """The tensor's."""
        return self.tensor.dtype

    def __getitem__(self, indices: Any) -> TensorRead | TensorSlice:
        """Return the element, or a slice that still takes indices."""
        return select(self.tensor, self.indices, indices)

    def __iter__(self) -> NoReturn:
        """Refuse: without this Python would index forever."""
        raise no_sequence(self.tensor)

    def as_expr(self) -> Expr:
        """Return the element; UserError for a slice, and while indices are missing."""
        return read(self.tensor, [_index(self.tensor, at, index) for at, index in enumerate(self.indices)])

    def __repr__(self) -> str:
        given = [_slice_text(part) if isinstance(part, slice) else plain(part) for part in self.indices]
        return f"{self.tensor.name}[{', '.join([*given, *(['...'] if len(given) < self.tensor.ndim else [])])}]"


def read(tensor: Tensor, indices: Iterable[Any]) -> TensorRead:
    """Return the element of `tensor` at `indices`: integers, or bools as 0 and 1; UserError for others."""
    given = tuple(indices)
    if len(given) != tensor.ndim:
        raise UserError(
            f"'{tensor.name}' indexed with {len(given)} {'index' if len(given) == 1 else 'indices'}",
            because=f"it has {dimensions(tensor.ndim)}",
            legal=pattern(tensor),
        )
    return TensorRead(tensor, tuple(_index(tensor, position, index) for position, index in enumerate(given)))


def select(tensor: Tensor, before: tuple[Any, ...], indices: Any) -> TensorRead | TensorSlice:
    """Return the element at `before` and then `indices`, or a slice while some are missing or are slices."""
    given = before + (indices if isinstance(indices, tuple) else (indices,))
    sliced = any(isinstance(index, slice) for index in given)
    if len(given) > tensor.ndim or (len(given) == tensor.ndim and not sliced):
        return read(tensor, given)
    kept = (index if isinstance(index, slice) else _index(tensor, at, index) for at, index in enumerate(given))
    return TensorSlice(tensor, tuple(kept))


def _index(tensor: Tensor, position: int, index: Any) -> Expr:
    if isinstance(index, slice):
        raise UserTypeError(
            f"slice {_slice_text(index)} as index {position} of '{tensor.name}'",
            because="an expression reads single elements",
            legal=f"one index for each dimension: {pattern(tensor)}",
        )
    wide = isinstance(index, int) and not -(2**31) <= index < 2**31
    value = make.convert(index, INT64 if wide else None)
    if value.dtype.is_bool:
        return make.cast(INT32, value)
    if not value.dtype.is_integer:
        raise UserTypeError(
            f"index {position} of '{tensor.name}' is {plain(value)}",
            because=f"it is {value.dtype}, and indices are integers",
            legal="an integer, or .astype('int32')",
        )
    return value


def _slice_text(part: slice) -> str:
    ends = (part.start, part.stop) if part.step is None else (part.start, part.stop, part.step)
    return ":".join("" if end is None else repr(end) for end in ends)


def no_sequence(tensor: Tensor) -> UserTypeError:
    """Return the refusal of `for x in T`, which without it would index forever."""
    return UserTypeError(
        f"'{tensor.name}' is no sequence",
        because="it is one tensor, whose elements are named by indices",
        legal=pattern(tensor),
    )


def dimensions(count: int) -> str:
    """Return the number of dimensions in words."""
    return "1 dimension" if count == 1 else f"{count} dimensions"


def element_text(element: TensorRead) -> str:
    """Return how an element was written: A[i, 0]."""
    indices = ", ".join(map(plain, element.indices))
    return f"{element.tensor.name}[{indices}]" if indices else f"{element.tensor.name}()"


def pattern(tensor: Tensor) -> str:
    """Return how an element is written: A[i0, i1], or A() without dimensions."""
    if tensor.ndim == 0:
        return f"{tensor.name}()"
    return f"{tensor.name}[{', '.join(f'i{d}' for d in range(tensor.ndim))}]"
