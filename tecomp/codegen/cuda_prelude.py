"""The small device functions that generated CUDA may call; a program holds those it uses, and no header is included.

Each is one operation that C++ leaves undefined, rounds otherwise, or lacks: 16-bit floats (rounded once from float and
from double), vectors of lanes, floor division, wrapping integers, NaN-keeping min and max.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ..instructions import COPIES, EXCHANGE, SYNC, WARPGROUP, matrix_functions, preludes
from ..instructions.copies import TENSOR_MAP
from ..instructions.fragments import WMMA
from ..instructions.registers import REGISTER_TEXTS
from ..instructions.sync import CLUSTER_RANK, SHARED_ADDRESS
from ..instructions.wgmma import DESCRIPTOR

_INLINE: Final = "__device__ __forceinline__"
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_PLACEHOLDER: Final = re.compile(r"\{\w+\}")
_UNSIGNED: Final = {"int": "unsigned int", "long long": "unsigned long long"}


def _signed(name: str, symbol: str) -> str:
    """Return an operation of int and long long done in the unsigned type, where it wraps."""
    return "\n".join(
        f"{_INLINE} {t} {name}({t} a, {t} b) {{ return ({t})(({u})a {symbol} ({u})b); }}" for t, u in _UNSIGNED.items()
    )


def _extreme(name: str, symbol: str, ptx: str) -> str:
    """Return min or max that gives NaN when either side is NaN."""
    return f"""\
{_INLINE} float {name}(float a, float b) {{
#if __CUDA_ARCH__ >= 800
  float c;
  asm("{ptx}.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
#else
  return a {symbol} b || a != a ? a : b;
#endif
}}
{_INLINE} double {name}(double a, double b) {{ return a {symbol} b || a != a ? a : b; }}"""


PRELUDE: Final[dict[str, str]] = {
    "INFINITY": "#define INFINITY __int_as_float(0x7f800000)",
    "NAN": "#define NAN __int_as_float(0x7fc00000)",
    "half": f"""\
struct half {{  // IEEE 16-bit float; arithmetic happens in float
  unsigned short bits;
  half() = default;
  {_INLINE} explicit half(float x) {{ asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }}
  {_INLINE} explicit half(double x) {{ asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x)); }}
  {_INLINE} operator float() const {{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }}
}};""",
    "bfloat16": f"""\
struct bfloat16 {{  // the upper half of a float; arithmetic happens in float
  unsigned short bits;
  bfloat16() = default;
  {_INLINE} explicit bfloat16(float x) {{
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
    unsigned int u = __float_as_uint(x);
    bits = x != x ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
#endif
  }}
  {_INLINE} explicit bfloat16(double x) : bfloat16(to_odd(x, __double2float_rz(x))) {{}}
  {_INLINE} explicit bfloat16(long long x) : bfloat16(to_odd(x, __ll2float_rz(x))) {{}}
  {_INLINE} explicit bfloat16(unsigned long long x) : bfloat16(to_odd(x, __ull2float_rz(x))) {{}}
  {_INLINE} operator float() const {{ return __uint_as_float((unsigned int)bits << 16); }}
  // x cut to a float whose last bit says if it is not exact: rounding that is then the one rounding of x.
  template <class T> static {_INLINE} float to_odd(T x, float cut) {{
    return (T)cut == x || x != x ? cut : __uint_as_float(__float_as_uint(cut) | 1);
  }}
}};""",
    "Vec": f"""\
__device__ constexpr int natural(int bytes) {{ return (bytes & -bytes) < 16 ? bytes & -bytes : 16; }}
template <class T, int N, int Align = 0>
struct alignas(Align ? Align : natural(sizeof(T) * N)) Vec {{  // N lanes, moved Align bytes at a time
  T lane[N];
  {_INLINE} T& operator[](int i) {{ return lane[i]; }}
  {_INLINE} const T& operator[](int i) const {{ return lane[i]; }}
}};""",
    "vec": f"""\
template <int N, int Align = 0, class T> {_INLINE} Vec<T, N, Align>& vec(T* p) {{
  return *reinterpret_cast<Vec<T, N, Align>*>(p);
}}
template <int N, int Align = 0, class T> {_INLINE} const Vec<T, N, Align>& vec(const T* p) {{
  return *reinterpret_cast<const Vec<T, N, Align>*>(p);
}}""",
    "wrapping_add": _signed("wrapping_add", "+"),
    "wrapping_sub": _signed("wrapping_sub", "-"),
    "wrapping_mul": _signed("wrapping_mul", "*"),
    "wrapping_fma": f"""\
template <class T> {_INLINE} T wrapping_fma(T a, T b, T c) {{
  return (T)((unsigned long long)a * (unsigned long long)b + (unsigned long long)c);
}}""",
    "wrapping_abs": f"""\
template <class T> {_INLINE} T wrapping_abs(T x) {{ return x < 0 ? wrapping_sub((T)0, x) : x; }}""",
    "truncdiv": f"""\
template <class T> {_INLINE} T truncdiv(T a, T b) {{  // by 0 gives 0, the least integer by -1 wraps
  if (b == 0) return 0;
  if constexpr ((T)-1 < 0) {{
    if (b == -1) return wrapping_sub((T)0, a);
  }}
  return a / b;
}}""",
    "truncmod": f"""\
template <class T> {_INLINE} T truncmod(T a, T b) {{ return b == 0 || ((T)-1 < 0 && b == (T)-1) ? 0 : a % b; }}""",
    "floordiv": f"""\
template <class T> {_INLINE} T floordiv(T a, T b) {{  // rounds down; by 0 gives 0
  T q = truncdiv(a, b);
  return truncmod(a, b) != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}}""",
    "floormod": f"""\
template <class T> {_INLINE} T floormod(T a, T b) {{  // has the sign of b; by 0 gives 0
  T r = truncmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}}""",
    "float_to_unsigned": f"""\
{_INLINE} unsigned long long float_to_unsigned(double x) {{  // negative values wrap
  return x < 0 ? (unsigned long long)(long long)x : (unsigned long long)x;
}}""",
    "nan_min": _extreme("nan_min", "<", "min"),
    "nan_max": _extreme("nan_max", ">", "max"),
    "bits_as": f"""\
template <class To, class From> {_INLINE} To bits_as(From x) {{
  To y;
  memcpy(&y, &x, sizeof(To));
  return y;
}}""",
    "part_of": f"""\
template <class To, class From> {_INLINE} To part_of(const From& x, int at) {{
  To y;
  memcpy(&y, reinterpret_cast<const char*>(&x) + at * sizeof(To), sizeof(To));
  return y;
}}""",
    "dot_of_bytes": f"""\
{_INLINE} int dot_of_bytes(int a, int b, int c) {{ return __dp4a(a, b, c); }}
{_INLINE} unsigned int dot_of_bytes(unsigned int a, unsigned int b, unsigned int c) {{ return __dp4a(a, b, c); }}""",
    "sigmoid": f"""\
{_INLINE} float sigmoid(float x) {{ return 1.0f / (1.0f + expf(-x)); }}
{_INLINE} double sigmoid(double x) {{ return 1.0 / (1.0 + exp(-x)); }}""",
    "shift_left": f"""\
template <class T> {_INLINE} T shift_left(T x, T n) {{
  return n < 0 || n >= 8 * (T)sizeof(T) ? 0 : (T)((unsigned long long)x << n);
}}""",
    "shift_right": f"""\
template <class T> {_INLINE} T shift_right(T x, T n) {{
  return n < 0 || n >= 8 * (T)sizeof(T) ? (x < 0 ? -1 : 0) : x >> n;
}}""",
    "next_float": f"""\
template <class T> {_INLINE} T next_float(T from, T to) {{  // the neighbour of a 16-bit float on the way to another
  float a = from, b = to;
  if (a != a || b != b || a == b) return a != a ? from : to;
  T next = from;
  next.bits = a == 0.0f ? (b < 0.0f ? 0x8001 : 1) : from.bits + ((a < b) == (a > 0.0f) ? 1 : -1);
  return next;
}}""",
    "fma_half": f"""\
{_INLINE} half fma_half(half a, half b, half c) {{
  half d;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return d;
}}""",
    "fma_bfloat16": f"""\
{_INLINE} bfloat16 fma_bfloat16(bfloat16 a, bfloat16 b, bfloat16 c) {{
#if __CUDA_ARCH__ >= 800
  bfloat16 d;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return d;
#else
  return bfloat16(fma((double)a, (double)b, (double)c));
#endif
}}""",
    **preludes(EXCHANGE),
    "atomic_update": """\
template <int bytes> struct word_of { using type = unsigned int; };
template <> struct word_of<2> { using type = unsigned short; };
template <> struct word_of<8> { using type = unsigned long long; };
template <class T, class Join> __device__ void atomic_update(T* p, T more, Join join) {  // until nothing came between
  using Word = typename word_of<sizeof(T)>::type;
  Word now = *(volatile Word*)p, seen;
  do {
    seen = now;
    T value;
    memcpy(&value, &seen, sizeof(T));
    value = join(value, more);
    memcpy(&now, &value, sizeof(T));
    now = atomicCAS((Word*)p, seen, now);
  } while (now != seen);
}""",
    "shared_address": SHARED_ADDRESS,
    "TensorMap": TENSOR_MAP,
    "cluster_rank": CLUSTER_RANK,
    **preludes(SYNC),
    **preludes(COPIES),
    **preludes(WARPGROUP),
    **WMMA,
    **REGISTER_TEXTS,
    "wgmma_descriptor": DESCRIPTOR,
}
"""In an order in which each stands after what it uses; behind them come the functions of matrix instructions, whose
texts are made when a program uses them: there are hundreds."""


def prelude(program: str) -> str:
    """Return the text of what `program` uses, and of what that uses; empty when it uses nothing."""
    return "\n".join(map(_text, used(program)))


def used(program: str) -> list[str]:
    """Return the names of the prelude that occur in `program`, and those that these need, in the prelude's order."""
    found: set[str] = set()
    waiting = _names(program)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting |= _names(_text(name))
    return [*(name for name in PRELUDE if name in found), *sorted(found - PRELUDE.keys())]


def _text(name: str) -> str:
    return PRELUDE.get(name) or matrix_functions()[name].prelude


def _names(text: str) -> set[str]:
    words = set(_WORD.findall(text))
    return (PRELUDE.keys() | matrix_functions().keys()) & words


def words(texts: Iterable[str]) -> frozenset[str]:
    """Return every word in `texts`, placeholders such as {0} aside: what a program's own names must keep away from."""
    return frozenset(word for text in texts for word in _WORD.findall(_PLACEHOLDER.sub("", text)))
