"""A schedule as Python: the calls that make it again on the same computation.

    C = s.stages[1].op
    blockIdx_x = te.thread_axis('blockIdx.x')

    i_outer, i_inner = s[C].split(C.axis[0], factor=64)
    s[C].bind(i_outer, blockIdx_x)

Executed with `s` a schedule fresh from `te.create_schedule` and `te` at hand, the text gives a schedule of equal text.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from inspect import Parameter
from types import MappingProxyType
from typing import Any, Final, SupportsIndex, TypeAlias

from ..errors import UserError
from ..ir.axis import AxisKind, IterVar
from ..ir.expr import Var
from ..ir.node import Expr
from ..ir.text_expr import Names
from ..te.hybrid import HybridOp
from ..te.tensor import ComputeOp, Operation, ScanOp, Tensor
from ..te.tensor_intrin import TensorIntrin
from .index_map import IndexMap
from .plan import Applied, Plan
from .primitive import PRIMITIVES
from .quantity import spell
from .view import StageView

Known: TypeAlias = Var | TensorIntrin
NOTHING: Final[Mapping[Known, str]] = MappingProxyType({})


def replay(plan: Plan, known: Mapping[Known, str] = NOTHING) -> str:
    """Return the text; empty when no primitive was applied. `known` are names that mean something where it is read."""
    script = _Script(plan, known)
    calls = [script.call(applied) for applied in plan.applied]
    stages = [
        f"{script.stages[op]} = s.stages[{number}].op" for number, op in enumerate(plan.declared) if op in script.stages
    ]
    named = [*stages, *script.sizes.values(), *script.threads.values(), *script.intrinsics.values()]
    parts = ["\n".join(named), "\n".join(calls)]
    return "".join(f"{part}\n" for part in "\n\n".join(filter(None, parts)).splitlines())


class _Script:
    """Writes calls, and notes which stages, sizes and thread axes they name."""

    def __init__(self, plan: Plan, known: Mapping[Known, str]) -> None:
        self.plan, self.known = plan, known
        self.names = Names()
        self.names.taken |= {"s", "te", *known.values()}
        self.stages: dict[Operation, str] = {}
        self.sizes: dict[Var, str] = {}
        """The line that defines each size."""
        self.threads: dict[IterVar, str] = {}
        """The line that defines each thread axis."""
        self.intrinsics: dict[TensorIntrin, str] = {}
        """The line that finds each tensor intrinsic."""
        self.bound = {axis.var: axis for applied in plan.applied for axis in _threads(applied)}
        """The thread axis that each variable is."""
        self.axes: dict[Var, str] = {}
        """How each axis is written; a variable stands for its axis."""
        self.moving: set[Var] = set()
        """The axes that are written by the stage that has them, which a later primitive may change."""
        self.made: dict[Tensor, str] = {}
        """How each tensor that a primitive made is written."""

    def call(self, applied: Applied) -> str:
        owner = "s" if applied.definitions else f"s[{self.stage(applied.op)}]"
        arguments = ", ".join(self.arguments(applied))
        text = f"{owner}.{applied.primitive}({arguments})"
        made = applied.result if isinstance(applied.result, (tuple, list)) else (applied.result,)
        new = {id(part) for part in made if isinstance(part, Tensor) or self.is_new_axis(part)}
        left = ", ".join(self.define(part) if id(part) in new else "_" for part in made)
        for definition in applied.definitions:
            self.define_axes(definition)
        if isinstance(applied.result, list):
            left = f"[{left}]"
        elif isinstance(applied.result, tuple) and len(made) == 1:
            left += ","
        return f"{left} = {text}" if new else text

    def is_new_axis(self, part: Any) -> bool:
        return isinstance(part, IterVar) and part.var not in self.axes

    def define(self, part: IterVar | Tensor) -> str:
        """Return how what a call gave is written from here on."""
        name = self.names(part)
        if isinstance(part, IterVar):
            self.axes[part.var] = name
        else:
            self.made[part] = name
            self.stages.setdefault(part.op, name)
        return name

    def define_axes(self, definition: Operation) -> None:
        """Note how the axes of a new definition are written from here on, those that no declared operation has."""
        name = self.stage(definition.origin)
        for part, axes in _axes(definition).items():
            for number, axis in enumerate(axes):
                if axis.var not in self.axes or axis.var in self.moving:
                    self.axes[axis.var] = f"s[{name}].op.{part.format(number)}"
                    self.moving.add(axis.var)

    def arguments(self, applied: Applied) -> Iterator[str]:
        """Yield the arguments as they are written in the call, those at their default left out."""
        for name, parameter in PRIMITIVES[applied.primitive].parameters.items():
            if name not in applied.arguments:
                continue
            value = applied.arguments[name]
            if parameter.kind is Parameter.VAR_POSITIONAL:
                yield from map(self.value, value)
            elif parameter.default is Parameter.empty:
                yield self.value(value)
            elif value is not None:
                yield f"{name}={self.value(value)}"

    def value(self, value: Any) -> str:
        if isinstance(value, StageView):
            return f"s[{self.stage(value.origin)}]"
        if isinstance(value, Tensor):
            return self.made.get(value) or f"{self.stage(value.op)}.output({value.value_index})"
        if isinstance(value, Operation):
            return self.stage(value.origin)
        if isinstance(value, TensorIntrin):
            return self.intrinsic(value)
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(self.value, value))}]"
        if isinstance(value, IterVar):
            return self.thread(value) if value.kind is AxisKind.THREAD else self.variable(value.var)
        if isinstance(value, Expr):
            return spell(value, self.variable)
        if isinstance(value, IndexMap):
            return self.function(value)
        if isinstance(value, SupportsIndex) and not isinstance(value, bool):
            return str(operator.index(value))
        return repr(value)

    def function(self, value: IndexMap) -> str:
        """Return a map of indices as a lambda."""
        names = {parameter: f"i{number}" for number, parameter in enumerate(value.parameters)}

        def name(var: Var) -> str:
            return names.get(var) or self.variable(var)

        parts = (spell(part, name) if isinstance(part, Expr) else repr(part) for part in value.parts())
        return f"lambda {', '.join(names.values())}: [{', '.join(parts)}]".replace("lambda :", "lambda:")

    def stage(self, op: Operation) -> str:
        """Return the name of an operation; its axes are written with it."""
        if op not in self.stages:
            self.stages[op] = name = self.names(op)
            for part, axes in _axes(op).items():
                self.axes |= {axis.var: f"{name}.{part.format(number)}" for number, axis in enumerate(axes)}
        return self.stages[op]

    def intrinsic(self, intrin: TensorIntrin) -> str:
        if intrin in self.known:
            return self.known[intrin]
        if any(other.name == intrin.name for other in self.intrinsics if other is not intrin):
            raise UserError(
                "the text of a schedule by two tensor intrinsics of one name",
                because=f"both are {intrin.name!r}, by which the text would find one",
                legal="te.decl_tensor_intrin(..., name=...) for each; te.save, which writes them whole",
            )
        self.intrinsics.setdefault(intrin, f"{self.names(intrin)} = te.TensorIntrin.get({intrin.name!r})")
        return self.names(intrin)

    def thread(self, axis: IterVar) -> str:
        if axis not in self.threads:
            self.axes[axis.var] = name = self.names(axis)
            self.threads[axis] = f"{name} = te.thread_axis({', '.join(self.thread_arguments(axis))})"
        return self.axes[axis.var]

    def thread_arguments(self, axis: IterVar) -> Iterator[str]:
        if axis.dom is not None:
            begin = spell(axis.dom.min, self.variable)
            yield f"({begin}, {spell(axis.dom.min + axis.dom.extent, self.variable)})"
        yield repr(axis.thread_tag)
        if axis.name != axis.thread_tag:
            yield f"name={axis.name!r}"

    def variable(self, var: Var) -> str:
        """Return how a variable is written: as its axis, or as a size, which some stage's shape gives."""
        if var in self.known:
            return self.known[var]
        if var in self.axes:
            return self.axes[var]
        if var in self.bound:
            return self.thread(self.bound[var])
        owner = self.plan.owner.get(var)
        if owner is not None:
            self.stage(owner)
            return self.axes[var]
        if var not in self.sizes:
            self.size(var)
        return self.names(var)

    def size(self, var: Var) -> None:
        """Note where a size can be taken from: the first shape of which it is an extent."""
        self.sizes[var] = f"# {self.names(var)} is a variable of the computation"
        for tensor in (tensor for op in self.plan.declared for tensor in op.outputs):
            for number, extent in enumerate(tensor.shape):
                if extent is var:
                    source = f"{self.stage(tensor.op)}.output({tensor.value_index})"
                    self.sizes[var] = f"{self.names(var)} = {source}.shape[{number}]"
                    return


def _threads(applied: Applied) -> Iterator[IterVar]:
    for value in applied.arguments.values():
        if isinstance(value, IterVar) and value.kind is AxisKind.THREAD:
            yield value


def _axes(op: Operation) -> dict[str, tuple[IterVar, ...]]:
    """Return an operation's own axes, by how its attribute names each."""
    if isinstance(op, ComputeOp):
        return {"axis[{}]": op.axis, "reduce_axis[{}]": op.reduce_axis}
    if isinstance(op, HybridOp):
        return {"axis[{}]": op.axis}
    return {"scan_axis": (op.scan_axis,)} if isinstance(op, ScanOp) else {}
