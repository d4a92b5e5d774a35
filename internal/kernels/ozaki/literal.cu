// The split of algorithm 2 of the paper, to the letter: Literal of package ozaki.
#include "ozaki.cuh"
#include "vectors.cuh"

// Slice t of vectors, t = 0, 1, …. The bits of the largest |r_1| of vector v are number v of
// first, those of r_(s+1) number (s-1) n + v of later, which for s = t+1 this launch raises from
// 0, unless later ends there. Entry h of vector v of place s is number s stride + h ld + v of
// out: q_t goes to place q, r_t to place r, a place below 0 is none. nonzero, squares and ld are
// those of splitting in ozaki.cu.
struct literally {
	vectorsOf x;
	u64 first, later, out, nonzero, squares;
	i64 ld, stride;
	int beta, t, slices, q, r, _;
};

// The largest number of slices, MaxSlices of package ozaki.
#define MOST_LITERAL 64

// sigmaOf returns 2^(⌈log2 x⌉ + β) for the bits of x >= 0, 0 for 0.
static __device__ __forceinline__ float sigmaOf(u64 bits, int beta)
{
	return bits ? __double2float_rn(scaled(1, exponentOf(bits) + beta)) : 0;
}

template <bool ALONG> static __device__ __forceinline__ void splitLiterally(const literally &p)
{
	__shared__ float sigmas[MOST_LITERAL][WIDE];
	__shared__ u64 best[WIDE];
	int first = blockIdx.x * WIDE, own = threadIdx.x % WIDE, lane = threadIdx.x / WIDE;
	for (int s = lane; s <= p.t; s += LANES) {
		const u64 *bits = s == 0 ? (const u64 *)p.first : (const u64 *)p.later + (i64)(s - 1) * p.x.n;
		sigmas[s][own] = first + own < p.x.n ? sigmaOf(bits[first + own], p.beta) : 0;
	}
	if (threadIdx.x < WIDE)
		best[threadIdx.x] = 0;
	__syncthreads();

	double sumQ = 0, sumR = 0, next = 0;
	u32 seen = 0; // bit 0: a q that is not 0; bit 1: an r
	float *out = (float *)p.out;
	eachEntry<ALONG>(p.x, first, blockIdx.y * CHUNK, [&](int v, int h, double x) {
		double r = finite(x) ? x : 0;
		float y = 0, q = 0;
		bool has = false;
		for (int s = 0; s <= p.t; s++) {
			float sigma = sigmas[s][v];
			has = r != 0;
			y = __double2float_rn(r);
			q = __fsub_rn(__fadd_rn(y, sigma), sigma);
			r = __dsub_rn(r, (double)q);
		}
		seen |= (q != 0 ? 1 : 0) | (has ? 2 : 0);
		next = fmax(next, fabs(r));
		bool inside = first + v < p.ld && h < p.x.len;
		float *to = out + h * p.ld + first + v;
		if (p.q >= 0 && inside)
			to[p.q * p.stride] = q;
		if (p.r >= 0 && inside)
			to[p.r * p.stride] = y;
		if (p.squares) {
			double size = has ? fmax(fabs((double)y), 0x1p-126) : 0;
			sumQ = __dadd_rn(sumQ, __dmul_rn(q, q));
			sumR = __dadd_rn(sumR, __dmul_rn(size, size));
		}
	});
	if (p.t + 1 < p.slices && next != 0)
		atomicMax(&best[own], (u64)__double_as_longlong(next));
	seen = __reduce_or_sync(~0u, seen);
	if (p.nonzero && threadIdx.x % 32 == 0) {
		u64 *nonzero = (u64 *)p.nonzero, bit = 1ull << p.t;
		if (seen & 1 && !(*(volatile u64 *)&nonzero[0] & bit))
			atomicOr(&nonzero[0], bit);
		if (seen & 2 && !(*(volatile u64 *)&nonzero[1] & bit))
			atomicOr(&nonzero[1], bit);
	}
	__syncthreads();
	if (threadIdx.x < WIDE && best[threadIdx.x])
		atomicMax(&((u64 *)p.later)[(i64)p.t * p.x.n + first + threadIdx.x], best[threadIdx.x]);
	if (!p.squares)
		return;
	__shared__ double sums[2][LANES][WIDE + 1];
	sums[0][lane][own] = sumQ;
	sums[1][lane][own] = sumR;
	for (int step = LANES / 2; step > 0; step /= 2) {
		__syncthreads();
		if (lane < step)
			for (int k = 0; k < 2; k++)
				sums[k][lane][own] = __dadd_rn(sums[k][lane][own], sums[k][lane + step][own]);
	}
	__syncthreads();
	if (lane < 2 && first + own < p.x.n) {
		i64 row = (i64)(blockIdx.y * 2 + lane) * p.slices + p.t;
		((double *)p.squares)[row * p.ld + first + own] = sums[lane][0][own];
	}
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) ozakiLiteral(literally p) { splitLiterally<false>(p); }

extern "C" __global__ void __launch_bounds__(THREADS, 2) ozakiLiteralAlong(literally p) { splitLiterally<true>(p); }
