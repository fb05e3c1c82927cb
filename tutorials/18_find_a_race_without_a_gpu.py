"""Finding a race, a wait without end and a slow access with no GPU: target="cuda-sim", and tecomp.sim.

    python tutorials/18_find_a_race_without_a_gpu.py

The simulator runs the very program that is printed as CUDA C++, on NumPy arrays. It keeps an account of who touched
which element, and of who waited for whom. Where a GPU gives a wrong number now and then, it gives a report each time.
"""

import numpy as np

import tecomp
from tecomp import te, tir
from tecomp.ir import parse
from tecomp.sim import SimulationFault, profile, simulate

TARGET = "cuda-sim -arch=sm_90a"
THREADS = 256


def show(title, text):
    print(f"== {title}\n\n{str(text).rstrip()}\n")


# 1. The problem: each element and its two neighbours, added up. A block of threads shares what it reads. This schedule
#    says so, and the compiler puts the barrier where one is needed: between who writes to A_shared and who reads it.
n = te.var("n")
A = te.placeholder((n + 2,), name="A")
B = te.compute((n,), lambda i: A[i] + A[i + 1] + A[i + 2], name="B")
s = te.create_schedule(B.op)
block, thread = s[B].split(B.op.axis[0], factor=THREADS)
block_x, thread_x = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
s[B].bind(block, block_x)
s[B].bind(thread, thread_x)
shared = s.cache_read(A, "shared", [B])
s[shared].compute_at(s[B], block)
s[shared].bind(s[shared].split(shared.op.axis[0], factor=THREADS)[1], thread_x)
show("a schedule with shared memory", tecomp.lower(s, [A, B], name="blur", target=TARGET))

#    Built for cuda-sim, it is called with NumPy arrays. That it returns means that no report was to be made.
blur = tecomp.build(s, [A, B], target=TARGET, name="blur")
random = np.random.default_rng(0)
for length in (1, 255, 256, 257, 1000):
    a = random.integers(-9, 9, length + 2).astype(np.float32)
    b = np.full(length, np.nan, np.float32)
    blur(a, b)
    np.testing.assert_array_equal(b, a[:-2] + a[1:-1] + a[2:])
print("n = 1, 255, 256, 257, 1000: equal to NumPy's, and nothing to report\n")

# 2. A program is text. One for a device is taken as it stands: nobody adds a barrier to it, and nobody takes one away.
#    So it is where a mistake can be planted. `parse` reads what `lower` printed; each of these is another in one place.
PROGRAM = str(tecomp.lower(s, [A, B], name="blur", target=TARGET))


def report(title, program, *arrays, expected):
    """Run a program; print what the simulator reports, or that the result is right."""
    try:
        tecomp.build(parse(program), target=TARGET)(*arrays)
    except SimulationFault as found:
        print(f"== {title}\n")
        for fault in found.faults:
            print(f"{fault.kind}: {fault.what}\n  {fault.because}")
        print(f"  right would be: {found.legal}\n")
        return
    np.testing.assert_array_equal(arrays[-1], expected)
    print(f"== {title}: equal to NumPy's, and nothing to report\n")


MISTAKES = (
    ("no mistake", "", ""),
    ("a barrier is forgotten", "        barrier_block()\n", ""),
    ("the tile lacks its last element", "threadIdx_x < 258", "threadIdx_x < 257"),
    ("one element too many is read", "<= n + 1", "<= n + 2"),
)
a = random.integers(-9, 9, 1002).astype(np.float32)
for title, right, wrong in MISTAKES:
    assert right in PROGRAM
    report(title, PROGRAM.replace(right, wrong), a, np.zeros(1000, np.float32), expected=a[:-2] + a[1:-1] + a[2:])

#    On a GPU the race shows only when one warp runs ahead of another. Here it shows in every run, also in one whose
#    result is right: what is asked is not who was first, but whether anything makes sure of it. The element that was
#    never written holds, on a GPU, whatever was there before; the read past the end gives what lies behind `A`.


# 3. The IR builder. Here too the compiler puts barriers between what threads do to memory that they share, and refuses
#    an index that it knows to be outside. What it cannot know is where data leads. A histogram: each thread counts 16
#    elements into one of eight bins each.
def histogram(atomic):
    def body(ins, outs):
        ib = tir.ir_builder.create()
        x, counts = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        tx = te.thread_axis("threadIdx.x")
        ib.scope_attr(tx, "thread_extent", 64)
        with ib.if_scope(tx < 8):
            counts[tx] = 0
        ib.emit(tir.barrier_block())
        with ib.for_range(0, 16, name="k") as k:
            bin = ib.let("bin", (x[k * 64 + tx] * 8).astype("int32"))
            if atomic:
                ib.emit(tir.fetch_add(counts[bin], 1))
            else:
                counts[bin] += 1
        return ib.get()

    X = te.placeholder((1024,), name="X")
    counts = te.extern((8,), [X], body, name="counts", dtype="int32")
    return tecomp.build(te.create_schedule(counts.op), [X, counts], target=TARGET, name="histogram")


def tried(title, module, *arrays, **options):
    """Call it with options of the simulator; show what it reports, and return whether that is nothing."""
    try:
        simulate(module, *arrays, **options)
    except SimulationFault as fault:
        show(f"{title}: {fault.kind}", fault)
        return False
    print(f"== {title}: nothing to report")
    return True


#    Two threads read a count, add one, and write it back: one of them is lost. The report has the line of the body that
#    you wrote, as an error of the compiler has.
x, counts = random.random(1024, dtype=np.float32), np.zeros(8, np.int32)
tried("counts that are not atomic", histogram(atomic=False), x, counts)

#    With an atomic update the counts are right, until the first 1.0 comes: there is no bin 8.
assert tried("atomic counts", histogram(atomic=True), x, counts)
np.testing.assert_array_equal(counts, np.bincount((x * 8).astype(int), minlength=8))
print("equal to NumPy's\n")
tried("atomic counts of a 1.0", histogram(atomic=True), np.append(x[1:], np.float32(1)), counts)


# 4. Asynchronous copies. One thread asks for a run of bytes, and a barrier in shared memory, an mbarrier, counts what
#    has come. Who waits for it waits for the arrivals and for the bytes that were announced. Here a block is two warps,
#    and turns 64 elements round; its first thread announces `promised` bytes, and copies 256.
def copied(promised=256, waits=True):
    def body(ins, outs):
        ib = tir.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        bx, tx = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
        ib.scope_attr(bx, "thread_extent", 4)
        ib.scope_attr(tx, "thread_extent", 64)
        tile = ib.allocate("float32", (64,), name="tile", scope="shared")
        full = ib.allocate("uint64", (1,), name="full", scope="shared")
        with ib.if_scope(tx == 0):
            ib.emit(tir.mbarrier_init(full[0], 1))
            ib.emit(tir.fence_mbarrier_init())
            ib.emit(tir.mbarrier_arrive_expect_tx(full[0], promised))
            ib.emit(tir.bulk_load(tile[0], a[bx * 64], 256, full[0]))
        ib.emit(tir.barrier_block())
        if waits:
            ib.emit(tir.mbarrier_wait(full[0], 0))
        b[bx * 64 + tx] = tile[63 - tx]
        return ib.get()

    x = te.placeholder((256,), name="A")
    y = te.extern((256,), [x], body, name="B")
    return tecomp.build(te.create_schedule(y.op), [x, y], target=TARGET, name="turned")


#    A GPU hangs here. The simulator sees that nobody can go on, and says who waits for what.
x, y = random.random(256, dtype=np.float32), np.zeros(256, np.float32)
tried("bytes that never come", copied(promised=512), x, y)

#    No wait at all. A copy lands as late as the program lets it, so that a wait that is missing shows in every run.
tried("no wait", copied(waits=False), x, y)

#    Both right. What has no order (which warp goes first, which copy lands first) is decided by a seed: several seeds
#    are several runs on a GPU, and each can be had again.
for seed in (0, 1, 2):
    y = np.zeros(256, np.float32)
    assert tried(f"as it should be, seed {seed}", copied(), x, y, seed=seed)
    np.testing.assert_array_equal(y.reshape(-1, 64), x.reshape(-1, 64)[:, ::-1])
print("equal to NumPy's\n")

# 5. What it costs. `profile` runs the same program and counts what each warp asks of memory. A transpose, a tile of
#    32 x 32 in shared memory, by blocks of 32 x 8 threads. Written along rows and read along columns: each of the 32
#    threads of a warp wants a word of the same bank, and they have to queue. A row of 33 elements parts them.
SIDE = 128


def transpose(tile=True, pad=0):
    X = te.placeholder((SIDE, SIDE), name="X")
    Y = te.compute((SIDE, SIDE), lambda i, j: X[j, i], name="Y")
    s = te.create_schedule(Y.op)
    by, bx, ty, tx = (te.thread_axis(tag) for tag in ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"))
    io, jo, ii, ji = s[Y].tile(*Y.op.axis, 32, 32)
    s[Y].bind(io, by)
    s[Y].bind(jo, bx)
    s[Y].bind(s[Y].split(ii, factor=8)[1], ty)
    s[Y].bind(ji, tx)
    if tile:
        XS = s.cache_read(X, "shared", [Y])
        s[XS].compute_at(s[Y], jo)
        row, column = XS.op.axis
        s[XS].bind(s[XS].split(row, factor=8)[1], ty)
        s[XS].bind(column, tx)
        if pad:
            s[XS].storage_align(row, 32, pad)
    return tecomp.build(s, [X, Y], target=TARGET, name="transpose")


x = np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)
print(f"{'':16}{'sectors a load':>16}{'sectors a store':>17}{'wavefronts a load':>19}{'conflicts':>11}")
for title, module in (
    ("without a tile", transpose(tile=False)),
    ("a tile", transpose()),
    ("a padded tile", transpose(pad=1)),
):
    y = np.zeros_like(x)
    found = profile(module, x, y, show=False)
    np.testing.assert_array_equal(y, x.T)
    (kernel,) = found.kernels.values()
    loads, stores, held = kernel.global_load, kernel.global_store, kernel.shared_load
    print(
        f"{title:16}{loads.sectors_per_request:16.0f}{stores.sectors_per_request:17.0f}"
        f"{held.wavefronts_per_request:19.0f}{held.conflicts:11}"
    )

#    The whole table, for a GPU by name. Counts of requests are exact; times are what that GPU could do at best.
print()
show("a profile", profile(transpose(), x, y, gpu="h200", show=False))

# 6. Nothing in the program is for the simulator: built for CUDA, it has the same source. `docs/simulator.md` says what
#    is modelled, and what is not.
assert tecomp.build(s, [A, B], target="cuda -arch=sm_90a", name="blur").source == blur.source
print("what the simulator ran, and what NVRTC compiles: the same text")
