"""CPUs by name: those that LLVM knows, and what is said of others."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.codegen.llvm_compile import LINUX_NAMES, cpu, known_cpus
from tecomp.codegen.llvm_features import PROBES
from tecomp.errors import UserError
from tecomp_runtime import LaunchError

X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="names CPUs of x86")


def doubled():
    A = te.placeholder((19,), name="A")
    B = te.compute((19,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(B.op.axis[0], 8)[1])
    return s, [A, B]


@X86
@pytest.mark.parametrize("name", ["i386", "athlon", "x86-64", "x86-64-v2"])
def test_cpus_before_64_bits_get_64_bit_code(name: str) -> None:
    assert name in known_cpus()
    a, b = np.arange(19, dtype="float32"), np.zeros(19, "float32")
    s, args = doubled()
    tecomp.build(s, args, target=f"llvm -mcpu={name}")(a, b)
    assert (b == a * 2).all()


@X86
def test_an_unknown_cpu(refused) -> None:
    s, args = doubled()
    with refused(
        UserError,
        """
        unknown target 'llvm -mcpu=haswel'
          --> test_llvm_compile.py:LINE
           |     tecomp.build(s, args, target="llvm -mcpu=haswel")
           |     ^
          because: LLVM knows no CPU 'haswel'
          legal: haswell, no -mcpu, for the present CPU
    """,
    ):
        tecomp.build(s, args, target="llvm -mcpu=haswel")


@X86
@pytest.mark.parametrize(
    ("name", "has", "lacks"),
    [
        ("x86-64", "sse2", "popcnt avx fma"),
        ("x86-64-v3", "popcnt lzcnt bmi bmi2 movbe avx avx2 f16c fma", "avx512f gfni"),
        ("skylake-avx512", "avx2 avx512f avx512bw avx512dq avx512vl avx512cd", "avx512vnni avx512fp16"),
        ("alderlake", "avx2 gfni avxvnni", "avx512f avx512vnni"),
        ("sapphirerapids", "avx512bf16 avx512fp16 avx512vbmi2 avx512bitalg avx512vpopcntdq f16c", ""),
        ("knl", "avx512f avx512cd", "avx512bw avx512vl"),
    ],
)
def test_what_a_named_cpu_has_is_read_from_its_code(name: str, has: str, lacks: str) -> None:
    chosen = cpu(name)
    assert [feature for feature in has.split() if not chosen.has(feature)] == []
    assert [feature for feature in lacks.split() if chosen.has(feature)] == []


def test_every_feature_of_a_probe_is_one_that_a_call_can_ask_for() -> None:
    assert set(PROBES) <= set(LINUX_NAMES)


@X86
def test_a_cpu_with_what_this_one_lacks_is_refused_when_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tecomp_runtime.cpu.cpu_flags", lambda: frozenset({"sse4_1", "sse4_2", "popcnt"}))
    s, args = doubled()
    a = np.zeros(19, "float32")
    with pytest.raises(LaunchError) as caught:
        tecomp.build(s, args, target="llvm -mcpu=nehalem -mattr=+avx2,+fma", name="double")(a, a.copy())
    assert str(caught.value) == (
        "double cannot run here\n"
        "  because: it is built for a CPU with avx2 fma, which this one lacks\n"
        '  legal: target="llvm -mcpu=x86-64-v3"'
    )


@X86
def test_features_are_added_and_taken_away() -> None:
    own = cpu("x86-64-v3").requires()
    assert set(cpu("x86-64-v3", "-avx2,+avx512f").requires()) == {*own, "avx512f"} - {"avx2"}


@X86
def test_an_unknown_feature(refused) -> None:
    s, args = doubled()
    with refused(
        UserError,
        """
        unknown target 'llvm -mattr=+avx512bw2'
          --> test_llvm_compile.py:LINE
           |     tecomp.build(s, args, target="llvm -mattr=+avx512bw2")
           |     ^
          because: LLVM knows no feature 'avx512bw2'
          legal: avx512bw, avx512vbmi2, avx512f, no -mattr, for the CPU's own
    """,
    ):
        tecomp.build(s, args, target="llvm -mattr=+avx512bw2")
