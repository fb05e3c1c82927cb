"""C++ text of expressions, with as few parentheses as their meaning allows."""

from __future__ import annotations

from typing import Final, NamedTuple

ATOM: Final = 16
UNARY: Final = 14
CHOICE: Final = 1
RANKS: Final = {
    "*": 13, "/": 13, "%": 13, "+": 12, "-": 12, "<<": 11, ">>": 11, "<": 10, "<=": 10, "==": 9, "!=": 9,
    "&": 8, "^": 7, "|": 6, "&&": 5, "||": 4,
}  # fmt: skip
"""C++'s binary operators; the highest number binds tightest."""
_COMPARE: Final = RANKS["<"]


class Text(NamedTuple):
    """An expression's text, and how tightly its outermost operator binds."""

    text: str
    rank: int = ATOM

    def at(self, rank: int) -> str:
        """Return the text for a place that needs `rank`: in parentheses where it binds less tightly."""
        return self.text if self.rank >= rank else f"({self.text})"

    def __str__(self) -> str:
        return self.text


def binary(symbol: str, a: Text, b: Text) -> Text:
    """Return `a symbol b`: operators group from the left, a - b - c is (a - b) - c; comparisons do not group at all."""
    rank = RANKS[symbol]
    left = _COMPARE + 1 if symbol in ("<", "<=", "==", "!=") else rank
    return Text(f"{a.at(left)} {symbol} {b.at(max(left, rank + 1))}", rank)


def cast(type_: str, a: Text) -> Text:
    """Return `(type)a`."""
    return Text(f"({type_}){a.at(UNARY)}", UNARY)


def negated(symbol: str, a: Text) -> Text:
    """Return `-a` or `!a`; never --a."""
    return Text(f"{symbol}{a.at(UNARY + 1)}", UNARY)


def choice(condition: Text, yes: Text, no: Text) -> Text:
    """Return `condition ? yes : no`."""
    return Text(f"{condition.at(CHOICE + 1)} ? {yes.at(CHOICE + 1)} : {no.at(CHOICE)}", CHOICE)
