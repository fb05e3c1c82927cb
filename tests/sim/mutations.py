"""Kernels less one barrier, wait, fence or guard: whether the simulator tells.

`python -m tests.sim.mutations` prints each deletion and what became of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any, NamedTuple

import numpy as np

import tecomp
from tecomp import sim
from tecomp.ir import expr as E
from tecomp.ir import make
from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.stmt import Evaluate, If, Launch, Seq, Stmt, Store
from tecomp.ir.visit import rewrite, walk
from tecomp.sim.function import SimFunction, generate
from tests.cases.places import SIMULATOR
from tests.programs import test_programs
from tests.programs.subject import PROGRAMS

from .corpus.pipelines import CASES as PIPELINES
from .matrix_kernels import GEMM, STORED, WGMMA, kernel
from .test_barriers import ROWS as BARRIERS
from .test_mbarriers import ROWS as MBARRIERS

MATRIX_KERNELS = {"products of a warp": GEMM, "products of a warpgroup": WGMMA, "products stored by boxes": STORED}
TABLES = (BARRIERS, MBARRIERS)
ORDERING = (
    *("barrier", "fence", "mbarrier", "cp_async_commit", "cp_async_wait", "cp_async_mbarrier"),
    *("bulk_commit", "bulk_wait", "wgmma_fence", "wgmma_commit", "wgmma_wait"),
)
SIZES: dict[str, tuple[int, ...]] = {
    "axpy_of_virtual_threads": (1,),
    "grid_of_three_dimensions": (1, 1, 1),
    "two_outputs_of_threads": (4, 7),
    "gemm_of_virtual_threads": (8, 8),
    "matrix_by_vector_of_warps": (5, 9),
    "dense_layer_of_blocks": (1, 1, 1),
    "sums_over_two_thread_axes": (1, 1, 1),
    "sums_of_warps": (3, 31),
    "maxima_of_odd_blocks": (1, 1),
    "sums_of_columns": (7, 3),
    "sums_where_a_condition_holds": (3, 9),
    "maximum_of_all_by_threads_and_loops": (4, 3),
    "joined_sums_used_by_all_threads": (3, 7, 5),
    "halves_in_vectors": (31,),
    "bytes_in_vectors": (1, 4),
    "products_of_four_bytes": (1, 4),
    "values_of_other_lanes": (3,),
    "exponents_and_special_values": (3, 5),
    "bilinear_resize_of_threads": (1, 1, 4),
    "transpose_in_shared_memory": (7, 9),
    "histogram_of_threads": (7, 3),
    "softmax_of_blocks": (3, 15),
    "layer_norm_of_warps": (1, 1),
    "cumsum_of_threads": (1, 1),
    "decaying_sums": (1, 1),
    "hybrid_rows_in_threads": (1, 1),
    "hybrid_shared_memory": (8,),
    "sparse_by_dense_of_blocks": (1, 1, 1),
    "jacobi_in_shared_memory": (1, 1),
}
"""Where the last of a program's small sizes is none at which all of its guards hold something back."""


class Kernel(NamedTuple):
    """A function that is right, and the arguments of a call."""

    name: str
    func: Func
    module: Any
    arrays: Callable[[], list[Any]]


class Deletion(NamedTuple):
    """A kernel less one statement, and what the simulator says: a kind of fault, `wrong` result, or nothing."""

    kernel: str
    kind: str
    text: str
    found: str


def kernels() -> Iterator[Kernel]:
    """Yield the programs of schedules, pipelines with asynchronous copies, and products on tensor cores."""
    assert test_programs.FAMILIES
    for name, program in PROGRAMS.items():
        if program.gpu:
            subject = program.make(*SIZES.get(name, program.small[-1]))
            module = tecomp.build(subject.schedule, subject.args, target=SIMULATOR)
            yield Kernel(name, module.ir, module, lambda subject=subject: _given(subject))
    for case in PIPELINES:
        if not case.fault:
            module = tecomp.build(parse(case.text), target=SIMULATOR)
            yield Kernel(case.name, module.ir, module, lambda case=case: list(case.arrays(np.random.default_rng(0))))
    for name, text in MATRIX_KERNELS.items():
        module = tecomp.build(parse(kernel(text, 64, 64, 128)), target=SIMULATOR)
        yield Kernel(name, module.ir, module, lambda text=text: _factors(text))

    for table in TABLES:
        for name, row in table.items():
            module = tecomp.build(parse(dedent(row.text)), target=SIMULATOR)
            yield Kernel(name, module.ir, module, lambda row=row: list(row.arrays()))


def _factors(text: str) -> list[Any]:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((64, 128)).astype("f2")
    b = rng.standard_normal((128, 64) if text is GEMM else (64, 128)).astype("f2")
    return [a, b, np.zeros((64, 64), "f2" if text is STORED else "f4")]


def _given(subject: Any) -> list[Any]:
    inputs = [value.copy() if isinstance(value, np.ndarray) else value for value in subject.inputs]
    outputs = [
        np.full(value.shape, 0 if value.dtype.kind in "iub" else np.nan, value.dtype) for value in subject.outputs
    ]
    return [*inputs, *outputs]


def deletions(kernel: Kernel) -> Iterator[Deletion]:
    """Yield what becomes of a kernel without each of its statements that order or hold back."""
    right = kernel.arrays()
    kernel.module(*right)
    for kind, stmt in _sites(kernel.func):
        yield Deletion(kernel.name, kind, repr(stmt).split("\n")[0], _found(kernel, _without(kernel.func, stmt), right))


def _sites(func: Func) -> Iterator[tuple[str, Stmt]]:
    for launch in (node for node in walk(func.body) if isinstance(node, Launch)):
        for node in walk(launch.body):
            if isinstance(node, If) or (isinstance(node, Store) and node.mask is not make.TRUE):
                yield "guard", node
            elif isinstance(node, Evaluate) and isinstance(node.value, E.Call) and node.value.name.startswith(ORDERING):
                yield node.value.name, node


def _without(func: Func, stmt: Stmt) -> Func:
    """Return a function less one statement; what a guard holds back is done always."""

    def less(node: Any) -> Stmt:
        if node is not stmt:
            return node
        if isinstance(node, If):
            return node.then
        return node.copy(mask=make.TRUE) if isinstance(node, Store) else Seq(())

    return func.with_body(rewrite(func.body, stmts={type(stmt): less}))


def _found(kernel: Kernel, func: Func, right: list[Any]) -> str:
    got = kernel.arrays()
    try:
        SimFunction(generate(func, kernel.module.target))(*got)
    except sim.SimulationFault as fault:
        return fault.kind
    pairs = [(a, b) for a, b in zip(got, right, strict=True) if isinstance(a, np.ndarray)]
    same = all(np.array_equal(a, b, equal_nan=a.dtype.kind not in "iub") for a, b in pairs)
    return "" if same else "wrong"


def main() -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for one in (found for each in kernels() for found in deletions(each)):
        counts[one.kind, one.found] += 1
        print(f"{one.found or 'MISSED':14} {one.kernel}: {one.text}")
    for (kind, found), count in sorted(counts.items()):
        print(f"{kind:24} {found or 'missed':14} {count}")
    caught = sum(count for (_, found), count in counts.items() if found)
    print(f"{caught} of {counts.total()} deletions are found: {caught / counts.total():.1%}")


if __name__ == "__main__":
    main()
