"""Masked stores of constant mask become plain stores, in the text that LLVM prints."""

from __future__ import annotations

import pytest

from tecomp.codegen.llvm_stores import plain_stores

STORE = "call void @llvm.masked.store.v4i16.p0(<4 x i16> %t, ptr align 2 %p, <4 x i1> <{}>)"


def stored(mask: str, text: str = STORE) -> list[str]:
    bits = ", ".join(f"i1 {'true' if bit == '1' else 'false'}" for bit in mask)
    return [line.strip() for line in plain_stores("  " + text.format(bits)).splitlines()]


def test_first_lanes() -> None:
    assert stored("1100") == [
        "%plain0 = shufflevector <4 x i16> %t, <4 x i16> poison, <2 x i32> <i32 0, i32 1>",
        "store <2 x i16> %plain0, ptr %p, align 1",
    ]


def test_each_run_of_lanes() -> None:
    assert stored("0110") == [
        "%plain0.at = getelementptr i16, ptr %p, i64 1",
        "%plain0 = shufflevector <4 x i16> %t, <4 x i16> poison, <2 x i32> <i32 1, i32 2>",
        "store <2 x i16> %plain0, ptr %plain0.at, align 1",
    ]
    assert [line for line in stored("1011") if line.startswith("store")] == [
        "store <1 x i16> %plain0, ptr %p, align 1",
        "store <2 x i16> %plain1, ptr %plain1.at, align 1",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "tail call void @llvm.masked.store.v4i16.p0(<4 x i16> %t, ptr nonnull align 2 %p, <4 x i1> <{}>), !tbaa !3",
        "call void @llvm.masked.store.v4i16.p0(<4 x i16> %t, ptr %p, i32 2, <4 x i1> <{}>) #4, !tbaa !3",
        "call void @llvm.masked.store.v4i16.p0(<4 x i16> %t, ptr dereferenceable(16) %p, <4 x i1> <{}>), !tbaa !3",
    ],
)
def test_what_llvm_says_besides(text: str) -> None:
    """Of every version: attributes, the alignment as an argument, notes on aliases, which stay."""
    assert stored("1000", text)[1] == "store <1 x i16> %plain0, ptr %p, align 1, !tbaa !3"


@pytest.mark.parametrize("text", [
    "call void @llvm.masked.store.v4i16.p0(<4 x i16> %t, ptr align 2 %p, <4 x i1> %mask)",
    "%v = call <4 x i16> @llvm.masked.load.v4i16.p0(ptr %p, <4 x i1> <i1 true, i1 false, i1 false, i1 false>)",
    "declare void @llvm.masked.store.v4i16.p0(<4 x i16>, ptr captures(none), <4 x i1>) #3",
])  # fmt: skip
def test_other_lines_stay(text: str) -> None:
    assert plain_stores(text) == text
