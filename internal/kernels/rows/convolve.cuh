// Products of a matrix and a vector of long numbers on the tensor cores, in one launch: digit
// convolution.
//
// With P, K and columns as in fused.cuh, the first factors of a row, A, are shifted to 2^(P+2) and
// cut into digits of 8 bits with sign, and the second factors x are left as fractions, whose bytes
// are digits without sign; digit p weighs 2^-8(p+1). Over the numbers h of a row,
//
//	D_t = sum_h sum_p a_hp x_h(t-p),    sum_h A_h x_h = 4 sum_t D_t 2^-8(t+2),
//
// is a product of the matrix of A's digits and of a Toeplitz matrix of the digits of x. Digits with
// sign of an integer |v| < 2^(8n-2) are the bytes of v + 128 (1 + 2^8 + ... + 2^8(n-1)), which
// is less than 2^8n and not negative, less 128 each. The tensor cores have T groups of 8 digits,
// and kept are N = min(8 T, floor(7 (K + 1) / 2 + 1/4) - 1) of the D_t, so that D_(N-1) weighs at
// least as much as column K - 1, 2^-28(K+1). In units of 2^P a product is wrong by less than
//
//	4 2^-8N (digits of A from number N on) + 4 N/2 2^-8N (digit |a_p| <= 128 times the rest of x
//	from digit N - p on, which is less than 2^-8(N-p)) = (2 N + 4) 2^-8N.
//
// A block works on 16 rows. Its warps take 4 columns of them at a time, whose words come in the
// background while the ones before are worked on, and keep their D_t in registers. In the end those
// of a block are added in shared memory, and those of slices as in fused.cuh.
#pragma once
#include "../common/mma.cuh"
#include "look.cuh"

#define LOG_CONVOLVE_ROWS 4
#define CONVOLVE_ROWS (1 << LOG_CONVOLVE_ROWS) // of a block
#define CONVOLVE_COLUMNS 4 // of a warp at a time
#define SAMPLE 2 // numbers of a row that a thread begins with

// How the entries of a step lie in memory and in a buffer, in words: fast ones, which are next to
// each other in memory, and slow ones.
struct layout {
	i64 fast, slow; // from an entry to the next, in memory
	int entry;      // and in the buffer
	int pitch;
	int log;   // 2^log threads copy a run of units: an entry, or several fast ones
	int runs;  // whether these are one run, in the buffer as well
	int wide;  // whether units are two words, which are aligned
	int size;  // of a buffer
};

struct convolution {
	reduction r;
	layout in;
	int steps; // of so many columns that a warp takes
	int pad;
};

// groupsOf returns T, keptOf N.
static __device__ __host__ constexpr int groupsOf(int K) { return (7 * K + 15) / 16; }
static __device__ __host__ constexpr int keptOf(int K)
{
	return 8 * groupsOf(K) < (14 * K + 11) / 4 ? 8 * groupsOf(K) : (14 * K + 11) / 4;
}

// Steps for which |D_t| <= 8 T 128 255 n is less than 2^31, n columns being those of the steps.
static __device__ __host__ constexpr int longest(int K) { return 2048 / groupsOf(K); }

// multiplySigned: c += a b for a 16 x 32 of bytes with sign and b 32 x 8 of bytes without.
static __device__ __forceinline__ void multiplySigned(int (&c)[4], const uint4 &a, u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		: "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
		: "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

// fraction has the words of a significand, of which word(i) is number i >= -2 from the top, and
// zeros around them: bit i + 2 says whether there is such a word.
struct fraction {
	const u32 *top;
	u64 there;

	// A fraction goes down by so many words, -1 at least and 2 T + 1 at most.
	__device__ __forceinline__ fraction(const u32 *at, int words, int down)
		: top(at + words - 1 + down), there((words < 64 ? (1ull << words) - 1 : ~0ull) << (down + 2))
	{
	}

	__device__ __forceinline__ u32 word(int i) const { return there >> (i + 2) & 1 ? top[-i] : 0; }
};

// stream gives the digits of a number, 2^-shift x, from the last one of 8 T on, four in a word.
template <int T> struct stream {
	fraction x;
	u32 current, flip, carry;
	int shift;

	__device__ __forceinline__ stream(const u32 *at, int words, int shift, bool neg)
		: x(at, words, shift >> 5), current(x.word(2 * T - 1)), flip(neg ? ~0u : 0), carry(neg), shift(shift & 31)
	{
	}

	// take returns those that end in word i.
	__device__ __forceinline__ u32 take(int i)
	{
		u32 next = i > 0 ? x.word(i - 1) : 0;
		u64 sum = (u64)(__funnelshift_r(current, next, shift) ^ flip) + 0x80808080u + carry;
		current = next;
		carry = (u32)(sum >> 32);
		return (u32)sum ^ 0x80808080u;
	}
};

// What a thread finds of a row before the row's P is known.
struct glance {
	span s;
	i64 sample;
};

// glanceAt finds what is known of each lanes-th of a row's numbers, from number begin + lane on,
// and the largest exponent of some of the whole row. Threads of all blocks of a row take the same
// sample, so that their P are congruent.
static __device__ __forceinline__ glance glanceAt(const reduction &r, int row, int lane, int lanes, int begin, int end)
{
	glance g = {{NO_TOP, NO_TOP, 0}, NO_TOP};
	int step = max(1u, (u32)r.a.k / (u32)(SAMPLE * lanes));
#pragma unroll
	for (int i = 0; i < SAMPLE; i++) {
		int h = (SAMPLE * lane + i) * step;
		if (h < r.a.k) {
			addend<true> a(r, row, h);
			if (finiteClass(a.cls))
				g.sample = max64(g.sample, a.exp);
		}
	}
#pragma unroll 8
	for (int h = begin + lane; h < end; h += lanes) {
		addend<true> a(r, row, h);
		if (g.s.see(a.cls, a.exp))
			g.s.top = max64(g.s.top, a.exp);
	}
	return g;
}

// agree finds what is known of the rows of a block, and their P, from the glances of its threads,
// those of warps stride bytes apart.
static __device__ __noinline__ void agree(const glance *found, int stride, int across, span *all)
{
	const int EACH = 8; // threads for a row
	int lanes = blockDim.x / CONVOLVE_ROWS;
	__syncthreads();
	for (int i = threadIdx.x; i < EACH * CONVOLVE_ROWS; i += blockDim.x) {
		int row = i / EACH;
		span s = {NO_TOP, NO_TOP, 0};
		i64 start = NO_TOP;
		for (int lane = i % EACH; lane < lanes; lane += EACH) {
			int thread = across ? lane * CONVOLVE_ROWS + row : row * lanes + lane;
			const glance &g = ((const glance *)((const char *)found + thread / 32 * stride))[thread % 32];
			s.merge(g.s);
			start = max64(start, g.sample);
		}
#pragma unroll
		for (int d = EACH / 2; d > 0; d /= 2) {
			s.merge(span{__shfl_xor_sync(~0u, s.top, d), __shfl_xor_sync(~0u, s.bottom, d), __shfl_xor_sync(~0u, s.flags, d)});
			start = max64(start, __shfl_xor_sync(~0u, start, d));
		}
		if (s.top != NO_TOP)
			s.top = raised(start == NO_TOP ? 0 : start + MARGIN, s.top);
		if (i % EACH == 0)
			all[row] = s;
	}
	__syncthreads();
}

// gathered returns column c - 1 of a row, c <= K, of the D_t of the warps, those of warps stride
// bytes apart. D_t weighs 2^(28 c + 14 - 8 t) of this column, in which it is if that is less than
// the next one's weight: the sum is less than 2^63, of 16 warps.
static __device__ __forceinline__ i64 gathered(const int *sums, int stride, int warps, int c, int kept)
{
	i64 v = 0;
	int last = (14 * c + 7) / 4;
#pragma unroll
	for (int b = 0; b < 4; b++) {
		int t = last - b, up = DIGIT * c + 14 - 8 * t;
		if (t < 0 || t >= kept || up >= DIGIT)
			continue;
		i64 d = 0;
#pragma unroll 4
		for (int w = 0; w < warps; w++)
			d += *(const int *)((const char *)(sums + t) + w * stride);
		v += d << up;
	}
	return v;
}

// convolve adds the products of a block's rows.
template <int K> static __device__ __forceinline__ void convolve(const convolution &q)
{
	const int T = groupsOf(K), LENGTH = 8 * T + 1;
	extern __shared__ uint4 space[];
	__shared__ reduction copy; // functions that are not inlined reach no parameters of the kernel
	__shared__ span all[CONVOLVE_ROWS];
	const reduction &r = q.r;
	u64 *room = (u64 *)space;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, place = lane / 4, column = lane % 4;
	int first = blockIdx.x * CONVOLVE_ROWS, here = min(CONVOLVE_ROWS, r.a.n - first);
	const layout &in = q.in;
	int limbs = r.a.a.limbs;
	u64 *buffers = room + warp * 2 * in.size;
	// The columns of the block, and of the warp's first step.
	int stride = warps * CONVOLVE_COLUMNS, begin = blockIdx.y * q.steps * stride, end = min(r.a.k, begin + q.steps * stride);
	int start = begin + warp * CONVOLVE_COLUMNS;
	for (int i = threadIdx.x; i < sizeof copy / sizeof(u32); i += blockDim.x)
		((u32 *)&copy)[i] = ((const u32 *)&r)[i];

	// load begins to load the entries of 4 columns.
	const u64 *words = (const u64 *)r.a.a.plane[0] + (r.a.off + first * r.a.rs + start * r.a.cs) * limbs;
	auto load = [&](int base, int buffer) {
		if (base < end) {
			int columns = min(CONVOLVE_COLUMNS, end - base);
			int slow = r.across ? columns : here, fast = r.across ? here : columns, count = in.runs ? fast * limbs : limbs;
			bool wide = in.wide && count % 2 == 0;
			int part = lane & ((1 << in.log) - 1), size = wide ? 16 : 8;
			count = count * 8 - part * size; // bytes from the thread's first unit on
			int row = lane >> in.log, jump = 32 >> in.log;
			const char *from0 = (const char *)(words + row * in.slow) + part * size;
			u32 to0 = sharedAddress(buffers + buffer * in.size + row * in.pitch) + part * size;
			for (int f = 0; f < (in.runs ? 1 : fast); f++, from0 += 8 * in.fast, to0 += 8 * in.entry) {
				const char *from = from0;
				u32 to = to0;
#pragma unroll 1
				for (int s = row; s < slow; s += jump, from += 8 * jump * in.slow, to += 8 * jump * in.pitch) {
					if (wide) {
#pragma unroll 1
						for (int w = 0; w < count; w += 1024) {
							copyAsync(to + w, from + w);
							if (w + 512 < count)
								copyAsync(to + w + 512, from + w + 512);
						}
					} else {
						// After wide steps the last run may have more words than threads.
#pragma unroll 1
						for (int w = 0; w < count; w += 8 << in.log)
							copyWord(to + w, (const u64 *)(from + w));
					}
				}
			}
			words += stride * r.a.cs * limbs;
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
	// headsOf reads what a thread needs of its two numbers and of that of x, of column base + its
	// own.
	head next[3];
	i64 atA = r.a.off + (first + place) * r.a.rs + (start + column) * r.a.cs, atX = r.x.off + (start + column) * r.x.cs;
	auto headsOf = [&](int base) {
#pragma unroll
		for (int b = 0; b < 3; b++)
			next[b] = head{0, ZERO << 1};
		if (base + column < end) {
			next[2] = head{__ldg((const int *)r.x.a.plane[1] + atX), __ldg((const u8 *)r.x.a.plane[2] + atX)};
#pragma unroll
			for (int b = 0; b < 2; b++) {
				if (place + 8 * b < here) {
					i64 i = atA + 8 * b * r.a.rs;
					next[b] = head{__ldg((const int *)r.a.a.plane[1] + i), __ldg((const u8 *)r.a.a.plane[2] + i)};
				}
			}
		}
		atA += stride * r.a.cs;
		atX += stride * r.x.cs;
	};

	load(start, 0);
	headsOf(start);
	{
		int lanes = blockDim.x / CONVOLVE_ROWS;
		int row = r.across ? threadIdx.x % CONVOLVE_ROWS : threadIdx.x / lanes, part = r.across ? threadIdx.x / CONVOLVE_ROWS : threadIdx.x % lanes;
		((glance *)(buffers + in.size))[lane] = glanceAt(r, first + min(row, here - 1), part, lanes, begin, end);
		agree((const glance *)(room + in.size), 16 * in.size, r.across, all);
	}
	i64 top[2] = {all[place].top, all[place + 8].top};
	int acc[T][4];
#pragma unroll
	for (int t = 0; t < T; t++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			acc[t][i] = 0;
	int buffer = 0, stepRow = r.across ? in.entry : in.pitch, stepColumn = r.across ? in.pitch : in.entry;
#pragma unroll 1
	for (int base = start; base < end; base += stride, buffer ^= 1) {
		// The four digits of x that end with digit 8 t + place, and the four before: bytes of two
		// words of x, from the highest on.
		u32 b[T][2];
		{
			int c = min(base + column, end - 1), wordsX = 2 * r.x.a.limbs;
			u32 pick = 0x4567012u >> place % 4 * 4 & 0xffff;
			fraction x((const u32 *)((const u64 *)r.x.a.plane[0] + (r.x.off + c * r.x.cs) * r.x.a.limbs), wordsX, -(place / 4));
			u32 last = x.word(-2);
#pragma unroll
			for (int i = -1; i < 2 * T - 1; i++) {
				u32 word = x.word(i);
				b[(i + 1) / 2][(i & 1) != 0] = __byte_perm(last, word, pick);
				last = word;
			}
		}
		int shift[2];
		bool neg[2];
#pragma unroll
		for (int i = 0; i < 2; i++) {
			i64 by = top[i] - next[i].exp - next[2].exp + 2;
			shift[i] = 64 * T + 32; // nothing of it remains
			if (finiteClass(next[i].cls) && finiteClass(next[2].cls) && by < 64 * T)
				shift[i] = (int)by;
			neg[i] = (next[i].cls ^ next[2].cls) & 1;
		}
		load(base + stride, buffer ^ 1);
		headsOf(base + stride);
		asm volatile("cp.async.wait_group 1;" ::: "memory");
		__syncwarp();
		const u32 *at = (const u32 *)(buffers + buffer * in.size + column * stepColumn + place * stepRow);
		stream<T> low(at, 2 * limbs, shift[0], neg[0]), high(at + 16 * stepRow, 2 * limbs, shift[1], neg[1]);
#pragma unroll
		for (int i = T - 1; i >= 0; i--) {
			uint4 a;
			a.z = low.take(2 * i + 1);
			a.w = high.take(2 * i + 1);
			a.x = low.take(2 * i);
			a.y = high.take(2 * i);
#pragma unroll
			for (int d = 0; d < T - i; d++)
				multiplySigned(acc[i + d], a, b[d][0], b[d][1]);
		}
		__syncwarp();
	}
	// Nothing is under way any more: all words of the buffers are room for D_t.
	asm volatile("cp.async.wait_group 0;" ::: "memory");
	__syncwarp();
	int *sums = (int *)buffers + place * LENGTH + 2 * column;
#pragma unroll
	for (int t = 0; t < T; t++)
#pragma unroll
		for (int i = 0; i < 4; i++)
			sums[i / 2 * 8 * LENGTH + 8 * t + i % 2] = acc[t][i];
	__syncthreads();
	// Columns are carried once, so that sums of many slices fit; the first warp has room behind its
	// D_t.
	i64 *columns = (i64 *)room, *carried = columns + 8 * LENGTH;
	static_assert(2 * T + 3 < 64, "bits for words");
	static_assert(2 * (K + 1) <= LENGTH, "columns fit in the room of D_t");
	for (int i = threadIdx.x; i < (K + 1) * CONVOLVE_ROWS; i += blockDim.x)
		carried[i] = gathered((const int *)room + i % CONVOLVE_ROWS * LENGTH, 16 * in.size, warps, i / CONVOLVE_ROWS, keptOf(K));
	__syncthreads();
	for (int i = threadIdx.x; i < (K + 1) * CONVOLVE_ROWS; i += blockDim.x)
		columns[i] = (i < CONVOLVE_ROWS ? carried[i] : carried[i] & MASK) + (i < K * CONVOLVE_ROWS ? carried[i + CONVOLVE_ROWS] >> DIGIT : 0);
	__syncthreads();
	finishTile(copy, columns, all);
}

#define CONVOLVE(K, WARPS)                                                                                      \
	extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) convolve##K(const __grid_constant__ convolution q) \
	{                                                                                                           \
		static_assert(WARPS <= 16, "warps");                                                                     \
		convolve<K>(q);                                                                                         \
	}
