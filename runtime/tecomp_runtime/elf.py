"""Loading object code: an ELF relocatable file becomes functions in this process, with no linker and no compiler.

Sections are copied into fresh memory, one stub is made for each function outside, addresses are patched in, and the
memory is made executable and read-only. What LLVM emits for x86-64 position-independent code is known, nothing else.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
from typing import Final, NamedTuple

from .errors import LaunchError
from .libraries import address

_ALLOCATED, _NO_BITS, _RELOCATIONS, _SYMBOLS = 0x2, 8, 4, 2
_X86_64: Final = 62
_STUB: Final = struct.Struct("<HIHQ")
"""jmp *2(%rip), padding, the address: a call by way of it reaches any distance, and its tail is a GOT entry."""
_RELATIVE: Final = {2: "<i", 4: "<i", 24: "<q"}
_ABSOLUTE: Final = {1: "<Q"}
_BY_TABLE: Final = {9: "<i", 41: "<i", 42: "<i"}
"""Kinds of relocation (R_X86_64_*): PC32, PLT32, PC64; 64; GOTPCREL, GOTPCRELX, REX_GOTPCRELX. How each is written."""


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class _Symbol(NamedTuple):
    name: str
    section: int
    value: int


class Loaded:
    """Object code in memory; it stays there as long as this object does. `functions` are addresses by symbol."""

    def __init__(self, binary: bytes) -> None:
        _check(binary)
        self._binary = binary
        self._sections = _sections(binary)
        self._symbols = self._read_symbols()
        self._places, size = self._layout()
        self._stubs = {name: size + _STUB.size * index for index, name in enumerate(self._outside())}
        whole = max(size + _STUB.size * len(self._stubs), 1)
        self._memory = mmap.mmap(-1, whole, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._fill()
        self._patch()
        self._protect(whole)
        self.functions = {
            symbol.name: self._base + self._places[symbol.section] + symbol.value
            for symbol in self._symbols
            if symbol.section in self._places and symbol.name
        }

    def _read_symbols(self) -> list[_Symbol]:
        table = next((section for section in self._sections if section.kind == _SYMBOLS), None)
        if table is None:
            return []
        names = self._sections[table.link].offset
        entries = struct.iter_unpack("<IBBHQQ", self._binary[table.offset : table.offset + table.size])
        return [_Symbol(_text(self._binary, names + name), section, value) for name, _, _, section, value, _ in entries]

    def _layout(self) -> tuple[dict[int, int], int]:
        """Return where in memory each section that a program needs starts, and where the stubs may."""
        places: dict[int, int] = {}
        end = 0
        for index, section in enumerate(self._sections):
            if section.flags & _ALLOCATED:
                places[index] = -(-end // max(section.align, 1)) * max(section.align, 1)
                end = places[index] + section.size
        return places, -(-end // _STUB.size) * _STUB.size

    def _outside(self) -> list[str]:
        """Return the symbols that need a stub: those used but not defined, and those found by way of a table."""
        return list(dict.fromkeys(self._symbols[number].name for _, _, kind, number, _ in self._relocations()
                                  if self._symbols[number].section == 0 or kind in _BY_TABLE))  # fmt: skip

    def _relocations(self) -> list[tuple[int, int, int, int, int]]:
        """Return (section, offset in it, kind, number of the symbol, addend) of every place to patch."""
        found: list[tuple[int, int, int, int, int]] = []
        for table in self._sections:
            if table.kind == _RELOCATIONS and self._sections[table.info].flags & _ALLOCATED:
                entries = struct.iter_unpack("<QIIq", self._binary[table.offset : table.offset + table.size])
                found += [(table.info, offset, kind, symbol, addend) for offset, kind, symbol, addend in entries]
        return found

    def _fill(self) -> None:
        for index, start in self._places.items():
            section = self._sections[index]
            if section.kind != _NO_BITS:
                self._memory[start : start + section.size] = self._binary[
                    section.offset : section.offset + section.size
                ]
        defined = {symbol.name: symbol for symbol in self._symbols if symbol.section in self._places}
        for name, place in self._stubs.items():
            target = self._defined(defined[name]) if name in defined else address(name)
            _STUB.pack_into(self._memory, place, 0x25FF, 2, 0, target)

    def _defined(self, symbol: _Symbol) -> int:
        return self._base + self._places[symbol.section] + symbol.value

    def _patch(self) -> None:
        for section, offset, kind, number, addend in self._relocations():
            place = self._places[section] + offset
            symbol = self._symbols[number]
            inside = symbol.section in self._places
            target = self._defined(symbol) if inside else self._base + self._stubs[symbol.name]
            if kind in _RELATIVE:
                struct.pack_into(_RELATIVE[kind], self._memory, place, target + addend - self._base - place)
            elif kind in _ABSOLUTE:
                struct.pack_into(_ABSOLUTE[kind], self._memory, place, target + addend)
            elif kind in _BY_TABLE:
                entry = self._stubs[symbol.name] + 8
                struct.pack_into(_BY_TABLE[kind], self._memory, place, entry + addend - place)
            else:
                raise LaunchError(
                    f"the object code has a relocation of kind {kind}", because="this loader does not know it"
                )

    def _protect(self, size: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        wanted = mmap.PROT_READ | mmap.PROT_EXEC
        if libc.mprotect(ctypes.c_void_p(self._base), ctypes.c_size_t(size), wanted):
            raise LaunchError("memory cannot be made executable", because=f"mprotect gave error {ctypes.get_errno()}")


def _check(binary: bytes) -> None:
    if binary[:4] != b"\x7fELF" or len(binary) < 64:
        raise LaunchError("the object code cannot be loaded", because="it is no ELF file")
    machine = struct.unpack_from("<H", binary, 18)[0]
    if machine != _X86_64 or platform.machine().lower() not in ("x86_64", "amd64"):
        because = f"it is for ELF machine {machine}, and this is {platform.machine()}"
        raise LaunchError("the object code cannot be loaded", because, legal="x86-64 code on x86-64")


def _sections(binary: bytes) -> list[_Section]:
    start = struct.unpack_from("<Q", binary, 40)[0]
    size, count = struct.unpack_from("<HH", binary, 58)
    return [_Section(*struct.unpack_from("<IIQQQQIIQQ", binary, start + size * index)) for index in range(count)]


def _text(binary: bytes, start: int) -> str:
    return binary[start : binary.index(b"\0", start)].decode()
