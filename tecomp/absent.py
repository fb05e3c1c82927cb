"""Names that TVM has and this has not: what to write instead of each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

from .errors import UserError


class AbsentName(UserError, AttributeError):
    """A name of TVM's that has no place here; the message says what serves instead."""


class AbsentModule(UserError, ImportError):
    """What is imported has no place here; the message says what serves instead."""


_DEVICE: Final = "s[T].tensorize with tir.tvm_load_matrix_sync, tir.tvm_mma_sync, tir.tvm_store_matrix_sync"
_SHUFFLE: Final = 's[T].bind of a reduction to threadIdx.x, or s[T].set_scope("warp")'

INSTEAD: Final[Mapping[str, Mapping[str, str]]] = {
    "tecomp": {
        "rpc": "module.export_library(path), and tecomp.runtime.load_module(path) on the other machine",
        "autotvm": "a loop over schedules in Python, for example with Optuna",
        "auto_scheduler": "te.default_schedule(outputs, target)",
        "contrib": "print(s) and s.explain() in place of tedd; te.extern in place of libraries",
        "get_global_func": "the function itself, in Python",
        "topi": "te.compute",
        "relay": "te.compute",
        "get_global_func_names": "the functions themselves, in Python",
        "IRModule": "tecomp.ir.func.Func: tecomp.lower gives one function",
        "convert": "numbers, lists and expressions as they are",
        "DataType": "tecomp.dtype.DType(name)",
        "TVMError": "tecomp.errors.TecompError",
        "error": "tecomp.errors",
        "script": "te.compute and te.hybrid.script; tecomp.ir.parse reads printed programs",
        "context": "tecomp.device(kind, index)",
        "ndarray": "tecomp.nd",
        "var": "te.var",
        "opencl": "tecomp.cuda",
        "register_intrin": "te.decl_tensor_intrin",
    },
    "tecomp.ir": {
        "register_op_attr": "tir.call_extern, tir.call_llvm_intrin",
        "register_intrin_lowering": "tir.call_extern, tir.call_llvm_intrin",
        "save_json": "te.save(s), pickle.dumps(s)",
        "load_json": "te.load(text), pickle.loads(data)",
    },
    "tecomp.te.hybrid": {"build": "tecomp.build(s, args)", "parse": "te.hybrid.script, a decorator"},
    "tecomp.target": {
        "create": "tecomp.target.Target(text)",
        "intrin": "tir.call_extern, tir.call_llvm_intrin",
        "register_intrin_rule": "tir.call_extern, tir.call_llvm_intrin",
    },
    "tecomp.tir": {
        "analysis": "tecomp.build, which checks what its target allows; operations are counted in the program",
        "tvm_bmma_sync": _DEVICE,
        "ptx_mma_sp": "tir.mma_m16n8k16",
        "mma_store": "a loop that stores the elements of each thread, or tir.stmatrix_x4",
        "mma_fill": "a loop that stores 0.0 to each element",
        "ptx_cp_async_barrier": "tir.cp_async_mbarrier_arrive(bar[0])",
        "create_barriers": 'ib.allocate("uint64", (n,), scope="shared"), and tir.mbarrier_init(bar[0], count)',
        "tvm_warp_activemask": _SHUFFLE,
        "AttrStmt": "For.thread and For.pragmas to look at; ib.scope_attr to make one",
        "Let": "tir.LetStmt, of which a value is part",
        "StringImm": "the text itself, where a pragma or an attribute takes one",
        "Schedule": "te.create_schedule",
        "Load": "tir.BufferLoad",
        "Store": "tir.BufferStore",
        "SizeVar": "te.size_var",
        "CommReducer": "te.comm_reducer",
        "stmt_seq": "ib.emit of one after the other",
        "stmt_list": "stmt.stmts of a tir.SeqStmt",
        "layout": "s[T].transform_layout(map)",
        "bijective_layout": "s[T].transform_layout(map)",
        "generic": "the operators of Python",
        "tvm_access_ptr": "buffer.access_ptr(mode)",
        "tvm_call_packed": "tir.call_packed(f, ...)",
        "transform": "tecomp.transform.PassContext(config={...})",
    },
}
"""By module and name."""


def absent(module: str, name: str) -> AttributeError:
    """Return the error of a name that a module has not: Python's, or for a name of TVM's one that says more."""
    instead = INSTEAD.get(module, {}).get(name)
    if instead is None:
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    return AbsentName(f"{module}.{name}", "there is none", instead)


class Finder:
    """Asked last for a module that is imported: one of TVM's, as in `from tecomp import topi`, is refused in words."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        """Raise AbsentModule for a name of the table."""
        module, _, name = fullname.rpartition(".")
        instead = INSTEAD.get(module, {}).get(name)
        if instead is not None:
            raise AbsentModule(f"import of {fullname}", "there is none", instead)


sys.meta_path.append(Finder)
