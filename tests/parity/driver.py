"""Rows: building and running, targets, options, and what a lowered program looks like."""

from __future__ import annotations

from .row import Row, section

_CONTEXT = "with tvm.transform.PassContext(config={OPTION}): check(t, [A, D], less)"


def option(name: str, value: str = "True") -> Row:
    return Row(f"{name}: {value}", _CONTEXT.replace("OPTION", f'"{name}": {value}'))


BUILD = section(
    "Lowering and building",
    """
    tvm.lower(s, args) :: assert str(tvm.lower(s, [A, C])).startswith("def main(A: f32[16, 12], C: out[f32[16]]):")
    tvm.lower, name=, simple_mode= :: assert "def f(" in str(tvm.lower(u, [X, Y], name="f", simple_mode=True))
    tvm.lower, binds= :: b = tir.decl_buffer(A.shape, A.dtype, name="a", strides=[16, 1]); assert "strides=[16, 1]" in str(tvm.lower(s, [A, C], binds={A: b}))
    tvm.lower of a program :: f = tvm.lower(s, [A, C]); assert str(tvm.lower(f, target="llvm")) == str(tvm.lower(s, [A, C], target="llvm"))
    tvm.lower(...)["main"] :: assert tvm.lower(s, [A, C])["main"].name == "main"
    tvm.build(s, args, target, name=) :: assert tvm.build(s, [A, C], "llvm", name="f").name == "f"
    tvm.build, target_host= :: tvm.build(s, [A, C], "llvm", "llvm")
    tvm.build, runtime= :: tvm.build(s, [A, C], runtime="crt")
    tvm.build, binds= :: b = tir.decl_buffer(A.shape, A.dtype); f = tvm.build(s, [b, C], binds={A: b}); a, c = np.ones((16, 12), "float32"), np.zeros(16, "float32"); f(a, c); assert (c == 36).all()
    tvm.build of a program :: f = tvm.build(tvm.lower(s, [A, C]), target="llvm"); a, c = np.ones((16, 12), "float32"), np.zeros(16, "float32"); f(a, c); assert (c == 36).all()
    tvm.build of {target: program} :: tvm.build({"llvm": tvm.lower(s, [A, C])})
    tvm.build, several outputs, some of them arguments :: P, Q = te.compute((16,), lambda i: (A[i, 0], A[i, 1])); check(te.create_schedule(P.op), [A, Q], lambda a: a[:, 1])
    tvm.build without arguments :: tvm.build(s)
    tvm.build, a tensor twice :: tvm.build(s, [A, A, C])
    tvm.build, no tensor :: tvm.build(s, [A, C, "x"])
    tvm.build, a tensor left out :: tvm.build(s, [C])
    tvm.build, a scalar left out :: f = te.var("f", "float32"); P = te.compute((16,), lambda i: A[i, 0] * f); tvm.build(te.create_schedule(P.op), [A, P])
    a call with another number of arguments :: tvm.build(s, [A, C])(np.zeros((16, 12), "float32"))
    a call with another type :: tvm.build(s, [A, C])(np.zeros((16, 12), "float64"), np.zeros(16, "float32"))
    a call with another shape :: tvm.build(s, [A, C])(np.zeros((16, 11), "float32"), np.zeros(16, "float32"))
    a call with strided arrays :: f = tvm.build(s, [A, C]); a, c = np.ones((32, 12), "float32")[::2], np.zeros(16, "float32"); f(a, c); assert (c == 36).all()
    """,
)

RUNTIME = section(
    "Running",
    """
    tvm.nd.array, .numpy(), .asnumpy(), .shape, .dtype, .copyto, .device :: a = tvm.nd.array(np.ones((2, 3), "float32"), tvm.cpu(0)); assert a.copyto(tvm.cpu()).asnumpy().sum() == a.numpy().sum() and (a.shape, a.dtype, a.device.kind) == ((2, 3), "float32", "cpu")
    tvm.nd.empty :: assert tvm.nd.empty((2, 3), "int8", tvm.cpu(0)).dtype == "int8"
    tvm.nd.from_dlpack, NDArray.__dlpack__ :: a = tvm.nd.from_dlpack(np.arange(3)); assert np.from_dlpack(a).sum() == 3
    a call with tvm.nd arrays :: a, c = tvm.nd.array(np.ones((16, 12), "float32")), tvm.nd.array(np.zeros(16, "float32")); tvm.build(s, [A, C])(a, c); assert (c.numpy() == 36).all()
    tvm.cpu, tvm.cuda, tvm.gpu, tvm.device, .exist :: assert tvm.cpu(0).exist and tvm.device("cuda", 0) == tvm.cuda(0) == tvm.gpu(0)
    module.time_evaluator :: f = tvm.build(s, [A, C]); t = f.time_evaluator(f.entry_name, tvm.cpu(0), number=2, repeat=3)(np.ones((16, 12), "float32"), np.zeros(16, "float32")); assert len(t.results) == 3 and t.min <= t.median <= t.max and t.mean > 0 and t.std >= 0
    module.get_source() :: assert "define" in tvm.build(s, [A, C]).get_source() and ".text" in tvm.build(s, [A, C]).get_source("asm")
    module.imported_modules[0].get_source() :: launched(t, D); t[B].compute_inline(); assert "__global__" in tvm.build(t, [A, D], GPU).imported_modules[0].get_source()
    module.entry_name, module["name"] :: f = tvm.build(s, [A, C], name="f"); assert f[f.entry_name] is f
    module.save :: tvm.build(s, [A, C]).save(file()); assert file().read_bytes().startswith(b"\\x7fELF")
    module.export_library, tvm.runtime.load_module :: tvm.build(s, [A, C]).export_library(file()); c = np.zeros(16, "float32"); tvm.runtime.load_module(file())(np.ones((16, 12), "float32"), c); assert (c == 36).all()
    tvm.register_func :: tvm.register_func("parity.f", lambda: None, override=True)
    tvm.testing.assert_allclose :: tvm.testing.assert_allclose(np.ones(3), np.ones(3), rtol=1e-5)
    tvm.testing.device_enabled, tvm.runtime.enabled :: assert tvm.testing.device_enabled("llvm") and tvm.runtime.enabled("llvm") and not tvm.runtime.enabled("metal")
    tvm.rpc :: tvm.rpc
    tvm.IRModule :: tvm.IRModule
    tvm.convert :: tvm.convert
    tvm.DataType :: tvm.DataType
    tvm.TVMError :: tvm.TVMError
    tvm.error :: tvm.error
    tvm.target.create :: tvm.target.create("llvm")
    te.hybrid.parse :: te.hybrid.parse
    tir.AttrStmt :: tir.AttrStmt
    tir.Let :: tir.Let
    tir.StringImm :: tir.StringImm("s")
    tir.generic :: tir.generic
    tir.tvm_access_ptr :: tir.tvm_access_ptr
    tir.tvm_call_packed :: tir.tvm_call_packed
    tir.transform :: tir.transform
    autotvm.template, cfg.define_split, cfg["tile"].apply :: tvm.autotvm
    auto_scheduler: te.default_schedule :: check(te.default_schedule([C], "llvm"), [A, C], sums)
    tvm.contrib.tedd: print(s), s.explain() :: assert "C" in str(s) and s.explain()
    tvm.tir.analysis.verify_gpu_code: a build checks :: tir.analysis.verify_gpu_code
    tvm.tir.analysis.estimate_tir_flops :: tir.analysis.estimate_tir_flops
    tvm.ir.register_op_attr :: tvm.ir.register_op_attr
    tvm.ir.register_intrin_lowering :: tvm.ir.register_intrin_lowering
    """,
)

TARGETS = section(
    "Targets",
    """
    tvm.target.Target("llvm -mcpu=...") :: assert str(tvm.target.Target("llvm -mcpu=skylake")) == "llvm -mcpu=skylake"
    -mattr :: assert tvm.target.Target("llvm -mattr=+avx2").mattr == "+avx2"
    -mtriple of this machine :: import platform; tvm.target.Target(f"llvm -mtriple={platform.machine()}-unknown-linux-gnu")
    -mtriple of another machine :: tvm.target.Target("llvm -mtriple=riscv64-unknown-linux-gnu")
    -arch :: assert tvm.target.Target("cuda -arch=sm_90a").arch == "sm_90a"
    -libs :: tvm.target.Target("cuda -libs=cublas")
    max_num_threads, thread_warp_size, max_shared_memory_per_block :: x = tvm.target.Target("cuda -arch=sm_90a -max_num_threads=512"); assert (x.max_num_threads, x.thread_warp_size, x.max_shared_memory_per_block) == (512, 32, 232448)
    unroll_local_access :: tvm.target.Target("cuda -unroll_local_access=1")
    with Target(...), Target.current() :: with tvm.target.Target("cuda -arch=sm_80") as x: assert tvm.target.Target.current() is x
    tvm.target.cuda, tvm.target.llvm :: assert tvm.target.cuda(arch="sm_80").kind.name == "cuda" and tvm.target.llvm().kind.name == "llvm"
    another kind of target :: tvm.target.Target("opencl")
    """,
)

OPTIONS = section(
    "Options of PassContext",
    """
    opt_level= :: with tvm.transform.PassContext(opt_level=3): check(t, [A, D], less)
    disabled_pass= :: with tvm.transform.PassContext(disabled_pass=["tir.LoopPartition", "tir.UnrollLoop"]): check(t, [A, D], less)
    disabled_pass= of one that is needed :: tvm.transform.PassContext(disabled_pass=["tir.StorageFlatten"])
    instruments= :: tvm.transform.PassContext(instruments=[1])
    an unknown option :: tvm.transform.PassContext(config={"tir.no_such_option": 1})
    tir.add_lower_pass :: seen = []
        with tvm.transform.PassContext(config={"tir.add_lower_pass": [(1, lambda f: seen.append(f) or f)]}): check(t, [A, D], less)
        assert seen
    tir.instrument_bound_checkers, a read outside :: I = te.placeholder((16,), "int32", name="I"); P = te.compute((16,), lambda i: A[I[i], 0]); f = None
        with tvm.transform.PassContext(config={"tir.instrument_bound_checkers": True}): f = tvm.build(te.create_schedule(P.op), [A, I, P])
        f(np.ones((16, 12), "float32"), np.full(16, 99, "int32"), np.zeros(16, "float32"))
    """,
    [
        option("tir.noalias"),
        option("tir.noalias", "False"),
        option("tir.instrument_bound_checkers"),
        option("tir.disable_vectorize"),
        option("tir.disable_cse_tir"),
        option("tir.UnrollLoop", '{"auto_max_step": 16, "explicit_unroll": 0}'),
        option("tir.UnrollLoop", '{"auto_max_depth": 4}'),
        option("tir.UnrollLoop", '{"auto_max_extent": 4}'),
        option("tir.UnrollLoop", '{"unroll_local_access": 1}'),
        option("tir.LoopPartition", '{"partition_const_loop": True}'),
        option("tir.LoopPartition", '{"no_unroll_loop_with_extent_one": True}'),
        option("tir.LoopPartition", '{"unroll_loop_with_partition_hint_no_interval": True}'),
        option("tir.InjectDoubleBuffer", '{"split_loop": 1}'),
        option("tir.HoistIfThenElse", '{"support_block_scope_hosting": 1}'),
        option("te.keep_schedule_record"),
        option("cuda.kernels_output_dir", '"/tmp"'),
        *(
            option(f"tir.{name}")
            for name in (
                "detect_global_barrier", "disable_assert", "enable_buffer_level_predication",
                "enable_equiv_terms_in_cse_tir", "enable_debug", "disable_storage_rewrite", "is_entry_func",
                "debug_keep_trivial_loop", "use_async_copy", "merge_static_smem", "instrument_lwp", "vtcm_capacity",
                "ptx_ldg32", "experimental_dma_bypass_cache", "lwp_disable_func_prof",
            )
        ),
        *(
            option(f"tir.{name}", "{}")
            for name in ("Simplify", "HoistExpression", "RemoveNoOp", "ReduceBranchingThroughOvercompute")
        ),
    ],
)  # fmt: skip

PROGRAMS = section(
    "A lowered program",
    """
    tvm.lower(...).astext(): str(...) :: assert str(tvm.lower(t, [A, D]))
    For: .loop_var, .min, .extent, .kind, .body :: loop = te.schedule.ScheduleOps(te.create_schedule(B.op)); assert isinstance(loop, tir.For) and (loop.loop_var.name, loop.min.value, loop.extent.value, loop.kind) == ("i", 0, 16, tir.ForKind.SERIAL)
    IfThenElse: .condition, .then_case, .else_case :: u[Y].split(Y.op.axis[0], 4); found = []; tir.stmt_functor.post_order_visit(te.schedule.ScheduleOps(u), found.append); branch = next(x for x in found if isinstance(x, tir.IfThenElse)); assert branch.then_case and branch.else_case is None
    BufferStore, BufferLoad: .buffer, .indices, .value :: found = []; tir.stmt_functor.post_order_visit(te.schedule.ScheduleOps(te.create_schedule(B.op)), found.append); store = next(x for x in found if isinstance(x, tir.BufferStore)); assert store.buffer.name == "B" and len(store.indices) == 2 and any(isinstance(x, tir.BufferLoad) for x in found)
    Allocate, SeqStmt :: found = []; tir.stmt_functor.post_order_visit(te.schedule.ScheduleOps(s), found.append); assert any(isinstance(x, tir.Allocate) for x in found) and any(isinstance(x, tir.SeqStmt) for x in found)
    Ramp, Broadcast :: assert (tir.Ramp(0, 2, 4).dtype, tir.Broadcast(1.0, 4).dtype) == ("int32x4", "float32x4")
    LetStmt, Evaluate, Call :: assert all(isinstance(x, type) for x in (tir.LetStmt, tir.Evaluate, tir.Call))
    For.thread, For.pragmas (TE's AttrStmt) :: t[D].pragma(D.op.axis[0], "auto_unroll_max_step", 4); launched(t, B); found = []; tir.stmt_functor.post_order_visit(te.schedule.ScheduleOps(t), found.append); assert any(x.pragmas for x in found if isinstance(x, tir.For)) and any(x.thread == "threadIdx.x" for x in found if isinstance(x, tir.For))
    """,
)

SECTIONS = (BUILD, RUNTIME, TARGETS, OPTIONS, PROGRAMS)
