"""Rows: the primitives of a schedule, scopes, thread tags, pragmas."""

from __future__ import annotations

from .row import Row, section

LOOPS = section(
    "Primitives: loop structure",
    """
    split, factor= :: u[Y].split(Y.op.axis[0], factor=4); check(u, [X, Y], doubled)
    split, nparts= :: u[Y].split(Y.op.axis[0], nparts=4); check(u, [X, Y], doubled)
    split, a symbolic factor :: f = te.var("f"); u[Y].split(Y.op.axis[0], factor=f); check(u, [f, X, Y], lambda f, x: x * 2 + 1)
    split, factor greater than the extent :: t[D].split(D.op.axis[1], factor=64); check(t, [A, D], less)
    split, disable_predication= :: t[D].split(D.op.axis[1], factor=4, disable_predication=True); check(t, [A, D], less)
    split, disable_predication= of another extent :: t[D].split(D.op.axis[1], factor=5, disable_predication=True); check(t, [A, D], less)
    split, factor=-4 :: t[D].split(D.op.axis[0], factor=-4)
    split, factor=0 :: t[D].split(D.op.axis[0], factor=0)
    split, factor and nparts :: t[D].split(D.op.axis[0], factor=4, nparts=4)
    split, neither :: t[D].split(D.op.axis[0])
    split, an axis that was split :: t[D].split(D.op.axis[0], 4); t[D].split(D.op.axis[0], 4)
    split, an axis of another stage :: t[D].split(B.op.axis[0], 4)
    fuse :: t[D].fuse(*D.op.axis); check(t, [A, D], less)
    fuse, in the other order :: i, j = D.op.axis; t[D].fuse(j, i); check(t, [A, D], less)
    fuse, nothing :: t[D].fuse(); check(t, [A, D], less)
    fuse, data with reduction :: s[C].fuse(C.op.axis[0], k); check(s, [A, C], sums)
    fuse, a list :: t[D].fuse(list(D.op.axis))
    fuse, not next to each other :: xo, xi = t[D].split(D.op.axis[0], 4); t[D].fuse(xo, D.op.axis[1])
    reorder :: i, j = D.op.axis; t[D].reorder(j, i); check(t, [A, D], less)
    reorder, reduction outside :: s[C].reorder(k, C.op.axis[0]); check(s, [A, C], sums)
    reorder, an axis twice :: t[D].reorder(D.op.axis[0], D.op.axis[0])
    tile :: t[D].tile(*D.op.axis, 4, 5); check(t, [A, D], less)
    pad of an axis to a multiple :: t[B].pad(B.op.axis[1], 8); check(t, [A, D], less)
    """,
)

MARKS = section(
    "Primitives: how loops run",
    """
    bind :: launched(t, B); launched(t, D); check(t, [A, D], less, GPU)
    bind, a loop of several sizes :: b, i = u[Y].split(Y.op.axis[0], 8); u[Y].bind(b, te.thread_axis("blockIdx.x")); u[Y].bind(i, te.thread_axis("threadIdx.x")); check(u, [X, Y], doubled, GPU)
    bind to no thread axis :: t[D].bind(D.op.axis[0], k)
    bind, two loops to one thread :: x = te.thread_axis("threadIdx.x"); t[D].bind(D.op.axis[0], x); t[D].bind(D.op.axis[1], x)
    bind, again :: t[D].bind(D.op.axis[0], te.thread_axis("threadIdx.x")); t[D].bind(D.op.axis[0], te.thread_axis("threadIdx.y"))
    bind, 2048 threads :: P = te.compute((2048,), lambda i: A[0, 0] + i); z = te.create_schedule(P.op); z[P].bind(P.op.axis[0], te.thread_axis("threadIdx.x")); tvm.build(z, [A, P], GPU)
    bind, a reduction across threads :: s[B].compute_inline(); s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x")); s[C].bind(k, te.thread_axis("threadIdx.x")); check(s, [A, C], sums, GPU)
    bind, a reduction to blocks :: s[C].bind(k, te.thread_axis("blockIdx.x"))
    vectorize :: t[D].vectorize(t[D].split(D.op.axis[1], 4)[1]); check(t, [A, D], less)
    vectorize, with a tail :: t[D].vectorize(t[D].split(D.op.axis[1], 8)[1]); check(t, [A, D], less)
    vectorize, an outer loop :: t[D].vectorize(D.op.axis[0]); check(t, [A, D], less)
    vectorize, a reduction :: s[C].vectorize(k)
    vectorize, a symbolic extent :: u[Y].vectorize(Y.op.axis[0])
    unroll :: t[D].unroll(D.op.axis[1]); check(t, [A, D], less)
    unroll, a symbolic extent :: u[Y].unroll(Y.op.axis[0])
    parallel :: u[Y].parallel(Y.op.axis[0]); check(u, [X, Y], doubled)
    parallel, a reduction :: s[C].parallel(k)
    parallel, the time of a scan :: P = te.placeholder((n, 12)); S = te.scan(te.compute((1, 12), lambda _, i: X[0, i]), te.compute((n, 12), lambda t, i: P[t - 1, i]), P); te.create_schedule(S.op)[S].parallel(S.op.scan_axis)
    parallel inside parallel :: t[D].parallel(D.op.axis[0]); t[D].parallel(D.op.axis[1])
    pragma :: t[D].pragma(D.op.axis[1], "auto_unroll_max_step", 16); check(t, [A, D], less)
    prefetch :: t[B].compute_inline(); t[D].prefetch(A, D.op.axis[0], 1); check(t, [A, D], less)
    tensorize :: z = te.create_schedule(B.op); z[B].tensorize(z[B].split(B.op.axis[1], 4)[1], doubling()); check(z, [A, B], doubled)
    tensorize, a loop of another length :: z = te.create_schedule(B.op); z[B].tensorize(z[B].split(B.op.axis[1], 3)[1], doubling()); tvm.lower(z, [A, B])
    """,
)

PLACES = section(
    "Primitives: where a stage is computed",
    """
    compute_at :: t[B].compute_at(t[D], D.op.axis[0]); check(t, [A, D], less)
    compute_at, then split of that loop :: t[B].compute_at(t[D], D.op.axis[0]); t[D].split(D.op.axis[0], 4); check(t, [A, D], less)
    compute_at, then fuse of that loop :: t[B].compute_at(t[D], D.op.axis[0]); t[D].fuse(*D.op.axis); check(t, [A, D], less)
    compute_at, a stage that does not read it :: s[B].compute_at(s[B], B.op.axis[0])
    compute_at, an axis of another stage :: s[B].compute_at(s[C], B.op.axis[0])
    compute_at, of an output :: s[C].compute_at(s[B], B.op.axis[0])
    compute_at, two readers :: P = te.compute((16, 12), lambda i, j: B[i, j] * D[i, j]); z = te.create_schedule(P.op); z[B].compute_at(z[P], P.op.axis[0]); tvm.lower(z, [A, P])
    compute_inline :: t[B].compute_inline(); check(t, [A, D], less)
    compute_inline, a reduction :: P = te.compute((16,), lambda i: C[i] + 1); te.create_schedule(P.op)[C].compute_inline()
    compute_inline, an output :: z = te.create_schedule([B.op, D.op]); z[B].compute_inline(); tvm.lower(z, [A, B, D])
    compute_inline, a placeholder :: t[A].compute_inline()
    compute_root :: t[B].compute_inline(); t[B].compute_root(); check(t, [A, D], less)
    create_group :: g = t.create_group(outputs=B, inputs=A, include_inputs=False); g.compute_at(t[D], D.op.axis[0]); check(t, [A, D], less)
    env_threads :: P = te.placeholder((n, 12)); S = te.scan(te.compute((1, 12), lambda _, i: X[0, i]), te.compute((n, 12), lambda t, i: P[t - 1, i] + X[t, i]), P, inputs=[X]); z = te.create_schedule(S.op); x = te.thread_axis((0, 12), "threadIdx.x"); z[S].env_threads([x])
        for T in (S.op.init[0], S.op.update[0]): z[T].bind(T.op.axis[1], x)
        check(z, [X, S], lambda x: x.cumsum(0), GPU)
    env_threads, no scan :: t[D].env_threads([te.thread_axis((0, 12), "threadIdx.x")])
    reverse_compute_at :: t[D].reverse_compute_at(t[B], B.op.axis[0]); check(t, [A, D], less)
    """,
)

STORAGE = section(
    "Primitives: storage",
    """
    set_scope :: launched(t, B); launched(t, D); t[B].set_scope("global"); check(t, [A, D], less, GPU)
    set_scope, unknown :: t[B].set_scope("texture")
    set_scope, of an output :: t[D].set_scope("shared"); tvm.lower(t, [A, D])
    storage_align :: t[B].storage_align(B.op.axis[0], 16, 1); check(t, [A, D], less)
    double_buffer :: t[B].compute_at(t[D], D.op.axis[0]); t[B].double_buffer(); check(t, [A, D], less)
    double_buffer, of an output :: t[D].double_buffer()
    rolling_buffer :: P = te.compute((14, 12), lambda i, j: B[i, j] + B[i + 1, j] + B[i + 2, j]); z = te.create_schedule(P.op); z[B].compute_at(z[P], P.op.axis[0]); z[B].rolling_buffer(); check(z, [A, P], lambda a: (a[:-2] + a[1:-1] + a[2:]) * 2 + 3)
    rolling_buffer, nothing is used again :: t[B].compute_at(t[D], D.op.axis[0]); t[B].rolling_buffer(); tvm.lower(t, [A, D])
    set_store_predicate :: t[D].set_store_predicate(D.op.axis[1] < 6); check(t, [A, D], lambda a: np.where(np.arange(12) < 6, a * 2 - 2, 0))
    cache_read :: P = t.cache_read(A, "local", [B]); t[P].compute_at(t[B], B.op.axis[0]); check(t, [A, D], less)
    cache_read, a stage that does not read it :: t.cache_read(A, "local", [D])
    cache_write :: P = s.cache_write(C, "local"); s[P].compute_at(s[C], C.op.axis[0]); check(s, [A, C], sums)
    cache_write, several outputs :: P, Q = te.compute((16,), lambda i: (A[i, 0], A[i, 1])); z = te.create_schedule(P.op); z.cache_write([P, Q], "local"); check(z, [A, P, Q], lambda a: (a[:, 0], a[:, 1]))
    cache_write, after a split :: t[D].split(D.op.axis[1], 4); t.cache_write(D, "global"); check(t, [A, D], less)
    rfactor :: ko, ki = s[C].split(k, 4); P = s.rfactor(C, ki); check(s, [A, C], sums)
    rfactor, factor_axis= :: ko, ki = s[C].split(k, 5); P = s.rfactor(C, ki, factor_axis=1); check(s, [A, C], sums)
    rfactor, no reduction :: t.rfactor(D, D.op.axis[0])
    transform_layout :: t[B].transform_layout(lambda i, j: [j, i]); check(t, [A, D], less)
    transform_layout, AXIS_SEPARATOR :: t[B].transform_layout(lambda i, j: [i // 4, te.AXIS_SEPARATOR, i % 4, j]); check(t, [A, D], less)
    transform_layout, no bijection :: t[B].transform_layout(lambda i, j: [i + j])
    """,
)

SCOPES = section(
    "Thread tags and storage scopes",
    """
    scope global :: launched(t, B); launched(t, D); t[B].set_scope("global"); check(t, [A, D], less, GPU)
    scope shared :: launched(t, D); t[B].compute_at(t[D], D.op.axis[0]); t[B].set_scope("shared"); check(t, [A, D], less, GPU)
    scope shared.dyn :: launched(t, D); t[B].compute_at(t[D], D.op.axis[0]); t[B].set_scope("shared.dyn"); check(t, [A, D], less, GPU)
    scope local :: launched(t, D); t[B].compute_at(t[D], D.op.axis[1]); t[B].set_scope("local"); check(t, [A, D], less, GPU)
    scope warp :: X = te.placeholder((4, 32), name="X"); Y = te.compute((4, 32), lambda i, j: X[i, j] + 1, name="Y"); Z = te.compute((4, 32), lambda i, j: Y[i, 31 - j], name="Z"); w = te.create_schedule(Z.op); w[Z].bind(Z.op.axis[0], te.thread_axis("blockIdx.x")); w[Z].bind(Z.op.axis[1], te.thread_axis("threadIdx.x")); w[Y].compute_at(w[Z], Z.op.axis[0]); w[Y].set_scope("warp"); w[Y].bind(Y.op.axis[1], te.thread_axis("threadIdx.x")); check(w, [X, Z], lambda x: (x + 1)[:, ::-1], GPU)
    scope texture :: t[B].set_scope("texture")
    scope amx.tmm :: t[B].set_scope("amx.tmm")
    scope m16n8k8.matrixA :: t[B].set_scope("m16n8k8.matrixA")
    scope metal.simdgroup :: t[B].set_scope("metal.simdgroup")
    scope global.vtcm :: t[B].set_scope("global.vtcm")
    """,
    [
        *(
            Row(
                f"tag {level}Idx.{dim}",
                f"{_one}; check(z, [A, P], lambda a: a + 1, GPU)".replace("TAG", f"{level}Idx.{dim}"),
            )
            for level in ("block", "thread")
            for dim in "xyz"
            for _one in (
                'P = te.compute((16, 12), lambda i, j: A[i, j] + 1); z = te.create_schedule(P.op); z[P].bind(P.op.axis[0], te.thread_axis("TAG"))',
            )
        ),
        *(
            Row(
                f"tag {tag}",
                f't[B].compute_inline(); t[D].bind(D.op.axis[0], te.thread_axis("threadIdx.x")); t[D].bind(t[D].split(D.op.axis[1], nparts=2)[0], te.thread_axis("{tag}")); check(t, [A, D], less, GPU)',
            )
            for tag in ("vthread", "vthread.x", "vthread.y", "vthread.z", "cthread", "pipeline")
        ),
        *(
            Row(f"scope {scope}", f't[B].set_scope("{scope}")')
            for scope in ("wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator")
        ),
    ],
)

PRAGMAS = section(
    "Pragmas",
    """
    auto_unroll_max_step :: t[D].pragma(D.op.axis[0], "auto_unroll_max_step", 16); check(t, [A, D], less)
    unroll_explicit :: t[D].unroll(D.op.axis[1]); t[D].pragma(D.op.axis[0], "unroll_explicit", False); check(t, [A, D], less)
    unroll :: t[D].pragma(D.op.axis[1], "unroll"); check(t, [A, D], less)
    vectorize :: t[D].pragma(D.op.axis[1], "vectorize"); check(t, [A, D], less)
    parallel :: t[D].pragma(D.op.axis[0], "parallel"); check(t, [A, D], less)
    import_c :: t[D].pragma(D.op.axis[0], "import_c", "int f() { return 1; }")
    import_llvm :: t[D].pragma(D.op.axis[0], "import_llvm", "define i32 @f() { ret i32 1 }")
    debug_skip_region :: t[D].pragma(D.op.axis[0], "debug_skip_region")
    loop_partition_hint :: t[D].pragma(D.op.axis[0], "loop_partition_hint")
    parallel_launch_point :: t[D].pragma(D.op.axis[0], "parallel_launch_point")
    parallel_barrier_when_finish :: t[D].pragma(D.op.axis[0], "parallel_barrier_when_finish")
    parallel_stride_pattern :: t[D].pragma(D.op.axis[0], "parallel_stride_pattern")
    tensor_core :: t[D].pragma(D.op.axis[0], "tensor_core")
    aarch64_pstate_sm :: t[D].pragma(D.op.axis[0], "aarch64_pstate_sm")
    aarch64_pstate_za :: t[D].pragma(D.op.axis[0], "aarch64_pstate_za")
    a pragma of one's own :: t[D].pragma(D.op.axis[0], "my_pragma")
    """,
)

SECTIONS = (LOOPS, MARKS, PLACES, STORAGE, SCOPES, PRAGMAS)
