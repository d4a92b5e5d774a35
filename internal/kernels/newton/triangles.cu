// What the factors of package linsolve do with triangles of matrices beside products, and bounds of
// products of magnitudes.
#include "../common/common.cuh"

#define THREADS 256

// What is done with the diagonal of a square matrix in MP; F64 has the count only.
enum {
	HALVE = 0,    // halves it
	POSITIVE = 1, // counts the numbers that are not positive
};

struct triangular {
	vectors a; // rows
	u64 count; // u32
	int operation, pad;
};

static __device__ __forceinline__ u8 &classOf(const numbers &a, i64 i) { return ((u8 *)a.plane[2])[i]; }
static __device__ __forceinline__ int &exponentOf(const numbers &a, i64 i) { return ((int *)a.plane[1])[i]; }
static __device__ __forceinline__ u64 *significandOf(const numbers &a, i64 i) { return (u64 *)a.plane[0] + i * a.limbs; }

// Threads have one number of the diagonal each.
extern "C" __global__ void __launch_bounds__(THREADS) diagonal(const __grid_constant__ triangular t)
{
	const numbers &a = t.a.a;
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= t.a.n)
		return;
	i64 at = t.a.off + i * (t.a.rs + t.a.cs);
	if (t.operation == POSITIVE) {
		double x = a.kind == F64 ? ((const double *)a.plane[0])[at] : 0;
		if (a.kind == F64 ? !(x > 0) || !finite(x) : classOf(a, at) != FINITE << 1)
			atomicAdd((u32 *)t.count, 1);
	} else if (classOf(a, at) >> 1 == FINITE) {
		exponentOf(a, at)--;
	}
}

// A matrix A in MP beside an equal one, B, which may be in the memory of another GPU: those of a
// symmetric matrix, one the transpose of the other, or blocks of them.
struct across {
	vectors a, b; // rows
	u64 count;    // u32: of numbers that differ; null: A gets the numbers of B
	int triangle; // 'L': numbers below the diagonal, 'U': above it, 0: all
	int pad;
};

// Numbers go in tiles of SIDE x SIDE through shared memory, a word of all of them at a time, so
// that those of both matrices are read as they lie there: columns of A, rows of B.
#define SIDE 32
#define EACH (SIDE * SIDE / THREADS)

// leadOf returns the class of a number and its exponent.
static __device__ __forceinline__ u64 leadOf(const numbers &a, i64 i) { return classOf(a, i) | (u64)(u32)exponentOf(a, i) << 8; }

static __device__ __forceinline__ bool isFinite(u64 lead) { return (lead & 0xff) >> 1 == FINITE; }

static __device__ __forceinline__ bool wanted(const across &t, int i, int j)
{
	return i < t.a.n && j < t.a.k && (t.triangle == 0 || (t.triangle == 'L' ? i > j : i < j));
}

extern "C" __global__ void __launch_bounds__(THREADS) acrossTiles(const __grid_constant__ across t)
{
	__shared__ u64 tile[SIDE][SIDE + 1];
	const numbers &a = t.a.a, &b = t.b.a;
	int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE, i0 = blockIdx.x * SIDE;
	u32 odd = 0;
	for (int j0 = blockIdx.y * SIDE; j0 < t.a.k; j0 += gridDim.y * SIDE) {
		if (t.triangle == 'L' && i0 + SIDE <= j0 || t.triangle == 'U' && j0 + SIDE <= i0)
			continue;
		u32 finite = 0, differ = 0; // bits of numbers
		for (int w = -1; w < a.limbs; w++) {
			__syncthreads();
#pragma unroll
			for (int r = 0; r < EACH; r++) {
				int i = i0 + y + r * (SIDE / EACH), j = j0 + x;
				if (i >= t.a.n || j >= t.a.k)
					continue;
				i64 at = t.b.off + i * t.b.rs + j * t.b.cs;
				tile[i - i0][x] = w < 0 ? leadOf(b, at) : significandOf(b, at)[w];
			}
			__syncthreads();
#pragma unroll
			for (int r = 0; r < EACH; r++) {
				int i = i0 + x, j = j0 + y + r * (SIDE / EACH);
				if (!wanted(t, i, j))
					continue;
				i64 at = t.a.off + i * t.a.rs + j * t.a.cs;
				u64 other = tile[x][j - j0];
				if (t.count == 0) {
					if (w < 0) {
						classOf(a, at) = (u8)other;
						exponentOf(a, at) = (int)(other >> 8);
					} else {
						significandOf(a, at)[w] = other;
					}
				} else if (w < 0) {
					u64 own = leadOf(a, at);
					finite |= (u32)isFinite(own) << r;
					if (isFinite(own) ? own != other : (u8)own != (u8)other)
						differ |= 1 << r;
				} else if (finite >> r & 1 && significandOf(a, at)[w] != other) {
					differ |= 1 << r;
				}
			}
		}
		odd += __popc(differ);
	}
	if (odd)
		atomicAdd((u32 *)t.count, odd);
}

// z = |A| x, bounds from above.
struct bounding {
	vectors a;  // rows, in MP
	u64 x, z;   // double; x null: ones
};

// ROWS rows of a block where numbers of columns lie one after the other, else WIDE_ROWS.
#define ROWS 32
#define WIDE_ROWS 8

// BATCH numbers are loaded before any is looked at.
#define BATCH 4

// magnitude returns a bound of a number with that leading word: an infinity beyond 2^1000, and
// 2^-1000 below that.
static __device__ __forceinline__ double magnitude(u32 cls, i64 e, u64 top)
{
	if (cls >> 1 == ZERO)
		return 0;
	if (cls >> 1 != FINITE || e > 1000)
		return __longlong_as_double(0x7ffll << 52);
	double x = (double)(i64)((top >> 12) + 1) * 0x1p-52;
	return (e < -1000 ? 0 : x * __longlong_as_double((e + 1023) << 52)) + 0x1p-1000;
}

// Each of k products, and of their sums in any order, errs by 2^-53 relatively; products that
// vanish take less than 2^-1074 each. So 1 + (k + 4) 2^-52 and 2^-900 make a bound of the sum.
extern "C" __global__ void __launch_bounds__(THREADS) magnitudesTimes(const __grid_constant__ bounding b)
{
	__shared__ double parts[THREADS];
	const vectors &v = b.a;
	bool along = v.rs == 1 || v.rs == -1;
	int rows = along ? ROWS : WIDE_ROWS, lanes = THREADS / rows;
	int row = along ? threadIdx.x % ROWS : threadIdx.x / lanes, lane = along ? threadIdx.x / ROWS : threadIdx.x % lanes;
	int i = blockIdx.x * rows + row;
	double sum = 0;
	for (int j0 = lane; i < v.n && j0 < v.k; j0 += BATCH * lanes) {
		u8 classes[BATCH];
		int exps[BATCH];
		u64 tops[BATCH];
		double by[BATCH];
#pragma unroll
		for (int k = 0; k < BATCH; k++) {
			int j = j0 + k * lanes;
			bool there = j < v.k;
			i64 at = v.off + i * v.rs + (there ? j : j0) * v.cs;
			classes[k] = there ? classOf(v.a, at) : ZERO << 1;
			exps[k] = exponentOf(v.a, at);
			tops[k] = significandOf(v.a, at)[v.a.limbs - 1];
			by[k] = b.x && there ? ((const double *)b.x)[j] : 1;
		}
#pragma unroll
		for (int k = 0; k < BATCH; k++) {
			double m = magnitude(classes[k], exps[k], tops[k]);
			if (m != 0) // 0 times an infinity
				sum += m * by[k];
		}
	}
	parts[row * lanes + lane] = sum;
	__syncthreads();
	if (lane != 0 || i >= v.n)
		return;
	for (int k = 1; k < lanes; k++)
		sum += parts[row * lanes + k];
	((double *)b.z)[i] = sum * (1 + (v.k + 4) * 0x1p-52) + 0x1p-900;
}
