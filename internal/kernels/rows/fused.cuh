// Sums of numbers and of products along the rows of a matrix in one launch, which also rounds
// them, for up to 17 digits. The arithmetic is that of reduce.cuh: in units of 2^P an addend is
// wrong by less than E B^-K, B = 2^28, E = 1 for numbers and K + 3 for products.
//
// But nothing is read twice to find P. A thread begins with a guess, somewhat above the largest
// exponent of a sample of the row, and raises its P by digits where an addend needs that.
// Columns that fall off are rounded down, which costs less than one unit of the new last
// column and divides the errors before it by B. So n addends are never wrong by more than
// n (E + 1) such units; the same holds when sums of different P meet. All P of a row are
// congruent modulo the bits of a digit.
//
// Every thread keeps its columns in registers. Those of a block are added in shared memory,
// those of slices, blocks that share rows, by the slice that comes last.
#pragma once
#include "conclude.cuh"

struct reduction {
	vectors a;     // the first factors, or the addends of sums
	vectors x;     // one vector: the second factors
	u64 parts;     // i64: the sums of slices
	spans s;       // where these and the columns go
	// i64: number c n + r is column c - 1 of row r, c <= K; what overflows column 0 is in column -1
	u64 columns;
	ending end;
	int digits;     // K
	int magnitudes; // sums of magnitudes
	int logRows;    // of the rows that a block works on
	int across;     // threads of a warp lie across the rows, not along them
};

// termOf returns the numbers that are term t of those of a.
static __device__ __forceinline__ numbers termOf(const numbers &a, int t)
{
	numbers b = a;
	if (a.kind >= DD && a.kind <= QD) {
		b.kind = F64;
		b.plane[0] = t == 0 ? a.plane[0] : t == 1 ? a.plane[1] : t == 2 ? a.plane[2] : a.plane[3];
	}
	return b;
}

static __device__ __forceinline__ int termsOf(const numbers &a) { return a.kind >= DD && a.kind <= QD ? a.kind : 1; }

// maxWarp returns the largest x of a warp.
static __device__ __forceinline__ i64 maxWarp(i64 x)
{
	int high = __reduce_max_sync(~0u, (int)(x >> 32));
	u32 low = __reduce_max_sync(~0u, (int)(x >> 32) == high ? (u32)x : 0);
	return (i64)high << 32 | low;
}

// mergeWarp merges what the threads of a warp know of rows, thread t of row t % rows.
static __device__ __forceinline__ void mergeWarp(span &s, int rows)
{
	if (rows == 1) {
		s = span{maxWarp(s.top), maxWarp(s.bottom), __reduce_or_sync(~0u, s.flags)};
		return;
	}
#pragma unroll 1
	for (int d = 16; d >= rows; d /= 2)
		s.merge(span{__shfl_xor_sync(~0u, s.top, d), __shfl_xor_sync(~0u, s.bottom, d), __shfl_xor_sync(~0u, s.flags, d)});
}

// spot is where a thread of a block of THREADS works.
struct spot {
	int rows, lanes; // of the block
	int row, lane;
	int warpRows, logWarpRows; // the rows of a warp

	__device__ __forceinline__ spot(const reduction &r, int threads)
	{
		rows = 1 << r.logRows;
		lanes = threads >> r.logRows;
		row = r.across ? threadIdx.x & (rows - 1) : threadIdx.x / lanes;
		lane = r.across ? threadIdx.x >> r.logRows : threadIdx.x & (lanes - 1);
		logWarpRows = r.across ? r.logRows : 0;
		warpRows = 1 << logWarpRows;
	}
};

// The guess exceeds the largest exponent of the sample by so many bits.
#define MARGIN 3

// sampled returns the largest exponent of N addends of a row from number h on, step apart.
template <int N, bool PRODUCTS> static __device__ __forceinline__ i64 sampled(const reduction &r, int row, int h, int step)
{
	head u[N], v[N];
	int n = min(N, (r.a.k - 1 - h) / step + 1);
	heads(termOf(r.a.a, 0), r.a.off + row * r.a.rs + h * r.a.cs, step * r.a.cs, n, u);
	if (PRODUCTS)
		heads(termOf(r.x.a, 0), r.x.off + h * r.x.cs, step * r.x.cs, n, v);
	i64 top = NO_TOP;
#pragma unroll
	for (int i = 0; i < N; i++)
		if (u[i].cls >> 1 == FINITE && (!PRODUCTS || v[i].cls >> 1 == FINITE))
			top = max64(top, (i64)u[i].exp + (PRODUCTS ? v[i].exp : 0));
	return top;
}

// guess returns P for the addends of a row, NO_TOP if the sample has none. All warps take the
// same sample, of 16 addends at least if there are as many.
template <bool PRODUCTS> static __device__ __forceinline__ i64 guess(const reduction &r, const spot &at)
{
	int row = blockIdx.x * at.rows + at.row, lane = threadIdx.x % 32 >> at.logWarpRows, each = at.warpRows > 1 ? 4 : 1;
	int step = max(1u, (u32)r.a.k / (u32)(32 / at.warpRows * each)), h = lane * each * step;
	i64 top = NO_TOP;
	if (row < r.a.n && h < r.a.k)
		top = each > 1 ? sampled<4, PRODUCTS>(r, row, h, step) : sampled<1, PRODUCTS>(r, row, h, step);
	for (int d = 16; d >= at.warpRows; d /= 2)
		top = max64(top, __shfl_xor_sync(~0u, top, d));
	return top == NO_TOP ? top : top + MARGIN;
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

// raised returns the P for an addend of an exponent: start plus a multiple of DIGIT.
static __device__ __forceinline__ i64 raised(i64 start, i64 exp)
{
	i64 above = exp - start;
	return start + (above > 0 ? (above + DIGIT - 1) / DIGIT : above / DIGIT) * DIGIT;
}

// rise returns by how many digits K columns move down if P rises by so many bits.
static __device__ __forceinline__ int rise(i64 bits, int k) { return (int)min64(bits / DIGIT, k + 2); }

// cut finds the first K digits of 2^-shift times a fraction, of which limb(j) is limb j from the
// top.
template <int K, typename LIMB> static __device__ __forceinline__ void cut(u32 (&d)[K], int shift, const LIMB &limb)
{
	int down = 0, s = shift;
	if (shift >= DIGIT) {
		down = shift / DIGIT;
		s -= down * DIGIT;
	}
	u32 above = 0, last = 0;
	u64 pair = 0;
	int k = 0;
#pragma unroll
	for (int m = 0; m < (DIGIT * K + 31) / 32; m++) {
		if (m % 2 == 0)
			pair = limb(m / 2);
		u32 word = (u32)(m % 2 ? pair : pair >> 32);
		u32 v = __funnelshift_r(word, above, s); // word m of the shifted fraction
		above = word;
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
	// Down by whole digits: few numbers lie so far below.
#pragma unroll 1
	for (; down > 0; down--) {
#pragma unroll
		for (int c = K - 1; c > 0; c--)
			d[c] = d[c - 1];
		d[0] = 0;
	}
}

// accumulator is the sum of a thread's addends, in units of 2^top.
template <int K, bool PRODUCTS> struct accumulator {
	i64 sum[K + 1];
	int noted[K]; // digits that are not in sum yet
	i64 top;
	i64 start; // the guess
	i64 least; // of the addends' exponents
	u32 flags; // but SEEN_FINITE
	int count; // products since the last normalisation

	__device__ __forceinline__ accumulator()
	{
#pragma unroll
		for (int c = 0; c <= K; c++)
			sum[c] = 0;
#pragma unroll
		for (int c = 0; c < K; c++)
			noted[c] = 0;
		top = NO_TOP;
		least = -NO_TOP;
		flags = 0;
		count = 0;
	}

	__device__ __forceinline__ void begin(i64 guess)
	{
		top = guess;
		start = guess == NO_TOP ? 0 : guess;
	}

	__device__ __forceinline__ span known() const { return span{top, -least, flags | (least == -NO_TOP ? 0 : SEEN_FINITE)}; }

	// note takes digits, up to eight times before addNoted.
	__device__ __forceinline__ void note(const u32 (&d)[K], bool negative)
	{
		int sign = negative ? -1 : 1;
#pragma unroll
		for (int c = 0; c < K; c++)
			noted[c] += (int)d[c] * sign;
	}

	__device__ __forceinline__ void addNoted()
	{
#pragma unroll
		for (int c = 0; c < K; c++) {
			sum[c + 1] += noted[c];
			noted[c] = 0;
		}
	}

	// raise raises P to a new one.
	__device__ __forceinline__ void raise(i64 to)
	{
		addNoted();
#pragma unroll 1
		for (int n = rise(to - top, K); n > 0; n--) {
			i64 carry = sum[K] >> DIGIT;
#pragma unroll
			for (int c = K; c > 0; c--)
				sum[c] = sum[c - 1];
			sum[0] = 0;
			sum[K] += carry;
		}
		top = to;
	}

	// admit takes note of an addend that is finite and not zero, and returns whether it has digits,
	// shift bits below P.
	__device__ __forceinline__ bool admit(i64 exp, i64 &shift)
	{
		least = min64(least, exp);
		shift = top - exp;
		if ((u64)shift < DIGIT * K)
			return true;
		if (shift > 0)
			return false;
		raise(raised(start, exp));
		shift = top - exp;
		return true;
	}

	// seeOther takes note of an addend that is not so.
	__device__ __forceinline__ void seeOther(u32 cls)
	{
		span s = {0, 0, flags};
		s.see(cls, 0);
		flags = s.flags;
	}

	// addProduct adds the columns of a product.
	__device__ __forceinline__ void addProduct(const u32 (&d)[K], const u32 (&e)[K], bool negative)
	{
		int sign = -(int)negative;
#pragma unroll
		for (int j = 0; j < K; j++) {
			int v = (int)(e[j] ^ sign) - sign;
#pragma unroll
			for (int i = 0; i < K - j; i++)
				asm("mad.wide.s32 %0, %1, %2, %0;" : "+l"(sum[i + j + 1]) : "r"(d[i]), "r"(v));
		}
		if (++count >= 126 / K) {
			normalise<K>(sum);
			count = 0;
		}
	}
};

// Slices whose columns, or spans, a thread reads without waiting for others.
#define MEETING 22
#define MEETING_SPANS 9

// alignPart moves the columns of a row, stride apart, down by n digits.
static __device__ void alignPart(i64 *column, int stride, int k, int n)
{
	i64 carry = 0;
	for (int c = k; c > 0; c--) {
		i64 v = column[c * stride] + carry;
		column[c * stride] = v & MASK;
		carry = v >> DIGIT;
	}
	column[0] += carry;
	for (int c = k; c >= 0; c--)
		column[c * stride] = c >= n ? column[(c - n) * stride] : 0;
	// What a negative sum leaves when all of it falls off does not matter: it is less than a unit.
}

// meet adds the sums of the slices of a tile, and returns whether the block goes on with them: it
// does if it has come last. Behind the sums there is room for one a thread.
//
// The last warp merges spans, the others add columns. Those of a slice lie side by side, and so do
// the threads that read them, in groups that share slices. A slice without a finite addend has no
// P, and zeros, which need no alignment.
static __device__ __noinline__ bool meet(const reduction &r, i64 *sums, span *all)
{
	int rows = 1 << r.logRows, n = (r.digits + 1) * rows, threads = blockDim.x, slices = gridDim.y;
	int size = n + 3 * rows; // columns, P, least exponents, flags
	i64 *parts = (i64 *)r.parts + (i64)blockIdx.x * slices * size, *part = parts + (i64)blockIdx.y * size, *room = sums + n;
	for (int i = threadIdx.x; i < n; i += threads)
		part[i] = sums[i];
	if (threadIdx.x < rows) {
		part[n + threadIdx.x] = all[threadIdx.x].top;
		part[n + rows + threadIdx.x] = all[threadIdx.x].bottom;
		part[n + 2 * rows + threadIdx.x] = all[threadIdx.x].flags;
	}
	int workers = threads - 32, width = min(n, workers), groups = workers / width;
	int group = threadIdx.x / width, place = threadIdx.x - group * width;
	if (!lastOfTile())
		return false;
	for (bool again = false;; again = true) {
		bool differ = false; // whether not all have the same P
		for (int first = 0; first < n; first += width) {
			int i = first + place;
			i64 v = 0;
			if (group < groups && i < n) {
				for (int p = group; p < slices; p += MEETING * groups) {
#pragma unroll
					for (int a = 0; a < MEETING; a++)
						v += p + a * groups < slices ? __ldcg(parts + (i64)(p + a * groups) * size + i) : 0;
				}
			} else if (threadIdx.x >= workers && first == 0 && !again) { // 32 / rows threads a row
				int thread = threadIdx.x - workers, row = thread & (rows - 1);
				span s = all[row];
				i64 top = s.top;
				for (int p = thread >> r.logRows; p < slices; p += MEETING_SPANS * 32 >> r.logRows) {
#pragma unroll
					for (int a = 0; a < MEETING_SPANS; a++) {
						int q = p + (a * 32 >> r.logRows);
						const i64 *from = parts + (i64)q * size + n + row;
						span t = s;
						if (q < slices)
							t = span{__ldcg(from), __ldcg(from + rows), (u32)__ldcg(from + 2 * rows)};
						differ |= t.top != top && t.top != NO_TOP && top != NO_TOP;
						top = max64(top, t.top);
						s.merge(t);
					}
				}
				mergeWarp(s, rows);
				differ |= top != s.top && top != NO_TOP;
				__syncwarp();
				if (thread < rows)
					all[row] = s;
			}
			room[threadIdx.x] = v;
			__syncthreads();
			if (group == 0 && i < n) {
#pragma unroll 8
				for (int g = 1; g < groups; g++)
					v += room[place + g * width];
				sums[i] = v;
			}
			__syncthreads();
		}
		if (!__syncthreads_or(differ))
			return true;
		for (int i = threadIdx.x; i < rows * slices; i += threads) {
			int row = i & (rows - 1);
			i64 *column = parts + (i64)(i >> r.logRows) * size + row;
			alignPart(column, rows, r.digits, rise(all[row].top - __ldcg(column + n), r.digits));
		}
		__threadfence();
		__syncthreads();
	}
}

// finishTile ends with the sums of a tile of rows, column c of row i at c rows + i, and what is
// known of the rows, in the slice that comes last.
static __device__ __noinline__ void finishTile(const reduction &r, i64 *sums, span *all)
{
	if (gridDim.y > 1 && !meet(r, sums, all))
		return;
	int rows = 1 << r.logRows, first = blockIdx.x * rows, here = min(rows, r.a.n - first);
	if (r.end.does != TELLS && threadIdx.x < here)
		all[threadIdx.x].write(r.s, first + threadIdx.x);
	if (r.end.does != KEEPS) {
		conclude(r.end, r.digits, first, here, rows, sums, all);
		return;
	}
	for (int i = threadIdx.x; i < (r.digits + 1) * rows; i += blockDim.x)
		if ((i & (rows - 1)) < here)
			((i64 *)r.columns)[(i64)(i >> r.logRows) * r.a.n + first + (i & (rows - 1))] = sums[i];
}

// mergeBlock merges what the threads of a block of THREADS know of rows.
template <int THREADS> static __device__ __forceinline__ void mergeBlock(const spot &at, span &s)
{
	__shared__ span found[THREADS];
	int warps = at.lanes * at.warpRows / 32; // that work on a row
	int part = at.warpRows > 1 ? threadIdx.x / 32 : at.lane / 32;
	mergeWarp(s, at.warpRows);
	if (threadIdx.x % 32 < at.warpRows)
		found[part * at.rows + at.row] = s;
	__syncthreads();
	for (int w = 0; w < warps; w++)
		s.merge(found[w * at.rows + at.row]);
}

// fold adds the N columns of the threads of a warp that work on one row, each step-th. A thread
// hands half of its columns to another: it ends with columns of them from number column on.
template <int N, int D> static __device__ __forceinline__ void fold(i64 *sum, int step, int &column, int &columns)
{
	if constexpr (D > 0) {
		if (D < step)
			return;
		const int H = (N + 1) / 2;
		bool high = threadIdx.x & D;
#pragma unroll
		for (int c = 0; c < H; c++) {
			i64 other = c + H < N ? sum[c + H] : 0;
			i64 give = high ? sum[c] : other, keep = high ? other : sum[c];
			sum[c] = keep + __shfl_xor_sync(~0u, give, D);
		}
		column += high ? H : 0;
		columns = high ? columns - H : min(columns, H);
		fold<H, D / 2>(sum, step, column, columns);
	}
}

// finish adds the sums of the threads of a block, all of which have added theirs.
template <int THREADS, int K, bool PRODUCTS>
static __device__ __forceinline__ void finish(const reduction &r, const spot &at, accumulator<K, PRODUCTS> &acc, i64 *room)
{
	// Functions that are not inlined reach no parameters of the kernel, or these take registers.
	__shared__ reduction copy;
	__shared__ span all[32];
	for (int i = threadIdx.x; i < sizeof copy / sizeof(u32); i += THREADS)
		((u32 *)&copy)[i] = ((const u32 *)&r)[i];
	// of a row
	int step = at.warpRows, warps = at.lanes * step / 32, part = step > 1 ? threadIdx.x / 32 : at.lane / 32;
	span s = acc.known();
	mergeBlock<THREADS>(at, s);
	if (at.lane == 0)
		all[at.row] = s;
	acc.raise(s.top);
	normalise<K>(acc.sum);
	int column = 0, columns = K + 1;
	fold<K + 1, 16>(acc.sum, step, column, columns);
#pragma unroll
	for (int c = 0; c <= K; c++)
		if (c < columns)
			room[(part * (K + 1) + column + c) * at.rows + at.row] = acc.sum[c];
	__syncthreads();
	for (int i = threadIdx.x; i < (K + 1) * at.rows; i += THREADS) {
		i64 v = room[i];
		for (int w = 1; w < warps; w++)
			v += room[w * (K + 1) * at.rows + i];
		room[i] = v;
	}
	__syncthreads();
	finishTile(copy, room, all);
}
