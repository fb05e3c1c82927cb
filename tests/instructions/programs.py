"""A program for each instruction: two warps of a kernel, at level DEVICE."""

from __future__ import annotations

from tecomp.ir.instruction import INSTRUCTIONS, RANKS

ONE = """
    def f(A: f32[64], H: f16[64, 64], G: f16[4, 64, 64], B: out[f32[64]], C: out[i32[1]]) -> device:
        with launch(blockIdx_x=2, threadIdx_x=128):
            {statement}
"""
_SHARED = {
    "S[": "S = alloc(f32[64], 'shared')",
    "T,": "T = alloc(f16[64, 64], 'shared')",
    "bar[": "bar = alloc(u64[2], 'shared')",
}

_ADDRESSES = {
    "barrier": "address(bar[1], 'rw')",
    "dst": "address(S[4], 'w')",
    "src": "address(A[4], 'r')",
    "at": "address(C[0], 'rwu')",
}
_OTHERS = {
    "mask": "-1",
    "p": "A[threadIdx_x % 64] < 1.0",
    "value": "A[threadIdx_x % 64]",
    "threads": "64",
    "element": "A[threadIdx_x % 64]",
    "n": "0",
    "id": "1",
    "parity": "1",
    "swizzle": "128",
}
_OWN = {
    "mbarrier_init": {"barrier": "address(bar[1], 'w')"},
    "bulk_store": {"dst": "address(B[4], 'w')", "src": "address(S[4], 'r')"},
    "fetch_add": {"value": "i32(threadIdx_x)"},
    "registers_increase": {"n": "40"},
    "registers_decrease": {"n": "40"},
    **{
        f"tensor_load_{rank}d": {"dst": "address(T, 'w')", "tensor": f"address({of}, 'r')", "box_0": box}
        for rank, of, box in zip(RANKS, "AHG", ("32", "64", "64"), strict=True)
    },
    **{
        f"tensor_store_{rank}d": {"src": "address(T, 'r')", "tensor": f"address({of}, 'w')", "box_0": box}
        for rank, of, box in zip(RANKS, "BHG", ("32", "64", "64"), strict=True)
    },
}
_AROUND = {"wgmma_commit": ["wgmma_fence()", "wgmma_commit()", "wgmma_wait(0)"]}
"""What complains where it stands alone."""
_GIVES = {"bool": "B[threadIdx_x % 64] = 1.0 if {} else 0.0", "uint32": "B[threadIdx_x % 64] = f32({})"}


def call(name: str) -> str:
    """Return the text of a call that the table of instructions allows."""
    own = _OWN.get(name, {})
    known = INSTRUCTIONS[name].operands
    return f"{name}({', '.join(own.get(one.name) or _operand(one.name) for one in known)})"


def _operand(name: str) -> str:
    return _ADDRESSES.get(name) or _OTHERS.get(name) or ("64" if name.startswith("box") else "16")


def statement(name: str) -> str:
    """Return a statement that calls an instruction once."""
    gives, text = INSTRUCTIONS[name].gives, call(name)
    if name == "fetch_add":
        return f"old = {text}\n            C[0] = old"
    return _GIVES[gives].format(text) if gives in _GIVES else f"B[threadIdx_x % 64] = {text}" if gives else text


def program(name: str) -> str:
    """Return the program of an instruction."""
    return around("\n            ".join(_AROUND.get(name, [statement(name)])))


def around(statement: str) -> str:
    """Return the program of one statement, with the shared memory that it uses."""
    memory = [alloc for used, alloc in _SHARED.items() if used in statement]
    return ONE.format(statement="\n            ".join([*memory, statement]))
