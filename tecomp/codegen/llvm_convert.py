"""Conversions between types, and between registers and memory.

float16 and bfloat16 are kept in registers as the float32 of the same value. bfloat16 is converted by integer
arithmetic, float16 by the CPU's instructions or, without them, by integer arithmetic too: no library call remains that
a linker might not find.
"""

from __future__ import annotations

from ..dtype import DType
from .llvm_code import Code
from .llvm_types import SMALL_FLOATS, VALUE, Value, constant, element_of, lanes_of, suffix, vector


def convert(code: Code, value: Value, source: DType, target: DType) -> Value:
    """Return `value` as `target` (elements of each): floats to integers truncate and saturate, NaN gives 0."""
    if target.is_bool:
        return value if source.is_bool else nonzero(code, value)
    if source.is_float:
        return _from_float(code, value, source, target) if target.is_float else _truncated(code, value, target)
    if target.is_float:
        return _to_float(code, value, source, target)
    return _resized(code, value, source, target)


def nonzero(code: Code, value: Value) -> Value:
    """Return whether each lane is not zero; NaN is not."""
    compare = "fcmp une" if element_of(value.type) in ("float", "double") else "icmp ne"
    return code.op(vector("i1", lanes_of(value.type)), f"{compare} {value}, {code.like(0, value).name}", "nonzero")


def _typed(target: DType, like: Value) -> str:
    return vector(VALUE[target], lanes_of(like.type))


def _resized(code: Code, value: Value, source: DType, target: DType) -> Value:
    type = _typed(target, value)
    if type == value.type:
        return value
    if not source.is_bool and source.bits > target.bits:
        return code.op(type, f"trunc {value} to {type}", "cast")
    extend = "zext" if source.is_bool or source.kind == "uint" else "sext"
    return code.op(type, f"{extend} {value} to {type}", "cast")


def _truncated(code: Code, value: Value, target: DType) -> Value:
    type = _typed(target, value)
    stem = "llvm.fptoui.sat" if target.kind == "uint" else "llvm.fptosi.sat"
    return code.call(f"{stem}.{suffix(type)}.{suffix(value.type)}", type, value, name="cast", attributes="")


def _to_float(code: Code, value: Value, source: DType, target: DType) -> Value:
    unsigned = source.is_bool or source.kind == "uint"
    wide = target == "bfloat16" and source.bits > 16  # float32 would round first
    type = vector("double", lanes_of(value.type)) if wide else _typed(target, value)
    if wide and source.bits == 64:
        value = _sticky(code, value, unsigned)
    number = code.op(type, f"{'uitofp' if unsigned else 'sitofp'} {value} to {type}", "cast")
    return rounded(code, _to_odd(code, number) if wide else number, target)


def _sticky(code: Code, value: Value, unsigned: bool) -> Value:
    """Return a 64-bit integer that a double holds: beyond 53 bits, the last 11 become one that says if any was set."""
    type, flag = value.type, vector("i1", lanes_of(value.type))
    last = code.op(type, f"and {value}, {constant(0x7FF, type).name}")
    inexact = code.op(flag, f"icmp ne {last}, {constant(0, type).name}")
    cut = code.op(type, f"and {value}, {constant(-0x800, type).name}")
    odd = code.op(type, f"or {cut}, {constant(0x800, type).name}")
    high = code.op(type, f"{'lshr' if unsigned else 'ashr'} {value}, {constant(53, type).name}")
    spread = high if unsigned else code.op(type, f"add {high}, {constant(1, type).name}")
    large = code.op(flag, f"icmp ugt {spread}, {constant(0 if unsigned else 1, type).name}")
    return code.select(code.op(flag, f"and {large}, {inexact.name}"), odd, value)


def _from_float(code: Code, value: Value, source: DType, target: DType) -> Value:
    type = _typed(target, value)
    if source.bits < 64 and target.bits == 64:
        return code.op(type, f"fpext {value} to {type}", "cast")
    if source.bits == 64 and target in SMALL_FLOATS:
        return rounded(code, _to_odd(code, value), target)
    if source.bits == 64 and target.bits < 64:
        return code.op(type, f"fptrunc {value} to {type}", "cast")
    return rounded(code, value, target)


def _to_odd(code: Code, value: Value) -> Value:
    """Return a double as a float32: equal, or the neighbour whose last bit is set, which rounds as the double does."""
    lanes = lanes_of(value.type)
    type, word, flag = vector("float", lanes), vector("i32", lanes), vector("i1", lanes)
    near = code.op(type, f"fptrunc {value} to {type}")
    back = code.op(value.type, f"fpext {near} to {value.type}")
    inexact = code.op(flag, f"fcmp one {back}, {value.name}", "inexact")
    bits = code.op(word, f"bitcast {near} to {word}")
    last = code.op(word, f"and {bits}, {constant(1, word).name}")
    even = code.op(flag, f"icmp eq {last}, {constant(0, word).name}", "even")
    sizes = code.intrinsic("llvm.fabs", back), code.intrinsic("llvm.fabs", value)
    above = code.op(flag, f"fcmp ogt {sizes[0]}, {sizes[1].name}", "above")
    step = code.select(above, constant(-1, word), constant(1, word))
    moved = code.op(word, f"add {bits}, {step.name}")
    odd = code.select(code.op(flag, f"and {inexact}, {even.name}"), moved, bits)
    return code.op(type, f"bitcast {odd} to {type}", "odd")


def rounded(code: Code, value: Value, dtype: DType) -> Value:
    """Return a float32 rounded to the nearest value of a 16-bit float type, ties to even; other types as they are."""
    if dtype == "bfloat16":
        return _rounded_bfloat(code, value)
    return from_memory(code, to_memory(code, value, dtype), dtype) if dtype == "float16" else value


def _rounded_bfloat(code: Code, value: Value) -> Value:
    """Add just under half of the last kept bit, or half where that bit is odd, and cut; a NaN becomes a quiet one."""
    word, flag = (vector(element, lanes_of(value.type)) for element in ("i32", "i1"))
    bits = code.op(word, f"bitcast {value} to {word}")
    last = code.op(word, f"lshr {bits}, {constant(16, word).name}")
    odd = code.op(word, f"and {last}, {constant(1, word).name}")
    up = code.op(word, f"add {odd}, {constant(0x7FFF, word).name}")
    near = code.op(word, f"add {bits}, {up.name}")
    quiet = code.op(word, f"or {bits}, {constant(0x400000, word).name}")
    nan = code.op(flag, f"fcmp uno {value}, {value.name}", "nan")
    kept = code.select(nan, quiet, near)
    cut = code.op(word, f"and {kept}, {constant(-0x10000, word).name}")
    return code.op(value.type, f"bitcast {cut} to {value.type}", "bf16")


def from_memory(code: Code, value: Value, dtype: DType, name: str = "t") -> Value:
    """Return what a load gave as a register value of the element type `dtype`."""
    if dtype.is_bool:
        return nonzero(code, value)
    if dtype == "bfloat16":
        return _shifted_up(code, value, name)
    if dtype != "float16":
        return value
    type = vector("float", lanes_of(value.type))
    if code.module.native_half:
        return code.op(type, f"fpext {value} to {type}", name)
    return _half_to_float(code, value)


def to_memory(code: Code, value: Value, dtype: DType) -> Value:
    """Return a register value of the element type `dtype` as a store takes it."""
    lanes = lanes_of(value.type)
    if dtype.is_bool:
        type = vector("i8", lanes)
        return code.op(type, f"zext {value} to {type}", "byte")
    if dtype == "bfloat16":
        word, type = vector("i32", lanes), vector("i16", lanes)
        bits = code.op(word, f"bitcast {value} to {word}")
        high = code.op(word, f"lshr {bits}, {constant(16, word).name}")
        return code.op(type, f"trunc {high} to {type}", "bf16")
    if dtype != "float16":
        return value
    if code.module.native_half:
        type = vector("half", lanes)
        return code.op(type, f"fptrunc {value} to {type}", "half")
    return _float_to_half(code, value)


def _shifted_up(code: Code, value: Value, name: str) -> Value:
    word, type = (vector(element, lanes_of(value.type)) for element in ("i32", "float"))
    wide = code.op(word, f"zext {value} to {word}")
    bits = code.op(word, f"shl {wide}, {constant(16, word).name}")
    return code.op(type, f"bitcast {bits} to {type}", name)


def _half_to_float(code: Code, value: Value) -> Value:
    """Shift the exponent and mantissa into place, scale by 2**112 for the other bias; infinity and NaN apart."""
    lanes = lanes_of(value.type)
    short, word, type, flag = (vector(element, lanes) for element in ("i16", "i32", "float", "i1"))
    bits = code.op(word, f"zext {code.op(short, f'bitcast {value} to {short}')} to {word}")
    size = code.op(word, f"and {bits}, {constant(0x7FFF, word).name}")
    placed = code.op(word, f"shl {size}, {constant(13, word).name}")
    number = code.op(type, f"bitcast {placed} to {type}")
    scaled = code.op(type, f"fmul {number}, {constant(2.0**112, type).name}")
    finite = code.op(word, f"bitcast {scaled} to {word}")
    special = code.op(word, f"or {placed}, {constant(0x7F800000, word).name}")
    is_special = code.op(flag, f"icmp uge {size}, {constant(0x7C00, word).name}")
    unsigned_bits = code.select(is_special, special, finite)
    sign = code.op(word, f"shl {code.op(word, f'xor {bits}, {size.name}')}, {constant(16, word).name}")
    return code.op(type, f"bitcast {code.op(word, f'or {unsigned_bits}, {sign.name}')} to {type}")


def _float_to_half(code: Code, value: Value) -> Value:
    """Round to nearest even in integers: normal numbers by a carry, small ones by an addition that aligns them."""
    lanes = lanes_of(value.type)
    short, word, half, flag = (vector(element, lanes) for element in ("i16", "i32", "half", "i1"))

    def whole(text: str) -> Value:
        return code.op(word, text)

    bits = whole(f"bitcast {value} to {word}")
    size = whole(f"and {bits}, {constant(0x7FFFFFFF, word).name}")
    odd = whole(f"and {whole(f'lshr {size}, {constant(13, word).name}')}, {constant(1, word).name}")
    carried = whole(f"add {whole(f'add {size}, {constant(0xFFF - (112 << 23), word).name}')}, {odd.name}")
    normal = whole(f"lshr {carried}, {constant(13, word).name}")
    number = code.op(value.type, f"bitcast {size} to {value.type}")
    aligned = whole(f"bitcast {code.op(value.type, f'fadd {number}, {constant(0.5, value.type).name}')} to {word}")
    small = whole(f"sub {aligned}, {constant(126 << 23, word).name}")
    is_nan = code.op(flag, f"fcmp uno {value}, {value.name}")
    large = code.select(is_nan, constant(0x7E00, word), constant(0x7C00, word))
    is_small = code.op(flag, f"icmp ult {size}, {constant(113 << 23, word).name}")
    is_large = code.op(flag, f"icmp uge {size}, {constant(143 << 23, word).name}")
    kept = code.select(is_large, large, code.select(is_small, small, normal))
    sign = whole(f"lshr {whole(f'xor {bits}, {size.name}')}, {constant(16, word).name}")
    narrow = code.op(short, f"trunc {whole(f'or {kept}, {sign.name}')} to {short}")
    return code.op(half, f"bitcast {narrow} to {half}", "half")
