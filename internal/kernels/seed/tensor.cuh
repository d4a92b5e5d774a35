// What kernels of seeds share: blocks of matrices of doubles, and the tensor cores for them.
#pragma once
#include "../common/mma.cuh"

#define BLOCK 64 // columns of a step
#define THREADS 256

// What went wrong.
enum { SINGULAR = 1, NOT_FINITE = 2, GROWTH = 4 };

// Where exponents are too large or too small for F.
#define FAR 1000

// swizzled is where number i of row k of a matrix of WIDTH columns lies in shared memory: what a
// warp reads for an instruction of the tensor cores is in different banks, pairs stay together.
template <int WIDTH> static __device__ __forceinline__ int swizzled(int k, int i) { return k * WIDTH + (i ^ (k & 3) << 2); }

// multiplyAdd64: c += a b for a 8 x 4 and b 4 x 8 of doubles: number (lane / 4, lane mod 4) of a,
// (lane mod 4, lane / 4) of b, (lane / 4, 2 (lane mod 4)) and the next one of c.
static __device__ __forceinline__ void multiplyAdd64(double2 &c, double a, double b)
{
	asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c.x), "+d"(c.y) : "d"(a), "d"(b));
}
