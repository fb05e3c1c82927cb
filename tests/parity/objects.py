"""Rows: tensors, operations, expressions, schedules and stages as objects."""

from __future__ import annotations

from .row import Row, section

MARKERS = section(
    "Tags, markers, classes",
    """
    te.tag_scope, with :: with te.tag_scope("t"): P = te.compute((16, 12), lambda i, j: A[i, j])
        assert P.op.tag == "t"
    te.tag_scope, decorator :: assert te.tag_scope(tag="t")(lambda: te.compute((16,), lambda i: A[i, 0]))().op.tag == "t"
    te.tag_scope inside another :: with te.tag_scope("t"), te.tag_scope("u"): pass
    te.trace :: P = te.compute((16, 12), lambda i, j: te.trace([A[i, j]]))
    te.SpecializedCondition :: te.SpecializedCondition([n > 4])
    te.AXIS_SEPARATOR :: from tecomp.te import AXIS_SEPARATOR
    """,
    [
        Row(f"te.{name}", f"assert isinstance(te.{name}, type)")
        for name in ("Schedule", "Stage", "Tensor", "TensorSlice", "PlaceholderOp", "ComputeOp", "TensorComputeOp",
                     "ScanOp", "ExternOp", "HybridOp")
    ],
)  # fmt: skip

INTERNAL = section(
    "te.schedule and functions that TVM's own tests call",
    """
    te.schedule.InferBound :: xo, xi = u[Y].split(Y.op.axis[0], 4); bounds = te.schedule.InferBound(u.normalize()); assert bounds[xi].extent.value == 4 and bounds[xo].extent == (n + 3) // 4
    te.schedule.ScheduleOps :: body = te.schedule.ScheduleOps(s, te.schedule.InferBound(s)); assert isinstance(body, tir.Stmt)
    te.schedule.SchedulePostProcToPrimFunc :: te.schedule.SchedulePostProcToPrimFunc([A, C], None, None)
    te.schedule.CreateReadGraph :: assert te.schedule.CreateReadGraph([C.op])[C.op] == (B,)
    te.schedule.CreateFeedGraph :: assert te.schedule.CreateFeedGraph(te.schedule.CreateReadGraph([C.op]))[B] == (C.op,)
    te.schedule.PostDFSOrder :: assert te.schedule.PostDFSOrder([C.op], None) == [A.op, B.op, C.op]
    te.schedule.CreateAttachPath :: s[B].compute_at(s[C], C.op.axis[0]); assert te.schedule.CreateAttachPath(s)[B.op] == [C.op.axis[0]]
    te.schedule.ScanGetBody :: P = te.placeholder((n, 12)); U = te.compute((n, 12), lambda t, i: P[t - 1, i] + X[t, i]); S = te.scan(te.compute((1, 12), lambda _, i: X[0, i]), U, P); assert te.schedule.ScanGetBody(S.op) == [U.op]
    te.schedule.ScanFixPointAnalysis :: P = te.placeholder((n, 12)); S = te.scan(te.compute((1, 12), lambda _, i: X[0, i]), te.compute((n, 12), lambda t, i: P[t - 1, i]), P); assert te.schedule.ScanFixPointAnalysis(S.op)[S.op.spatial_axis_[0]].value == 1
    te.schedule.VerifyCompactBuffer :: te.schedule.VerifyCompactBuffer(te.schedule.ScheduleOps(s))
    te.schedule.AutoInlineElemWise :: te.schedule.AutoInlineElemWise(t); check(t, [A, D], less); assert "alloc" not in str(tvm.lower(t, [A, D]))
    te.schedule.AutoInlineBroadcast :: te.schedule.AutoInlineBroadcast(t); check(t, [A, D], less)
    te.schedule.AutoInlineInjective :: te.schedule.AutoInlineInjective(s); check(s, [A, C], sums)
    get_global_func("test.op.InferTensorizeRegion") :: tvm.get_global_func("test.op.InferTensorizeRegion")
    get_global_func("test.op.MatchTensorizeBody") :: tvm.get_global_func("test.op.MatchTensorizeBody")
    """,
)

TENSORS = section(
    "Tensors and operations",
    """
    Tensor.op, .value_index, .shape, .ndim, .dtype, .axis, .name :: assert (C.op.name, C.value_index, C.shape[0].value, C.ndim, C.dtype, C.axis[0], C.name) == ("C", 0, 16, 1, "float32", C.op.axis[0], "C")
    Tensor.astype of one element :: P = te.compute((), lambda: A[1, 1]); assert P.astype("int32").dtype == "int32"
    Tensor.equal, of one element :: P = te.compute((), lambda: A[1, 1]); assert P.equal(3).dtype == "bool"
    Tensor.same_as :: assert A.same_as(A) and not A.same_as(B)
    T(i, j), T[i, j], T[i][j] :: i = te.var("i"); assert bool(A(i, 1) == A[i, 1]) and bool(A[i][1] == A[i, 1])
    T[i, a:b] in a compute :: te.compute((16,), lambda i: A[i, 0:4])
    T[i] of two dimensions as a number :: te.compute((16,), lambda i: A[i] + 1)
    Tensor ==, hash :: assert (A == A) is True and (A == B) is False and {A: 1}[A] == 1
    Operation.output, .num_outputs, .input_tensors, .name, .tag, .attrs :: op = C.op; assert (op.output(0), op.num_outputs, op.input_tensors, op.name, op.tag, op.attrs) == (C, 1, (B,), "C", "", {})
    ComputeOp.axis, .reduce_axis, .body :: assert (C.op.axis[0].name, C.op.reduce_axis[0], len(C.op.body)) == ("i", k, 1)
    ScanOp.scan_axis, .spatial_axis_, .init, .update, .state_placeholder, .inputs :: P = te.placeholder((n, 12)); S = te.scan(te.compute((1, 12), lambda _, i: X[0, i]), te.compute((n, 12), lambda t, i: P[t - 1, i] + X[t, i]), P, inputs=[X]).op; assert S.scan_axis.name == "scan.idx" and len(S.spatial_axis_) == 1 and S.state_placeholder == (P,) and S.inputs == (X,) and S.init and S.update
    ExternOp.body, .input_placeholders :: P = te.extern((16, 12), [A], lambda i, o: tir.call_packed("parity.none", i[0], o[0]), dtype="float32"); assert len(P.op.input_placeholders) == 1 and P.op.body is not None
    Tensor with Tensor: A + B :: A + B
    a read that is outside for every index :: te.compute((16, 12), lambda i, j: A[i + 100, j])
    a dimension of extent 0 :: E = te.placeholder((0, 3)); P = te.compute((0, 3), lambda i, j: E[i, j] + 1); check(te.create_schedule(P.op), [E, P], lambda e: e + 1)
    a size of int64 :: m = te.var("m", "int64"); P = te.placeholder((m,)); Q = te.compute((m,), lambda i: P[i] + 1); z = te.create_schedule(Q.op); z[Q].split(Q.op.axis[0], 4); check(z, [P, Q], lambda p: p + 1)
    bool tensors :: gives(lambda x: te.if_then_else(x, 1, 0), lambda x: x, "bool")
    bfloat16 tensors :: gives(lambda x: x + 1, lambda x: x + 1, "bfloat16")
    float8 tensors :: te.placeholder((4,), "e4m3_float8")
    int4 tensors :: te.placeholder((4,), "int4")
    vector types: float32x4 :: P = te.placeholder((4,), "float32x4"); Q = te.compute((4,), lambda i: P[i] + P[i]); tvm.build(te.create_schedule(Q.op), [P, Q])
    custom types :: te.placeholder((4,), "custom[posit]16")
    """,
)

EXPRESSIONS = section(
    "Operators and promotion",
    """
    + - * // % :: gives(lambda x, y: (x + y) * 2 - x // y + x % y, lambda x, y: (x + y) * 2 - x // y + x % y, "int32", "int32")
    / of floats :: gives(lambda x, y: x / y, lambda x, y: x / y, "float32", "float32")
    / of two integers :: te.var("i") / te.var("j")
    << >> & | ^ ~ :: gives(lambda x, y: ((x << 2) >> 1 & 7 | y ^ 1) + ~x, np.vectorize(lambda x, y: ((int(x) << 2) >> 1 & 7 | int(y) ^ 1) + ~int(x)), "int32", "int32")
    -x :: gives(lambda x: -x, lambda x: -x)
    < <= > >= == != :: gives(lambda x, y: te.all(te.any(x < y, x >= y), te.any(x <= y, x > y), te.any(x == y, x != y)).astype("int32"), lambda x, y: x * 0 + 1, "int32", "int32")
    x.astype :: gives(lambda x: (x / 2).astype("int32"), lambda x: np.trunc(x / 2))
    x.astype of an unknown type :: te.var("x").astype("foo32")
    and, or, not, if :: te.var("x") > 0 and te.var("y") > 0
    bool(a == b) :: x = te.var("x"); assert bool(x + 1 == x + 1) and not bool(x == te.var("x"))
    integer with float :: assert (te.var("i") + te.var("f", "float32")).dtype == "float32"
    same kind, other width :: assert (te.var("h", "float16") + te.var("f", "float32")).dtype == "float32" and (te.var("b", "int8") + te.var("i")).dtype == "int32"
    uint8 with int8: the type that holds both :: assert (te.var("u", "uint8") * te.var("i", "int8")).dtype == "int16"
    uint64 with int64 :: te.var("u", "uint64") * te.var("i", "int64")
    a Python number takes the other's type :: assert (te.var("h", "float16") + 1).dtype == "float16" and (te.var("b", "int8") + 1).dtype == "int8"
    a Python number that does not fit :: te.var("b", "int8") + 300
    bool in arithmetic :: (te.var("i") > 0) + 1
    te.sum keeps the type of what it adds :: P = te.placeholder((16, 12), "float16"); assert te.compute((16,), lambda i: te.sum(P[i, k], axis=k)).dtype == "float16"
    """,
)

SCHEDULES = section(
    "Schedules and stages",
    """
    Schedule.outputs, .stages, s[tensor], s[op] :: assert s.outputs == (C.op,) and s[C].op is s[C.op].op and len(s.stages) == 3
    Schedule.stage_map :: assert s.stage_map[C.op].op is C.op
    Schedule.groups :: g = s.create_group(outputs=C, inputs=B, include_inputs=True); assert s.groups == [g]
    Schedule.normalize :: assert s.normalize() is s
    Schedule.copy :: c = s.copy(); s[C].split(C.op.axis[0], 4); assert c.text() == ""
    s[tensor] of another program :: s[X]
    te.keep_schedule_record, Schedule.schedule_record: s.history :: s[C].split(C.op.axis[0], 4); assert s.history[0].primitive == "split"
    save_json, load_json: te.save, te.load :: s[C].split(C.op.axis[0], 4); s[B].set_store_predicate(B.op.axis[0] < 99); text = te.save(s); assert te.save(te.load(text)) == text
    pickle :: import pickle; s[C].split(C.op.axis[0], 4); r, P = pickle.loads(pickle.dumps((s, C))); assert r.text() == s.text() and r[P].leaf_iter_vars
    Stage.op :: assert s[C].op is C.op
    Stage.origin_op :: assert s[C].origin_op is C.op
    Stage.all_iter_vars, .leaf_iter_vars, .relations :: xo, xi = s[C].split(C.op.axis[0], 4); assert s[C].leaf_iter_vars == (xo, xi, k) and len(s[C].all_iter_vars) == 4 and len(s[C].relations) == 1
    Stage.iter_var_attrs :: s[B].unroll(B.op.axis[0]); assert s[B].iter_var_attrs[B.op.axis[0]].kind.value == "unrolled"
    Stage.attach_type, .attach_ivar, .attach_stage :: s[B].compute_at(s[C], C.op.axis[0]); assert s[B].attach_ivar is C.op.axis[0] and s[B].attach_stage is C.op and s[B].attach_type
    Stage.scope :: s[B].set_scope("local"); assert s[B].scope == "local"
    Stage.is_output :: assert s[C].is_output and not s[B].is_output
    Stage.group :: assert s[C].group is None; g = s.create_group(outputs=C, inputs=B, include_inputs=True); assert s[C].group is g
    Stage.num_child_stages :: assert s[C].num_child_stages == 0
    Stage.layout_transforms, .axis_separators: they are one layout :: t[B].transform_layout(lambda i, j: [j, i]); assert t[B].layout_transforms
    Stage.double_buffer, .env_threads: they are primitives :: assert callable(s[C].double_buffer) and callable(s[C].env_threads)
    IterVar.dom, .var, .iter_type: its kind :: assert (k.dom.extent.value, k.var.name, k.kind.value) == (12, "k", "reduce")
    """,
)

SECTIONS = (MARKERS, INTERNAL, TENSORS, EXPRESSIONS, SCHEDULES)
