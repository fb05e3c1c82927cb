"""The multiplications of a warp: d = a @ b + c, matrices in registers, where d may be c.

    mma_m16n8k16(d, a, b, c)    16 x 16 times 16 x 8

An operand is an array of each thread: what `places` say that its lane has.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..target.limits import WARP
from .matrix_layout import Array, Places, fragment, together
from .matrix_values import PTX_TYPES, factor_type, multiply_add, numpy_type
from .registers import Operand, accumulator, factor, function, places


class Mma(NamedTuple):
    """One multiplication of a warp."""

    m: int
    n: int
    k: int
    result: str
    """The type of c and d."""
    a: str
    b: str
    since: int
    """The first architecture that has it."""

    needs = ""
    kind = "matrix"
    threads = WARP

    @property
    def name(self) -> str:
        """The name of the call, whatever its types are."""
        return f"mma_m{self.m}n{self.n}k{self.k}"

    @property
    def cuda_name(self) -> str:
        """The name of the function in CUDA: mma_m16n8k16_f32_bf16, mma_m16n8k32_s32_s8_u8."""
        return "_".join([self.name, PTX_TYPES[self.result], *dict.fromkeys(map(factor_type, (self.a, self.b)))])

    @property
    def flops(self) -> int:
        """Multiplications and additions of a warp."""
        return 2 * self.m * self.n * self.k

    @property
    def places(self) -> dict[str, Places]:
        """Where in a warp the elements of each operand lie: a is m x k, b is k x n, c and d are m x n."""
        wide = together(numpy_type(self.a).itemsize)
        sums = fragment(self.m, self.n, 2)
        return {
            "d": sums,
            "a": fragment(self.m, self.k, wide),
            "b": fragment(self.n, self.k, wide).transposed,
            "c": sums,
        }

    @property
    def bytes_held(self) -> dict[str, int]:
        """How much of each thread's arrays it takes."""
        types = {"d": self.result, "a": self.a, "b": self.b, "c": self.result}
        return {name: at.rows.shape[1] * numpy_type(types[name]).itemsize for name, at in self.places.items()}

    def compute(self, a: Array, b: Array, c: Array) -> Array:
        """Return what each lane has of d: arrays (warps, 32, registers) in the types of the operands."""
        at = self.places
        result = multiply_add(at["a"].matrices(a), at["b"].matrices(b), at["c"].matrices(c), self.result)
        return at["d"].registers(result)

    @property
    def cuda(self) -> str:
        """The text of a call in CUDA; {0} to {3} are d, a, b, c."""
        return f"{self.cuda_name}({{0}}, {{1}}, {{2}}, {{3}})"

    @property
    def prelude(self) -> str:
        """The device function that the text calls."""
        d, a, b, c = self._operands
        types = (PTX_TYPES[self.result], factor_type(self.a), factor_type(self.b), PTX_TYPES[self.result])
        starts = (0, d.number, d.number + a.number, d.number + a.number + b.number)
        registers = ", ".join(places(start, of.number) for start, of in zip(starts, (d, a, b, c), strict=True))
        return function(
            f"{self.cuda_name}({d.parameter}, {', '.join(of.const_parameter for of in (a, b, c))})",
            f"mma.sync.aligned.{self.name[4:]}.row.col.{'.'.join(types)} {registers};",
            d.written(),
            [*a.read, *b.read, *c.read],
            d.before(),
            d.after,
        )

    @property
    def _operands(self) -> tuple[Operand, Operand, Operand, Operand]:
        counts = {name: of.rows.shape[1] for name, of in self.places.items()}
        width = numpy_type(self.a).itemsize
        return (
            accumulator("d", self.result, counts["d"]),
            factor("a", self.a, counts["a"], width),
            factor("b", self.b, counts["b"], width),
            accumulator("c", self.result, counts["c"]),
        )


_BYTES: Final = ("int8", "uint8")
_EIGHT_BIT_FLOATS: Final = ("float8_e4m3fn", "float8_e5m2")

_ROWS: Final = (
    Mma(16, 8, 16, "float32", "float16", "float16", 80),
    Mma(16, 8, 16, "float32", "bfloat16", "bfloat16", 80),
    Mma(16, 8, 16, "float16", "float16", "float16", 80),
    Mma(16, 8, 8, "float32", "float16", "float16", 75),
    Mma(16, 8, 8, "float32", "bfloat16", "bfloat16", 80),
    Mma(16, 8, 8, "float16", "float16", "float16", 75),
    Mma(16, 8, 8, "float32", "float32", "float32", 80),
    *(Mma(16, 8, 32, "int32", a, b, 80) for a in _BYTES for b in _BYTES),
    *(Mma(16, 8, 32, "float32", a, b, 89) for a in _EIGHT_BIT_FLOATS for b in _EIGHT_BIT_FLOATS),
    Mma(8, 8, 4, "float64", "float64", "float64", 80),
)
MMA: Final = {(one.name, one.result, one.a, one.b): one for one in _ROWS}
"""By the name of the call and the types of d, a and b; c is of the type of d."""
MMA_NAMES: Final = frozenset(one.name for one in _ROWS)
