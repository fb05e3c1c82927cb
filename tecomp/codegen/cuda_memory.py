"""Memory that a kernel declares: registers, shared arrays, and one dynamic block where those are too large together."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ..errors import UnsupportedError
from ..instructions.wmma import fragment_declaration
from ..ir import expr as E
from ..ir.matrix import is_fragment
from ..ir.stmt import Alloc, Buffer, Stmt
from ..ir.visit import walk
from ..target import Target
from .cuda_types import c_type, register_type
from .cuda_vector import SHARED_ALIGN

WIDEST_LOAD: Final = 16
"""Bytes that one instruction loads, at most."""
DYNAMIC_ALIGN: Final = 128
NO_ALIGNS: Final[Mapping[Buffer, int]] = MappingProxyType({})


class Shared(NamedTuple):
    """The shared memory of a kernel: where each buffer starts in the dynamic block, none where arrays are static."""

    offsets: dict[Buffer, int]
    bytes: int
    aligns: Mapping[Buffer, int]
    """What a buffer must begin at a multiple of, where that is more than its own alignment."""

    @property
    def dynamic(self) -> int:
        """Bytes that a launch asks for."""
        return self.bytes if self.offsets else 0

    def align(self, buffer: Buffer) -> int:
        """Return what a buffer begins at a multiple of, in bytes."""
        return max(SHARED_ALIGN, buffer.align, self.aligns.get(buffer, 0))

    @property
    def block(self) -> str:
        """The declaration of the dynamic block."""
        align = max(DYNAMIC_ALIGN, *map(self.align, self.offsets))
        return f"extern __shared__ __align__({align}) unsigned char shared_memory[];"


def shared_memory(body: Stmt, target: Target, kernel: str, aligns: Mapping[Buffer, int] = NO_ALIGNS) -> Shared:
    """Lay out the shared buffers of a kernel; UnsupportedError where `target` has not that much."""
    offsets: dict[Buffer, int] = {}
    layout = Shared(offsets, 0, aligns)
    end = 0
    for node in walk(body):
        if isinstance(node, Alloc) and node.buffer.is_shared:
            align = layout.align(node.buffer)
            start = -(-end // align) * align
            offsets[node.buffer] = start
            end = start + _bytes(node.buffer)
    limits = target.limits
    if end > limits.shared_optin:
        sizes = ", ".join(f"{buffer.name} {_bytes(buffer)}" for buffer in offsets)
        raise UnsupportedError(
            f"{end} bytes of shared memory in {kernel}",
            because=f"a block has at most {limits.shared_optin} on {target.arch} ({sizes})",
            legal="smaller tiles",
            location=max(offsets, key=_bytes).loc,
        )
    asked = any(buffer.scope == "shared.dyn" for buffer in offsets)
    static = end + WIDEST_LOAD * len(offsets)
    return Shared(offsets if asked or static > limits.shared_static else {}, end, aligns)


def _bytes(buffer: Buffer) -> int:
    return elements(buffer) * buffer.dtype.bytes


def elements(buffer: Buffer) -> int:
    """Return how many elements a buffer in a kernel has; UnsupportedError where that is not constant."""
    count = 1
    for extent in buffer.shape:
        if not isinstance(extent, E.Const):
            raise UnsupportedError(
                f"'{buffer.name}' in {buffer.scope} memory",
                because=f"its extent {extent!r} is known only when the program runs",
                legal="compute_at a place where the extent is constant",
                location=buffer.loc,
            )
        count *= int(extent.value)
    if buffer.strides:
        steps = zip(buffer.shape, buffer.strides, strict=True)
        count = 1 + sum((int(extent.value) - 1) * int(stride.value) for extent, stride in steps)  # type: ignore[attr-defined]
    return max(count, 1)


def _whole_words(buffer: Buffer) -> int:
    """Return the elements of a shared buffer, filled up to the widest load.

    The CUDA compiler reads ahead of a loop's own guard where the array's alignment tells it that nothing can fault, up
    to 16 bytes at once; what it reads beyond the end is never used, and is there to be read.
    """
    count, size = elements(buffer), buffer.dtype.bytes
    return -(-count * size // WIDEST_LOAD) * WIDEST_LOAD // size if WIDEST_LOAD % size == 0 else count


def declaration(buffer: Buffer, name: str, shared: Shared) -> str:
    """Return the declaration of a buffer that a kernel allocates; a 0-D one is a plain variable."""
    if is_fragment(buffer):
        return fragment_declaration(buffer, name)
    if not (buffer.is_shared or buffer.scope == "local"):
        raise UnsupportedError(
            f"'{buffer.name}' in {buffer.scope} memory inside a kernel",
            because="a kernel has shared and local memory only",
            legal='set_scope("shared") or set_scope("local"), or compute_root',
            location=buffer.loc,
        )
    extent = f"[{elements(buffer)}]" if buffer.shape else ""
    if buffer.scope == "local":
        return f"{register_type(buffer.dtype)} {name}{extent};"
    type_ = c_type(buffer.dtype)
    if buffer.shape:
        extent = f"[{_whole_words(buffer)}]"
    if buffer in shared.offsets:
        start = f"shared_memory + {shared.offsets[buffer]}" if shared.offsets[buffer] else "shared_memory"
        if not buffer.shape:
            return f"{type_}& {name} = *reinterpret_cast<{type_}*>({start});"
        return f"{type_}* const {name} = reinterpret_cast<{type_}*>({start});"
    return f"__shared__ __align__({shared.align(buffer)}) {type_} {name}{extent};"
