"""An intrinsic's statements in a program: its buffers become regions of the program's memory.

z[ramp(0, 1, 16)] = x[ramp(0, 1, 16)] + ...    ->    C[i, ramp(j_o*16, 1, 16)] = A[ramp(j_o*16, 1, 16)] + ...
call('gemv', address(W, 'r'), stride)          ->    call('gemv', address(A[i_o*16, 0], 'r'), m)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...arith import can_prove, simplify
from ...bounds.program import Program
from ...bounds.run_over import ONE, ZERO, StageBounds
from ...dtype import INDEX
from ...errors import ScheduleError
from ...ir import expr as E
from ...ir import make
from ...ir.node import Expr
from ...ir.stmt import Buffer, Stmt, Store
from ...ir.visit import rewrite
from ...te.buffer import DeclaredBuffer
from ...te.shape import plain
from ...te.tensor_intrin import TensorIntrin
from ..opaque import placed
from ..storage import Storage
from .inside import outside
from .match import Matched
from .view import View, linear


class Region(NamedTuple):
    """What a declared buffer is in memory: elements of `buffer`, `strides` apart, from number `offset` on."""

    buffer: Buffer
    view: View
    strides: tuple[Expr, ...]
    offset: Expr


class Placed:
    """The statements of one intrinsic where one stage uses it."""

    def __init__(
        self, program: Program, storage: Storage, stage: StageBounds, intrin: TensorIntrin, matched: Matched
    ) -> None:
        self.program, self.storage, self.stage, self.intrin = program, storage, stage, intrin
        self.variables = dict(matched.variables)
        self.views = dict(zip(intrin.buffers, matched.views, strict=True))
        self.check_reads(matched)

    def check_reads(self, matched: Matched) -> None:
        """Raise ScheduleError where the intrinsic may read elements that do not exist."""
        beyond = outside(self.program, self.stage, self.intrin, matched.views)
        if beyond:
            raise ScheduleError(
                f"tensorize: '{self.stage.op.name}' by '{self.intrin.name}'",
                because=f"it reads a whole region of '{beyond}', the formula only some of its elements, and the others "
                "are not known to exist",
                legal=f"a padded copy of '{beyond}' in a stage of its own, which the intrinsic reads",
                location=self.program.schedule.location_of(self.stage.op, "tensorize"),
            )

    def statement(self, stmt: Stmt, results: Mapping[DeclaredBuffer, View] | None = None) -> Stmt:
        """Return a statement of the intrinsic over the program's memory, its results where `results` says, if given."""
        views = {**self.views, **(results or {})}
        regions: dict[Buffer, Region] = {buffer: self.region(buffer, view) for buffer, view in views.items()}
        known = {**self.variables, **self.addressing(regions)}
        written = placed(stmt, self.program.indexer, {}, known)

        def load(node: E.Load) -> Expr:
            region = regions.get(node.buffer)
            return node if region is None else E.Load(region.buffer, self.at(region, node.indices), node.mask)

        def address(node: E.Address) -> Expr:
            region = regions.get(node.buffer)
            if region is None:
                return node
            indices = node.indices or (ZERO,) * len(node.buffer.shape)
            return E.Address(region.buffer, self.at(region, indices), simplify(node.offset), node.mode)

        def store(node: Store) -> Stmt:
            region = regions.get(node.buffer)
            return node if region is None else node.copy(buffer=region.buffer, indices=self.at(region, node.indices))

        return rewrite(written, {E.Load: load, E.Address: address}, {Store: store})

    def at(self, region: Region, indices: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return where an element of the declared buffer lies in the program's."""
        return self.storage.indices(region.view.tensor, region.view.at(indices))

    def region(self, declared: DeclaredBuffer, view: View) -> Region:
        """Return the memory that a declared buffer stands for; ScheduleError where it is not as it was declared."""
        buffer = self.storage.buffer(view.tensor)
        extents = [self.extent(extent) for extent in declared.shape]
        at = [E.Var(f"k{dim}", INDEX, ZERO, extent) for dim, extent in enumerate(extents)]
        flat: Expr = ZERO
        indices = self.storage.indices(view.tensor, view.at(at))
        for index, stride in zip(indices, buffer.strides or row_major(buffer.shape), strict=True):
            flat = make.add(flat, make.mul(index, stride))
        form = linear(flat, frozenset(at))
        if not form.coefficients.keys() <= set(at):
            raise self.refuse(declared, buffer, "its elements are not evenly spaced in memory", "another layout")
        region = Region(buffer, view, tuple(form.coefficients.get(var, ZERO) for var in at), form.rest)
        self.check(declared, region, extents)
        return region

    def extent(self, extent: Expr) -> Expr:
        """Return an extent of a declared buffer in the program."""
        return simplify(make.index(self.program.indexer.lower(extent, self.variables)))

    def check(self, declared: DeclaredBuffer, region: Region, extents: Sequence[Expr]) -> None:
        """Raise ScheduleError unless scope, strides, offset and alignment are those declared."""
        buffer = region.buffer
        if declared.scope != buffer.scope:
            because = f"it is declared in {declared.scope} memory, and '{buffer.name}' lies in {buffer.scope} memory"
            raise self.refuse(declared, buffer, because, f'decl_buffer(..., scope="{buffer.scope}")')
        self.check_strides(declared, region, extents)
        factor = declared.offset_factor
        if factor > 1 and not _divides(factor, region.offset):
            because = f"its offset must be a multiple of {factor}, and the region begins at {plain(region.offset)}"
            raise self.refuse(
                declared, buffer, because, "a smaller offset_factor, or tiles that begin at multiples of it"
            )
        self.check_alignment(declared, region)

    def check_strides(self, declared: DeclaredBuffer, region: Region, extents: Sequence[Expr]) -> None:
        """Raise ScheduleError unless neighbours are as far apart as declared; a variable is as far as they are."""
        wanted = row_major(extents) if declared.strides is None else declared.strides
        for extent, want, have in zip(extents, wanted, region.strides, strict=True):
            free = declared.strides is not None and isinstance(want, E.Var)
            if free or extent is ONE or can_prove(make.eq(self.extent(want), have)):
                continue
            strides = [f"({', '.join(map(plain, each))})" for each in (wanted, region.strides)]
            how = "without gaps, strides" if declared.strides is None else "with the strides"
            because = f"it is declared {how} {strides[0]}, and the region of '{region.buffer.name}' has {strides[1]}"
            free_strides = ", ".join(f'te.var("s{dim}")' for dim in range(len(extents)))
            raise self.refuse(declared, region.buffer, because, f"decl_buffer(..., strides=[{free_strides}])")

    def check_alignment(self, declared: DeclaredBuffer, region: Region) -> None:
        """A region is aligned where its memory is, and it begins at a multiple; an argument is asked to be."""
        size, buffer = declared.dtype.bytes, region.buffer
        if declared.align <= size:
            return
        if not _divides(declared.align, make.mul(region.offset, size)):
            because = f"its address must be a multiple of {declared.align} bytes, and the region begins at element "
            because += plain(region.offset)
            raise self.refuse(declared, buffer, because, "a smaller data_alignment, or tiles that begin so")
        buffer.align = max(buffer.align, declared.align)

    def addressing(self, regions: Mapping[Buffer, Region]) -> dict[E.Var, Expr]:
        """Return what the variables in strides and offsets of declared buffers are."""
        found: dict[E.Var, Expr] = {}
        for declared in self.intrin.buffers:
            region = regions[declared]
            for stride, have in zip(declared.strides or (), region.strides, strict=False):
                if isinstance(stride, E.Var):
                    found[stride] = have
            if isinstance(declared.elem_offset, E.Var):
                found[declared.elem_offset] = region.offset
        return found

    def refuse(self, declared: DeclaredBuffer, buffer: Buffer, because: str, legal: str) -> ScheduleError:
        """Return the refusal of a region for a declared buffer."""
        return ScheduleError(
            f"tensorize: '{self.stage.op.name}' by '{self.intrin.name}': its buffer '{declared.name}' cannot be "
            f"this region of '{buffer.name}'",
            because=because,
            legal=legal,
            location=self.program.schedule.location_of(self.stage.op, "tensorize"),
        )


def row_major(shape: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return the distance of neighbours along each dimension of memory without gaps, in elements."""
    strides: list[Expr] = [ONE]
    for extent in reversed(shape[1:]):
        strides.insert(0, make.mul(extent, strides[0]))
    return tuple(strides[: len(shape)])


def _divides(factor: int, value: Expr) -> bool:
    """Return whether `value` is known to be a multiple of `factor`."""
    return can_prove(make.eq(make.floormod(value, factor), ZERO))
