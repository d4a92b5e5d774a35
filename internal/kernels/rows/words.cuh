// Sums of long numbers along the rows of a matrix, in one launch: columns of words.
//
// With P, K and columns as in fused.cuh, numbers are shifted to P and cut into words of 32 bits, of
// which T = ceil(28 K / 32) are kept, so that an addend is wrong by less than 2^-32T <= B^-K units
// of 2^P. The lanes of a warp take the words of a number that lie beside each other, each into 64
// bits of its own. Of a negative number they take ~w = 2^32 - 1 - w for each word w, so that what
// the words of m negative numbers come to is m (2^32 - 1) too much.
//
// In the end columns of words become columns of digits, once a block. What is below column K - 1 is
// rounded down, which costs less than one unit a block: n addends are wrong by less than 2 n units,
// and sums that meet no more than in fused.cuh.
//
// Warps work each for itself: the words of the numbers of a stage come in the background, some
// stages ahead.
#pragma once
#include "../common/mma.cuh"
#include "look.cuh"

#define WORD_THREADS 512
#define WORD_WARPS (WORD_THREADS / 32)
#define WORD_DEPTH 4 // stages under way

struct wordReduction {
	reduction r;
	int limbs;   // the highest of a number, which are fetched
	int unit;    // bytes that are fetched at a time: 8, or 16 where numbers follow each other
	u32 inverse; // 2^32 / limbs, rounded up
	int stage;   // bytes
};

// copyUpTo copies 16 bytes, of which the source has some.
static __device__ __forceinline__ void copyUpTo(u32 to, const char *from, int bytes)
{
	asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes));
}

// carriedWord is the i-th of sums of words, of which kept count, after a carry: its low bits, and
// what the next one has above its own.
static __device__ __forceinline__ i64 carriedWord(const i64 *sum, int kept, int i)
{
	return (sum[i] & 0xffffffff) + (i + 1 < kept ? sum[i + 1] >> 32 : 0);
}

// digitOf is column c - 1: of the bits 28 (c - 1) to 28 c - 1 below P, those that are low in one
// word and those that are high in the next one, with all that this one has above.
static __device__ __forceinline__ i64 digitOf(const i64 *sum, int kept, int c)
{
	if (c == 0)
		return sum[0] >> 32;
	int i = DIGIT * (c - 1) / 32, at = DIGIT * (c - 1) % 32; // a multiple of 4
	i64 v = carriedWord(sum, kept, i);
	if (at == 0)
		return v >> 4;
	i64 digit = (v & (1ll << (32 - at)) - 1) << (at - 4);
	if (at > 4 && i + 1 < kept)
		digit += carriedWord(sum, kept, i + 1) >> (36 - at);
	return digit;
}

// words adds the numbers of a row, LANES lanes a number, COLUMNS words a lane. A stage has NUMBERS,
// each of which a lane knows.
template <int LANES, int COLUMNS, int NUMBERS> static __device__ __forceinline__ void words(const wordReduction &q)
{
	const int SIZE = LANES * COLUMNS, GROUPS = 32 / LANES;
	static_assert(NUMBERS <= 32 && NUMBERS % GROUPS == 0, "shape");
	const reduction &r = q.r;
	extern __shared__ uint4 room[];
	__shared__ reduction copy; // functions that are not inlined reach no parameters of the kernel
	__shared__ span known[WORD_WARPS];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	// The stages of this block, of which its warps take turns.
	int count = (r.a.k + NUMBERS - 1) / NUMBERS, each = (count + gridDim.y - 1) / gridDim.y;
	int stages = max(0, min(each, count - (int)blockIdx.y * each)), first = blockIdx.y * each * NUMBERS;
	int end = min(r.a.k, first + stages * NUMBERS);

	i64 start = r.a.off + blockIdx.x * r.a.rs;
	const char *from = (const char *)r.a.a.plane[0] + 8 * ((start + 1) * r.a.a.limbs - q.limbs);
	char *base = (char *)room + warp * WORD_DEPTH * q.stage;
	auto fetch = [&](int stage) {
		int h = first + stage * NUMBERS, here = min(NUMBERS, end - h);
		char *to = base + (u32)(stage / WORD_WARPS) % WORD_DEPTH * q.stage;
		const char *at = from + 8 * h * r.a.cs * r.a.a.limbs;
		if (q.unit == 16) {
			for (int i = 16 * lane; i < 8 * here * q.limbs; i += 16 * 32)
				copyUpTo(sharedAddress(to) + i, at + i, min(16, 8 * here * q.limbs - i));
		} else {
			for (int i = lane; i < here * q.limbs; i += 32) {
				int n = q.limbs > 1 ? __umulhi(i, q.inverse) : i;
				copyWord(sharedAddress(to) + 8 * i, (const u64 *)at + n * r.a.cs * r.a.a.limbs + (i - n * q.limbs));
			}
		}
	};
	head own;
	auto headOf = [&](int stage) {
		int h = first + stage * NUMBERS + lane;
		own = head{0, ZERO << 1};
		if (lane < NUMBERS && h < end) {
			i64 i = start + h * r.a.cs;
			own = head{__ldg((const int *)r.a.a.plane[1] + i), __ldg((const u8 *)r.a.a.plane[2] + i)};
		}
	};

	for (int i = threadIdx.x; i < sizeof copy / sizeof(u32); i += WORD_THREADS)
		((u32 *)&copy)[i] = ((const u32 *)&r)[i];
	__syncthreads();
#pragma unroll
	for (int s = 0; s < WORD_DEPTH - 1; s++) {
		fetch(warp + s * WORD_WARPS);
		asm volatile("cp.async.commit_group;" ::: "memory");
	}
	headOf(warp);
	look<WORD_THREADS, false>(copy, first, end, known);
	i64 top = known[0].top, sum[COLUMNS];
#pragma unroll
	for (int c = 0; c < COLUMNS; c++)
		sum[c] = 0;
	int negatives = 0;
#pragma unroll 1
	for (int stage = warp; stage < stages; stage += WORD_WARPS) {
		asm volatile("cp.async.wait_group %0;" ::"n"(WORD_DEPTH - 2) : "memory");
		__syncwarp();
		fetch(stage + (WORD_DEPTH - 1) * WORD_WARPS);
		asm volatile("cp.async.commit_group;" ::: "memory");
		// How the lane's number is shifted: by words, above the bits below 32; the sign is highest.
		u32 shift = 128 << 8; // nothing of it remains
		i64 by = top - own.exp;
		if (finiteClass(own.cls) && by < 32 * SIZE) {
			bool negative = own.cls & 1 && !r.magnitudes;
			shift = (u32)by >> 5 << 8 | (u32)by & 31 | (u32)negative << 31;
			negatives += negative;
		}
		headOf(stage + WORD_WARPS);
		const u32 *in = (const u32 *)(base + (u32)(stage / WORD_WARPS) % WORD_DEPTH * q.stage) + lane / LANES * 2 * q.limbs + 2 * q.limbs - 1;
#pragma unroll 4
		for (int n = 0; n < NUMBERS; n += GROUPS) {
			u32 s = __shfl_sync(~0u, shift, n + lane / LANES);
			int down = s >> 8 & 255;
			u32 flip = (int)s >> 31;
#pragma unroll
			for (int c = 0; c < COLUMNS; c++) {
				int i = lane % LANES + c * LANES - down; // word i, and the one above it
				u32 above = 0, word = 0;
				if ((u32)(i - 1) < 2 * q.limbs)
					above = in[1 - i];
				if ((u32)i < 2 * q.limbs)
					word = in[-i];
				sum[c] += __funnelshift_r(word, above, s) ^ flip;
			}
			in += GROUPS * 2 * q.limbs;
		}
	}
	asm volatile("cp.async.wait_group 0;" ::: "memory");
	__syncthreads();

	// The sums of the lanes, then of the warps.
	i64 *part = (i64 *)room, *total = part + WORD_WARPS * (SIZE + 1), *columns = total + SIZE;
#pragma unroll
	for (int c = 0; c < COLUMNS; c++) {
#pragma unroll
		for (int d = LANES; d < 32; d *= 2)
			sum[c] += __shfl_xor_sync(~0u, sum[c], d);
		if (lane < LANES)
			part[warp * (SIZE + 1) + lane + c * LANES] = sum[c];
	}
#pragma unroll
	for (int d = 16; d > 0; d /= 2)
		negatives += __shfl_xor_sync(~0u, negatives, d);
	if (lane == 0)
		part[warp * (SIZE + 1) + SIZE] = negatives;
	__syncthreads();
	int kept = (DIGIT * r.digits + 31) / 32;
	if (threadIdx.x < SIZE) {
		i64 v = 0;
		for (int w = 0; w < WORD_WARPS; w++)
			v += part[w * (SIZE + 1) + threadIdx.x] - part[w * (SIZE + 1) + SIZE] * 0xffffffff;
		total[threadIdx.x] = threadIdx.x < kept ? v : 0;
	}
	__syncthreads();
	if (threadIdx.x <= r.digits)
		columns[threadIdx.x] = digitOf(total, kept, threadIdx.x);
	__syncthreads();
	finishTile(copy, columns, known);
}

// WORDS defines the kernel for so many words.
#define WORDS(LANES, COLUMNS, NUMBERS, SIZE)                                                                           \
	extern "C" __global__ void __launch_bounds__(WORD_THREADS, 1) words##SIZE(const __grid_constant__ wordReduction r) \
	{                                                                                                                  \
		static_assert(LANES * COLUMNS == SIZE, "shape");                                                               \
		words<LANES, COLUMNS, NUMBERS>(r);                                                                             \
	}
