"""CPUs by name: those that LLVM knows, and what is said of others."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.codegen.llvm_compile import known_cpus
from tecomp.errors import UserError

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
