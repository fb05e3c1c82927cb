"""A compute whose whole body is the call of a tensor intrinsic on slices of tensors.

    C = te.compute((m, 16), lambda i: add16(A[i, 0:16], B[i, 0:16]), name="C")

It means what the instruction computes, C[i, j] = A[i, 0 + j] + B[i, 0 + j], and so every question about it has the
answer of that compute; that the dimensions which the formula does not name are computed by the instruction is a part of
its schedule from the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..arith import simplify
from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir import make
from ..ir.axis import AxisKind, IterVar, Range
from ..ir.node import Expr
from ..ir.subst import substitute
from ..ir.visit import rewrite_expr
from ..location import Location
from .axis import ReduceAxis, make_axis
from .element import TensorSlice, pattern
from .shape import plain
from .tensor import ComputeOp, Tensor, domain
from .tensor_intrin import TensorIntrin, TensorIntrinCall

_SLICES: Final = (Tensor, TensorSlice, E.TensorRead)


class TensorComputeOp(ComputeOp):
    """A compute by `intrin`, which runs over the axes `within`, the last of its data and of its reduce axes."""

    __slots__ = ("intrin", "within")
    intrin: TensorIntrin
    within: tuple[IterVar, ...]


class Note(NamedTuple):
    """What a compute is declared with besides its body."""

    name: str
    tag: str
    attrs: Mapping[str, Any] | None
    loc: Location | None


def tensor_compute(
    asked: str, call: TensorIntrinCall, axes: Sequence[IterVar], inner: Sequence[Expr], note: Note
) -> TensorComputeOp:
    """Return the compute over `axes`, and over the extents `inner` that the intrinsic runs over."""
    return _Call(asked, call).compute(tuple(axes), tuple(inner), note)


class _Part(NamedTuple):
    """A slice of one dimension: `extent` elements from `first` on; None is a single one, of no dimension."""

    first: Expr
    extent: Expr | None


class _Call:
    def __init__(self, asked: str, call: TensorIntrinCall) -> None:
        self.asked, self.intrin, self.reduce_axis = asked, call.intrin, call.reduce_axis
        self.op = call.intrin.op
        self.names: dict[E.Var, Expr] = {}
        """What the intrinsic's variables are here: its numbers, sizes, axes."""
        given = call.arguments
        self.slices = [part for part in given if isinstance(part, _SLICES)]
        self.numbers = [make.convert(part) for part in given if not isinstance(part, _SLICES)]

    def compute(self, axes: tuple[IterVar, ...], inner: tuple[Expr, ...], note: Note) -> TensorComputeOp:
        self.check_counts()
        self.names.update(self.scalars())
        places = {
            tensor: self.place(tensor, part) for tensor, part in zip(self.intrin.inputs, self.slices, strict=True)
        }
        own = self.own_axes(inner)
        self.names.update(
            {old.var: new.var for old, new in zip((*self.op.axis, *self.op.reduce_axis), own, strict=True)}
        )
        count = len(self.op.axis)
        body = tuple(self.written(part, places, own[count:]) for part in self.op.body)
        op = TensorComputeOp(note.name, (*axes, *own[:count]), body, note.tag, note.attrs, note.loc)
        op.intrin, op.within = self.intrin, own
        return op

    def refuse(self, what: str, because: str, legal: str) -> UserError:
        return UserError(f"{self.asked}: the call of '{self.intrin.name}'{what}", because=because, legal=legal)

    def check_counts(self) -> None:
        wanted = len(self.intrin.inputs), len(self.intrin.scalar_params)
        given = len(self.slices), len(self.numbers)
        if wanted != given:
            names = [*(tensor.name for tensor in self.intrin.inputs), *(var.name for var in self.intrin.scalar_params)]
            raise self.refuse(
                f" with {_counted(*given)}", because=f"it takes {_counted(*wanted)}", legal=", ".join(names)
            )
        for axis in self.reduce_axis:
            if not isinstance(axis, IterVar) or axis.kind is not AxisKind.REDUCE:
                raise UserTypeError(
                    f"{self.asked}: the call of '{self.intrin.name}' with reduce_axis={axis!r}",
                    because="it is no reduce axis",
                    legal="te.reduce_axis((first, end))",
                )
        if self.reduce_axis and not self.op.reduce_axis:
            raise self.refuse(
                f" with reduce_axis={self.reduce_axis[0].name}",
                because=f"'{self.op.name}' is no reduction: how its results fold is not said",
                legal="an intrinsic whose compute is a reduction",
            )

    def scalars(self) -> dict[E.Var, Expr]:
        """Return the numbers given, each in the type of its parameter."""
        pairs = zip(self.intrin.scalar_params, self.numbers, strict=True)
        return {param: make.cast(param.dtype, number) for param, number in pairs}

    def place(self, tensor: Tensor, given: Any) -> tuple[Tensor, list[_Part]]:
        """Return the tensor that stands for `tensor` and which part of it; the parts fit the intrinsic's extents."""
        source, parts = self.parts(given)
        if source.dtype is not tensor.dtype:
            raise self.refuse(
                f": '{tensor.name}' is {given!r}",
                because=f"that is {source.dtype}, and it takes {tensor.dtype}",
                legal=f"a slice of a tensor of {tensor.dtype}",
            )
        kept = [part for part in parts if part.extent is not None]
        if len(kept) < len(tensor.shape) <= len(parts):
            wide = [
                part if part.extent is not None else _Part(part.first, make.const(1, part.first.dtype))
                for part in parts
            ]
            kept = wide[len(parts) - len(tensor.shape) :]
            parts = [*parts[: len(parts) - len(kept)], *kept]
        shown = ", ".join(plain(part.extent) for part in kept if part.extent is not None)
        if len(kept) == len(tensor.shape) and all(
            self.fits(part.extent, extent) for part, extent in zip(kept, tensor.shape, strict=True)
        ):
            return source, parts
        raise self.refuse(
            f": '{tensor.name}' is {given!r}",
            because=f"that has the shape ({shown}), and it takes ({', '.join(map(plain, tensor.shape))})",
            legal=f"a slice of that shape, such as {source.name}[i, 0:16]",
        )

    def parts(self, given: Any) -> tuple[Tensor, list[_Part]]:
        if isinstance(given, Tensor):
            return given, [_whole(extent) for extent in given.shape]
        source, indices = given.tensor, given.indices
        found = [self.part(source, at, index) for at, index in enumerate(indices)]
        return source, [*found, *(_whole(extent) for extent in source.shape[len(indices) :])]

    def part(self, source: Tensor, position: int, index: Any) -> _Part:
        if not isinstance(index, slice):
            return _Part(index, None)
        if index.step not in (None, 1):
            raise self.refuse(
                f": slice of step {index.step!r} as index {position} of '{source.name}'",
                because="a slice names neighbours",
                legal=f"begin:end of {pattern(source)}",
            )
        extent = source.shape[position]
        first = make.const(0, extent.dtype) if index.start is None else make.convert(index.start)
        if isinstance(first, E.Const) and first.value < 0:
            raise self.refuse(
                f": slice from {first.value} as index {position} of '{source.name}'",
                because="it begins outside of the tensor: a slice does not count from the end",
                legal=f"{source.name}.shape[{position}] - {-first.value}",
            )
        end = extent if index.stop is None else make.convert(index.stop)
        return _Part(first, simplify(make.sub(end, first)))

    def fits(self, given: Expr | None, wanted: Expr) -> bool:
        """Return whether an extent is the intrinsic's; a size of the intrinsic becomes what it is first met as."""
        assert given is not None
        if isinstance(wanted, E.Var) and wanted not in self.names:
            self.names[wanted] = given
        difference = simplify(make.sub(given, substitute(wanted, self.names)))
        return isinstance(difference, E.Const) and difference.value == 0

    def own_axes(self, inner: tuple[Expr, ...]) -> tuple[IterVar, ...]:
        """Return an axis for each of the intrinsic's: of its data over the extents `inner`, then of its reduction."""
        shape = [domain(axis).extent for axis in self.op.axis]
        fit = len(inner) == len(shape) and all(map(self.fits, inner, shape))
        if not fit:
            raise self.refuse(
                "",
                because=f"it gives ({', '.join(map(plain, shape))}), and the dimensions that the formula does not name "
                f"are ({', '.join(map(plain, inner))})",
                legal="a shape that ends with what the intrinsic gives",
            )
        data = (make_axis(axis.name, Range(make.const(0, extent.dtype), extent), AxisKind.DATA)
                for axis, extent in zip(self.op.axis, inner, strict=True))  # fmt: skip
        return (*data, *map(self.own_reduce_axis, self.op.reduce_axis))

    def own_reduce_axis(self, axis: IterVar) -> IterVar:
        first, extent = (substitute(part, self.names) for part in domain(axis))
        return ReduceAxis(Range(first, extent), E.Var(axis.name, extent.dtype, first, extent))

    def written(
        self, part: Expr, places: Mapping[Tensor, tuple[Tensor, list[_Part]]], reduced: tuple[IterVar, ...]
    ) -> Expr:
        """Return a body of the intrinsic over the tensors given."""

        def read(node: E.TensorRead) -> Expr:
            source, parts = places[node.tensor]
            at = iter(node.indices)
            indices = (p.first if p.extent is None else make.add(p.first, next(at)) for p in parts)
            return E.TensorRead(source, tuple(indices))

        def here(expr: Expr) -> Expr:
            return substitute(rewrite_expr(expr, {E.TensorRead: read}), self.names)

        if not isinstance(part, E.Reduce):
            return here(part)
        return E.Reduce(
            part.combiner,
            tuple(map(here, part.source)),
            (*self.reduce_axis, *reduced),
            here(part.condition),
            tuple(map(here, part.init)),
            part.value_index,
        )


def _whole(extent: Expr) -> _Part:
    return _Part(make.const(0, extent.dtype), extent)


def _counted(slices: int, numbers: int) -> str:
    tensors = f"{slices} tensor{'' if slices == 1 else 's'}"
    return tensors if not numbers else f"{tensors} and {numbers} number{'' if numbers == 1 else 's'}"
