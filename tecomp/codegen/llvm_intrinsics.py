"""The named operations as LLVM: intrinsics and short sequences.

The 16-bit floats are computed in float32 and rounded. What a name means is NumPy's: see `CALLS`.
"""

from __future__ import annotations

from ..dtype import DType
from ..errors import UnsupportedError
from ..ir import expr as E
from .llvm_arith import Emit
from .llvm_code import Code
from .llvm_convert import convert, from_memory, rounded, to_memory
from .llvm_library import LIBRARY, library
from .llvm_types import MEMORY, Value, constant, element_of, lanes_of, suffix, vector


def _library(code: Code, node: E.Call, *args: Value) -> Value:
    value = library(code, node.name, *args)
    return rounded(code, value, node.dtype.element)


def _intrinsic(stem: str) -> Emit:
    def emit(code: Code, node: E.Call, *args: Value) -> Value:
        value = code.intrinsic(stem, *args, name=node.name)
        return rounded(code, value, node.dtype.element)

    return emit


def _rounding(stem: str) -> Emit:
    """Round to an integer; integers are that already."""
    of_float = _intrinsic(stem)

    def emit(code: Code, node: E.Call, a: Value) -> Value:
        return of_float(code, node, a) if node.dtype.is_float else a

    return emit


def _fma(code: Code, node: E.Call, a: Value, b: Value, c: Value) -> Value:
    if node.dtype.is_float:
        return _fused(code, node, a, b, c)
    return code.op(a.type, f"add {code.op(a.type, f'mul {a}, {b.name}')}, {c.name}", "fma")


def _fused(code: Code, node: E.Call, *args: Value) -> Value:
    """Of 16-bit floats the sum is taken in double, where their product is exact."""
    if node.dtype.bits > 16:
        return code.intrinsic("llvm.fma", *args, name="fma")
    wide = vector("double", lanes_of(args[0].type))
    a, b, c = (code.op(wide, f"fpext {arg} to {wide}") for arg in args)
    exact = code.intrinsic("llvm.fma", a, b, c, name="fma")
    return convert(code, exact, DType("float64"), node.dtype.element)


def _rsqrt(code: Code, node: E.Call, a: Value) -> Value:
    root = code.intrinsic("llvm.sqrt", a, name="sqrt")
    return rounded(code, code.op(a.type, f"fdiv {code.like(1, a)}, {root.name}", "rsqrt"), node.dtype.element)


def _sigmoid(code: Code, node: E.Call, a: Value) -> Value:
    """1 / (1 + exp(-a)), by way of exp(-abs(a)), which does not overflow."""
    size = code.intrinsic("llvm.fabs", a)
    power = library(code, "exp", code.op(a.type, f"fneg {size}"))
    below = code.op(vector("i1", lanes_of(a.type)), f"fcmp olt {a}, {code.like(0, a).name}", "below")
    above = code.select(below, power, code.like(1, a))
    whole = code.op(a.type, f"fadd {power}, {code.like(1, a).name}")
    return rounded(code, code.op(a.type, f"fdiv {above}, {whole.name}", "sigmoid"), node.dtype.element)


def _abs(code: Code, node: E.Call, a: Value) -> Value:
    if node.dtype.is_float:
        return code.intrinsic("llvm.fabs", a, name="abs")
    if node.dtype.kind in ("uint", "bool"):
        return a
    return code.intrinsic("llvm.abs", a, extra=(Value("i1", "false"),), name="abs")


def _kind(finite: str) -> Emit:
    """Compare with infinity: isnan is unordered, isinf is equal in size, isfinite is smaller."""

    def emit(code: Code, node: E.Call, a: Value) -> Value:
        flag = vector("i1", lanes_of(a.type))
        if not node.args[0].dtype.is_float:
            return constant(node.name == "isfinite", flag)
        size = code.intrinsic("llvm.fabs", a)
        return code.op(flag, f"fcmp {finite} {size}, {code.like(float('inf'), a).name}", node.name)

    return emit


def _counted(stem: str, *extra: Value) -> Emit:
    def emit(code: Code, node: E.Call, a: Value) -> Value:
        count = code.intrinsic(stem, a, extra=extra, name=node.name)
        source = node.args[0].dtype.element
        return convert(code, count, DType(f"uint{source.bits}"), node.dtype.element)

    return emit


def _shift_left(code: Code, node: E.Call, a: Value, b: Value) -> Value:
    """0 where the count is not below the type's width, as in NumPy."""
    return _shifted(code, "shl", a, b, code.like(0, a))


def _shift_right(code: Code, node: E.Call, a: Value, b: Value) -> Value:
    """All sign bits where the count is not below the type's width, as in NumPy."""
    if node.dtype.kind == "uint":
        return _shifted(code, "lshr", a, b, code.like(0, a))
    last = int(element_of(a.type)[1:]) - 1
    return _shifted(code, "ashr", a, b, code.op(a.type, f"ashr {a}, {code.like(last, a).name}"))


def _shifted(code: Code, verb: str, a: Value, b: Value, beyond: Value) -> Value:
    width = int(element_of(a.type)[1:])
    within = code.op(vector("i1", lanes_of(a.type)), f"icmp ult {b}, {code.like(width, b).name}")
    count = code.select(within, b, code.like(0, b))
    return code.select(within, code.op(a.type, f"{verb} {a}, {count.name}"), beyond, "shift")


def _bitwise(verb: str) -> Emit:
    def emit(code: Code, node: E.Call, a: Value, b: Value) -> Value:
        return code.op(a.type, f"{verb} {a}, {b.name}", verb)

    return emit


def _ldexp(code: Code, node: E.Call, a: Value, b: Value) -> Value:
    exponent = convert(code, b, node.args[1].dtype.element, DType("int32"))
    symbol = f"llvm.ldexp.{suffix(a.type)}.{suffix(exponent.type)}"
    scaled = code.call(symbol, a.type, a, exponent, name="ldexp", attributes="")
    return rounded(code, scaled, node.dtype.element)


def _nextafter(code: Code, node: E.Call, a: Value, b: Value) -> Value:
    """Step the bits of a by one toward b: away from zero adds, toward it subtracts."""
    dtype, lanes = node.dtype.element, lanes_of(a.type)
    word, flag = vector(f"i{dtype.bits}", lanes), vector("i1", lanes)
    bits, sign = _bits(code, a, dtype, word), constant(-1 << dtype.bits - 1, word)
    below = code.op(flag, f"fcmp olt {a}, {b.name}")
    positive = code.op(flag, f"fcmp ogt {a}, {code.like(0, a).name}")
    away = code.op(flag, f"icmp eq {below}, {positive.name}", "away")
    step = code.select(away, constant(1, word), constant(-1, word))
    moved = code.op(word, f"add {bits}, {step.name}")
    toward = code.op(word, f"and {_bits(code, b, dtype, word)}, {sign.name}")
    least = code.op(word, f"or {toward}, {constant(1, word).name}")
    is_zero = code.op(flag, f"fcmp oeq {a}, {code.like(0, a).name}")
    next_bits = code.select(is_zero, least, moved)
    memory = vector(MEMORY[dtype], lanes)
    raw = next_bits if memory == word else code.op(memory, f"bitcast {next_bits} to {memory}")
    next_value = from_memory(code, raw, dtype, "nextafter")
    equal = code.op(flag, f"fcmp oeq {a}, {b.name}")
    nan = code.op(flag, f"fcmp uno {a}, {b.name}")
    both = code.op(a.type, f"fadd {a}, {b.name}")
    return code.select(nan, both, code.select(equal, b, next_value), "nextafter")


def _bits(code: Code, value: Value, dtype: DType, word: str) -> Value:
    raw = to_memory(code, value, dtype)
    return raw if raw.type == word else code.op(word, f"bitcast {raw} to {word}")


def _reinterpret(code: Code, node: E.Call, a: Value) -> Value:
    """The same bits, as what they are in memory; in lanes of another width, where there are as many of those."""
    source, result = node.args[0].dtype.element, node.dtype.element
    word = vector(f"i{source.bits}", lanes_of(a.type))
    bits = _bits(code, a, source, word) if source.is_float else a
    memory = vector(MEMORY[result], node.dtype.lanes)
    raw = bits if memory == word else code.op(memory, f"bitcast {bits} to {memory}")
    return from_memory(code, raw, result, "bits")


def _dot_of_bytes(code: Code, node: E.Call, a: Value, b: Value, c: Value) -> Value:
    """c plus the products of the four bytes, each taken out with the sign of its type."""
    down = "ashr" if node.dtype.kind == "int" else "lshr"
    total, top = c, code.like(24, a).name
    for byte in range(4):
        left = code.like(24 - 8 * byte, a).name
        x, y = (code.op(a.type, f"{down} {code.op(a.type, f'shl {value}, {left}')}, {top}") for value in (a, b))
        total = code.op(a.type, f"add {total}, {code.op(a.type, f'mul {x}, {y.name}').name}", "dot")
    return total


def _barrier(code: Code, node: E.Call) -> Value:
    raise UnsupportedError("a barrier on llvm", because="a CPU thread has no block to wait for", legal='target "cuda"')


CALLS: dict[str, Emit] = {
    **dict.fromkeys(LIBRARY, _library),
    "sqrt": _intrinsic("llvm.sqrt"),
    "copysign": _intrinsic("llvm.copysign"),
    "floor": _rounding("llvm.floor"),
    "ceil": _rounding("llvm.ceil"),
    "trunc": _rounding("llvm.trunc"),
    "round": _rounding("llvm.round"),
    "nearbyint": _rounding("llvm.nearbyint"),
    "fma": _fma,
    "dp4a": _dot_of_bytes,
    "reinterpret": _reinterpret,
    "regroup": _reinterpret,
    "rsqrt": _rsqrt,
    "sigmoid": _sigmoid,
    "abs": _abs,
    "isnan": _kind("uno"),
    "isinf": _kind("oeq"),
    "isfinite": _kind("olt"),
    "popcount": _counted("llvm.ctpop"),
    "clz": _counted("llvm.ctlz", Value("i1", "false")),
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "bitwise_and": _bitwise("and"),
    "bitwise_or": _bitwise("or"),
    "bitwise_xor": _bitwise("xor"),
    "ldexp": _ldexp,
    "nextafter": _nextafter,
    **dict.fromkeys(("barrier_block", "barrier_grid"), _barrier),
}
"""What a call of each name becomes."""
