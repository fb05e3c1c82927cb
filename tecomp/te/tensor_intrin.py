"""Instructions that compute a small tensor at once: what each computes, and the statements that make it do so.

    x, y = te.placeholder((16,), name="x"), te.placeholder((16,), name="y")
    z = te.compute((16,), lambda i: x[i] + y[i], name="z")
    add16 = te.decl_tensor_intrin(
        z.op, lambda ins, outs: outs[0].vstore(0, ins[0].vload(0, "float32x16") + ins[1].vload(0, "float32x16"))
    )

`s[C].tensorize(axis, add16)` puts the statements in place of the loops from `axis` inward, where those compute what the
instruction does; `add16(A[i, 0:16], B[i, 0:16])` is the whole of a compute.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import UserError, UserTypeError
from ..ir import expr as E
from ..ir.stmt import Stmt
from ..location import Location, caller
from .buffer import DeclaredBuffer, decl_buffer
from .extern_body import Buffers, statement
from .shape import name_of, plain
from .tensor import ComputeOp, Operation, PlaceholderOp, Tensor

Emit = Callable[..., Any]
_LEGAL = "a statement, a call, or (body, reduce_init, reduce_update), where None is what there is not"


class Emitted(NamedTuple):
    """The statements of an intrinsic, each over its buffers; None is what it cannot do."""

    body: Stmt | None
    """Gives the results their whole value."""
    reduce_init: Stmt | None = None
    """Gives the results the value that a reduction starts from."""
    reduce_update: Stmt | None = None
    """Joins one more part of a reduction to the results."""


class TensorIntrin:
    """An instruction: `op` says what it computes; `body`, `reduce_init` and `reduce_update` are how, over `buffers`.

    `buffers` has one for each of `inputs`, then one for each result. `scalar_params` are numbers it takes besides.
    """

    _declared: weakref.WeakValueDictionary[str, TensorIntrin] = weakref.WeakValueDictionary()

    def __init__(
        self,
        name: str,
        op: ComputeOp,
        buffers: Sequence[DeclaredBuffer],
        scalar_params: Sequence[E.Var],
        emitted: Emitted,
        loc: Location | None,
    ) -> None:
        self.name, self.op, self.loc = name, op, loc
        self.inputs = op.input_tensors
        self.buffers, self.scalar_params = tuple(buffers), tuple(scalar_params)
        self.body, self.reduce_init, self.reduce_update = emitted
        self.declare()

    def declare(self) -> None:
        """Be the intrinsic that `get` finds under this name."""
        self._declared[self.name] = self

    @classmethod
    def find(cls, name: str) -> TensorIntrin | None:
        """Return the intrinsic that was declared last under `name`, if there is any."""
        return cls._declared.get(name)

    @classmethod
    def get(cls, name: str) -> TensorIntrin:
        """Return the intrinsic that was declared last under `name`: how the text of a schedule names one."""
        found = cls.find(name)
        if found is not None:
            return found
        raise UserError(
            f"te.TensorIntrin.get({name!r})",
            because="no tensor intrinsic of that name is declared",
            legal=f"te.decl_tensor_intrin(op, fcompute, name={name!r}) first",
        )

    def __call__(self, *slices: Any, reduce_axis: Any = None) -> TensorIntrinCall:
        """Return the call of this instruction on slices of tensors, such as A[i, 0:16]: the whole of a te.compute.

        One slice (or tensor, or element) for each input, in order, and a number for each of `scalar_params`. Where
        `reduce_axis` names axes, the results are folded over them with the intrinsic's own reduction.
        """
        axes = () if reduce_axis is None else reduce_axis
        return TensorIntrinCall(self, slices, tuple(axes) if isinstance(axes, (list, tuple)) else (axes,))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Be found by name where it is unpickled, unless another is."""
        self.__dict__.update(state)
        self._declared.setdefault(self.name, self)

    def __repr__(self) -> str:
        return f"TensorIntrin({self.name})"


@dataclass(frozen=True, slots=True)
class TensorIntrinCall:
    """An intrinsic on slices of tensors and numbers, as they were given, folded over `reduce_axis`."""

    intrin: TensorIntrin
    arguments: tuple[Any, ...]
    reduce_axis: tuple[Any, ...]


def decl_tensor_intrin(
    op: Operation,
    fcompute: Emit,
    name: str = "tensor_intrin",
    binds: Mapping[Tensor, DeclaredBuffer] | None = None,
    scalar_params: Sequence[E.Var] | None = None,
    default_buffer_params: Mapping[str, Any] | None = None,
) -> TensorIntrin:
    """Return the instruction that computes what `op`, a compute of placeholders, says.

    fcompute       gets the buffers of the inputs, those of the results, and `scalar_params` where there are any; gives
                   a statement or a call, or three: what computes all, what starts a reduction, what goes on with one
    binds          buffers for some of the tensors: their scope, strides and alignment are what the instruction needs
    scalar_params  variables of `op` that are numbers; in a schedule they match any value that the loops do not change
    default_buffer_params  arguments of decl_buffer for the tensors that `binds` does not name
    """
    asked = f"te.decl_tensor_intrin '{name_of('te.decl_tensor_intrin', name)}'"
    computed = _computed(asked, op)
    scalars = tuple(scalar_params or ())
    for scalar in scalars:
        if not isinstance(scalar, E.Var):
            raise UserTypeError(f"{asked}: scalar_params has {scalar!r}", "it is no variable", "te.var(name, dtype)")
    given = dict(binds or {})
    tensors = (*computed.input_tensors, *computed.outputs)
    foreign = next((tensor for tensor in given if tensor not in tensors), None)
    if foreign is not None:
        raise UserError(
            f"{asked}: binds names '{foreign.name}'",
            because=f"'{op.name}' neither reads nor computes it",
            legal=f"one of {', '.join(tensor.name for tensor in tensors)}",
        )
    buffers = [
        _bound(asked, tensor, given[tensor])
        if tensor in given
        else decl_buffer(tensor.shape, tensor.dtype, tensor.name, **(default_buffer_params or {}))
        for tensor in tensors
    ]
    count = len(computed.input_tensors)
    ins, outs = buffers[:count], buffers[count:]
    emitted = _emitted(asked, fcompute(ins, outs, *([scalars] if scalars else [])), computed, ins, outs)
    return TensorIntrin(name, computed, buffers, scalars, emitted, caller())


def _computed(asked: str, op: Any) -> ComputeOp:
    """Return the operation, a compute that reads placeholders only."""
    if not isinstance(op, ComputeOp):
        what = f"'{op.name}'" if isinstance(op, (Operation, Tensor)) else repr(op)
        raise UserTypeError(f"{asked} of {what}", because=f"it is a {type(op).__name__}", legal="C.op of a te.compute")
    if not (op.axis or op.reduce_axis):
        raise UserError(
            f"{asked} of '{op.name}'",
            because="it has no axes: one number is no work for an instruction over tensors",
            legal="a compute over one axis or more, of extent 1 if need be",
        )
    for tensor in op.input_tensors:
        if not isinstance(tensor.op, PlaceholderOp):
            raise UserError(
                f"{asked}: '{op.name}' reads '{tensor.name}'",
                because=f"'{tensor.name}' is computed, and an instruction is one compute",
                legal=f"a te.placeholder in the place of '{tensor.name}'",
            )
    return op


def _bound(asked: str, tensor: Tensor, buffer: Any) -> DeclaredBuffer:
    """Return the buffer declared for a tensor, of its shape and type."""
    if not isinstance(buffer, DeclaredBuffer):
        raise UserTypeError(
            f"{asked}: binds gives '{tensor.name}' {buffer!r}",
            f"it is a {type(buffer).__name__}",
            "tir.decl_buffer(...)",
        )
    shapes = [f"{shape.dtype}[{', '.join(map(plain, shape.shape))}]" for shape in (buffer, tensor)]
    same = len(buffer.shape) == len(tensor.shape) and all(map(operator.is_, buffer.shape, tensor.shape))
    if same and buffer.dtype is tensor.dtype:
        return buffer
    raise UserError(
        f"{asked}: binds gives '{tensor.name}' the buffer '{buffer.name}'",
        because=f"the buffer is {shapes[0]}, the tensor {shapes[1]}",
        legal="a buffer of the tensor's shape and type",
    )


def _emitted(asked: str, result: Any, op: ComputeOp, ins: Buffers, outs: Buffers) -> Emitted:
    given = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if not 1 <= len(given) <= 3 or all(part is None for part in given):
        raise UserTypeError(f"{asked}: fcompute gave {result!r}", because="that computes nothing", legal=_LEGAL)
    emitted = Emitted(*(None if part is None else statement(asked, part, ins, outs) for part in given))
    if emitted.reduce_init is emitted.reduce_update is None or op.reduce_axis:
        return emitted
    raise UserError(
        f"{asked}: fcompute gave reduce_init or reduce_update",
        because=f"'{op.name}' is no reduction, so there is nothing to start or to go on with",
        legal="the body alone",
    )
