"""Arrays of a thread as the registers of an asm statement.

Accumulators of 32 and 64 bits are registers as they are. All else is bound as 32-bit words, of whatever type the array
is: the compiler makes no code of word_in and put_word where the array lies in registers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from .row import INLINE

REGISTER_TEXTS: Final = {
    "word_in": f"""\
{INLINE} unsigned int word_in(const void* p, int i) {{
  unsigned int word;
  memcpy(&word, static_cast<const char*>(p) + 4 * i, 4);
  return word;
}}""",
    "put_word": f"""\
{INLINE} void put_word(void* p, int i, unsigned int word) {{ memcpy(static_cast<char*>(p) + 4 * i, &word, 4); }}""",
}
"""What the functions of instructions call."""

_WHOLE: Final = {"float32": ("float", "f"), "int32": ("int", "r"), "float64": ("double", "d")}


class Operand(NamedTuple):
    """An array of a thread that an asm statement names register by register."""

    name: str
    number: int
    """Of registers."""
    type: str = "void"
    """Of the array's elements in C++; void where it is words."""
    constraint: str = "r"

    @property
    def parameter(self) -> str:
        """The parameter of a function that writes the array."""
        return f"{self.type}* {self.name}"

    @property
    def const_parameter(self) -> str:
        """The parameter of a function that reads the array."""
        return f"const {self.parameter}"

    @property
    def read(self) -> list[str]:
        """How the statement binds each register as an input."""
        values = self._words("word_in({name}, {at})") if self.type == "void" else self._words("{name}[{at}]")
        return [f'"{self.constraint}"({value})' for value in values]

    def written(self, sign: str = "=") -> list[str]:
        """Return how the statement binds each register as an output; sign '+' where it reads it too."""
        values = self._words("{name}_words[{at}]" if self.type == "void" else "{name}[{at}]")
        return [f'"{sign}{self.constraint}"({value})' for value in values]

    def before(self, *, filled: bool = False) -> list[str]:
        """Return the lines before a statement that writes the array, and reads it too where `filled`."""
        if self.type != "void":
            return []
        values = f" = {{{', '.join(self._words('word_in({name}, {at})'))}}}" if filled else ""
        return [f"unsigned int {self.name}_words[{self.number}]{values};"]

    @property
    def after(self) -> list[str]:
        """The lines after a statement that writes the array."""
        return self._words("put_word({name}, {at}, {name}_words[{at}]);") if self.type == "void" else []

    def _words(self, each: str) -> list[str]:
        return [each.format(name=self.name, at=at) for at in range(self.number)]


def factor(name: str, dtype: str, elements: int, element_bytes: int) -> Operand:
    """Return the registers of what is multiplied: each lane has so many elements."""
    if dtype == "float64":
        return Operand(name, elements, *_WHOLE[dtype])
    return Operand(name, elements * element_bytes // 4)


def accumulator(name: str, dtype: str, elements: int) -> Operand:
    """Return the registers of what is added up: each lane has so many elements."""
    if dtype in _WHOLE:
        return Operand(name, elements, *_WHOLE[dtype])
    return Operand(name, elements // 2)


def places(first: int, number: int) -> str:
    """Return `number` registers in the text of an instruction: {%4, %5}."""
    return f"{{{_lines([f'%{first + at}' for at in range(number)], 16, '')}}}"


def function(
    head: str,
    instruction: str,
    outputs: list[str],
    inputs: list[str],
    before: Iterable[str] = (),
    after: Iterable[str] = (),
    clobber: str = "",
) -> str:
    """Return a device function around one asm statement."""
    literal = "\n    ".join(f'"{line}"' for line in instruction.split("\n"))
    bound = "".join(f"\n  : {_lines(part, 8, '    ')}".rstrip(" ") for part in (outputs, inputs))
    statement = f"asm volatile({literal}{bound}{f' : {chr(34)}{clobber}{chr(34)}' if clobber else ''});"
    body = "\n".join([*before, statement, *after]).replace("\n", "\n  ")
    return f"{INLINE} void {head} {{\n  {body}\n}}"


def _lines(parts: list[str], width: int, indent: str) -> str:
    """Return parts with commas between them, so many a line."""
    lines = [", ".join(parts[at : at + width]) for at in range(0, len(parts), width)]
    return f",\n{indent}".join(lines)
