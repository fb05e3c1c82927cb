"""The multiplications of a warpgroup: d = a @ b, or d + a @ b, with factors in shared memory.

    wgmma_m64n128k16(d, a, b, swizzle_a, leading_a, stride_a, major_a, swizzle_b, leading_b, stride_b, major_b, scale_d)
    wgmma_rs_m64n128k16(d, a, b, swizzle_b, leading_b, stride_b, major_b, scale_d)    a in registers

a is 64 x k and b is n x k, a row for each column of d; `wgmma_layout` says where their elements lie. `scale_d` is 0 or
1: whether what d holds is added. It runs on its own: until wgmma_wait d means nothing, and the factors must stay.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from .matrix_layout import FOUR_WARPS, Array, Places, fragment, together
from .matrix_values import PTX_TYPES, factor_type, multiply_add, numpy_type
from .registers import accumulator, factor, function, places
from .row import INLINE
from .wgmma_layout import CHUNK, SWIZZLE_MODES

M: Final = 64
K_BYTES: Final = 32
"""Of each row of a factor."""
_LAYOUT: Final = ("swizzle", "leading", "stride", "major")

_MODE: Final = " : ".join(f"swizzle == {of} ? {mode}" for of, mode in SWIZZLE_MODES.items() if of)
DESCRIPTOR: Final = f"""\
template <int swizzle, int leading, int stride>
{INLINE} unsigned long long wgmma_descriptor(const void* p) {{  // of a factor in shared memory
  constexpr unsigned int mode = {_MODE} : 0;
  constexpr unsigned int high = mode << 30 | stride / {CHUNK}, low = leading / {CHUNK} << 16;
  static_assert(swizzle == 0 || mode != 0, "a swizzle of 0, 32, 64 or 128 bytes");
  static_assert(leading % {CHUNK} == 0 && stride % {CHUNK} == 0, "distances are multiples of {CHUNK} bytes");
  static_assert((leading | stride) >> 18 == 0, "distances are less than 256 KiB");
  return (unsigned long long)high << 32 | low | (shared_address(p) & 0x3ffff) / {CHUNK};
}}"""


class Types(NamedTuple):
    """What the instruction multiplies and adds up."""

    result: str
    a: str
    b: str
    widths: tuple[int, ...]
    """Of d."""
    signs: bool
    """Whether PTX names a sign of each factor."""

    @property
    def k(self) -> int:
        """How many products are added up."""
        return K_BYTES // numpy_type(self.a).itemsize

    @property
    def majors(self) -> tuple[int, ...]:
        """How factors may lie in shared memory: 0, with k along the bytes, or 1, with rows."""
        return (0, 1) if numpy_type(self.a).itemsize == 2 else (0,)


class Wgmma(NamedTuple):
    """One multiplication of a warpgroup."""

    n: int
    types: Types
    a_in_registers: bool

    since = 90
    needs = "a"
    kind = "matrix"
    threads = FOUR_WARPS

    @property
    def name(self) -> str:
        """The name of the call, whatever its types are."""
        return f"wgmma_{'rs_' if self.a_in_registers else ''}m64n{self.n}k{self.types.k}"

    @property
    def cuda_name(self) -> str:
        """The name of the function in CUDA: wgmma_m64n8k16_f32_bf16, wgmma_m64n8k32_s32_s8_u8."""
        a, b = factor_type(self.types.a), factor_type(self.types.b)
        return "_".join([self.name, PTX_TYPES[self.types.result], *dict.fromkeys((a, b))])

    @property
    def flops(self) -> int:
        """Multiplications and additions of a warpgroup."""
        return 2 * M * self.n * self.types.k

    @property
    def d_places(self) -> Places:
        """Where in a warpgroup the elements of d lie, 64 x n."""
        return fragment(M, self.n, 2)

    @property
    def a_places(self) -> Places:
        """Where in a warpgroup the elements of an `a` in registers lie, 64 x k."""
        return fragment(M, self.types.k, together(numpy_type(self.types.a).itemsize))

    @property
    def bytes_held(self) -> dict[str, int]:
        """How much of each thread's arrays it takes."""
        d, a = (numpy_type(dtype).itemsize for dtype in (self.types.result, self.types.a))
        return {"d": self.d_places.rows.shape[1] * d, "a": self.a_places.rows.shape[1] * a}

    def compute(self, a: Array, b: Array, d: Array, scale_d: Array | int = 1) -> Array:
        """Return what each lane then has of d, (warpgroups, 128, n / 2), as it has `d` before.

        `a` is (warpgroups, 64, k), or what each lane has of it where it is in registers: (warpgroups, 128, k / 2);
        `b` is (warpgroups, n, k), `scale_d` one number, or one of each warpgroup.
        """
        left = self.a_places.matrices(a) if self.a_in_registers else a
        added = np.where(np.asarray(scale_d).reshape(-1, 1, 1) != 0, d, np.zeros((), d.dtype))
        result = multiply_add(left, np.swapaxes(b, -1, -2), self.d_places.matrices(added), self.types.result)
        return self.d_places.registers(result)

    @property
    def cuda(self) -> str:
        """The text of a call in CUDA; {0}, {1} and so on are its arguments, of which layouts are constants."""
        count = len(self._constants)
        constants = ", ".join(f"{{{at}}}" for at in range(3, 3 + count))
        return f"{self.cuda_name}<{constants}>({{0}}, {{1}}, {{2}}, {{{3 + count}}})"

    @property
    def _in_shared(self) -> str:
        return "b" if self.a_in_registers else "ab"

    @property
    def _constants(self) -> list[str]:
        return [f"{part}_{of}" for of in self._in_shared for part in _LAYOUT]

    @property
    def prelude(self) -> str:
        """The device function that the text calls."""
        types, held = self.types, self.a_in_registers
        d = accumulator("d", types.result, self.n // 2)
        a = factor("a", types.a, self.a_places.rows.shape[1], numpy_type(types.a).itemsize)
        b_at = d.number + (a.number if held else 1)
        factors = f"{places(d.number, a.number) if held else f'%{d.number}'}, %{b_at}"
        signs = ", 1, 1" if types.signs else ""
        transposes = [f", %{b_at + 2 + at}" for at in range(len(self._in_shared) * max(types.majors))]
        descriptors = [f'"l"(wgmma_descriptor<swizzle_{x}, leading_{x}, stride_{x}>({x}))' for x in self._in_shared]
        majors = [f'"n"(major_{of})' for of in self._in_shared[: len(transposes)]]
        along_k = " && ".join(f"major_{of} == 0" for of in self._in_shared)
        check = [] if transposes else [f'static_assert({along_k}, "k runs along the bytes");']
        text = function(
            f"{self.cuda_name}({d.parameter}, const void* a, const void* b, int scale_d)",
            f"{{ .reg .pred p; setp.ne.b32 p, %{b_at + 1}, 0;\n"
            f"wgmma.mma_async.sync.aligned.{self._kind} {places(0, d.number)},\n"
            f"{factors}, p{signs}{''.join(transposes)}; }}",
            d.written("+"),
            [*(a.read if held else []), *descriptors, '"r"(scale_d)', *majors],
            [*check, *d.before(filled=True)],
            d.after,
        )
        return f"template <{', '.join(f'int {name}' for name in self._constants)}>\n{text}"

    @property
    def _kind(self) -> str:
        """Shape and types as PTX has them: m64n8k16.f32.f16.f16."""
        types = PTX_TYPES[self.types.result], factor_type(self.types.a), factor_type(self.types.b)
        return f"m64n{self.n}k{self.types.k}.{'.'.join(types)}"


_EIGHTS: Final = tuple(range(8, 257, 8))
_BYTE_WIDTHS: Final = (8, 16, 24, *range(32, 257, 16))
_BYTES: Final = ("int8", "uint8")
_EIGHT_BIT_FLOATS: Final = ("float8_e4m3fn", "float8_e5m2")

WGMMA_TYPES: Final = (
    Types("float32", "float16", "float16", _EIGHTS, signs=True),
    Types("float32", "bfloat16", "bfloat16", _EIGHTS, signs=True),
    Types("float16", "float16", "float16", _EIGHTS, signs=True),
    Types("float32", "float32", "float32", _EIGHTS, signs=True),
    *(Types("float32", a, b, _EIGHTS, signs=True) for a in _EIGHT_BIT_FLOATS for b in _EIGHT_BIT_FLOATS),
    *(Types("int32", a, b, _BYTE_WIDTHS, signs=False) for a in _BYTES for b in _BYTES),
)
_ROWS: Final = [
    Wgmma(n, types, a_in_registers) for types in WGMMA_TYPES for a_in_registers in (False, True) for n in types.widths
]
WGMMA: Final = {(one.name, one.types.result, one.types.a, one.types.b): one for one in _ROWS}
"""By the name of the call and the types of d, a and b."""
WGMMA_NAMES: Final = frozenset(name for name, *_ in WGMMA)
