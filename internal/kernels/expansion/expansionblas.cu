// Native products of expansions, C = alpha A B + beta C, and sums of products. Partial sums are
// made of the steps of expansion/mac.go; one that is not finite is replaced by what the leading
// words give.
#include "expansionproduct.cuh"

// tile computes the entries of C from (i0, j0) on; x and y are the thread's place in the tile.
template <int W, int R, int C, int K>
static __device__ __forceinline__ void tile(const product &p, double (*a)[K][16 * R + 1], double (*b)[K][16 * C + 1], int i0, int j0, int x, int y)
{
	num<W> s[R][C] = {};
	for (int h0 = 0; h0 < p.k; h0 += K) {
		int depth = min(K, p.k - h0);
		// Neighbouring threads read neighbouring numbers where the strides let them.
		for (int e = threadIdx.x; e < 16 * R * K; e += 256) {
			int i = p.a.rs == 1 ? e % (16 * R) : e / K, h = p.a.rs == 1 ? e / (16 * R) : e % K;
			bool in = i0 + i < p.m && h < depth;
			i64 at = in ? (i0 + i) * p.a.rs + (h0 + h) * p.a.cs : 0;
#pragma unroll
			for (int t = 0; t < W; t++)
				a[t][h][i] = in ? p.a.w[t][at] : 0;
		}
		for (int e = threadIdx.x; e < 16 * C * K; e += 256) {
			int j = p.b.cs == 1 ? e % (16 * C) : e / K, h = p.b.cs == 1 ? e / (16 * C) : e % K;
			bool in = j0 + j < p.n && h < depth;
			int col = j0 + j >= p.skipCol ? j0 + j + p.skipCols : j0 + j;
			i64 at = in ? (h0 + h) * p.b.rs + col * p.b.cs : 0;
#pragma unroll
			for (int t = 0; t < W; t++)
				b[t][h][j] = in ? p.b.w[t][at] : 0;
		}
		__syncthreads();
#pragma unroll 1
		for (int h = 0; h < depth; h++) {
			num<W> f[R], g[C];
#pragma unroll
			for (int r = 0; r < R; r++)
#pragma unroll
				for (int t = 0; t < W; t++)
					f[r][t] = a[t][h][x + 16 * r];
#pragma unroll
			for (int c = 0; c < C; c++)
#pragma unroll
				for (int t = 0; t < W; t++)
					g[c][t] = b[t][h][y + 16 * c];
#pragma unroll
			for (int r = 0; r < R; r++)
#pragma unroll
				for (int c = 0; c < C; c++)
					s[r][c] = arithmetic<W>::mac(s[r][c], f[r], g[c]);
		}
		__syncthreads();
	}
#pragma unroll
	for (int r = 0; r < R; r++)
#pragma unroll
		for (int c = 0; c < C; c++) {
			int i = i0 + x + 16 * r, j = j0 + y + 16 * c;
			if (i < p.m && j < p.n) {
				int col = j >= p.skipCol ? j + p.skipCols : j;
				const double *row = p.a.w[0] + i * p.a.rs, *column = p.b.w[0] + col * p.b.cs;
				finish<W>(p, total<W>(s[r][c], row, p.a.cs, column, p.b.rs, p.k), i, col);
			}
		}
}

// Blocks of 16 x 16 threads, each with R rows and C columns 16 apart; tiles of A and B of depth K
// lie in shared memory word by word.
template <int W, int R, int C, int K> static __device__ __forceinline__ void gemm(const product &p)
{
	__shared__ double a[W][K][16 * R + 1], b[W][K][16 * C + 1];
	int u = threadIdx.x & 15, v = threadIdx.x >> 4;
	int x = p.vertical ? u : v, y = p.vertical ? v : u; // within the tile
	int i0 = blockIdx.x * 16 * R;
	for (i64 j0 = blockIdx.y * 16 * C; j0 < p.n; j0 += gridDim.y * 16 * C)
		tile<W, R, C, K>(p, a, b, i0, (int)j0, x, y);
}

extern "C" __global__ void __launch_bounds__(256, 2) expansionGemmDD(product p) { gemm<2, 4, 4, 8>(p); }
extern "C" __global__ void __launch_bounds__(256, 2) expansionGemmTD(product p) { gemm<3, 2, 2, 16>(p); }
extern "C" __global__ void __launch_bounds__(256, 2) expansionGemmQD(product p) { gemm<4, 2, 2, 16>(p); }

#define PARTIALS 32 // partial sums an entry of A x: number q has the entries j = q modulo PARTIALS

// gemv is gemm for n = 1. Partial sums are added by halves.
template <int W> static __device__ __forceinline__ void gemv(const product &p)
{
	const int rows = 256 / PARTIALS;
	__shared__ double sums[W][PARTIALS][rows];
	int r = p.vertical ? threadIdx.x % rows : threadIdx.x / PARTIALS, q = p.vertical ? threadIdx.x / rows : threadIdx.x % PARTIALS;
	int i = blockIdx.x * rows + r;
	num<W> s = {};
	if (i < p.m) {
		for (int j = q; j < p.k; j += PARTIALS)
			s = arithmetic<W>::mac(s, load<W>(p.a, i * p.a.rs + j * p.a.cs), load<W>(p.b, j * p.b.rs));
		int count = p.k > q ? (p.k - q - 1) / PARTIALS + 1 : 0;
		s = total<W>(s, p.a.w[0] + i * p.a.rs + q * p.a.cs, PARTIALS * p.a.cs, p.b.w[0] + q * p.b.rs, PARTIALS * p.b.rs, count);
	}
	for (int half = PARTIALS / 2;; half /= 2) {
#pragma unroll
		for (int t = 0; t < W; t++)
			sums[t][q][r] = s[t];
		__syncthreads();
		if (half == 0)
			break;
		if (q < half) {
			num<W> other;
#pragma unroll
			for (int t = 0; t < W; t++)
				other[t] = sums[t][q + half][r];
			s = arithmetic<W>::add(s, other, s);
		}
		__syncthreads();
	}
	if (q == 0 && i < p.m)
		finish<W>(p, s, i, 0);
}

#define DOT_CHUNK 4096
#define DOT_THREADS 64

// dot stores the sum of the products i of a chunk, one a block: a thread has those with the same i
// modulo DOT_THREADS, and the threads' sums are added by halves.
template <int W> static __device__ __forceinline__ void dot(const entries &x, const entries &y, const entries &z, i64 n)
{
	__shared__ double sums[W][DOT_THREADS];
	int q = threadIdx.x;
	i64 first = blockIdx.x * (i64)DOT_CHUNK, end = min64(first + DOT_CHUNK, n);
	num<W> s = {};
#pragma unroll 4
	for (i64 i = first + q; i < end; i += DOT_THREADS)
		s = arithmetic<W>::mac(s, load<W>(x, i * x.rs), load<W>(y, i * y.rs));
	s = arithmetic<W>::sum(s);
	for (int half = DOT_THREADS / 2; half > 0; half /= 2) {
#pragma unroll
		for (int t = 0; t < W; t++)
			sums[t][q] = s[t];
		__syncthreads();
		if (q < half) {
			num<W> other;
#pragma unroll
			for (int t = 0; t < W; t++)
				other[t] = sums[t][q + half];
			s = arithmetic<W>::add(s, other, s);
		}
		__syncthreads();
	}
	if (q == 0)
		store<W>(z, blockIdx.x, s);
}

#define SUMS(W, F)                                                                                                            \
	extern "C" __global__ void __launch_bounds__(256) expansionGemv##F(product p) { gemv<W>(p); }                         \
	extern "C" __global__ void __launch_bounds__(DOT_THREADS) expansionDot##F(entries x, entries y, entries z, i64 n)     \
	{                                                                                                                     \
		dot<W>(x, y, z, n);                                                                                           \
	}

SUMS(2, DD)
SUMS(3, TD)
SUMS(4, QD)
