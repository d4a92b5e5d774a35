// Products of a matrix and a vector of long numbers on the tensor cores: digit convolution.
//
// With references and fractions as in reduce.cuh, the first factors A and the second factors
// X are cut into digits of 7 bits with the sign of the number, which are bytes: A's digit p
// weighs 2^-7(p+1). The sum over a row of the products of digits p and t - p, for t < 4K, is
//
//	D_t = sum_h sum_p a_hp x_h(t-p),
//
// a product of the matrix of A's digits, 4K a number, and of a Toeplitz matrix of X's. D_t weighs
// 2^-7(t+2); four of them go into a column of reduce.cuh, of 28 bits. In units of 2^P a product
// is wrong by less than 2 B^-K (digits of A and X cut) + 4K B^-K (products cut: the rest of
// X from digit 4K - p on, times digit p), all with the sign of the product.
#pragma once
#include "bytes.cuh"
#include "../common/mma.cuh"
#include "reduce.cuh"

#define CONVOLVE_WARPS 4
#define CONVOLVE_ROWS 16 // of a warp
#define CONVOLVE_COLUMNS 4 // of a warp at a time
#define PARTS 8            // of what is known of rows, that a thread reads at a time
static_assert(CONVOLVE_WARPS * CONVOLVE_ROWS <= TILE_ROWS, "a tile's rows");

struct convolution {
	vectors a;
	vectors x;     // one vector, of which scanRows makes table
	spans parts;   // what the blocks of scanRows find
	spans s;       // what it comes to
	u64 columns;   // as in reduction
	u64 table;
	int count;     // parts
	int steps;     // of CONVOLVE_COLUMNS columns that a warp takes
	int down;      // whether memory runs down the columns of a
	u32 inverse;   // 2^32 / limbs of a, rounded up
	int size;      // words of a buffer
	ending end;
};

// tilesOf returns how many groups of 8 sums D_t there are.
static __device__ __host__ constexpr int tilesOf(int K) { return (K + 1) / 2; }

// A stream cuts the fraction 2^-shift |x| into digits.
struct stream {
	const u32 *at;
	int words, k, shift;
	u32 above;
	sign s;

	__device__ __forceinline__ u32 next()
	{
		u32 v = (u32)k < (u32)words ? at[k] : 0;
		k--;
		return v;
	}

	__device__ stream(const u32 *at, int words, i64 by, bool neg) : at(at), words(words), s(neg)
	{
		shift = -(int)by & 31;
		k = words - 1 - (-(int)by >> 5);
		above = next();
	}

	// take shifts 7 words, which have 8 digits of 28 bits.
	__device__ __forceinline__ void take(u32 (&v)[7])
	{
#pragma unroll
		for (int m = 0; m < 7; m++) {
			u32 below = next();
			v[m] = __funnelshift_l(below, above, shift);
			above = below;
		}
	}

	// digits returns the digits of number q of 28 bits of what was taken, the last lowest.
	__device__ __forceinline__ u32 digits(const u32 (&v)[7], int q) const
	{
		// bits of word m below it
		int end = 28 * (q + 1), m = (end - 1) / 32, low = 32 * (m + 1) - end;
		u32 d = low == 0 ? v[m] : __funnelshift_r(v[m], m > 0 ? v[m - 1] : 0, low);
		return s.apply(spread(d));
	}
};

// convolve adds the products of a warp's rows to their columns.
template <int K> static __device__ __forceinline__ void convolve(const convolution &r, u64 *room)
{
	const int TILES = tilesOf(K);
	// steps between flushes: |D_t| < 2^31
	const int LONGEST = (1 << 17) / (4 * K * CONVOLVE_COLUMNS);
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, place = lane / 4, column = lane % 4;
	int first = (blockIdx.x * CONVOLVE_WARPS + warp) * CONVOLVE_ROWS;
	if (first >= r.a.n)
		return;
	int here = min(CONVOLVE_ROWS, r.a.n - first);
	// half of the banks on, so that columns meet in pairs only
	int limbs = r.a.a.limbs, pitch = limbs | 1, wide = CONVOLVE_ROWS * pitch + 8;
	u64 *buffers = room + warp * 2 * r.size;
	const u64 *words = (const u64 *)r.a.a.plane[0];
	int begin = blockIdx.y * r.steps * CONVOLVE_COLUMNS, end = min(r.a.k, begin + r.steps * CONVOLVE_COLUMNS);

	// load begins to load the entries of 4 columns.
	auto load = [&](int base, int buffer) {
		if (base < end) {
			int columns = min(CONVOLVE_COLUMNS, end - base);
			i64 stepF = r.down ? r.a.rs : r.a.cs, stepS = (r.down ? r.a.cs : r.a.rs) * limbs;
			const u64 *from = words + (r.a.off + first * r.a.rs + base * r.a.cs) * limbs + lane;
			int count = (r.down ? here : columns) * limbs, slow = r.down ? columns : here;
			int toF = (r.down ? pitch : wide) - limbs, toS = r.down ? wide : pitch;
			u64 *to = buffers + buffer * r.size + lane;
			for (int s = 0; s < slow; s++) {
				if (stepF == 1) { // all words follow each other
#pragma unroll 4
					for (int q = 0; q < count - lane; q += 32)
						copyWord(to + q + (int)__umulhi(q + lane, r.inverse) * toF, from + q);
				} else {
#pragma unroll 4
					for (int q = 0; q < count - lane; q += 32) {
						int f = __umulhi(q + lane, r.inverse);
						copyWord(to + q + f * toF, from + q + f * (stepF - 1) * limbs);
					}
				}
				from += stepS;
				to += toS;
			}
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
	// headsOf reads what a thread needs of its two numbers and of that of x, of column base + its
	// own.
	head next[3];
	auto headsOf = [&](int base) {
		int c = base + column;
#pragma unroll
		for (int b = 0; b < 3; b++)
			next[b] = head{0, ZERO << 1};
		if (c < end) {
			i64 i = r.x.off + c * r.x.cs;
			next[2] = head{__ldg((const int *)r.x.a.plane[1] + i), __ldg((const u8 *)r.x.a.plane[2] + i)};
#pragma unroll
			for (int b = 0; b < 2; b++) {
				if (place + 8 * b < here) {
					i = r.a.off + (first + place + 8 * b) * r.a.rs + c * r.a.cs;
					next[b] = head{__ldg((const int *)r.a.a.plane[1] + i), __ldg((const u8 *)r.a.a.plane[2] + i)};
				}
			}
		}
	};

	load(begin, 0);
	headsOf(begin);
	// The rows' references.
	i64 top[2];
	{
		int row = first + min(lane % CONVOLVE_ROWS, here - 1);
		span s = {NO_TOP, NO_TOP, 0};
		for (int p = lane / CONVOLVE_ROWS; p < r.count; p += 2 * PARTS)
			s.mergeParts<PARTS>(r.parts, p, 2, r.count, r.a.n, row);
		span other = {__shfl_xor_sync(~0u, s.top, 16), __shfl_xor_sync(~0u, s.bottom, 16), __shfl_xor_sync(~0u, s.flags, 16)};
		s.merge(other);
		if (blockIdx.y == 0 && lane < here)
			s.write(r.s, row);
		top[0] = __shfl_sync(~0u, s.top, place);
		top[1] = __shfl_sync(~0u, s.top, place + 8);
	}
	int buffer = 0;
	for (int base = begin; base < end;) {
		int acc[TILES][4];
#pragma unroll
		for (int t = 0; t < TILES; t++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				acc[t][i] = 0;
		for (int step = 0; step < LONGEST && base < end; step++, base += CONVOLVE_COLUMNS, buffer ^= 1) {
			uint2 b[TILES];
			const uint2 *table = (const uint2 *)r.table + ((i64)min(base + column, end - 1) * TILES * 8 + place);
#pragma unroll
			for (int t = 0; t < TILES; t++)
				b[t] = __ldg(table + 8 * t);
			i64 shift[2];
			bool neg[2];
#pragma unroll
			for (int i = 0; i < 2; i++) {
				shift[i] = top[i] - next[i].exp - next[2].exp;
				if (next[i].cls >> 1 != FINITE || next[2].cls >> 1 != FINITE || shift[i] > DIGIT * K)
					shift[i] = DIGIT * K + 32; // nothing of it remains
				neg[i] = next[i].cls & 1;
			}
			load(base + CONVOLVE_COLUMNS, buffer ^ 1);
			headsOf(base + CONVOLVE_COLUMNS);
			asm volatile("cp.async.wait_group 1;" ::: "memory");
			__syncwarp();
			const u64 *at = buffers + buffer * r.size + column * wide + place * pitch;
			stream low((const u32 *)at, 2 * limbs, shift[0], neg[0]), high((const u32 *)(at + 8 * pitch), 2 * limbs, shift[1], neg[1]);
#pragma unroll
			for (int g = 0; g < (K + 7) / 8; g++) {
				u32 v[7], w[7];
				low.take(v);
				high.take(w);
#pragma unroll
				for (int p = 0; p < 4; p++) {
					int i = 8 * g + 2 * p; // digits of 28 bits
					if (i >= K)
						break;
					uint4 a = {low.digits(v, 2 * p), high.digits(w, 2 * p), 0, 0};
					if (i + 1 < K) {
						a.z = low.digits(v, 2 * p + 1);
						a.w = high.digits(w, 2 * p + 1);
					}
#pragma unroll
					for (int d = 0; d < TILES - i / 2; d++)
						multiplyAdd(acc[i / 2 + d], a, b[d].x, b[d].y);
				}
			}
			__syncwarp();
		}
		// The sums go through the buffer that nothing is loaded into, half of the rows at a
		// time; D_t is number t + 1 of a row.
		int *sums = (int *)(buffers + (buffer ^ 1) * r.size);
		const int length = 8 * TILES + 1;
#pragma unroll
		for (int half = 0; half < 2; half++) {
#pragma unroll
			for (int t = 0; t < TILES; t++)
#pragma unroll
				for (int i = 0; i < 2; i++)
					sums[place * length + 8 * t + 2 * column + i + 1] = acc[t][2 * half + i];
			if (lane < 8)
				sums[lane * length] = 0;
			__syncwarp();
			for (int n = lane; n < 8 * (K + 1); n += 32) {
				int row = n % 8 + 8 * half, q = n / 8;
				const int *from = sums + n % 8 * length + 4 * q;
				i64 v = 0;
#pragma unroll
				for (int i = 0; i < 4; i++)
					if (4 * q + i < length)
						v += (i64)from[i] << (21 - 7 * i);
				if (row < here)
					atomicAdd((u64 *)r.columns + (i64)q * r.a.n + first + row, (u64)v);
			}
			__syncwarp();
		}
	}
}

#define CONVOLVE(K, BLOCKS)                                                                                            \
	extern "C" __global__ void __launch_bounds__(32 * CONVOLVE_WARPS, BLOCKS) convolve##K(const __grid_constant__ convolution r) \
	{                                                                                                                  \
		extern __shared__ u64 room[];                                                                                  \
		convolve<K>(r, room);                                                                                          \
		__syncthreads();                                                                                               \
		concludeColumns(r.end, r.s, r.columns, r.a.n, K, CONVOLVE_WARPS * CONVOLVE_ROWS, (i64 *)room);                 \
	}
