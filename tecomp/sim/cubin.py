"""How many registers a kernel takes, as its cubin, an ELF file, says.

The attribute REGCOUNT of the section .nv.info has them for each symbol; cubins of CUDA 12 and before have them in the
header of the section of the kernel's code, too.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_ATTRIBUTE: Final = struct.Struct("<BBH")
_PAIR: Final = struct.Struct("<II")
_ELF64: Final = b"\x7fELF\x02"
_SIZED, _REGCOUNT = 4, 0x2F
"""An attribute whose size follows; its number."""


class _Section(NamedTuple):
    name: str
    info: int
    data: bytes


def registers(cubin: bytes) -> dict[str, int]:
    """Return the registers of a thread of each kernel; none for what is no cubin."""
    if not cubin.startswith(_ELF64) or len(cubin) < _HEADER.size:
        return {}
    sections = {section.name: section for section in _sections(cubin)}
    code = {name.removeprefix(".text."): one for name, one in sections.items() if name.startswith(".text.")}
    found = {name: one.info >> 24 for name, one in code.items() if one.info >> 24}
    if ".nv.info" in sections and ".symtab" in sections:
        symbols, names = sections[".symtab"].data, sections[".strtab"].data
        for number, count in _counts(sections[".nv.info"].data):
            name = _text(names, _SYMBOL.unpack_from(symbols, number * _SYMBOL.size)[0])
            if name in code:
                found[name] = count
    return found


def _sections(cubin: bytes) -> Iterator[_Section]:
    header = _HEADER.unpack_from(cubin)
    start, size, count, names = header[6], header[11], header[12], header[13]
    rows = [_SECTION.unpack_from(cubin, start + number * size) for number in range(count)]
    for row in rows:
        yield _Section(_text(cubin, rows[names][4] + row[0]), row[7], cubin[row[4] : row[4] + row[5]])


def _counts(attributes: bytes) -> Iterator[tuple[int, int]]:
    """Yield (number of a symbol, registers of a thread)."""
    at = 0
    while at + _ATTRIBUTE.size <= len(attributes):
        form, attribute, size = _ATTRIBUTE.unpack_from(attributes, at)
        at += _ATTRIBUTE.size
        if form == _SIZED:
            if attribute == _REGCOUNT:
                yield _PAIR.unpack_from(attributes, at)
            at += size


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()
