"""The expressions, one sentence each: one file because a pass must know the whole set.

Construct through `make`, which promotes types and folds constants; these constructors take their parts as they are.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from ..dtype import BOOL, HANDLE, DType
from ..errors import UserError
from .node import Expr

if TYPE_CHECKING:
    from .axis import IterVar
    from .stmt import Buffer


class Var(Expr):
    """A named value: a loop variable with its range, a symbolic size, a scalar argument. Equal only to itself."""

    __slots__ = ("extent", "min", "name", "uid")
    name: str
    min: Expr | None
    """The least value it takes, where known."""
    extent: Expr | None
    """How many values it takes, counted from `min`, where known."""
    _serial: ClassVar = itertools.count()

    def __new__(cls, name: str, dtype: DType, min: Expr | None = None, extent: Expr | None = None) -> Self:
        """Return a new variable; another of the same name is another variable."""
        node = object.__new__(cls)
        node.name, node.dtype, node.min, node.extent = name, dtype, min, extent
        node.bounds, node.uid = None, next(cls._serial)
        return node

    def operands(self) -> list[Expr]:
        """A variable has none: its range is about it, not part of it."""
        return []

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle; what is read back is another variable, the same one wherever this one stood."""
        return Var, (self.name, self.dtype, self.min, self.extent)


class Const(Expr):
    """A number of a known type, within that type's range."""

    __slots__ = ("key", "value")
    fields = ("value", "dtype", "key")
    value: int | float | bool
    key: str

    def __new__(cls, value: int | float | bool, dtype: DType) -> Self:
        """Return the constant; floats are told apart by their bits (0.0 from -0.0), but there is one NaN of a type."""
        if isinstance(value, float) and math.isnan(value):
            value = math.nan
        key = value.hex() if isinstance(value, float) else ""
        return super().__new__(cls, value, dtype, key)

    def result_type(self) -> DType:
        """The type it was given."""
        return self.dtype

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by value and type."""
        return Const, (self.value, self.dtype)


class Binary(Expr):
    """Two operands of one type, and a result of that type."""

    __slots__ = ("a", "b")
    fields = children = ("a", "b")
    a: Expr
    b: Expr

    def result_type(self) -> DType:
        """The operands' type."""
        return self.a.dtype

    def operands(self) -> list[Expr]:
        """Both."""
        return [self.a, self.b]

    def with_operands(self, operands: list[Expr]) -> Expr:
        """The same operation on others."""
        return type(self)(*operands)


class Add(Binary):
    """a + b, wrapping in its integer type."""

    __slots__ = ()


class Sub(Binary):
    """a - b, wrapping in its integer type."""

    __slots__ = ()


class Mul(Binary):
    """a * b, wrapping in its integer type."""

    __slots__ = ()


class Div(Binary):
    """a / b of floats."""

    __slots__ = ()


class FloorDiv(Binary):
    """a // b rounded toward minus infinity."""

    __slots__ = ()


class FloorMod(Binary):
    """a % b with the sign of b."""

    __slots__ = ()


class TruncDiv(Binary):
    """Integer a / b rounded toward zero, C's division."""

    __slots__ = ()


class TruncMod(Binary):
    """What TruncDiv leaves, with the sign of a: C's %."""

    __slots__ = ()


class Min(Binary):
    """The smaller; NaN when either is NaN."""

    __slots__ = ()


class Max(Binary):
    """The larger; NaN when either is NaN."""

    __slots__ = ()


class Compare(Binary):
    """Two operands of one type, and a bool."""

    __slots__ = ()

    def result_type(self) -> DType:
        """A bool for each lane."""
        return BOOL.with_lanes(self.a.dtype.lanes)


class Eq(Compare):
    """a == b."""

    __slots__ = ()


class Ne(Compare):
    """a != b."""

    __slots__ = ()


class Lt(Compare):
    """a < b."""

    __slots__ = ()


class Le(Compare):
    """a <= b."""

    __slots__ = ()


class And(Binary):
    """Both, of bools; b is evaluated only where a holds."""

    __slots__ = ()


class Or(Binary):
    """Either, of bools; b is evaluated only where a does not hold."""

    __slots__ = ()


class Not(Expr):
    """The other bool."""

    __slots__ = ("a",)
    fields = children = ("a",)
    a: Expr

    def result_type(self) -> DType:
        """Its operand's."""
        return self.a.dtype


class Cast(Expr):
    """value converted to another type: floats to integers truncate, integers wrap, anything to bool is != 0."""

    __slots__ = ("value",)
    fields = ("dtype", "value")
    children = ("value",)
    value: Expr

    def result_type(self) -> DType:
        """The type asked for."""
        return self.dtype


class Select(Expr):
    """yes where condition holds, else no; both are evaluated."""

    __slots__ = ("condition", "no", "yes")
    fields = children = ("condition", "yes", "no")
    condition: Expr
    yes: Expr
    no: Expr

    def result_type(self) -> DType:
        """The branches' type."""
        return self.yes.dtype


class IfElse(Expr):
    """yes if condition else no; the side not taken is never evaluated, lane by lane."""

    __slots__ = ("condition", "no", "yes")
    fields = children = ("condition", "yes", "no")
    condition: Expr
    yes: Expr
    no: Expr

    def result_type(self) -> DType:
        """The branches' type."""
        return self.yes.dtype


class Ramp(Expr):
    """The vector base, base + stride, ... of that many lanes."""

    __slots__ = ("base", "lanes", "stride")
    fields = ("base", "stride", "lanes")
    children = ("base", "stride")
    base: Expr
    stride: Expr
    lanes: int

    def result_type(self) -> DType:
        """The base's type with lanes."""
        return self.base.dtype.with_lanes(self.lanes)


class Broadcast(Expr):
    """The vector that holds value in every lane."""

    __slots__ = ("lanes", "value")
    fields = ("value", "lanes")
    children = ("value",)
    value: Expr
    lanes: int

    def result_type(self) -> DType:
        """The value's type with lanes."""
        return self.value.dtype.with_lanes(self.lanes)


class Load(Expr):
    """buffer[indices]; lanes where mask is false are not read and hold zero."""

    __slots__ = ("buffer", "indices", "mask")
    fields = ("buffer", "indices", "mask")
    children = ("indices", "mask")
    buffer: Buffer
    indices: tuple[Expr, ...]
    mask: Expr

    def result_type(self) -> DType:
        """The element type, with as many lanes as the widest index."""
        lanes = max((index.dtype.lanes for index in self.indices), default=1)
        return self.buffer.dtype.with_lanes(lanes * self.buffer.dtype.lanes)


class Address(Expr):
    """Where buffer[indices] lies, `offset` elements further; no indices name element 0.

    Whoever gets it may do there what `mode` says (r, w, rw) with the whole of the buffer.
    """

    __slots__ = ("buffer", "indices", "mode", "offset")
    fields = ("buffer", "indices", "offset", "mode")
    children = ("indices", "offset")
    buffer: Buffer
    indices: tuple[Expr, ...]
    offset: Expr
    mode: str

    def result_type(self) -> DType:
        """An address."""
        return HANDLE


class Call(Expr):
    """A named operation of the target's table: a maths function, a bit operation, an intrinsic with an effect."""

    __slots__ = ("args", "name")
    fields = ("dtype", "name", "args")
    children = ("args",)
    name: str
    args: tuple[Expr, ...]

    def result_type(self) -> DType:
        """The type it was given."""
        return self.dtype

    def check_portable(self) -> None:
        """Raise UserError for the call of a Python function that was given itself, not by name."""
        if self.name.startswith("call_packed:<"):
            function = self.name.removeprefix("call_packed:")
            raise UserError(
                f"the call of {function} cannot be serialised",
                because="this Python function has no name outside this process",
                legal='tecomp.register_func("my.name")(f), and tir.call_packed("my.name", ...)',
            )


class TensorRead(Expr):
    """tensor(indices): an element of another stage's result; lowering turns it into a Load."""

    __slots__ = ("indices", "tensor")
    fields = ("tensor", "indices")
    children = ("indices",)
    tensor: Any
    indices: tuple[Expr, ...]

    def result_type(self) -> DType:
        """The tensor's."""
        return self.tensor.dtype


class Combiner(Protocol):
    """How partial results of a reduction join: lhs and rhs name two of them, result is their join."""

    @property
    def lhs(self) -> tuple[Var, ...]: ...
    @property
    def rhs(self) -> tuple[Var, ...]: ...
    @property
    def result(self) -> tuple[Expr, ...]: ...
    @property
    def identity(self) -> tuple[Expr, ...]: ...
    @property
    def name(self) -> str: ...


class Reduce(Expr):
    """combiner over all values of axes of source, where condition holds; a stage's whole body, lowered to loops."""

    __slots__ = ("axes", "combiner", "condition", "init", "source", "value_index")
    fields = ("combiner", "source", "axes", "condition", "init", "value_index")
    children = ("source", "condition", "init")
    combiner: Combiner
    source: tuple[Expr, ...]
    axes: tuple[IterVar, ...]
    condition: Expr
    init: tuple[Expr, ...]
    """Start values in place of the combiner's identity; empty when the identity serves."""
    value_index: int

    def result_type(self) -> DType:
        """That of the source it names."""
        return self.source[self.value_index].dtype
