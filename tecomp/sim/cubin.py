"""How many registers a kernel takes: the cubin, an ELF file, has it in the section of the kernel's code."""

from __future__ import annotations

import struct
from typing import Final

_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_TEXT: Final = b".text."
_ELF64: Final = b"\x7fELF\x02"


def registers(cubin: bytes) -> dict[str, int]:
    """Return the registers of a thread of each kernel; none for what is no cubin."""
    if not cubin.startswith(_ELF64) or len(cubin) < _HEADER.size:
        return {}
    header = _HEADER.unpack_from(cubin)
    start, size, count, names = header[6], header[11], header[12], header[13]
    sections = [_SECTION.unpack_from(cubin, start + number * size) for number in range(count)]
    table = sections[names][4]
    found: dict[str, int] = {}
    for section in sections:
        first = table + section[0]
        name = cubin[first : cubin.index(b"\0", first)]
        if name.startswith(_TEXT):
            found[name.removeprefix(_TEXT).decode()] = section[7] >> 24
    return found
