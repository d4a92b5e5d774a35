// What a step does with its factors: tiles of its update, and the triangles' inverses.
#pragma once
#include "elimination.cuh"
#include "update.cuh"

// eliminationTiles are those of columns begin to end but for skipped ones from column skip on.
// Blocks before the first tile's have none.
template <int WIDE> struct eliminationTiles {
	int n, begin, end, skip, skipped, before;

	__device__ __forceinline__ int count() const { return before + (n + TALL - 1) / TALL * ((end - begin - skipped + WIDE - 1) / WIDE); }
	__device__ __forceinline__ void at(int tile, int &i0, int &j0) const
	{
		int rows = (n + TALL - 1) / TALL;
		tile -= before;
		i0 = tile % rows * TALL;
		j0 = begin + tile / rows * WIDE;
		j0 = j0 < skip ? j0 : j0 + skipped;
	}
};

// updateColumns adds the product of the factors of depth columns from column from on to F, of which
// these columns and their pivot rows count as 0.
template <int T, int WIDE> static __device__ __forceinline__ void updateColumns(const elimination &g, int from, int depth, int begin, int end, int skip, int skipped, double *shared, int before = 0)
{
	rankUpdate r = {(double *)g.f, (const double *)g.left, (const double *)g.right, (const int *)g.slot, g.n, from, depth, from - g.panel};
	update<T, WIDE, false>(r, eliminationTiles<WIDE>{g.n, begin, end, skip, skipped, before}, end, shared);
}

struct triangles {
	u64 lower, upper; // double
	i64 lowerRS, lowerCS, upperRS, upperCS;
	int n, rows; // n x n from an elimination of as many rows
};

// Rows or columns beside those of a step that a block of triangularInverses stores.
#define BESIDE (THREADS / BLOCK)

// storeTriangles stores what a panel makes of the inverses of the triangles of P F = L U, row j of
// P F being row order[j] of F, where both are zeros: blocks (b, 0, t) rows of L^-1, which the right
// factor of step t has before the step's columns, as F's have the rows of the inverse so far;
// blocks (b, 1, t) columns of U^-1, which the left factor has in the pivot rows, those of steps
// before included.
static __device__ __forceinline__ void storeTriangles(const elimination &g, const triangles &t, int bx, int by, int bz)
{
	const int *order = (const int *)g.order;
	int h = bz * BLOCK + (by ? threadIdx.x / BESIDE : threadIdx.x % BLOCK);
	int j = bx * BESIDE + (by ? threadIdx.x % BESIDE : threadIdx.x / BLOCK), k = g.panel + h;
	if (k >= t.n || j > k)
		return;
	int row = order[j];
	if (row >= t.rows) { // of a pivot 0
		atomicOr((u32 *)g.status, SINGULAR);
		return;
	}
	double x = by ? ((const double *)g.left)[h * (i64)g.n + row] : j == k ? 1 : ((const double *)g.right)[h * (i64)g.n + j];
	if (!finite(x))
		atomicOr((u32 *)g.status, NOT_FINITE);
	if (by)
		((double *)t.upper)[j * t.upperRS + k * t.upperCS] = x;
	else
		((double *)t.lower)[k * t.lowerRS + j * t.lowerCS] = x;
}
