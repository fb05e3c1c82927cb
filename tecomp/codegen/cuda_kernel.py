"""One Launch as a __global__ function."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from ..dtype import INT64
from ..instructions import ROWS, matrix_functions
from ..instructions.maths import MATHS
from ..instructions.sync import ARRIVALS
from ..ir import expr as E
from ..ir.foreign import addressed
from ..ir.node import Expr
from ..ir.stmt import CLUSTER, Buffer, Launch, Stmt, Store
from ..ir.visit import walk
from ..passes.events import is_grid_barrier
from ..target import Target
from .cuda_foreign import foreign_names
from .cuda_instruction import check_instructions, gives_registers
from .cuda_limits import check_arguments, check_launch, cluster_size
from .cuda_matrix import layouts_of
from .cuda_memory import shared_memory
from .cuda_mma import check_matrices
from .cuda_names import KEYWORDS, Scopes
from .cuda_prelude import PRELUDE, words
from .cuda_stmt import write
from .cuda_tensor import BYTES as MAP_BYTES
from .cuda_tensor import KIND as MAP_KIND
from .cuda_tensor import TensorMap, box_alignments, tensor_maps, tensor_position
from .cuda_types import c_type
from .cuda_writer import Writer
from .precedence import Text

RESERVED: Final = (
    KEYWORDS
    | set(PRELUDE)
    | set(matrix_functions())
    | words([*(row.cuda for row in ROWS.values()), *(t for row in MATHS.values() for t in row.cuda.values())])
)
"""What the text of a kernel may mention besides the names of its own things."""
_POINTER: Final = "pointer"
_NUMBERS: Final = {CLUSTER: "cluster_rank()"}
"""How CUDA C++ names what a thread axis counts, where it is not its tag."""


class Kernel(NamedTuple):
    """A kernel: its text, what a launch passes (buffers, scalars), what it asks for."""

    name: str
    text: str
    arguments: tuple[Buffer | E.Var, ...]
    shared: int
    """Bytes of dynamic shared memory."""
    threads: int
    """Most threads in a block."""
    meets: bool = False
    """Whether its blocks wait for each other; a launch then passes a counter, 0 at first, behind the arguments."""
    maps: tuple[TensorMap, ...] = ()
    """The tensors of which it copies boxes; a launch passes their maps behind the arguments."""

    def plain(self) -> dict[str, Any]:
        """Return what a runtime needs to launch it, JSON-able."""
        types = [_POINTER if isinstance(argument, Buffer) else _plain(argument) for argument in self.arguments]
        types += [MAP_KIND] * len(self.maps) + [_POINTER] * self.meets
        return {
            "name": self.name,
            "arguments": types,
            "shared": self.shared,
            "threads": self.threads,
            "cooperative": self.meets,
        }


def print_kernel(
    node: Launch, name: str, scope: Sequence[Buffer | E.Var], numbers: Collection[Buffer | E.Var], target: Target
) -> Kernel:
    """Return the kernel of `node`, which may use what is in `scope`; UnsupportedError where `target` cannot run it.

    `numbers` are the scalars that the user gives; what else is passed by value are sizes and variables of loops.
    """
    threads = check_launch(node, name, target)
    check_instructions(node.body, target)
    check_matrices(node.body, threads)
    used = set(_mentioned(node.body))
    arguments = tuple(thing for thing in scope if thing in used)
    maps = tuple(tensor_maps(node.body))
    bytes_of = [8 if isinstance(thing, Buffer) else thing.dtype.bytes for thing in arguments]
    check_arguments(name, [*bytes_of, *[MAP_BYTES] * len(maps)], target)
    shared = shared_memory(node.body, target, name, box_alignments(node.body))
    out = Writer(Scopes(RESERVED | {name} | foreign_names(node.body)), shared, layouts_of(node.body, target))
    written = {stmt.buffer for stmt in walk(node.body) if isinstance(stmt, Store)} | addressed(node.body, "w")
    parameters = [_parameter(out, thing, thing in written) for thing in arguments]
    for tensor in maps:
        out.maps[tensor] = out.scopes.declare(f"{tensor.buffer.name}_map")
        parameters.append(f"const __grid_constant__ TensorMap {out.maps[tensor]}")
    for thing in arguments:
        if isinstance(thing, E.Var) and (thing.min is not None or thing not in numbers):
            out.exprs.integers.index(thing)
    if shared.offsets:
        out.line(shared.block)
    _thread_variables(out, node, used)
    write(out, node.body)
    meets = any(map(is_grid_barrier, walk(node.body)))
    parameters += [f"unsigned long long* {ARRIVALS}"] if meets else []
    bounds = f"{threads}, 1" if gives_registers(node.body) else str(threads)
    cluster = cluster_size(node)
    clusters = "" if cluster is None else f"__cluster_dims__({cluster}, 1, 1) "
    head = f'extern "C" __global__ void {clusters}__launch_bounds__({bounds})\n{name}({", ".join(parameters)}) {{'
    return Kernel(name, "\n".join([head, *out.lines, "}"]), arguments, shared.dynamic, threads, meets, maps)


def _parameter(out: Writer, thing: Buffer | E.Var, written: bool) -> str:
    """Return the declaration of a parameter.

    Only what is written is __restrict__, and that tells enough: nothing else is reached by it. A `const __restrict__`
    input would be read through the cache that does not see stores (ld.global.nc), and NVVM 13.0 then reads outputs so
    too: of `c ? input[i] : output[i]` it makes one such load from the address chosen, which finds old values.
    """
    name = out.exprs.names[thing] = out.scopes.declare(thing.name)
    type_ = c_type(thing.dtype)
    if isinstance(thing, Buffer):
        return f"{type_}* __restrict__ {name}" if written else f"const {type_}* {name}"
    return f"{type_} {name}"


def _thread_variables(out: Writer, node: Launch, used: set[Any]) -> None:
    """Print `const int i = blockIdx.x;` for the thread axes that the body uses.

    One that only ever widens to 64 bits is a long long from the start.
    """
    for tag, var in node.threads:
        if var not in used:
            continue
        name = out.exprs.names[var] = out.scopes.declare(var.name)
        wide = E.Cast(INT64, var)
        type_ = var.dtype
        if type_ is not INT64 and _users(node.body, var) == {wide}:
            type_ = INT64
            out.exprs.known[wide] = Text(name)
        first = "" if var.min is None or _is_zero(var.min) else f" + {out.text(var.min)}"
        out.line(f"const {c_type(type_)} {name} = {_NUMBERS.get(tag, tag)}{first};")
        out.exprs.integers.index(var)


def _users(body: Stmt, var: E.Var) -> set[Any]:
    """Return what `var` is an operand of."""
    return {node for node in walk(body) if any(part is var for part in _parts(node))}


def _parts(node: Expr | Stmt) -> Iterable[Expr]:
    return node.operands() if isinstance(node, Expr) else node.expressions()


def _is_zero(node: Expr) -> bool:
    return isinstance(node, E.Const) and node.value == 0


def _mentioned(body: Stmt) -> Iterable[Any]:
    """Yield the variables and buffers that `body` uses; a tensor that is copied by boxes has its map instead."""
    for node in walk(body):
        if isinstance(node, E.Var):
            yield node
        elif isinstance(node, (E.Load, Store)):
            yield node.buffer
        tensor = tensor_position(node) if isinstance(node, E.Call) else None
        for at, part in enumerate(_parts(node)):
            if isinstance(part, E.Address) and at != tensor:
                yield part.buffer


def _plain(var: E.Var) -> str:
    return "int64" if var.dtype == "index" else str.__str__(var.dtype)
