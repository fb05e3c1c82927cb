"""Reading object code: the sections and symbols of an ELF relocatable file, whatever machine it is for."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from .errors import LaunchError

X86_64: Final = 62
"""What an ELF file calls the machine."""
NO_BITS: Final = 8
"""A section of zeros, which take no room in the file."""
_ALLOCATED, _RELOCATIONS, _SYMBOLS = 0x2, 4, 2


class Section(NamedTuple):
    """A section header."""

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

    @property
    def needed(self) -> bool:
        """Whether a running program has it in memory."""
        return bool(self.flags & _ALLOCATED)


class Symbol(NamedTuple):
    """A name for a place in a section; section 0 is elsewhere."""

    name: str
    section: int
    value: int


class Relocation(NamedTuple):
    """A place to patch: where it is, how, with the address of which symbol, and what to add."""

    section: int
    offset: int
    kind: int
    symbol: Symbol
    addend: int


class ObjectFile:
    """An ELF relocatable file of 64 bits; LaunchError for anything else."""

    def __init__(self, binary: bytes) -> None:
        if binary[:4] != b"\x7fELF" or len(binary) < 64:
            raise LaunchError("the object code cannot be loaded", because="it is no ELF file")
        self.binary = binary
        self.machine: int = struct.unpack_from("<H", binary, 18)[0]
        start = struct.unpack_from("<Q", binary, 40)[0]
        size, count = struct.unpack_from("<HH", binary, 58)
        headers = range(start, start + size * count, size)
        self.sections = [Section(*struct.unpack_from("<IIQQQQIIQQ", binary, header)) for header in headers]
        self.symbols = self._symbols()

    def _symbols(self) -> list[Symbol]:
        table = next((section for section in self.sections if section.kind == _SYMBOLS), None)
        if table is None:
            return []
        names = self.sections[table.link].offset
        entries = struct.iter_unpack("<IBBHQQ", self.content(table))
        return [Symbol(self._text(names + name), section, value) for name, _, _, section, value, _ in entries]

    def _text(self, start: int) -> str:
        return self.binary[start : self.binary.index(b"\0", start)].decode()

    def content(self, section: Section) -> bytes:
        """Return the bytes of a section."""
        return self.binary[section.offset : section.offset + section.size]

    def relocations(self) -> Iterator[Relocation]:
        """Yield every place to patch in the sections that a program needs."""
        for table in self.sections:
            if table.kind == _RELOCATIONS and self.sections[table.info].needed:
                for offset, kind, symbol, addend in struct.iter_unpack("<QIIq", self.content(table)):
                    yield Relocation(table.info, offset, kind, self.symbols[symbol], addend)
