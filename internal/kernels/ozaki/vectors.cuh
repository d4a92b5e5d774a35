// Views of the factors of a product, and a block's way through their entries.
#pragma once
#include "../common/common.cuh"

// A view of vectors: the rows of the left, or the columns of the right factor. Entry h of
// vector v is number v vs + h hs from x.
struct vectorsOf {
	u64 x;
	i64 vs, hs;
	int n, len;
	int single, _; // numbers are of float32
};

static __device__ __forceinline__ double entryAt(const vectorsOf &x, int v, int h)
{
	i64 at = v * x.vs + h * x.hs;
	return x.single ? ((const float *)x.x)[at] : ((const double *)x.x)[at];
}

// A block takes WIDE vectors, CHUNK entries of each, LANES at a time.
#define WIDE 16
#define LANES 32
#define CHUNK 512
#define THREADS (WIDE * LANES)

// eachEntry calls f(v, h, x) for the entries of the block's vectors from entry lo on, one a
// thread a time, the same lane h mod LANES of the same vector v for a thread. The vectors are
// first, first + 1, …; x is 0 outside. ALONG says that entries of a vector lie next to each
// other.
template <bool ALONG, class F> static __device__ __forceinline__ void eachEntry(const vectorsOf &x, int first, int lo, F f)
{
	__shared__ double tile[2][LANES][WIDE + 1];
	int v = threadIdx.x % WIDE, lane = threadIdx.x / WIDE;
	int hi = min(lo + CHUNK, x.len);
#pragma unroll 4
	for (int h = lo; h < hi; h += LANES) {
		double e = 0;
		if (ALONG) {
			double(&t)[LANES][WIDE + 1] = tile[h / LANES % 2];
			int vv = threadIdx.x / LANES, l = threadIdx.x % LANES;
			t[l][vv] = first + vv < x.n && h + l < hi ? entryAt(x, first + vv, h + l) : 0;
			__syncthreads();
			e = t[lane][v];
		} else if (first + v < x.n && h + lane < hi)
			e = entryAt(x, first + v, h + lane);
		f(v, h + lane, e);
	}
}
