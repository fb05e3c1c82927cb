"""Threads that wait for each other, and memory that is in order: barriers, fences, barriers in memory."""

from __future__ import annotations

from typing import Final

from .row import INLINE, Instruction, by_name, ptx

ARRIVALS: Final = "arrivals"
"""The parameter of a kernel whose blocks wait for each other: the counter of those that have come."""
SHARED_ADDRESS: Final = f"""\
{INLINE} unsigned int shared_address(const void* p) {{ return (unsigned int)__cvta_generic_to_shared(p); }}"""
CLUSTER_RANK: Final = f"""\
{INLINE} int cluster_rank() {{  // the number of this block in its cluster
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}}"""

_BARRIER_GRID: Final = """\
__device__ void barrier_grid(unsigned long long* arrivals) {  // all blocks run at once: the launch is cooperative
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    unsigned long long blocks = (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    __threadfence();
    unsigned long long before = atomicAdd(arrivals, 1ull), until = before - before % blocks + blocks;
    while (*(volatile unsigned long long*)arrivals < until);
    __threadfence();
  }
  __syncthreads();
}"""
_BARRIER_CLUSTER: Final = f"""\
{INLINE} void barrier_cluster() {{
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}}"""
_MBARRIER_ARRIVE: Final = f"""\
{INLINE} void mbarrier_arrive(unsigned long long* barrier) {{
  asm volatile("{{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }}"
               :: "r"(shared_address(barrier)) : "memory");
}}"""
_MBARRIER_WAIT: Final = f"""\
#if __CUDA_ARCH__ >= 900
#define MBARRIER_TEST "mbarrier.try_wait.parity.shared::cta.b64"
#else
#define MBARRIER_TEST "mbarrier.test_wait.parity.shared.b64"
#endif
{INLINE} void mbarrier_wait(unsigned long long* barrier, int parity) {{  // until the phase of that parity is over
  int done;
  do {{
    asm volatile("{{ .reg .pred p; " MBARRIER_TEST " p, [%1], %2; selp.s32 %0, 1, 0, p; }}"
                 : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  }} while (!done);
}}"""
_AT: Final = "unsigned long long* barrier"
_OPERAND: Final = '"r"(shared_address(barrier))'


def _barrier(name: str, cuda: str, prelude: str = "", since: int = 70) -> Instruction:
    return Instruction(name, cuda, prelude, since, kind="barrier")


def _named(name: str, verb: str) -> Instruction:
    text = ptx(name, f"{verb} %0, %1;", "int threads", '"n"(id), "r"(threads)', "int id")
    return _barrier(name, f"{name}<{{0}}>({{1}})", text)


def _fence(name: str, cuda: str, prelude: str = "", since: int = 70) -> Instruction:
    return Instruction(name, cuda, prelude, since, kind="fence")


def _mbarrier(name: str, prelude: str, since: int = 80, operands: int = 1) -> Instruction:
    places = ", ".join(f"{{{at}}}" for at in range(operands))
    return Instruction(name, f"{name}({places})", prelude, since, kind="mbarrier")


SYNC: Final = by_name(
    [
        _barrier("barrier_block", "__syncthreads()"),
        _barrier("barrier_grid", f"barrier_grid({ARRIVALS})", _BARRIER_GRID),
        _barrier("barrier_warp", "barrier_warp({0})", f"{INLINE} void barrier_warp(int mask) {{ __syncwarp(mask); }}"),
        _named("barrier_named", "bar.sync"),
        _named("barrier_named_arrive", "bar.arrive"),
        _barrier("barrier_cluster", "barrier_cluster()", _BARRIER_CLUSTER, 90),
        _fence("fence_block", "__threadfence_block()"),
        _fence("fence_device", "__threadfence()"),
        _fence("fence_system", "__threadfence_system()"),
        _fence(
            "fence_proxy_async",
            "fence_proxy_async()",
            ptx("fence_proxy_async", "fence.proxy.async.shared::cta;"),
            90,
        ),
        _fence(
            "fence_mbarrier_init",
            "fence_mbarrier_init()",
            ptx("fence_mbarrier_init", "fence.mbarrier_init.release.cluster;"),
            90,
        ),
        _mbarrier(
            "mbarrier_init",
            ptx(
                "mbarrier_init",
                "mbarrier.init.shared.b64 [%0], %1;",
                f"{_AT}, int count",
                f'{_OPERAND}, "r"(count)',
            ),
            operands=2,
        ),
        _mbarrier("mbarrier_arrive", _MBARRIER_ARRIVE),
        _mbarrier(
            "mbarrier_arrive_expect_tx",
            ptx(
                "mbarrier_arrive_expect_tx",
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;",
                f"{_AT}, int bytes",
                f'{_OPERAND}, "r"(bytes)',
            ),
            90,
            operands=2,
        ),
        _mbarrier("mbarrier_wait", _MBARRIER_WAIT, operands=2),
    ]
)
