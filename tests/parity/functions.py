"""Rows: functions of scalars, each against NumPy's."""

from __future__ import annotations

from typing import Final

from .row import Row, section

UNARY: Final = {
    "abs": "lambda x: te.abs(x - 3)", "acos": "lambda x: te.acos(x / 8)", "acosh": "te.acosh", "asin": "lambda x: te.asin(x / 8)",
    "asinh": "te.asinh", "atan": "te.atan", "atanh": "lambda x: te.atanh(x / 8)", "ceil": "lambda x: te.ceil(x / 4)",
    "cos": "te.cos", "cosh": "te.cosh", "erf": "te.erf", "exp": "te.exp", "floor": "lambda x: te.floor(x / 4)",
    "log": "te.log", "log2": "te.log2", "log10": "te.log10", "nearbyint": "lambda x: te.nearbyint(x / 2)",
    "round": "lambda x: te.round(x / 2)", "rsqrt": "te.rsqrt", "sigmoid": "te.sigmoid", "sin": "te.sin", "sinh": "te.sinh",
    "sqrt": "te.sqrt", "tan": "te.tan", "tanh": "te.tanh", "trunc": "lambda x: te.trunc(x / 4)",
}  # fmt: skip
"""Functions of one float, over 1 to 5 or what makes their arguments of those."""

REFERENCE: Final = {
    "abs": "lambda x: abs(x - 3)", "acos": "lambda x: np.arccos(x / 8)", "acosh": "np.arccosh", "asin": "lambda x: np.arcsin(x / 8)",
    "asinh": "np.arcsinh", "atan": "np.arctan", "atanh": "lambda x: np.arctanh(x / 8)", "ceil": "lambda x: np.ceil(x / 4)",
    "erf": "np.vectorize(__import__('math').erf)", "floor": "lambda x: np.floor(x / 4)", "nearbyint": "lambda x: np.rint(x / 2)",
    "round": "lambda x: np.floor(x / 2 + 0.5)", "rsqrt": "lambda x: x**-0.5", "sigmoid": "lambda x: 1 / (1 + np.exp(-x))",
    "trunc": "lambda x: np.trunc(x / 4)",
}  # fmt: skip


def unary(name: str) -> Row:
    dtypes = ", ".join(f'"{dtype}"' for dtype in ("float32", "float64", "float16"))
    want = REFERENCE.get(name, f"np.{name}")
    return Row(f"te.{name}", f"for d in ({dtypes}): gives({UNARY[name]}, {want}, d)")


TE = section(
    "Scalar functions of te",
    """
    te.if_then_else :: P = te.compute((16, 14), lambda i, j: te.if_then_else(te.all(j >= 1, j < 13), A[i, j - 1], 0.0)); check(te.create_schedule(P.op), [A, P], lambda a: np.pad(a, ((0, 0), (1, 1))))
    te.div :: gives(lambda x, y: te.div(x - 3, y), lambda x, y: np.trunc((x - 3) / y), "int32", "int32")
    te.truncdiv :: gives(lambda x, y: te.truncdiv(x - 3, y), lambda x, y: np.trunc((x - 3) / y), "int32", "int32")
    te.truncmod :: gives(lambda x, y: te.truncmod(x - 3, y), lambda x, y: np.fmod(x - 3, y), "int32", "int32")
    te.floordiv :: gives(lambda x, y: te.floordiv(x - 3, y), lambda x, y: (x - 3) // y, "int32", "int32")
    te.floormod :: gives(lambda x, y: te.floormod(x - 3, y), lambda x, y: (x - 3) % y, "int32", "int32")
    te.indexdiv :: gives(te.indexdiv, lambda x, y: x // y, "int32", "int32")
    te.indexmod :: gives(te.indexmod, lambda x, y: x % y, "int32", "int32")
    te.fmod :: gives(lambda x, y: te.fmod(x - 3, y), lambda x, y: np.fmod(x - 3, y), "float32", "float32")
    te.add :: gives(te.add, np.add, "float32", "float32")
    te.subtract :: gives(te.subtract, np.subtract, "float32", "float32")
    te.multiply :: gives(te.multiply, np.multiply, "float32", "float32")
    te.power :: gives(te.power, np.power, "float32", "float32")
    te.isfinite :: gives(lambda x: te.isfinite(x / (x - 3)).astype("int32"), lambda x: x != 3)
    te.isinf :: gives(lambda x: te.isinf(x / (x - 3)).astype("int32"), lambda x: x == 3)
    te.isnan :: gives(lambda x: te.isnan((x - 3) / (x - 3)).astype("int32"), lambda x: x == 3)
    te.popcount :: gives(te.popcount, np.vectorize(lambda x: int(x).bit_count()), "int32")
    """,
    [unary(name) for name in UNARY],
)

TIR = section(
    "Scalar functions of tir",
    """
    tir.exp2 :: gives(tir.exp2, np.exp2)
    tir.exp10 :: gives(tir.exp10, lambda x: 10**x)
    tir.log1p :: gives(tir.log1p, np.log1p)
    tir.atan2 :: gives(tir.atan2, np.arctan2, "float32", "float32")
    tir.nextafter :: gives(tir.nextafter, np.nextafter, "float32", "float32")
    tir.hypot :: gives(tir.hypot, np.hypot, "float32", "float32")
    tir.copysign :: gives(lambda x, y: tir.copysign(x, y - 3), lambda x, y: np.where(y < 3, -x, x), "float32", "float32")
    tir.ldexp :: gives(tir.ldexp, lambda x, y: x * 2**y, "float32", "int32")
    tir.clz :: gives(tir.clz, np.vectorize(lambda x: 32 - int(x).bit_length()), "int32")
    tir.pow :: gives(tir.pow, np.power, "float32", "float32")
    tir.reinterpret :: gives(lambda x: tir.reinterpret("float32", tir.reinterpret("int32", x)), lambda x: x)
    tir.infinity :: assert tir.infinity("float32").value == float("inf")
    tir.shift_left :: gives(tir.shift_left, lambda x, y: x * 2**y, "int32", "int32")
    tir.shift_right :: gives(lambda x, y: tir.shift_right(x * 64, y), lambda x, y: x * 64 // 2**y, "int32", "int32")
    tir.bitwise_and :: gives(tir.bitwise_and, np.vectorize(lambda x, y: int(x) & int(y)), "int32", "int32")
    tir.bitwise_or :: gives(tir.bitwise_or, np.vectorize(lambda x, y: int(x) | int(y)), "int32", "int32")
    tir.bitwise_xor :: gives(tir.bitwise_xor, np.vectorize(lambda x, y: int(x) ^ int(y)), "int32", "int32")
    tir.bitwise_not :: gives(tir.bitwise_not, lambda x: -x - 1, "int32")
    tir.q_multiply_shift :: gives(lambda x, y: tir.q_multiply_shift(x * 1000, y * 1000, 15, 2), lambda x, y: np.floor(x * y * 1e6 / 2**13 + 0.5), "int32", "int32")
    tir.q_multiply_shift_per_axis :: gives(lambda x, y: tir.q_multiply_shift_per_axis(x * 1000, y * 1000, 1, 2, 15), lambda x, y: np.floor(x * y * 1e6 / 2**16 + 0.5), "int32", "int32")
    tir.dp4a :: gives(lambda x, y: tir.dp4a(x * 0x01010101, y * 0x01010101, 5), lambda x, y: 4 * x * y + 5, "int32", "int32")
    tir.Select :: gives(lambda x: tir.Select(x > 2, x, -x), lambda x: np.where(x > 2, x, -x))
    tir.likely :: P = te.compute((16, 12), lambda i, j: te.if_then_else(tir.likely(j < 6), A[i, j], 0.0)); check(te.create_schedule(P.op), [A, P], lambda a: np.where(np.arange(12) < 6, a, 0))
    tir.vectorlow :: gives(tir.vectorlow, lambda x: x)
    tir.vectorhigh :: gives(tir.vectorhigh, lambda x: x)
    tir.vectorcombine :: gives(tir.vectorcombine, lambda x, y: x, "float32", "float32")
    tir.call_extern :: gives(lambda x: tir.call_extern("float32", "sqrtf", x), np.sqrt)
    tir.call_pure_extern :: gives(lambda x: tir.call_pure_extern("float32", "sqrtf", x), np.sqrt)
    tir.call_intrin :: gives(lambda x: tir.call_intrin("float32", "tir.sqrt", x), np.sqrt)
    tir.call_packed :: tvm.register_func("parity.half", lambda x, y: y.__setitem__(..., x / 2), override=True); P = te.extern((16, 12), [A], lambda i, o: tir.call_packed("parity.half", i[0], o[0]), dtype="float32"); check(te.create_schedule(P.op), [A, P], lambda a: a / 2)
    tir.call_llvm_intrin :: gives(lambda x: tir.call_llvm_intrin("float32", "llvm.sqrt", tir.const(1, "uint32"), x), np.sqrt)
    tir.call_llvm_pure_intrin :: gives(lambda x: tir.call_llvm_pure_intrin("float32", "llvm.sqrt", tir.const(1, "uint32"), x), np.sqrt)
    """,
    [
        Row(f"tir.{name}", f"tir.{name}")
        for name in (
            "tvm_load_matrix_sync", "tvm_fill_fragment", "tvm_mma_sync", "tvm_bmma_sync", "tvm_store_matrix_sync",
            "ptx_mma", "ptx_mma_sp", "ptx_ldmatrix", "ptx_cp_async", "ptx_commit_group", "ptx_wait_group", "mma_store",
            "mma_fill", "tvm_warp_shuffle", "tvm_warp_shuffle_up", "tvm_warp_shuffle_down", "tvm_warp_activemask",
            "tvm_storage_sync",
        )
    ],
)  # fmt: skip

SECTIONS = (TE, TIR)
