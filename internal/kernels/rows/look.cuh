// What kernels know of a row before they add: those that a block adds on tensor cores, or in words,
// have one P for all that it adds. What a block takes of a row are numbers that follow each other.
#pragma once
#include "fused.cuh"

static __device__ __forceinline__ void copyWord(u32 to, const u64 *from)
{
	asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from));
}

// An addend of a row without its significand: |x| or |x y| < 2^exp.
template <bool PRODUCTS> struct addend {
	i64 exp;
	u32 cls;

	__device__ __forceinline__ addend(const reduction &r, int row, int h)
	{
		i64 i = r.a.off + row * r.a.rs + h * r.a.cs;
		exp = __ldg((const int *)r.a.a.plane[1] + i);
		cls = __ldg((const u8 *)r.a.a.plane[2] + i);
		if (PRODUCTS) {
			i64 j = r.x.off + h * r.x.cs;
			exp += __ldg((const int *)r.x.a.plane[1] + j);
			cls = productClass(cls, __ldg((const u8 *)r.x.a.plane[2] + j));
		} else if (r.magnitudes) {
			cls &= ~1u;
		}
	}
};

// look finds what is known of the addends of numbers from first on of a row, and their P, for a
// block of THREADS. All blocks of a row take the same sample of it, so that their P are congruent.
template <int THREADS, bool PRODUCTS> static __device__ __noinline__ void look(const reduction &r, int first, int end, span *known)
{
	int lane = threadIdx.x % 32, step = max(1u, (u32)r.a.k / 32u);
	i64 start = NO_TOP;
	if (lane * step < r.a.k) {
		addend<PRODUCTS> a(r, blockIdx.x, lane * step);
		if (finiteClass(a.cls))
			start = a.exp;
	}
	start = maxWarp(start);
	start = start == NO_TOP ? 0 : start + MARGIN;
	span s = {NO_TOP, NO_TOP, 0};
#pragma unroll 8
	for (int h = first + threadIdx.x; h < end; h += THREADS) {
		addend<PRODUCTS> a(r, blockIdx.x, h);
		if (s.see(a.cls, a.exp))
			s.top = max64(s.top, a.exp);
	}
	mergeWarp(s, 1);
	if (lane == 0)
		known[threadIdx.x / 32] = s;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int w = 1; w < THREADS / 32; w++)
			s.merge(known[w]);
		if (s.top != NO_TOP)
			s.top = raised(start, s.top);
		known[0] = s;
	}
	__syncthreads();
}
