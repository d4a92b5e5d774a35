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

// multiplyAdd64: the same for a 16 x 4, of which the lower half is aBelow, as below is of c. On
// Hopper one instruction is twice as fast as two for 8 rows each.
static __device__ __forceinline__ void multiplyAdd64(double2 &c, double2 &below, double a, double aBelow, double b)
{
#ifdef HOPPER
	asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
		: "+d"(c.x), "+d"(c.y), "+d"(below.x), "+d"(below.y) : "d"(a), "d"(aBelow), "d"(b));
#else
	multiplyAdd64(c, a, b);
	multiplyAdd64(below, aBelow, b);
#endif
}

// Columns of a strip.
#define STRIP 16

// multiplyStrip: c += a b for a BLOCK x BLOCK, which triangle has by columns, and b BLOCK x STRIP,
// which strip has by rows. A thread has rows stripRow() and 8 below, columns stripColumn() +
// 2 (lane mod 4) and the next one. The product is subtracted if NEGATIVE is set.
static __device__ __forceinline__ int stripRow() { return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4; }
static __device__ __forceinline__ int stripColumn() { return threadIdx.x / 128 * 8; }

template <bool NEGATIVE> static __device__ __forceinline__ void multiplyStrip(double2 (&c)[2], const double *triangle, const double *strip)
{
	int lane = threadIdx.x % 32, row = stripRow(), column = stripColumn() + lane / 4;
#pragma unroll
	for (int k = lane % 4; k < BLOCK; k += 4) {
		double b = strip[swizzled<STRIP>(k, column)];
		multiplyAdd64(c[0], c[1], triangle[swizzled<BLOCK>(k, row)], triangle[swizzled<BLOCK>(k, row + 8)], NEGATIVE ? -b : b);
	}
}

static_assert(THREADS == 256 && BLOCK == 64 && STRIP == 16, "warps of multiplyStrip");

// multiplyChunk: c += a b for COUNT rows of a right factor and columns of a left one in shared
// memory, of WIDE and TALL numbers: entries (8 s + lane / 4, 8 t + 2 (lane mod 4)) and the next
// ones, from (j, i) on. The right factor is subtracted if NEGATIVE is set.
template <int T, int COUNT, int WIDE, int TALL, bool NEGATIVE>
static __device__ __forceinline__ void multiplyChunk(double2 (&c)[4][T], const double *right, const double *left, int j, int i)
{
	int lane = threadIdx.x % 32;
#pragma unroll
	for (int k = lane % 4; k < COUNT; k += 4) {
		double a[4], b[T];
#pragma unroll
		for (int s = 0; s < 4; s++) {
			a[s] = right[swizzled<WIDE>(k, j + 8 * s + lane / 4)];
			a[s] = NEGATIVE ? -a[s] : a[s];
		}
#pragma unroll
		for (int t = 0; t < T; t++)
			b[t] = left[swizzled<TALL>(k, i + 8 * t + lane / 4)];
#pragma unroll
		for (int s = 0; s < 4; s += 2)
#pragma unroll
			for (int t = 0; t < T; t++)
				multiplyAdd64(c[s][t], c[s + 1][t], a[s], a[s + 1], b[t]);
	}
}

// copyTile copies COUNT rows of WIDTH numbers, which lie stride apart, to shared memory, or the
// first of each. A thread has every ROWS-th row, and one condition for all: a loop whose end
// depends on the thread makes half of the instructions of an update's chunk.
template <int COUNT, int WIDTH> static __device__ __forceinline__ void copyTile(double *to, const double *from, i64 stride, int first)
{
	const int ROWS = THREADS / (WIDTH / 2);
	static_assert(ROWS % 4 == 0 && COUNT % ROWS == 0, "rows of swizzled tiles");
	int k = threadIdx.x / (WIDTH / 2), i = threadIdx.x % (WIDTH / 2) * 2;
	if (i >= first)
		return;
	u32 at = sharedAddress(to + swizzled<WIDTH>(k, i));
	from += k * stride + i;
#pragma unroll
	for (int c = 0; c < COUNT / ROWS; c++)
		copyAsync(at + c * (ROWS * WIDTH * 8), from + c * ROWS * stride);
}
