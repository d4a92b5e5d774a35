// Sums of numbers and of products, along the rows of a matrix: level 1 and matrix-vector
// products.
//
// Row r has a reference P, the largest exponent of its addends. An addend of a sum, a =
// A 2^e with 1/2 <= A < 1, enters as the first K digits of A 2^(e-P) in radix B = 2^28. Of a
// product a x, x = X 2^f, the first factor enters as the first K digits of A 2^(e+f-P), the
// second as the first K digits of X, and of the product of these the columns c < K of digits
// are kept, column c weighing B^-(c+2). In units of 2^P a sum's addend is wrong by less than
// B^-K, a product by less than
//
//	B^-K (digits of A cut) + B^-K (digits of X cut) + K B^-K / (1 - 1/B) (columns cut),
//
// that is (K + 3) B^-K; all digits have the sign of the addend.
//
// Every thread keeps its columns in registers, and adds them to those of its row in the
// device's memory at the end. Integers are added, so the order does not matter. The block that
// comes last for a tile of rows concludes.
#pragma once
#include "conclude.cuh"

#define THREADS 128
#define LOG_ROWS 5
#define ROWS (1 << LOG_ROWS)

// mergeLanes merges what the threads of a block know of rows, thread t of row t % rows, and
// returns it to all of them. found is shared memory.
template <int BLOCK> static __device__ span mergeLanes(span *found, const span &s, int rows)
{
	found[threadIdx.x] = s;
	for (int step = BLOCK / 2; step >= rows; step /= 2) {
		__syncthreads();
		if (threadIdx.x < step)
			found[threadIdx.x].merge(found[threadIdx.x + step]);
	}
	__syncthreads();
	span all = found[threadIdx.x % rows];
	__syncthreads();
	return all;
}

struct reduction {
	vectors a; // the first factors, or the addends of sums
	vectors x; // one vector: the second factors
	spans parts; // what the blocks of scanRows find
	spans s;     // what it comes to
	// i64: number c n + r is column c - 1 of row r, c <= K; what overflows column 0 is in column -1
	u64 columns;
	int digits;     // K
	int products;   // 0: sums
	int magnitudes; // sums of magnitudes
	int count;      // parts
	int first;      // part of this launch of scanRows
	int rows;       // that a block works on at a time: 1 or ROWS
	int width;      // entries of a row that a thread works on at a time, a power of two
	int buffers;    // 2: a block loads entries while it works on others
	int down;       // whether memory runs down the columns of a
	int later;      // terms of expansions but the first: their zeros do not count
	ending end;     // of the last launch
};

// A tile of numbers in shared memory: number (f, s), f < fast, s < slow, has place f df + s ds.
// fast and the number of places are powers of two.
struct tile {
	head *h;
	u64 *words; // pitch a number, an odd count
	int pitch;
};

static __device__ __forceinline__ void copyWord(u64 *to, const u64 *from)
{
	asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from));
}

// A walk leads a thread through the words of numbers: it begins with word w of number n, and
// goes on by THREADS words.
struct walk {
	int n, w, stepN, stepW;

	__device__ walk(const numbers &a)
	{
		int words = a.kind == MP ? a.limbs : 1;
		n = threadIdx.x / words;
		w = threadIdx.x % words;
		stepN = THREADS / words;
		stepW = THREADS % words;
	}
};

// One direction of a tile: of its numbers here are there, step apart in memory and d places
// apart in the tile.
struct direction {
	int here;
	i64 step;
	int d;
};

// begin begins to load the numbers from number at on of a into a tile of 2^places.
static __device__ __forceinline__ void begin(const tile &t, const numbers &a, const walk &start, i64 at, int places, int logFast,
	const direction &fast, const direction &slow)
{
	int mask = (1 << logFast) - 1;
	if (a.kind != MP) {
#pragma unroll 1
		for (int n = threadIdx.x; n < 1 << places; n += THREADS) {
			int f = n & mask, s = n >> logFast;
			if (f >= fast.here || s >= slow.here)
				continue;
			double x = term(a, at + f * fast.step + s * slow.step, 0);
			int to = f * fast.d + s * slow.d, e;
			t.h[to] = headOfTerm(x);
			u64 m = decompose(x, e);
			t.words[to * t.pitch] = m << (__clzll((i64)m) & 63);
		}
		return;
	}
	int words = a.limbs, n = start.n, w = start.w;
	const u64 *from = (const u64 *)a.plane[0] + at * words;
	i64 stepF = fast.step * words, stepS = slow.step * words;
#pragma unroll 2
	while (n < 1 << places) {
		int f = n & mask, s = n >> logFast;
		if (f < fast.here && s < slow.here)
			copyWord(&t.words[(f * fast.d + s * slow.d) * t.pitch + w], from + f * stepF + s * stepS + w);
		n += start.stepN;
		w += start.stepW;
		if (w >= words) {
			w -= words;
			n++;
		}
	}
	const int *exps = (const int *)a.plane[1] + at;
	const u8 *classes = (const u8 *)a.plane[2] + at;
#pragma unroll 2
	for (n = threadIdx.x; n < 1 << places; n += THREADS) {
		int f = n & mask, s = n >> logFast;
		if (f < fast.here && s < slow.here) {
			i64 i = f * fast.step + s * slow.step;
			t.h[f * fast.d + s * slow.d] = head{__ldg(exps + i), __ldg(classes + i)};
		}
	}
}

// digits finds the first K digits of 2^-shift times x.
template <int K> static __device__ __forceinline__ void digits(u32 (&d)[K], const significand &x, int shift)
{
	const int n = (DIGIT * K + 31) / 32;
	int i = -shift >> 5, s = -shift & 31;
	u32 above = x.word(i), last = 0;
	int k = 0;
#pragma unroll
	for (int m = 0; m < n; m++) {
		u32 below = x.word(i + m + 1);
		u32 v = __funnelshift_l(below, above, s); // word m of the shifted fraction
		above = below;
		// The digits that end in this word.
#pragma unroll
		for (int q = 0; q < 2; q++) {
			if (k < K && DIGIT * (k + 1) <= 32 * (m + 1)) {
				int end = DIGIT * (k + 1) - 32 * m; // bits of v that belong to it or are above
				d[k] = (end < 32 ? __funnelshift_r(v, last, 32 - end) : v) & MASK;
				k++;
			}
		}
		last = v;
	}
	}

// normalise carries once, so that all columns but the first are less than 2^28 + 2^36.
template <int K> static __device__ __forceinline__ void normalise(i64 (&sum)[K + 1])
{
#pragma unroll
	for (int c = 0; c < K; c++) {
		sum[c] += sum[c + 1] >> DIGIT; // still the old sum of column c + 1
		sum[c + 1] &= MASK;
	}
}

// finishColumns concludes with a tile of up to TILE_ROWS rows, to whose columns all blocks of the
// tile have added but those that are still to come here. room is for these columns and for
// rounding.
#define TILE_ROWS 64 // a power of two

static __device__ __noinline__ void finishColumns(const ending &e, const spans &s, u64 columns, int n, int digits, int rows, i64 *room)
{
	__shared__ span all[TILE_ROWS];
	if (!lastOfTile())
		return;
	int first = blockIdx.x * rows, here = min(rows, n - first), size = (digits + 1) * rows, log = 31 - __clz(rows);
	for (int i = threadIdx.x; i < size; i += AHEAD * blockDim.x) {
		i64 v[AHEAD];
#pragma unroll
		for (int a = 0; a < AHEAD; a++) {
			int k = i + a * blockDim.x, row = k & (rows - 1);
			v[a] = k < size && row < here ? __ldcg((const i64 *)columns + (i64)(k >> log) * n + first + row) : 0;
		}
#pragma unroll
		for (int a = 0; a < AHEAD; a++)
			if (i + a * blockDim.x < size)
				room[i + a * blockDim.x] = v[a];
	}
	if (threadIdx.x < here)
		all[threadIdx.x].read(s, first + threadIdx.x);
	__syncthreads();
	conclude(e, digits, first, here, rows, room, all);
}

// concludeColumns is finishColumns where the launch ends with more than columns.
static __device__ __forceinline__ void concludeColumns(const ending &e, const spans &s, u64 columns, int n, int digits, int rows, i64 *room)
{
	// Functions that are not inlined reach no parameters of the kernel, or these take registers.
	__shared__ ending end;
	__shared__ spans at;
	if (e.does == KEEPS)
		return;
	for (int i = threadIdx.x; i < sizeof end / sizeof(u32); i += blockDim.x)
		((u32 *)&end)[i] = ((const u32 *)&e)[i];
	if (threadIdx.x == 0)
		at = s;
	__syncthreads();
	finishColumns(end, at, columns, n, digits, rows, room);
}

// accumulate adds the addends of rows to their columns.
template <int K, bool PRODUCTS> static __device__ __forceinline__ void accumulate(const reduction &r)
{
	extern __shared__ u64 room[];
	int rows = r.rows, lanes = THREADS / rows, width = lanes * r.width;
	int logRows = rows > 1 ? LOG_ROWS : 0, logWidth = 31 - __clz(width);
	int place = threadIdx.x % rows, lane = threadIdx.x / rows;
	int row = blockIdx.x * rows + place, rowsHere = min(rows, r.a.n - (int)blockIdx.x * rows);
	span s = {NO_TOP, NO_TOP, 0};
	for (int p = lane; p < r.count && row < r.a.n; p += lanes) {
		span t;
		t.read(r.parts, (i64)p * r.a.n + row);
		s.merge(t);
	}
	s = mergeLanes<THREADS>((span *)room, s, rows);
	if (blockIdx.y == 0 && lane == 0 && row < r.a.n)
		s.write(r.s, row);

	int pitchA = r.a.a.kind == MP ? r.a.a.limbs | 1 : 1, pitchX = r.x.a.kind == MP ? r.x.a.limbs | 1 : 1;
	int size = width * (rows * (pitchA + 1) + (PRODUCTS ? pitchX + 1 : 0)); // words of a buffer
	walk walkA(r.a.a), walkX(r.x.a);
	// The tiles of a buffer.
	auto first = [&](int buffer) {
		u64 *at = room + buffer * size;
		return tile{(head *)at, at + width * rows, pitchA};
	};
	auto second = [&](int buffer) {
		u64 *at = room + buffer * size + width * rows * (pitchA + 1);
		return tile{(head *)at, at + width, pitchX};
	};
	auto load = [&](int base, int buffer) {
		if (base < r.a.k) {
			int n = min(width, r.a.k - base);
			i64 at = r.a.off + (i64)blockIdx.x * rows * r.a.rs + base * r.a.cs;
			bool down = rows > 1 && r.down;
			direction fast = {down ? rowsHere : n, down ? r.a.rs : r.a.cs, down ? 1 : rows};
			direction slow = {down ? n : rowsHere, down ? r.a.cs : r.a.rs, down ? rows : 1};
			begin(first(buffer), r.a.a, walkA, at, logRows + logWidth, down ? logRows : logWidth, fast, slow);
			if (PRODUCTS)
				begin(second(buffer), r.x.a, walkX, r.x.off + base * r.x.cs, logWidth, logWidth, direction{n, r.x.cs, 1}, direction{1, 0, 0});
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};

	i64 sum[K + 1];
#pragma unroll
	for (int c = 0; c <= K; c++)
		sum[c] = 0;
	const int longest = PRODUCTS ? 126 / K : 1 << 30; // products between normalisations
	// With two buffers the first turn of the loop only loads.
	int start = blockIdx.y * width, stride = gridDim.y * width, ahead = r.buffers > 1 ? stride : 0;
	int count = 0, buffer = ahead ? 1 : 0;
	for (int base = start - ahead; base < r.a.k; base += stride) {
		load(base + ahead, ahead ? buffer ^ 1 : 0);
		if (base < start) {
			buffer = 0;
			continue;
		}
		if (ahead)
			asm volatile("cp.async.wait_group 1;" ::: "memory");
		else
			asm volatile("cp.async.wait_group 0;" ::: "memory");
		__syncthreads();
		tile a = first(buffer), x = second(buffer);
		int n = min(width, r.a.k - base);
		for (int h = lane; h < n && row < r.a.n; h += lanes) {
			int at = h * rows + place;
			head ha = a.h[at];
			u32 negative = ha.cls & 1;
			i64 shift = s.top - ha.exp;
			bool some = ha.cls >> 1 == FINITE;
			if (PRODUCTS) {
				head hx = x.h[h];
				negative ^= hx.cls & 1;
				shift -= hx.exp;
				some = some && hx.cls >> 1 == FINITE;
			} else if (r.magnitudes) {
				negative = 0;
			}
			if (!some || shift >= DIGIT * K)
				continue;
			u32 d[K];
			digits<K>(d, significand{(const u32 *)(a.words + at * pitchA), r.a.a.kind == MP ? 2 * r.a.a.limbs : 2}, (int)shift);
			int sign = -(int)negative;
			if (!PRODUCTS) {
#pragma unroll
				for (int c = 0; c < K; c++)
					sum[c + 1] += (int)(d[c] ^ sign) - sign;
				continue;
			}
			u32 e[K];
			digits<K>(e, significand{(const u32 *)(x.words + h * pitchX), r.x.a.kind == MP ? 2 * r.x.a.limbs : 2}, 0);
#pragma unroll
			for (int j = 0; j < K; j++) {
				int v = (int)(e[j] ^ sign) - sign;
#pragma unroll
				for (int i = 0; i < K - j; i++)
					sum[i + j + 1] += (i64)(int)d[i] * v;
			}
			if (++count >= longest) {
				normalise<K>(sum);
				count = 0;
			}
		}
		__syncthreads();
		if (ahead)
			buffer ^= 1;
	}
	normalise<K>(sum);
	// The sums of the lanes, then those of the blocks.
	u64 *to = (u64 *)r.columns;
	i64 *part = (i64 *)room;
	int warp = threadIdx.x / 32, thread = threadIdx.x % 32;
	if (rows > 1) {
#pragma unroll
		for (int c = 0; c <= K; c++)
			if (warp > 0)
				part[((warp - 1) * (K + 1) + c) * 32 + thread] = sum[c];
		__syncthreads();
		if (warp == 0 && row < r.a.n) {
#pragma unroll
			for (int c = 0; c <= K; c++) {
				i64 v = sum[c];
				for (int w = 1; w < THREADS / 32; w++)
					v += part[((w - 1) * (K + 1) + c) * 32 + thread];
				atomicAdd(to + (i64)c * r.a.n + row, (u64)v);
			}
		}
	} else {
#pragma unroll
		for (int c = 0; c <= K; c++) {
			i64 v = sum[c];
#pragma unroll
			for (int d = 16; d > 0; d /= 2)
				v += __shfl_xor_sync(~0u, v, d);
			if (thread == 0)
				part[warp * (K + 1) + c] = v;
		}
		__syncthreads();
		for (int c = threadIdx.x; c <= K; c += THREADS) {
			i64 v = 0;
			for (int w = 0; w < THREADS / 32; w++)
				v += part[w * (K + 1) + c];
			atomicAdd(to + (i64)c * r.a.n + row, (u64)v);
		}
	}
	concludeColumns(r.end, r.s, r.columns, r.a.n, K, rows, part);
}

// ACCUMULATE defines the kernels for K digits; a multiprocessor is to hold so many blocks of them.
#define ACCUMULATE(K, SUM_BLOCKS, PRODUCT_BLOCKS)                                                                      \
	extern "C" __global__ void __launch_bounds__(THREADS, SUM_BLOCKS) sums##K(const __grid_constant__ reduction r)     \
	{                                                                                                                  \
		accumulate<K, false>(r);                                                                                       \
	}                                                                                                                  \
	extern "C" __global__ void __launch_bounds__(THREADS, PRODUCT_BLOCKS) products##K(const __grid_constant__ reduction r) \
	{                                                                                                                  \
		accumulate<K, true>(r);                                                                                        \
	}
