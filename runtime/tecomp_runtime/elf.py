"""Loading object code: an ELF relocatable file becomes functions in this process, with no linker and no compiler.

Sections are copied into fresh memory, one stub is made for each function outside, addresses are patched in, and the
memory is made executable and read-only. What LLVM emits for x86-64 position-independent code is known, nothing else.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
from collections.abc import Mapping
from typing import Final

from .errors import LaunchError
from .libraries import NOTHING, address
from .object_file import NO_BITS, X86_64, ObjectFile, Symbol

_STUB: Final = struct.Struct("<HIHQ")
"""jmp *2(%rip), padding, the address: a call by way of it reaches any distance, and its tail is a GOT entry."""
_JUMP, _ENTRY = 0x25FF, 8
_RELATIVE: Final = {2: "<i", 4: "<i", 24: "<q"}
_ABSOLUTE: Final = {1: "<Q"}
_BY_TABLE: Final = {9: "<i", 41: "<i", 42: "<i"}
"""Kinds of relocation (R_X86_64_*): PC32, PLT32, PC64; 64; GOTPCREL, GOTPCRELX, REX_GOTPCRELX. How each is written."""


class Loaded:
    """Object code in memory; it stays there as long as this object does. `functions` are addresses by symbol."""

    def __init__(self, binary: bytes, given: Mapping[str, int] = NOTHING) -> None:
        """Load `binary`; `given` are addresses of functions that no library has."""
        self._given = given
        self._file = file = ObjectFile(binary)
        if file.machine != X86_64 or platform.machine().lower() not in ("x86_64", "amd64"):
            because = f"it is for ELF machine {file.machine}, and this is {platform.machine()}"
            raise LaunchError("the object code cannot be loaded", because, legal="x86-64 code on x86-64")
        self._places, size = self._layout()
        self._stubs = {name: size + _STUB.size * index for index, name in enumerate(self._by_stub())}
        whole = max(size + _STUB.size * len(self._stubs), 1)
        self._memory = mmap.mmap(-1, whole, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._fill()
        self._patch()
        self._protect(whole)
        defined = [symbol for symbol in file.symbols if symbol.name and symbol.section in self._places]
        self.functions = {symbol.name: self._address(symbol) for symbol in defined}

    def _layout(self) -> tuple[dict[int, int], int]:
        """Return where in memory each section that a program needs starts, and where the stubs may."""
        places: dict[int, int] = {}
        end = 0
        for index, section in enumerate(self._file.sections):
            if section.needed:
                places[index] = _round_up(end, max(section.align, 1))
                end = places[index] + section.size
        return places, _round_up(end, _STUB.size)

    def _by_stub(self) -> list[str]:
        """Return the symbols that need a stub: those used but not defined, and those found by way of a table."""
        wanted = (place for place in self._file.relocations() if place.symbol.section == 0 or place.kind in _BY_TABLE)
        return list(dict.fromkeys(place.symbol.name for place in wanted))

    def _address(self, symbol: Symbol) -> int:
        return self._base + self._places[symbol.section] + symbol.value

    def _fill(self) -> None:
        """Copy the sections, and make the stubs."""
        for index, start in self._places.items():
            section = self._file.sections[index]
            if section.kind != NO_BITS:
                self._memory[start : start + section.size] = self._file.content(section)
        defined = {symbol.name: symbol for symbol in self._file.symbols if symbol.section in self._places}
        for name, place in self._stubs.items():
            target = self._address(defined[name]) if name in defined else self._given.get(name) or address(name)
            _STUB.pack_into(self._memory, place, _JUMP, 2, 0, target)

    def _patch(self) -> None:
        for section, offset, kind, symbol, addend in self._file.relocations():
            place = self._places[section] + offset
            inside = symbol.section in self._places
            target = self._address(symbol) if inside else self._base + self._stubs[symbol.name]
            if kind in _RELATIVE:
                struct.pack_into(_RELATIVE[kind], self._memory, place, target + addend - self._base - place)
            elif kind in _ABSOLUTE:
                struct.pack_into(_ABSOLUTE[kind], self._memory, place, target + addend)
            elif kind in _BY_TABLE:
                entry = self._stubs[symbol.name] + _ENTRY
                struct.pack_into(_BY_TABLE[kind], self._memory, place, entry + addend - place)
            else:
                because = f"it has a relocation of kind {kind}, which this loader does not know"
                raise LaunchError("the object code cannot be loaded", because)

    def _protect(self, size: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        wanted = mmap.PROT_READ | mmap.PROT_EXEC
        if libc.mprotect(ctypes.c_void_p(self._base), ctypes.c_size_t(size), wanted):
            because = f"mprotect gave error {ctypes.get_errno()}"
            raise LaunchError("memory cannot be made executable", because)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
