"""What the lanes of a warp tell each other: values, votes, who of them acts for all; and updates that give the old."""

from __future__ import annotations

from typing import Final

from .row import INLINE, Instruction, by_name


def _shuffle(name: str, instruction: str, operand: str, whose: str) -> Instruction:
    """Return an exchange between the lanes of a warp, of a value of any type."""
    text = f"""\
template <class T> {INLINE} T {name}(T x, int {operand}, int mask) {{  // the x {whose}
  if constexpr (sizeof(T) == 8) {{
    unsigned long long word;
    memcpy(&word, &x, 8);
    word = {instruction}(mask, word, {operand});
    memcpy(&x, &word, 8);
  }} else {{
    unsigned int word = 0;
    memcpy(&word, &x, sizeof(T));
    word = {instruction}(mask, word, {operand});
    memcpy(&x, &word, sizeof(T));
  }}
  return x;
}}"""
    return Instruction(name, f"{name}({{0}}, {{1}}, {{2}})", text, kind="shuffle")


def _vote(name: str, gives: str, instruction: str) -> Instruction:
    text = f"{INLINE} {gives} {name}(bool p, int mask) {{ return {instruction}(mask, p); }}"
    return Instruction(name, f"{name}({{0}}, {{1}})", text, kind="vote")


_ELECT: Final = f"""\
{INLINE} bool elect_one(int mask) {{  // true in one lane of them
  int elected;
  asm volatile("{{ .reg .pred p; elect.sync _|p, %1; selp.s32 %0, 1, 0, p; }}" : "=r"(elected) : "r"(mask));
  return elected != 0;
}}"""

EXCHANGE: Final = by_name(
    [
        _shuffle("shuffle", "__shfl_sync", "lane", "of that lane of the warp"),
        _shuffle("shuffle_xor", "__shfl_xor_sync", "bits", "of the lane that differs in these bits"),
        _shuffle("shuffle_up", "__shfl_up_sync", "delta", "of the lane so much lower, if there is one"),
        _shuffle("shuffle_down", "__shfl_down_sync", "delta", "of the lane so much higher, if there is one"),
        _vote("vote_all", "bool", "__all_sync"),
        _vote("vote_any", "bool", "__any_sync"),
        _vote("vote_ballot", "unsigned int", "__ballot_sync"),
        Instruction("elect_one", "elect_one({0})", _ELECT, 90, kind="vote"),
        Instruction("fetch_add", "atomicAdd({0}, {1})", kind="atomic"),
    ]
)
