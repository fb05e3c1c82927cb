"""cache_read: stages read a copy of a tensor in another memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ScheduleError, UserTypeError
from ..location import caller
from ..te.tensor import ComputeOp, Operation, ScanOp, Tensor
from .place import check_scope
from .plan import Plan
from .reading import data_axis, element, reading
from .rewriting import Rewrite, rewriting
from .stage import INLINE, StageState, initial

Readers = Tensor | Operation | Sequence[Tensor | Operation]


@rewriting
def cache_read(plan: Plan, tensor: Tensor, scope: str, readers: Readers) -> Rewrite[Tensor]:
    """Make a stage that copies `tensor` into memory of `scope`, and let `readers` read the copy; return the copy.

    The new stage, named tensor.scope, is at the root. Placed in a loop of a reader it copies what an iteration reads.
    An inlined tensor is computed by the copy.

        for i in range(n):                          for i in range(n):
            C[i] = A[i] + A[n - 1 - i]    ->            A_shared[i] = A[i]            # s.cache_read(A, "shared", [C])
                                                    for i in range(n):
                                                        C[i] = A_shared[i] + A_shared[n - 1 - i]
    """
    asked = f"cache_read: {name_of(tensor)} in {scope!r}"
    check_scope(asked, scope)
    check_of_schedule(plan, asked, tensor)
    found = chosen_readers(plan, asked, tensor, readers)
    axes = tuple(data_axis(f"ax{number}", extent) for number, extent in enumerate(tensor.shape))
    body = (element(tensor, (axis.var for axis in axes)),)
    copy = ComputeOp(f"{tensor.name}.{scope}", axes, body, tensor.op.tag, None, caller())
    cache = initial(copy, is_output=False, group=_group(plan, tensor), feeds=None).replace(scope=scope)
    changed = [_reads_copy(plan.states[op], tensor, copy.output(0)) for op in found]
    return Rewrite((cache, *changed), copy.output(0))


def chosen_readers(plan: Plan, asked: str, tensor: Tensor, readers: Readers) -> list[Operation]:
    """Return the stages named as readers of a copy; raise where there is none, or one that cannot read it."""
    given = list(readers) if isinstance(readers, (list, tuple)) else [readers]
    found = list(dict.fromkeys(_reader(plan, asked, tensor, reader) for reader in given))
    if not found:
        raise ScheduleError(asked, "no reader is given, so nothing would read the copy", _readers_of(plan, tensor))
    return found


def name_of(tensor: Any) -> str:
    """Return how a refusal names what was given as a tensor."""
    return f"'{tensor.name}'" if isinstance(tensor, Tensor) else repr(tensor)


def check_of_schedule(plan: Plan, asked: str, tensor: Any) -> None:
    """Raise unless `tensor` is a tensor of this schedule."""
    if not isinstance(tensor, Tensor):
        raise UserTypeError(asked, f"it is of type {type(tensor).__name__}", "a tensor of this schedule")
    if tensor.op not in plan.position:
        raise ScheduleError(asked, "it is no tensor of this schedule", "a tensor that the outputs need")


def check_stored(plan: Plan, asked: str, tensor: Any) -> None:
    """Raise unless `tensor` is a tensor of this schedule that is kept in memory."""
    check_of_schedule(plan, asked, tensor)
    if plan.states[tensor.op].attach is INLINE:
        raise ScheduleError(asked, "it is inlined, so it is kept nowhere", f"s[{tensor.op.name}].compute_root() first")


def _reader(plan: Plan, asked: str, tensor: Tensor, reader: Any) -> Operation:
    """Return the stage of a reader, one that can read the copy in place of the tensor."""
    op = reader.op if isinstance(reader, Tensor) else reader
    if not isinstance(op, Operation):
        because = f"it is of type {type(reader).__name__}"
        raise UserTypeError(f"{asked} for {reader!r}", because, "a tensor or an operation that reads it")
    state = plan.states.get(op.origin)
    if state is None or tensor not in state.definition.input_tensors:
        raise ScheduleError(f"{asked} for '{op.name}'", f"'{op.name}' does not read it", _readers_of(plan, tensor))
    if not isinstance(state.definition, ComputeOp):
        because = "a scan keeps its state in place" if isinstance(op, ScanOp) else "it reads the tensor's own memory"
        raise ScheduleError(f"{asked} for '{op.name}'", because, f"a compute that reads '{tensor.name}'")
    return op.origin


def _readers_of(plan: Plan, tensor: Tensor) -> str:
    names = [op.name for op in plan.readers[tensor.op] if tensor in plan.states[op].definition.input_tensors]
    return f"readers of '{tensor.name}': {', '.join(names) or 'none'}"


def _group(plan: Plan, tensor: Tensor) -> ScanOp | None:
    """Return the scan at each of whose steps the copy is made: it computes the tensor, or has it as its state."""
    holding = (group.scan for group in plan.scans if tensor.op in group.states)
    return next(holding, plan.states[tensor.op].group)


def _reads_copy(state: StageState, tensor: Tensor, copy: Tensor) -> StageState:
    assert isinstance(state.definition, ComputeOp)
    return state.replace(definition=reading(state.definition, tensor, copy))
