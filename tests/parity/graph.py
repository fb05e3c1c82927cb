"""Rows: declaring what to compute."""

from __future__ import annotations

from .row import section

BUILDING = section(
    "Building the graph",
    """
    te.placeholder :: P = te.placeholder((n, 3), "int8", name="P"); assert (P.ndim, P.dtype, te.placeholder(()).ndim) == (2, "int8", 0)
    te.compute :: check(u, [X, Y], doubled)
    te.compute, several outputs :: P, Q = te.compute((16, 12), lambda i, j: (A[i, j] + 1, A[i, j] * 2)); check(te.create_schedule(P.op), [A, P, Q], lambda a: (a + 1, a * 2))
    te.compute, tag=, attrs=, varargs_names= :: P = te.compute((16, 12), lambda *i: A(*i), tag="t", attrs={"x": 1}, varargs_names=["y", "x"]); assert (P.op.tag, P.op.attrs["x"], P.op.axis[0].name) == ("t", 1, "y")
    te.compute, no dimensions :: P = te.compute((), lambda: A[0, 0] + 1); check(te.create_schedule(P.op), [A, P], lambda a: a[0, 0] + 1)
    te.compute, fewer arguments than dimensions :: te.compute((8, 4), lambda i: A[i, 0])
    te.compute, no value :: te.compute((8,), lambda i: None)
    te.compute, a reduction below the top :: te.compute((16,), lambda i: te.sum(A[i, k], axis=k) + 1)
    te.scan :: P = te.placeholder((n, 12)); S = te.scan(te.compute((1, 12), lambda _, i: X[0, i]), te.compute((n, 12), lambda t, i: P[t - 1, i] + X[t, i]), P, inputs=[X]); check(te.create_schedule(S.op), [X, S], lambda x: x.cumsum(0))
    te.scan, reading the step that is computed :: P = te.placeholder((n, 12)); te.scan(te.compute((1, 12), lambda _, i: X[0, i]), te.compute((n, 12), lambda t, i: P[t, i] + X[t, i]), P)
    te.extern, a Python function :: tvm.register_func("parity.twice", lambda x, y: y.__setitem__(..., x * 2), override=True); P = te.extern((16, 12), [A], lambda i, o: tir.call_packed("parity.twice", i[0], o[0]), dtype="float32"); check(te.create_schedule(P.op), [A, P], lambda a: a * 2)
    te.extern, a body of statements ::
        def body(ins, outs):
            ib = tir.ir_builder.create()
            a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
            with ib.for_range(0, 16 * 12, "i") as i:
                b[i] = a[i] * 3.0
            return ib.get()
        P = te.extern((16, 12), [A], body)
        check(te.create_schedule(P.op), [A, P], lambda a: a * 3)
    te.extern_primfunc :: P = te.extern_primfunc([A], tvm.lower(te.create_schedule(B.op), [A, B])); check(te.create_schedule(P.op), [A, P], doubled)
    te.var :: f = te.var("f", "float32"); P = te.compute((16, 12), lambda i, j: A[i, j] * f); check(te.create_schedule(P.op), [f, A, P], lambda f, a: a * f)
    te.size_var :: m = te.size_var("m"); assert int(m.min) == 0
    te.const :: assert te.const(3).dtype == "int32" and te.const(2, "float16").dtype == "float16"
    te.reduce_axis :: check(s, [A, C], sums)
    te.reduce_axis, one axis in two stages :: P = te.compute((16,), lambda i: te.sum(A[i, k], axis=k)); te.compute((16,), lambda i: te.sum(P[i] + k, axis=k))
    te.thread_axis :: assert te.thread_axis((0, 64), "threadIdx.x").thread_tag == te.thread_axis("threadIdx.x").thread_tag
    te.thread_axis, another extent than its loop :: t[D].bind(D.op.axis[0], te.thread_axis((0, 32), "threadIdx.x"))
    te.create_schedule :: assert [stage.op.name for stage in te.create_schedule([C.op, D.op]).stages] == ["A", "B", "C", "D"]
    te.create_schedule of a tensor :: te.create_schedule(C)
    te.create_prim_func :: check(te.create_schedule(C.op), [A, C], sums); assert te.create_prim_func([A, C]).name == "main"
    te.gradient :: (G,) = te.gradient(C, [A]); check(te.create_schedule(G.op), [A, G], lambda a: 2 * np.eye(16)[:, :, None] * np.ones((1, 1, 12)))
    te.gradient, head= :: H = te.placeholder((16,), name="H"); (G,) = te.gradient(C, [A], head=H); check(te.create_schedule(G.op), [A, H, G], lambda a, h: 2 * h[:, None] * np.ones((1, 12)))
    te.hybrid.script :: P = plus_one(A); check(te.create_schedule(P.op), [A, P], lambda a: a + 1)
    te.hybrid.build :: te.hybrid.build(t, [A], [D])
    """,
)

INTRINSICS = section(
    "Tensor intrinsics",
    """
    te.decl_tensor_intrin, s[T].tensorize :: z = te.create_schedule(B.op); z[B].tensorize(z[B].split(B.op.axis[1], 4)[1], doubling()); check(z, [A, B], doubled)
    TensorIntrin.__call__ in a compute :: intrin = doubling(); P = te.compute((16, 3, 4), lambda i, j: intrin(A[i, j * 4 : j * 4 + 4])); check(te.create_schedule(P.op), [A, P], lambda a: (a * 2 + 1).reshape(16, 3, 4))
    tir.decl_buffer :: b = tir.decl_buffer((4, n), "float32", name="b", offset_factor=1, strides=[te.var("p"), 1]); assert (b.dtype, b.scope) == ("float32", "global")
    """,
)

REDUCERS = section(
    "Reducers and folds of conditions",
    """
    te.comm_reducer :: r = te.comm_reducer(lambda x, y: x * y, lambda t: te.const(1, t), name="r"); P = te.compute((16,), lambda i: r(A[i, k], axis=k)); check(te.create_schedule(P.op), [A, P], lambda a: a.prod(1))
    te.comm_reducer of tuples :: r = te.comm_reducer(lambda x, y: (x[0] + y[0], te.max(x[1], y[1])), lambda a, b: (te.const(0, a), te.min_value(b))); P, Q = te.compute((16,), lambda i: r((A[i, k], A[i, k]), axis=k)); check(te.create_schedule(P.op), [A, P, Q], lambda a: (a.sum(1), a.max(1)))
    te.comm_reducer as a function of values :: gives(lambda x, y: te.max(x, y), np.maximum, "int32", "int32")
    te.sum :: check(s, [A, C], sums)
    te.sum, where= :: P = te.compute((16,), lambda i: te.sum(A[i, k], axis=k, where=k > 3)); check(te.create_schedule(P.op), [A, P], lambda a: a[:, 4:].sum(1))
    te.sum, init= :: P = te.compute((16,), lambda i: te.sum(A[i, k], axis=k, init=A[i, 0])); check(te.create_schedule(P.op), [A, P], lambda a: a.sum(1) + a[:, 0])
    te.sum over several axes :: r = te.reduce_axis((0, 16)); P = te.compute((), lambda: te.sum(A[r, k], axis=[r, k])); check(te.create_schedule(P.op), [A, P], lambda a: a.sum())
    te.sum over a data-dependent range :: I = te.placeholder((16,), "int32", name="I"); r = te.reduce_axis((0, 3)); P = te.compute((16,), lambda i: (lambda q: te.sum(A[i, q], axis=q))(te.reduce_axis((0, I[i])))); check(te.create_schedule(P.op), [A, I, P], lambda a, c: np.array([row[: int(e)].sum() for row, e in zip(a, c)]))
    te.max :: P = te.compute((16,), lambda i: te.max(A[i, k], axis=k)); check(te.create_schedule(P.op), [A, P], lambda a: a.max(1))
    te.min :: P = te.compute((16,), lambda i: te.min(A[i, k], axis=k)); check(te.create_schedule(P.op), [A, P], lambda a: a.min(1))
    te.any :: gives(lambda x: te.any(x < 2, x > 3).astype("int32"), lambda x: (x < 2) | (x > 3))
    te.all :: gives(lambda x: te.all(x > 1, x < 4).astype("int32"), lambda x: (x > 1) & (x < 4))
    te.all of nothing :: te.all()
    te.min_value :: assert te.min_value("int8").value == -128 and te.min_value("float16").value == -65504
    te.max_value :: assert te.max_value("int8").value == 127 and te.max_value("bool").value == 1
    """,
)

SECTIONS = (BUILDING, INTRINSICS, REDUCERS)
