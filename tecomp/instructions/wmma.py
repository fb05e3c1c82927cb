"""What the instructions on fragments are in CUDA: device functions, one for each shape, layout and type.

wmma_load_a_row_m16n16k16_f16, wmma_store_row_m16n16k16_f32, wmma_mma_row_col_m16n16k16_f32_f16, wmma_fill
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..dtype import DType
from ..errors import UnsupportedError
from ..ir.expr import Const
from ..ir.matrix import ACCUMULATOR, MATRIX_A, MATRIX_B, Instruction, Shape
from ..ir.node import Expr
from ..ir.stmt import Buffer
from ..target.limits import WARP
from .row import INLINE

LAYOUTS: Final = ("row", "col")
ROLES: Final = {MATRIX_A: "a", MATRIX_B: "b", ACCUMULATOR: "c"}
"""How PTX calls the operands that fragments of each scope are."""
PTX_TYPES: Final = {
    "float16": "f16",
    "bfloat16": "bf16",
    "int8": "s8",
    "uint8": "u8",
    "float32": "f32",
    "int32": "s32",
}


class Registers(NamedTuple):
    """What each thread of a warp has of one matrix."""

    type: str
    constraint: str
    """How an asm statement names such a register."""
    number: int


class Multiplication(NamedTuple):
    """Types that hardware multiplies and adds, and the first architecture that does."""

    factor: str
    result: str
    since: int


MULTIPLICATIONS: Final = (
    Multiplication("float16", "float32", 70),
    Multiplication("float16", "float16", 70),
    Multiplication("bfloat16", "float32", 80),
    Multiplication("int8", "int32", 72),
    Multiplication("uint8", "int32", 72),
)


def registers(scope: str, dtype: DType, elements: int) -> Registers | None:
    """Return the registers of a matrix of that many elements; None where no instruction has such an operand."""
    if scope == ACCUMULATOR:
        wide = {
            "float32": Registers("float", "f", elements // WARP),
            "int32": Registers("int", "r", elements // WARP),
        }
        packed = Registers("unsigned int", "r", elements // (2 * WARP))
        return wide.get(dtype) or (packed if dtype == "float16" else None)
    if dtype == "float16":  # two threads have each element
        return Registers("unsigned int", "r", 8)
    if dtype in ("bfloat16", "int8", "uint8"):
        return Registers("unsigned int", "r", elements * dtype.bytes // (4 * WARP))
    return None


def fragment_declaration(buffer: Buffer, name: str) -> str:
    """Return the declaration of a fragment buffer: for each of its matrices, what one thread has of it."""
    size, count = matrix_size(buffer), math.prod(map(_number, buffer.shape[:-2]))
    found = registers(buffer.scope, buffer.dtype, size)
    if found is None:
        known = sorted({one.factor if buffer.scope in (MATRIX_A, MATRIX_B) else one.result for one in MULTIPLICATIONS})
        raise UnsupportedError(
            f"'{buffer.name}' of {buffer.dtype} in {buffer.scope} memory",
            because="no matrix instruction has such an operand",
            legal=known,
            location=buffer.loc,
        )
    return f"{found.type} {name}[{count}][{found.number}];"


def matrix_size(buffer: Buffer) -> int:
    """Return how many elements one matrix of a fragment buffer has."""
    return math.prod(map(_number, buffer.shape[-2:]))


def _number(extent: Expr) -> int:
    assert isinstance(extent, Const)
    return int(extent.value)


def load_name(scope: str, layout: str, shape: Shape, dtype: str) -> str:
    """Return the name of the function that loads a matrix."""
    return f"wmma_load_{ROLES[scope]}_{layout}_{shape}_{PTX_TYPES[dtype]}"


def store_name(layout: str, shape: Shape, dtype: str) -> str:
    """Return the name of the function that stores an accumulator."""
    return f"wmma_store_{layout}_{shape}_{PTX_TYPES[dtype]}"


def multiply_name(layouts: tuple[str, str], shape: Shape, result: str, factor: str) -> str:
    """Return the name of the function that multiplies matrices loaded in these layouts."""
    return f"wmma_mma_{'_'.join(layouts)}_{shape}_{PTX_TYPES[result]}_{PTX_TYPES[factor]}"


def _matrix(scope: str, shape: Shape, dtype: str) -> Registers:
    found = registers(scope, DType(dtype), math.prod(shape.of(scope)))
    assert found is not None
    return found


def _places(first: int, count: int) -> str:
    """Return the registers of an operand in the text of an instruction."""
    return f"{{{', '.join(f'%{first + number}' for number in range(count))}}}"


def _bound(of: Registers, name: str, written: str = "") -> str:
    """Return the registers of an operand as an asm statement binds them."""
    return ", ".join(f'"{written}{of.constraint}"({name}[{number}])' for number in range(of.number))


def _load(scope: str, layout: str, shape: Shape, dtype: str) -> str:
    of, role, kind = _matrix(scope, shape, dtype), ROLES[scope], PTX_TYPES[dtype]
    places = f"{_places(0, of.number)}, [%{of.number}], %{of.number + 1};"
    return f"""\
{INLINE} void {load_name(scope, layout, shape, dtype)}({of.type} (&f)[{of.number}], const void* p, int stride) {{
  asm volatile("wmma.load.{role}.sync.aligned.{layout}.{shape}.{kind} {places}"
               : {_bound(of, "f", "=")}
               : "l"(p), "r"(stride) : "memory");
}}"""


def _store(layout: str, shape: Shape, dtype: str) -> str:
    of, kind = _matrix(ACCUMULATOR, shape, dtype), PTX_TYPES[dtype]
    places = f"[%0], {_places(1, of.number)}, %{of.number + 1};"
    return f"""\
{INLINE} void {store_name(layout, shape, dtype)}(const {of.type} (&f)[{of.number}], void* p, int stride) {{
  asm volatile("wmma.store.d.sync.aligned.{layout}.{shape}.{kind} {places}"
               :: "l"(p), {_bound(of, "f")}, "r"(stride) : "memory");
}}"""


def _multiply(layouts: tuple[str, str], shape: Shape, one: Multiplication) -> str:
    a, b = (_matrix(scope, shape, one.factor) for scope in (MATRIX_A, MATRIX_B))
    c = _matrix(ACCUMULATOR, shape, one.result)
    factor, result = PTX_TYPES[one.factor], PTX_TYPES[one.result]
    types = f"{result}.{result}" if factor == "f16" else f"{result}.{factor}.{factor}.{result}"
    starts = (0, c.number, c.number + a.number, c.number + a.number + b.number)
    places = ", ".join(_places(first, of.number) for first, of in zip(starts, (c, a, b, c), strict=True))
    arguments = ", ".join(
        f"{'' if name == 'd' else 'const '}{of.type} (&{name})[{of.number}]"
        for name, of in zip("dabc", (c, a, b, c), strict=True)
    )
    return f"""\
{INLINE} void {multiply_name(layouts, shape, one.result, one.factor)}({arguments}) {{
  asm volatile("wmma.mma.sync.aligned.{layouts[0]}.{layouts[1]}.{shape}.{types} "
               "{places};"
               : {_bound(c, "d", "=")}
               : {_bound(a, "a")}, {_bound(b, "b")}, {_bound(c, "c")});
}}"""


_FILL: Final = f"""\
template <class T, int N> {INLINE} void wmma_fill(T (&f)[N], T value) {{
#pragma unroll
  for (int i = 0; i < N; ++i) f[i] = value;
}}
template <int N> {INLINE} void wmma_fill(unsigned int (&f)[N], half value) {{  // two in each register
  wmma_fill(f, value.bits * 0x10001u);
}}"""


def functions(instruction: Instruction) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each function that a call may be; its fragments choose one."""
    verb, layout, shape = instruction
    factors = dict.fromkeys(one.factor for one in MULTIPLICATIONS)
    results = dict.fromkeys(one.result for one in MULTIPLICATIONS)
    if verb == "fill":
        yield "wmma_fill", _FILL
    if verb == "load":
        operands = [(scope, kind) for scope in (MATRIX_A, MATRIX_B) for kind in factors]
        for scope, kind in (*operands, *((ACCUMULATOR, kind) for kind in results)):
            yield load_name(scope, layout, shape, kind), _load(scope, layout, shape, kind)
    if verb == "store":
        for kind in results:
            yield store_name(layout, shape, kind), _store(layout, shape, kind)
    if verb == "mma":
        for one in MULTIPLICATIONS:
            for layouts in ((a, b) for a in LAYOUTS for b in LAYOUTS):
                yield multiply_name(layouts, shape, one.result, one.factor), _multiply(layouts, shape, one)
