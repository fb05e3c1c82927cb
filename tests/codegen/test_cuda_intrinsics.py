"""The table of operations: nothing the interpreter knows is missing, and every cell compiles."""

from __future__ import annotations

import pytest

from tecomp.codegen.cuda_intrinsics import BITWISE, call
from tecomp.codegen.cuda_prelude import PRELUDE, prelude, used
from tecomp.codegen.cuda_types import C_TYPES
from tecomp.codegen.precedence import Text
from tecomp.dtype import DType
from tecomp.errors import UnsupportedError
from tecomp.instructions.maths import MATHS
from tecomp.ir import expr as E
from tecomp.ir import interpret_calls, make
from tests.codegen.cuda_programs import ARCHS, compiles

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ARITY = {"pow": 2, "atan2": 2, "fmod": 2, "hypot": 2, "copysign": 2, "nextafter": 2, "ldexp": 2, "fma": 3, "dp4a": 3}
ARITY |= dict.fromkeys(("shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor"), 2)


def operation(name: str, dtype: str) -> E.Call:
    """Return a call of `name` on operands of `dtype`."""
    types = [dtype] * ARITY.get(name, 1)
    if name == "ldexp":
        types[1] = "int32"
    result = "bool" if name in ("isnan", "isinf", "isfinite") else dtype
    return make.call(name, result, *(E.Var(letter, DType(type)) for letter, type in zip("abc", types, strict=False)))


def texts(dtype: str, names: frozenset[str]) -> list[str]:
    """Return what each operation that is defined for `dtype` prints."""
    nodes = [operation(name, dtype) for name in sorted(names - interpret_calls.EFFECT_CALLS)]
    known = [node for node in nodes if interpret_calls.meaning(node) is not None]
    assert known
    return [call(node, [Text(arg.name) for arg in node.args]).text for node in known]  # type: ignore[attr-defined]


def test_the_table_has_what_the_interpreter_has() -> None:
    assert MATHS.keys() | interpret_calls.EFFECT_CALLS == interpret_calls.CALLS


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_every_cell_compiles(dtype: str) -> None:
    type_ = C_TYPES[dtype]
    names = frozenset(BITWISE) if dtype == "bool" else interpret_calls.CALLS
    through = "(float)" if "float" in dtype else ""  # a bool, into a 16-bit float
    lines = [f"  out[{n}] = ({type_}){through}({text});" for n, text in enumerate(texts(dtype, names))]
    head = f'extern "C" __global__ void k({type_}* out, {type_} a, {type_} c, int e) {{\n  {type_} b = out[99];'
    kernel = "\n".join([head, *(line.replace("ldexp(a, b)", "ldexp(a, e)") for line in lines), "}"])
    compiles(f"{prelude(kernel)}\n{kernel}")


def test_a_function_that_cuda_lacks_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        call(operation("pow", "int32"), [Text("a"), Text("b")])
    assert (caught.value.asked, caught.value.because) == ("pow of int32 on cuda", "CUDA C++ has no such function")
    assert caught.value.legal == "float32, float64"


def test_the_prelude_holds_what_is_used_and_what_that_uses() -> None:
    assert used("x = floordiv<int>(a, b);") == ["wrapping_sub", "truncdiv", "truncmod", "floordiv"]
    assert used("float half_of = A_v;") == []
    assert prelude("x = a + b;") == ""


@pytest.mark.parametrize("name", PRELUDE)
def test_each_part_of_the_prelude_compiles_alone(name: str) -> None:
    """For one architecture: the kernel calls nothing, so that no code is made of the part."""
    compiles(f'{prelude(name)}\nextern "C" __global__ void k(float* x) {{ x[0] = 0.0f; }}', ARCHS[-1:])
