"""Copies that go on while threads do something else: of words, of runs of memory, of boxes of a tensor."""

from __future__ import annotations

from typing import Final

from ..ir.instruction import RANKS
from .row import INLINE, Instruction, by_name, ptx

_TO_SHARED: Final = "void* dst, const void* src"
_CP_ASYNC: Final = f"""\
template <int bytes> {INLINE} void cp_async({_TO_SHARED}) {{
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(shared_address(dst)), "l"(src) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 :: "r"(shared_address(dst)), "l"(src), "n"(bytes) : "memory");
}}"""
_CP_ASYNC_ZFILL: Final = f"""\
template <int bytes> {INLINE} void cp_async_zfill({_TO_SHARED}, int src_bytes) {{  // zeros behind src_bytes
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(shared_address(dst)), "l"(src), "r"(src_bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :: "r"(shared_address(dst)), "l"(src), "n"(bytes), "r"(src_bytes) : "memory");
}}"""
_BULK_LOAD: Final = f"""\
{INLINE} void bulk_load({_TO_SHARED}, int bytes, unsigned long long* barrier) {{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :: "r"(shared_address(dst)), "l"(src), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}}"""
_BULK_STORE: Final = f"""\
{INLINE} void bulk_store(void* dst, const void* src, int bytes) {{
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :: "l"(dst), "r"(shared_address(src)), "r"(bytes) : "memory");
}}"""
_PREFETCH: Final = f"""\
{INLINE} void prefetch(const void* p) {{ asm volatile("prefetch.global.L2 [%0];" :: "l"(p)); }}"""


def _copy(name: str, cuda: str, prelude: str, since: int) -> Instruction:
    return Instruction(name, cuda, prelude, since, kind="copy")


def _plain(name: str, text: str, since: int) -> Instruction:
    return _copy(name, f"{name}()", ptx(name, text), since)


def _wait(name: str, text: str, since: int) -> Instruction:
    return _copy(name, f"{name}<{{0}}>()", ptx(name, f"{text} %0;", "", '"n"(groups)', "int groups"), since)


def _tensor_load(rank: int) -> Instruction:
    """Its operands: to, tensor, barrier, swizzle, the box, where it begins. The map has swizzle and box."""
    name = f"tensor_load_{rank}d"
    parameters, places, operands = _coordinates(rank, 3)
    text = f"""\
{INLINE} void {name}(void* dst, const TensorMap* map, unsigned long long* barrier, {parameters}) {{
  asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               " [%0], [%1, {{{places}}}], [%2];"
               :: "r"(shared_address(dst)), "l"(map), "r"(shared_address(barrier)), {operands} : "memory");
}}"""
    given = ", ".join(f"{{{4 + rank + axis}}}" for axis in range(rank))
    return _copy(name, f"{name}({{0}}, {{1}}, {{2}}, {given})", text, 90)


def _tensor_store(rank: int) -> Instruction:
    """Its operands: tensor, from, swizzle, the box, where it begins."""
    name = f"tensor_store_{rank}d"
    parameters, places, operands = _coordinates(rank, 2)
    text = f"""\
{INLINE} void {name}(const TensorMap* map, const void* src, {parameters}) {{
  asm volatile("cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%0, {{{places}}}], [%1];"
               :: "l"(map), "r"(shared_address(src)), {operands} : "memory");
}}"""
    given = ", ".join(f"{{{3 + rank + axis}}}" for axis in range(rank))
    return _copy(name, f"{name}({{0}}, {{1}}, {given})", text, 90)


def _coordinates(rank: int, first: int) -> tuple[str, str, str]:
    """Return coordinates as parameters, as places in the text of PTX from the one of that number on, as operands."""
    axes = range(rank)
    parameters = ", ".join(f"int c{axis}" for axis in axes)
    places = ", ".join(f"%{first + axis}" for axis in axes)
    return parameters, places, ", ".join(f'"r"(c{axis})' for axis in axes)


TENSOR_MAP: Final = """\
struct alignas(64) TensorMap { unsigned long long words[16]; };  // what the driver encoded of a tensor"""

COPIES: Final = by_name(
    [
        _copy("prefetch", "prefetch(&{0})", _PREFETCH, 70),
        _copy("cp_async", "cp_async<{2}>({0}, {1})", _CP_ASYNC, 80),
        _copy("cp_async_zfill", "cp_async_zfill<{2}>({0}, {1}, {3})", _CP_ASYNC_ZFILL, 80),
        _plain("cp_async_commit", "cp.async.commit_group;", 80),
        _wait("cp_async_wait", "cp.async.wait_group", 80),
        _copy(
            "cp_async_mbarrier_arrive",
            "cp_async_mbarrier_arrive({0})",
            ptx(
                "cp_async_mbarrier_arrive",
                "cp.async.mbarrier.arrive.noinc.shared.b64 [%0];",
                "unsigned long long* barrier",
                '"r"(shared_address(barrier))',
            ),
            80,
        ),
        _copy("bulk_load", "bulk_load({0}, {1}, {2}, {3})", _BULK_LOAD, 90),
        _copy("bulk_store", "bulk_store({0}, {1}, {2})", _BULK_STORE, 90),
        _plain("bulk_commit", "cp.async.bulk.commit_group;", 90),
        _wait("bulk_wait", "cp.async.bulk.wait_group", 90),
        _wait("bulk_wait_read", "cp.async.bulk.wait_group.read", 90),
        *map(_tensor_load, RANKS),
        *map(_tensor_store, RANKS),
    ]
)
