"""Tensors, and the operations whose results they are.

Three kinds of operation make tensors:

    A = placeholder((n,))                     PlaceholderOp   values come from the caller
    B = compute((n,), lambda i: A[i] + 1)     ComputeOp       each element by a formula over the axes
    S = scan(init, update, state)             ScanOp          rows one after the other, from earlier rows
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from ..dtype import DType
from ..errors import UserError
from ..ir import make
from ..ir.axis import IterVar, Range
from ..ir.expr import Const, Reduce, TensorRead, Var
from ..ir.node import Expr, Operators
from ..ir.visit import walk
from ..location import Location
from .element import TensorSlice, dimensions, no_sequence, pattern, read, select
from .shape import plain

Shape = tuple[Expr, ...]


class Tensor(Operators):
    """One result of an operation: `shape` elements of `dtype`. Equal only to itself.

    `T[i, j]`, `T[i][j]` and `T(i, j)` are its elements; a tensor of no dimensions stands for its one element.
    """

    __slots__ = ("dtype", "op", "shape", "value_index")

    def __init__(self, op: Operation, value_index: int, shape: Shape, dtype: DType) -> None:
        self.op, self.value_index, self.shape, self.dtype = op, value_index, shape, dtype

    @property
    def name(self) -> str:
        """The operation's name; with several outputs name.v0, name.v1, ..."""
        return self.op.name if self.op.num_outputs == 1 else f"{self.op.name}.v{self.value_index}"

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def axis(self) -> tuple[IterVar, ...]:
        """The axes of the compute that made it; UserError for other operations, which have none."""
        if isinstance(self.op, ComputeOp):
            return self.op.axis
        raise UserError(f"'{self.name}' has no axes", because=f"it comes from a {type(self.op).__name__}")

    def __call__(self, *indices: Any) -> TensorRead:
        """Return the element at `indices`, one for each dimension."""
        return read(self, indices)

    def __getitem__(self, indices: Any) -> TensorRead | TensorSlice:
        """Return the element, or with fewer indices than dimensions a slice that takes the others."""
        return select(self, (), indices)

    def __iter__(self) -> NoReturn:
        """Refuse: without this Python would index forever."""
        raise no_sequence(self)

    def __eq__(self, other: object) -> Any:
        """Answer whether both are one tensor; one of no dimensions is compared by value with numbers and its like.

        Python's truth of such a comparison is whether both are one tensor, as of every == of expressions.
        """
        if self.ndim == 0 and not (isinstance(other, Tensor) and other.ndim):
            return make.eq(self, other)
        return self is other

    def __ne__(self, other: object) -> Any:
        """Answer the opposite of ==."""
        if self.ndim == 0 and not (isinstance(other, Tensor) and other.ndim):
            return make.ne(self, other)
        return self is not other

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        """Refuse for a tensor of no dimensions, which stands for a number known at run time."""
        return bool(self.as_expr()) if self.ndim == 0 else True

    def same_as(self, other: object) -> bool:
        """Answer whether both are one tensor."""
        return self is other

    def as_expr(self) -> Expr:
        """Return the element of a tensor of no dimensions; UserError for any other."""
        if self.ndim == 0:
            return read(self, ())
        raise UserError(
            f"'{self.name}' is used as a number",
            because=f"it has {dimensions(self.ndim)}",
            legal=f"an element: {pattern(self)}",
        )

    def __repr__(self) -> str:
        return f"{self.name}: {self.dtype.short}[{', '.join(map(plain, self.shape))}]"


class Operation:
    """What makes tensors. `loc` is the user's line; `tag` and `attrs` are the user's own notes."""

    __slots__ = ("__weakref__", "attrs", "loc", "name", "outputs", "tag")

    def __init__(
        self,
        name: str,
        tag: str,
        attrs: Mapping[str, Any] | None,
        loc: Location | None,
        results: Iterable[tuple[Shape, DType]],
    ) -> None:
        self.name, self.tag, self.attrs, self.loc = name, tag, dict(attrs or {}), loc
        self.outputs = tuple(Tensor(self, index, shape, dtype) for index, (shape, dtype) in enumerate(results))

    @property
    def num_outputs(self) -> int:
        """How many tensors it makes."""
        return len(self.outputs)

    @property
    def origin(self) -> Operation:
        """The operation that made the tensors first: a schedule may define them anew, and they stay the same."""
        return self.outputs[0].op

    def output(self, index: int) -> Tensor:
        """Return the tensor of that number."""
        return self.outputs[index]

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The tensors it reads, each once, in the order of their first reading."""
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation):
    """A tensor whose values the caller gives."""

    __slots__ = ()

    @property
    def shape(self) -> Shape:
        """The shape of its tensor."""
        return self.outputs[0].shape

    @property
    def dtype(self) -> DType:
        """The element type of its tensor."""
        return self.outputs[0].dtype


class ComputeOp(Operation):
    """Tensors of one shape, each element computed by a formula: `body`, one for each output, over `axis`.

    `early` is the refusal of a read that is in range only if an axis is the time of a scan; None where there is none.
    """

    __slots__ = ("axis", "body", "early", "inputs", "reduce_axis")

    def __init__(
        self,
        name: str,
        axis: tuple[IterVar, ...],
        body: tuple[Expr, ...],
        tag: str = "",
        attrs: Mapping[str, Any] | None = None,
        loc: Location | None = None,
    ) -> None:
        shape = tuple(domain(a).extent for a in axis)
        super().__init__(name, tag, attrs, loc, [(shape, value.dtype) for value in body])
        self.axis, self.body = axis, body
        self.reduce_axis = body[0].axes if isinstance(body[0], Reduce) else ()
        self.inputs = _tensors_read(self)
        self.early: UserError | None = None

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The tensors that the body and the domains of reduce axes read."""
        return self.inputs

    def redefined(self, body: tuple[Expr, ...]) -> ComputeOp:
        """Return another operation for the same tensors over the same axes: what a schedule makes of this one."""
        op = ComputeOp(self.name, self.axis, body, self.tag, self.attrs, self.loc)
        op.outputs = self.outputs
        return op

    def expressions(self) -> Iterator[Expr]:
        """Yield all that is evaluated: the ends of reduce axes, then the bodies."""
        for axis in self.reduce_axis:
            yield from domain(axis)
        yield from self.body


def domain(axis: IterVar) -> Range:
    """Return the range of an axis that has one."""
    assert axis.dom is not None
    return axis.dom


def _tensors_read(op: ComputeOp) -> tuple[Tensor, ...]:
    found: dict[Tensor, None] = {}
    for expr in op.expressions():
        found.update((node.tensor, None) for node in walk(expr) if isinstance(node, TensorRead))
    return tuple(found)


class ScanOp(Operation):
    """Rows of tensors computed in order: the first k by `init`, row t by `update` from rows t - 1 to t - k.

    The tuples have one entry for each state. `scan_axis` runs over [k, T); `spatial_axis_` lists the other dimensions
    of all states, which only name them: they are scheduled on the update and the init.

    Of computes with an `early` read, `spans` has the axes that are steps of this scan, with their first and last values
    (None is not known); `explained` are those whose read is in range then, and `settled` says that these are all.
    """

    __slots__ = (
        "explained", "init", "inputs", "scan_axis", "settled", "spans", "spatial_axis_", "state_placeholder", "update",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        scan_axis: IterVar,
        spatial_axis: tuple[IterVar, ...],
        init: tuple[Tensor, ...],
        update: tuple[Tensor, ...],
        state_placeholder: tuple[Tensor, ...],
        inputs: tuple[Tensor, ...] = (),
        tag: str = "",
        attrs: Mapping[str, Any] | None = None,
        loc: Location | None = None,
    ) -> None:
        super().__init__(name, tag, attrs, loc, [(state.shape, state.dtype) for state in state_placeholder])
        self.scan_axis, self.spatial_axis_ = scan_axis, spatial_axis
        self.init, self.update, self.state_placeholder, self.inputs = init, update, state_placeholder, inputs
        self.spans: dict[ComputeOp, dict[Var, tuple[int, int | None]]] = {}
        self.explained: set[ComputeOp] = set()
        self.settled = False

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The inits, then the updates."""
        return tuple(dict.fromkeys((*self.init, *self.update)))

    @property
    def depth(self) -> int:
        """k: how many rows `init` gives, and how many steps back `update` may read."""
        first = domain(self.scan_axis).min
        assert isinstance(first, Const)
        return int(first.value)
