// What the factors of package linsolve do with triangles of matrices beside products, and bounds of
// products of magnitudes.
#include "../common/common.cuh"

#define THREADS 256

// What is done with a square matrix in MP.
enum {
	HALVE = 0,     // halves the diagonal
	MIRROR = 1,    // copies the lower triangle to the upper one
	POSITIVE = 2,  // counts the numbers of the diagonal that are not positive
	SYMMETRIC = 3, // counts the numbers below the diagonal that differ from those across
};

struct triangular {
	vectors a; // rows
	u64 count; // u32
	int operation, pad;
};

static __device__ __forceinline__ u8 &classOf(const numbers &a, i64 i) { return ((u8 *)a.plane[2])[i]; }
static __device__ __forceinline__ int &exponentOf(const numbers &a, i64 i) { return ((int *)a.plane[1])[i]; }
static __device__ __forceinline__ u64 *significandOf(const numbers &a, i64 i) { return (u64 *)a.plane[0] + i * a.limbs; }

// same reports whether two numbers have the same bits.
static __device__ __forceinline__ bool same(const numbers &a, i64 i, i64 j)
{
	if (classOf(a, i) != classOf(a, j))
		return false;
	if (classOf(a, i) >> 1 != FINITE)
		return true;
	if (exponentOf(a, i) != exponentOf(a, j))
		return false;
	const u64 *x = significandOf(a, i), *y = significandOf(a, j);
	for (int k = 0; k < a.limbs; k++)
		if (x[k] != y[k])
			return false;
	return true;
}

// Threads have one row each of the columns of their block. Operations on the diagonal take one
// column.
extern "C" __global__ void __launch_bounds__(THREADS) triangle(const __grid_constant__ triangular t)
{
	const numbers &a = t.a.a;
	int i = blockIdx.x * THREADS + threadIdx.x, n = t.a.n;
	if (i >= n)
		return;
	i64 diagonal = t.a.off + i * (t.a.rs + t.a.cs);
	if (t.operation == HALVE) {
		if (classOf(a, diagonal) >> 1 == FINITE)
			exponentOf(a, diagonal)--;
		return;
	}
	if (t.operation == POSITIVE) {
		if (classOf(a, diagonal) != FINITE << 1)
			atomicAdd((u32 *)t.count, 1);
		return;
	}
	for (int j = blockIdx.y; j < n; j += gridDim.y) {
		i64 at = t.a.off + i * t.a.rs + j * t.a.cs, across = t.a.off + j * t.a.rs + i * t.a.cs;
		if (t.operation == SYMMETRIC) {
			if (i > j && !same(a, at, across))
				atomicAdd((u32 *)t.count, 1);
		} else if (i < j) { // what threads write lies together, mostly
			classOf(a, at) = classOf(a, across);
			exponentOf(a, at) = exponentOf(a, across);
			const u64 *from = significandOf(a, across);
			u64 *to = significandOf(a, at);
			for (int k = 0; k < a.limbs; k++)
				to[k] = from[k];
		}
	}
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
