"""The bits of a vector as lanes of another width: in the interpreter, on LLVM, as CUDA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tecomp.codegen import llvm
from tecomp.codegen.cuda import printed
from tecomp.errors import UnsupportedError
from tecomp.ir import interpret
from tecomp.ir.func import Func
from tecomp.target import Target
from tecomp_runtime import Kernel
from tests.codegen.cuda_programs import cuda, flat
from tests.codegen.test_cuda_limits import message

JOIN = """
def f(A: {few}[16], B: {many}[{count}], C: out[{few}[16]], D: out[{many}[{count}]]) -> device:
    {head}D[ramp(0, 1, {count})] = regroup[{many}x{count}](A[ramp(0, 1, 16)])
    {head}C[ramp(0, 1, 16)] = regroup[{few}x16](B[ramp(0, 1, {count})])
"""
NAMES = {
    "i8": "int8",
    "u8": "uint8",
    "f16": "float16",
    "i32": "int32",
    "i16": "int16",
    "f32": "float32",
    "i64": "int64",
}


def program(few: str, many: str, head: str = "") -> str:
    ratio = np.dtype(NAMES[many]).itemsize // np.dtype(NAMES[few]).itemsize
    return JOIN.format(few=few, many=many, count=16 // ratio, head=head)


def arrays(few: str, many: str) -> list[np.ndarray]:
    count = 16 * np.dtype(NAMES[few]).itemsize // np.dtype(NAMES[many]).itemsize
    a = np.arange(-7, 9).astype(NAMES[few])
    b = (np.arange(1, count + 1) * 1234567).astype(NAMES[many])
    return [a, b, np.zeros(16, NAMES[few]), np.zeros(count, NAMES[many])]


@pytest.mark.parametrize(("few", "many"), [("i8", "i32"), ("u8", "i16"), ("i8", "f32"), ("f16", "i32"), ("i16", "i64")])
@pytest.mark.parametrize("run", ["interpreter", "llvm"])
def test_there_and_back(few: str, many: str, run: str) -> None:
    a, b, c, d = arrays(few, many)
    runner(flat(program(few, many), Target.of("llvm")), run)(a, b, c, d)
    np.testing.assert_array_equal(c, b.view(c.dtype))
    np.testing.assert_array_equal(d, a.view(d.dtype))


def runner(func: Func, run: str) -> Any:
    if run == "llvm":
        return Kernel(llvm.generate(func, Target.of("llvm")))
    return lambda *given: interpret(func, *given)


@pytest.mark.parametrize(("few", "many"), [("i8", "i32"), ("u8", "i16"), ("f16", "i32")])
def test_cuda_takes_it(few: str, many: str) -> None:
    text = program(few, many).replace("-> device:\n", "-> device:\n    with launch(threadIdx_x=1):\n")
    source = cuda(text.replace("\n    D[", "\n        D[").replace("\n    C[", "\n        C[")).source
    assert "part_of<" in source


WORD = """
def f(A: i8[64], C: out[i32[16]]) -> device:
    with launch(threadIdx_x=16):
        {}
"""
READ = "regroup[i32](A[ramp(threadIdx_x * 4, 1, 4)])"


def test_four_bytes_as_a_number() -> None:
    text = WORD.format(f"x: i32 = {READ}\n        C[threadIdx_x] = dp4a(x, {READ}, 0)")
    cuda(text)
    a, c = np.arange(-32, 32, dtype="int8"), np.zeros(16, "int32")
    interpret(flat(text), a, c)
    np.testing.assert_array_equal(c, (a.astype("int32") ** 2).reshape(16, 4).sum(1))


def test_one_number_as_four_bytes() -> None:
    text = """
def f(A: i32[16], C: out[i8[64]]) -> device:
    with launch(threadIdx_x=16):
        C[ramp(threadIdx_x * 4, 1, 4)] = regroup[i8x4](A[threadIdx_x])
"""
    cuda(text)
    a, c = np.arange(16, dtype="int32") * 12345678, np.zeros(64, "int8")
    interpret(flat(text), a, c)
    np.testing.assert_array_equal(c, a.view("int8"))


def test_a_condition_on_one() -> None:
    text = WORD.format(f"if {READ} < 3:\n            C[threadIdx_x] = 1")
    with pytest.raises(UnsupportedError) as caught:
        printed(flat(text), Target.of("cuda -arch=sm_80"))
    assert message(caught.value) == (
        "regroup[i32](A[ramp(threadIdx_x * 4, 1, 4)]) on cuda\n"
        "  because: it stands in a condition or an index\n"
        "  legal: a value that is stored"
    )
