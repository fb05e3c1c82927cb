"""The names of a CUDA program: the user's own wherever CUDA C++ allows them."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Final

KEYWORDS: Final = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false final float for friend goto if import inline int long
    module mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected public
    register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor xor_eq NULL main
    threadIdx blockIdx blockDim gridDim warpSize half bfloat16 Vec vec INFINITY NAN shared_memory
    """.split()
)
"""What no tensor or loop can be called: the words of C and C++, CUDA's variables, and the prelude's types."""

_ILLEGAL: Final = re.compile(r"[^0-9A-Za-z_]")


def legal(wanted: str, taken: Iterable[str] = KEYWORDS) -> str:
    """Return `wanted` as an identifier: A.shared -> A_shared, float -> float_, 2x -> _2x, __global__ -> v__global__."""
    name = _ILLEGAL.sub("_", wanted) or "v"
    if name[0].isdigit():
        name = "_" + name
    if name.startswith("__"):  # names of the compiler's own
        name = "v" + name
    return name + "_" if name in taken else name


class Scopes:
    """Gives out names that no other thing in scope has; a scope is a block of the program.

    A second `i` in one scope becomes i_1; once a block ends its names are free again.
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self._reserved = frozenset(reserved)
        self._scopes: list[set[str]] = [set()]

    def declare(self, wanted: str) -> str:
        """Return a new name in the present scope, as near to `wanted` as can be."""
        stem = name = legal(wanted, self._reserved)
        count = 0
        while name in self._reserved or any(name in scope for scope in self._scopes):
            count += 1
            name = f"{stem}_{count}"
        self._scopes[-1].add(name)
        return name

    @contextmanager
    def block(self) -> Generator[None]:
        """Open a scope; its names are free again afterwards."""
        self._scopes.append(set())
        yield
        self._scopes.pop()
