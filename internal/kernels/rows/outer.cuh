// Sums of products of long numbers along the rows of a matrix, on the tensor cores, in one launch:
// outer products of digits.
//
// With P, K and columns as in fused.cuh, the first factors of a row are shifted to P and the
// second ones are left as fractions, which are the bytes of the significands: digits in radix
// 2^8 without sign, number p weighing 2^-8(p+1). Over the numbers h of a row,
//
//	C_pj = sum_h x_hp y_hj,    sum_h x_h y_h = sum_t D_t 2^-8(t+2),    D_t = sum_(p+j=t) C_pj
//
// is the product of a matrix of the first factors' digits and one of the second factors', with
// the numbers as inner dimension, and sums over its antidiagonals t < T. Kept are F groups of 16
// digits and T = min(16 F, floor(7 (K + 1) / 2) - 1), so that D_(T-1) weighs at least as much as
// column K - 1, 2^-28(K+1). In units of 2^P a product is wrong by less than
//
//	T 2^-8T (products of digits cut) + 2^-8T (digits of the first factor cut).
//
// The sign of a product goes into the second factor without a carry: with m = 0x80 for a positive
// product and 0x7f for a negative one, +-y = (y xor m) - m for bytes with sign, as ~y = -1 - y. So
// C_pj = Z_pj - E_p, where Z has digits y xor m and E those of a factor of zeros, m themselves.
//
// A block takes 32 numbers for each group of warps at a time, a stage: their words come in the
// background, some stages ahead. The tensor cores want the digits of four numbers beside each other
// in a word; ldmatrix moves pairs of bytes to where they belong and byte permutations part them.
#pragma once
#include "../common/mma.cuh"
#include "look.cuh"

#define OUTER_THREADS 256
#define OUTER_WARPS (OUTER_THREADS / 32)
#define SQUARE (16 * 17) // ints of a tile of C with room between its rows
#define INFO 4 // stages of which shifts and signs are there: a power of two

// |Z_pj|, |E_p| <= 255 128 n and |C_pj| <= 255 255 n are less than 2^31 for so many numbers, of
// which a warp takes 32 a stage.
#define OUTER_LONGEST (1 << 15)
static_assert(255ll * 255 * OUTER_LONGEST < 1ll << 31, "sums of 32 bits");

// A shape of kernels for F groups of digits. W warps share the tiles of 16 x 16 entries of C that
// are needed, (a, b) with a + b < F: warp a has those of group a of the first factors, and of group
// 2 W - 1 - a, which are SLOTS together at most. DEPTH stages are under way.
template <int F, int W, int DEPTH> struct shape {
	enum {
		GROUPS = OUTER_WARPS / W, // of warps, each on numbers of its own
		NUMBERS = 32 * GROUPS,    // of a stage
		WORDS = 4 * F,            // of 32 bits that are kept of a number
		PITCH = F == 2 ? 32 : 16 * (F | 1), // bytes; an odd multiple of 16 is best for ldmatrix
		STAGE = NUMBERS * PITCH,
		SLOTS = F + (2 * W == F),
		SUMS = 16 * F + 16,
		KEEPERS = OUTER_THREADS / NUMBERS, // threads that take turns to know a number of a stage
		// Where things are in shared memory: stages of first factors as they are, of second
		// factors, of shifted first factors; the rest.
		SECOND = DEPTH * STAGE,
		SHIFTED = SECOND + (DEPTH + 1) * STAGE,
		SQUARES = SHIFTED + 2 * STAGE,
		DIAGONALS = SQUARES + 4 * SQUARE * OUTER_WARPS,
		SHIFTS = DIAGONALS + 8 * SUMS,
		SIGNS = SHIFTS + 4 * INFO * NUMBERS,
		BYTES = SIGNS + INFO * NUMBERS, // SharedBytes of internal/gpu/abi/rows.go
	};
	static_assert(OUTER_WARPS % W == 0 && 2 * W >= F && NUMBERS <= OUTER_THREADS && DEPTH >= 3, "shape");
	// The first of two slots that share digits of second factors is one of group a for all a < W.
	static_assert((SLOTS - 1) / 2 < F - (W - 1), "shape");
};

// How a factor of a stage is fetched, in words of 8 or 16 bytes: some threads, a power of two, take
// a number, each a word of it, and others other numbers.
struct fetching {
	i64 stage; // bytes from a stage to the next
	i64 jump;  // bytes from a number to the thread's next one
	int words; // that are fetched of a number
	int log;   // of the threads for a number
	int size;  // of a word
	int pad;
};

struct outerReduction {
	reduction r;
	fetching first, second;
};

// fetcher is where a thread begins.
struct fetcher {
	u64 at;
	int n, w;

	__device__ __forceinline__ fetcher(const vectors &v, i64 at0, const fetching &by)
	{
		n = threadIdx.x >> by.log;
		w = (threadIdx.x & (1 << by.log) - 1) - by.words; // from the end of the number
		at = v.a.plane[0] + 8 * (at0 + n * v.cs + 1) * v.a.limbs + by.size * w;
	}
};

// loadRows loads 16 bytes of each of 32 rows, that of the thread at address at, if wanted: of
// numbers 2q and 2q + 1 of each 8 it gets bytes 2g and 2g + 1, g = lane / 4, q = lane % 4.
static __device__ __forceinline__ void loadRows(uint4 &r, u32 at, bool wanted)
{
	asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; @p ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%5]; }"
		: "+r"(r.x), "+r"(r.y), "+r"(r.z), "+r"(r.w) : "r"((u32)wanted), "r"(at) : "memory");
}

// The bytes of four numbers, of the even or the odd ones of loadRows.
static __device__ __forceinline__ u32 even(u32 a, u32 b) { return __byte_perm(a, b, 0x6420); }
static __device__ __forceinline__ u32 odd(u32 a, u32 b) { return __byte_perm(a, b, 0x7531); }

// firstFactor makes of rows a first factor of multiplyMixed: row g of it has digit 15 - 2g of a
// group, row g + 8 digit 14 - 2g.
static __device__ __forceinline__ uint4 firstFactor(const uint4 &r)
{
	return uint4{even(r.x, r.y), odd(r.x, r.y), even(r.z, r.w), odd(r.z, r.w)};
}

// multiplyMixed: c += a b for a 16 x 32 of bytes without sign and b 32 x 8 of bytes with sign.
static __device__ __forceinline__ void multiplyMixed(int *c, const uint4 &a, u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		: "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
		: "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

// multiplyTile adds a tile: its columns are the digits 15, 13, ... of a group of second factors,
// and the digits 14, 12, ...
static __device__ __forceinline__ void multiplyTile(int (&c)[8], const uint4 &a, const uint4 &y, uint2 m)
{
	multiplyMixed(c, a, even(y.x, y.y) ^ m.x, even(y.z, y.w) ^ m.y);
	multiplyMixed(c + 4, a, odd(y.x, y.y) ^ m.x, odd(y.z, y.w) ^ m.y);
}

// addDiagonals adds the antidiagonals of a tile that a warp has written.
static __device__ __noinline__ void addDiagonals(const int *square, u64 *to)
{
	int lane = threadIdx.x % 32;
	i64 sum = 0;
	__syncwarp();
#pragma unroll
	for (int p = 0; p < 16; p++)
		if ((u32)(lane - p) < 16)
			sum += square[17 * p + lane - p];
	if (lane < 31)
		atomicAdd(to + lane, (u64)sum);
	__syncwarp();
}

// column gathers what belongs into column c - 1 of the antidiagonals t < T: D_t weighs shift bits
// more than one column, in which it leaves its low bits, and the rest goes one up, but from the
// first. |D_t| < 2^(16 + 8 + 27), as a row has at most 2^27 numbers.
static __device__ __forceinline__ i64 column(const i64 *diagonal, int kept, int c)
{
	i64 sum = 0;
#pragma unroll
	for (int up = 0; up < 2; up++) {
		int weight = 7 * (c + up); // in digits of 4 bits
		for (int t = max(0, weight / 2 - 1); t <= (weight + 7) / 2 - 2 && t < kept; t++) {
			i64 d = diagonal[t];
			sum += (up ? d >> DIGIT : c > 0 ? d & MASK : d) << (4 * (weight + 7) - 8 * (t + 2));
		}
	}
	return sum;
}

// finishRow makes columns of the antidiagonals, carried once so that sums of many slices fit.
static __device__ __noinline__ void finishRow(const reduction &r, int kept, const i64 *diagonals, i64 *columns, span *known)
{
	i64 *carried = columns + r.digits + 1;
	for (int c = threadIdx.x; c <= r.digits; c += OUTER_THREADS)
		carried[c] = column(diagonals, kept, c);
	__syncthreads();
	for (int c = threadIdx.x; c <= r.digits; c += OUTER_THREADS)
		columns[c] = (c > 0 ? carried[c] & MASK : carried[c]) + (c < r.digits ? carried[c + 1] >> DIGIT : 0);
	__syncthreads();
	finishTile(r, columns, known);
}

// outer adds the products of a row.
template <int F, int W, int DEPTH> static __device__ __forceinline__ void outer(const outerReduction &q)
{
	const reduction &r = q.r;
	typedef shape<F, W, DEPTH> is;
	extern __shared__ uint4 room[];
	__shared__ reduction copy; // functions that are not inlined reach no parameters of the kernel
	__shared__ span known[OUTER_WARPS];
	char *base = (char *)room;
	int *shifts = (int *)(base + is::SHIFTS), *square = (int *)(base + is::SQUARES) + threadIdx.x / 32 * SQUARE;
	u8 *signs = (u8 *)(base + is::SIGNS);
	u64 *diagonals = (u64 *)(base + is::DIAGONALS);
	for (int i = threadIdx.x; i < sizeof copy / sizeof(u32); i += OUTER_THREADS)
		((u32 *)&copy)[i] = ((const u32 *)&r)[i];
	// The stages of this block.
	int count = (r.a.k + is::NUMBERS - 1) / is::NUMBERS, each = (count + gridDim.y - 1) / gridDim.y;
	int stages = max(0, min(each, count - (int)blockIdx.y * each)), first = blockIdx.y * each * is::NUMBERS;
	int end = min(r.a.k, first + stages * is::NUMBERS);

	// Only the highest words of numbers are loaded, and below those of short numbers are zeros.
	for (int i = threadIdx.x; i < (2 * DEPTH + 1) * is::NUMBERS; i += OUTER_THREADS)
		for (int w = 2 * F - min(2 * F, (i < DEPTH * is::NUMBERS ? r.a : r.x).a.limbs); w > 0; w--)
			((u64 *)(base + i * is::PITCH))[w - 1] = 0;
	for (int i = threadIdx.x; i < is::SUMS; i += OUTER_THREADS)
		diagonals[i] = 0;

	fetcher from[2] = {
		fetcher(r.a, r.a.off + blockIdx.x * r.a.rs + first * r.a.cs, q.first),
		fetcher(r.x, r.x.off + first * r.x.cs, q.second),
	};
	// Words of a stage begin to come.
	auto fetch = [&](int coming) {
		int here = min(is::NUMBERS, end - first - coming * is::NUMBERS);
#pragma unroll
		for (int f = 0; f < 2; f++) {
			const fetching &by = f ? q.second : q.first;
			int n = from[f].w < 0 ? from[f].n : here, numbers = OUTER_THREADS >> by.log;
			u64 at = from[f].at;
			u32 to = sharedAddress(base + (f ? is::SECOND + (u32)coming % (DEPTH + 1) * is::STAGE : (u32)coming % DEPTH * is::STAGE)) + n * is::PITCH + 16 * F + by.size * from[f].w;
			from[f].at += by.stage;
#pragma unroll 1
			for (; n < here; n += numbers) {
				if (by.size == 16)
					copyAsync(to, (const void *)at);
				else
					copyWord(to, (const u64 *)at);
				at += by.jump;
				to += numbers * is::PITCH;
			}
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};
	head headA, headX;
	int sum[is::SLOTS][8], bias[2][4];
	// Threads take turns to read heads, each long before shifts are found from them.
	int keeper = threadIdx.x / is::NUMBERS, number = threadIdx.x % is::NUMBERS;
	auto headsOf = [&](int stage) {
		int h = first + stage * is::NUMBERS + number;
		headA = headX = head{0, ZERO << 1};
		if (h < end) {
			i64 i = r.a.off + blockIdx.x * r.a.rs + h * r.a.cs, j = r.x.off + h * r.x.cs;
			headA = head{__ldg((const int *)r.a.a.plane[1] + i), __ldg((const u8 *)r.a.a.plane[2] + i)};
			headX = head{__ldg((const int *)r.x.a.plane[1] + j), __ldg((const u8 *)r.x.a.plane[2] + j)};
		}
	};
	auto zero = [&]() {
#pragma unroll
		for (int i = 0; i < is::SLOTS; i++)
#pragma unroll
			for (int j = 0; j < 8; j++)
				sum[i][j] = 0;
#pragma unroll
		for (int i = 0; i < 8; i++)
			bias[i / 4][i % 4] = 0;
	};
	zero();
	__syncthreads();
#pragma unroll 1
	for (int stage = 0; stage < DEPTH - 2; stage++)
		fetch(stage);
	headsOf(keeper);
	look<OUTER_THREADS, true>(copy, first, end, known);
	i64 top = known[0].top;
#pragma unroll 1
	for (int stage = -2; stage < stages; stage++) {
		asm volatile("cp.async.wait_group %0;" ::"n"(DEPTH - 2) : "memory");
		__syncthreads();
		fetch(stage + DEPTH);

		// The shifts and signs of the stage after next. The signs lie as the tensor cores want
		// them.
		if ((u32)(stage + 2) % is::KEEPERS == keeper) {
			int at = (stage + 2 & INFO - 1) * is::NUMBERS, n = number;
			i64 shift = 32 * is::WORDS; // nothing of it remains
			if (finiteClass(headA.cls) && finiteClass(headX.cls))
				shift = min64(shift, top - headA.exp - headX.exp);
			shifts[at + n] = (int)shift;
			signs[at + (n & ~15) + (n & 6) * 2 + (n >> 2 & 2) + (n & 1)] = (headA.cls ^ headX.cls) & 1 ? 0x7f : 0x80;
			headsOf(stage + 2 + is::KEEPERS);
		}
		// The first factors of the next stage are shifted.
		if (stage >= -1 && stage + 1 < stages) {
			const char *in = base + (u32)(stage + 1) % DEPTH * is::STAGE;
			char *to = base + is::SHIFTED + (stage + 1 & 1) * is::STAGE;
			const int *by = shifts + (stage + 1 & INFO - 1) * is::NUMBERS;
			// Pairs of words, so many a thread. All are read before the first is written.
			const int PAIRS = is::NUMBERS * is::WORDS / 2, TURNS = (PAIRS + OUTER_THREADS - 1) / OUTER_THREADS;
			u32 word[TURNS][3], places[TURNS];
#pragma unroll
			for (int i = 0; i < TURNS; i++) {
				int k = threadIdx.x + i * OUTER_THREADS, n = k / (is::WORDS / 2), w = k % (is::WORDS / 2) * 2;
				if (PAIRS % OUTER_THREADS != 0 && k >= PAIRS)
					n = 0;
				places[i] = by[n];
				const u32 *words = (const u32 *)(in + n * is::PITCH);
				int at = w + (places[i] >> 5);
#pragma unroll
				for (int j = 0; j < 3; j++)
					word[i][j] = at + j < is::WORDS ? words[at + j] : 0;
			}
#pragma unroll
			for (int i = 0; i < TURNS; i++) {
				int k = threadIdx.x + i * OUTER_THREADS, n = k / (is::WORDS / 2), w = k % (is::WORDS / 2) * 2;
				if (PAIRS % OUTER_THREADS == 0 || k < PAIRS)
					*(uint2 *)(to + n * is::PITCH + 4 * w) = uint2{__funnelshift_r(word[i][0], word[i][1], places[i] & 31), __funnelshift_r(word[i][1], word[i][2], places[i] & 31)};
			}
		}
		if (stage < 0)
			continue;

		// The products of this one.
		int lane = threadIdx.x % 32, a = threadIdx.x / 32 % W, other = min(2 * W - 1 - a, F - 1);
		int mine = threadIdx.x / 32 / W * 32; // numbers of the warp's group of warps
		u32 atX = sharedAddress(base + is::SHIFTED + (stage & 1) * is::STAGE) + (mine + lane) * is::PITCH;
		u32 atY = sharedAddress(base + is::SECOND + (u32)stage % (DEPTH + 1) * is::STAGE) + (mine + lane) * is::PITCH;
		const u32 *of = (const u32 *)(signs + (stage & INFO - 1) * is::NUMBERS + mine) + lane % 4;
		uint2 m = {of[0], of[4]};
		uint4 rows = {0, 0, 0, 0};
		loadRows(rows, atX + 16 * (F - 1 - a), true);
		uint4 x = firstFactor(rows);
		loadRows(rows, atX + 16 * (F - 1 - other), true);
		uint4 z = firstFactor(rows);
		multiplyMixed(bias[0], x, m.x, m.y);
		multiplyMixed(bias[1], z, m.x, m.y);
#pragma unroll
		for (int i = 0; i <= (is::SLOTS - 1) / 2; i++) {
			const int j = is::SLOTS - 1 - i;
			loadRows(rows, atY + 16 * (F - 1 - i), true);
			multiplyTile(sum[i], x, rows, m);
			if (i == j)
				break;
			bool same = j < F - a; // of group a, else of the other one, with digits that are there
			loadRows(rows, atY + 16 * (F - 1 - j), same);
			uint4 factor = {same ? x.x : z.x, same ? x.y : z.y, same ? x.z : z.z, same ? x.w : z.w};
			multiplyTile(sum[j], factor, rows, m);
		}
		if (stage + 1 < stages && (stage + 1) % (OUTER_LONGEST / 32) != 0)
			continue;
#pragma unroll
		for (int i = 0; i < is::SLOTS; i++) {
			bool same = i < F - a;
			int group = same ? a : 2 * W - 1 - a, b = same ? i : is::SLOTS - 1 - i;
			if (group + b >= F)
				continue;
			int low = same ? bias[0][0] : bias[1][0], high = same ? bias[0][2] : bias[1][2];
			// of digits 14 - 2g and, below, 15 - 2g; digits 12 - 4q to 15 - 4q of second factors
			int *to = square + 17 * (14 - lane / 4 * 2) + 12 - lane % 4 * 4;
#pragma unroll
			for (int c = 0; c < 4; c++) {
				to[17 + c] = sum[i][(c & 1 ? 0 : 4) + (c < 2)] - low;
				to[c] = sum[i][(c & 1 ? 2 : 6) + (c < 2)] - high;
			}
			addDiagonals(square, diagonals + 16 * (group + b));
		}
		zero();
	}
	__syncthreads();
	finishRow(copy, min(16 * F, 7 * (r.digits + 1) / 2 - 1), (const i64 *)diagonals, (i64 *)base, known);
}

// OUTER defines the kernel for F groups of 16 digits; a multiprocessor is to hold so many blocks.
#define OUTER(F, W, DEPTH, BLOCKS)                                                                                      \
	extern "C" __global__ void __launch_bounds__(OUTER_THREADS, BLOCKS) outer##F(const __grid_constant__ outerReduction r) \
	{                                                                                                                   \
		outer<F, W, DEPTH>(r);                                                                                          \
	}
