// The spans of rows and their rounding.
#include "bytes.cuh"
#include "reduce.cuh"
#include "../common/round.cuh"

// heads reads n numbers from position at on, step apart.
template <int N> static __device__ __forceinline__ void heads(const numbers &a, i64 at, i64 step, int n, head (&h)[N])
{
	if (a.kind == MP) {
#pragma unroll
		for (int b = 0; b < N; b++) {
			i64 i = b < n ? at + b * step : at;
			h[b].exp = __ldg((const int *)a.plane[1] + i);
			h[b].cls = __ldg((const u8 *)a.plane[2] + i);
		}
		return;
	}
	double x[N];
	if (a.kind == F32) {
#pragma unroll
		for (int b = 0; b < N; b++)
			x[b] = __ldg((const float *)a.plane[0] + (b < n ? at + b * step : at));
	} else {
#pragma unroll
		for (int b = 0; b < N; b++)
			x[b] = __ldg((const double *)a.plane[0] + (b < n ? at + b * step : at));
	}
#pragma unroll
	for (int b = 0; b < N; b++)
		h[b] = headOfTerm(x[b]);
}

#define SCAN_THREADS 256
#define BATCH 8

// toeplitz finds the digits of second factors as the tensor cores read them: entry (h, d, g) of the
// table, g < 8, has digits 8d + g - 3 to 8d + g of number h, and the four before.
static __device__ void toeplitz(const reduction &r, int thread, int threads)
{
	int each = 8 * r.tiles;
	for (int i = thread; i < r.x.k * each; i += threads) {
		int h = i / each, g = i % each;
		i64 at = r.x.off + h * r.x.cs;
		u32 cls = ((const u8 *)r.x.a.plane[2])[at];
		uint2 v = {0, 0};
		if (cls >> 1 == FINITE) {
			significand x = {(const u32 *)((const u64 *)r.x.a.plane[0] + at * r.x.a.limbs), 2 * r.x.a.limbs};
			sign s((cls & 1) != 0);
			v = uint2{s.apply(window(x, g)), s.apply(window(x, g - 4))};
		}
		((uint2 *)r.table)[i] = v;
	}
}

// scanRows finds the spans of parts of rows, and sets the columns and the word behind them to 0.
// A block works on ROWS rows, where memory runs down the columns, else on one.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) scanRows(const __grid_constant__ reduction r)
{
	int rows = r.down ? ROWS : 1, lanes = SCAN_THREADS / rows;
	int row = blockIdx.x * rows + threadIdx.x % rows, lane = threadIdx.x / rows;
	int step = lanes * gridDim.y;
	span s = {NO_TOP, NO_TOP, 0};
	if (row < r.a.n) {
		for (int h = blockIdx.y * lanes + lane; h < r.a.k; h += BATCH * step) {
			int n = min(BATCH, (r.a.k - h + step - 1) / step);
			head a[BATCH], x[BATCH];
			heads(r.a.a, r.a.off + row * r.a.rs + h * r.a.cs, step * r.a.cs, n, a);
			if (r.products)
				heads(r.x.a, r.x.off + h * r.x.cs, step * r.x.cs, n, x);
#pragma unroll
			for (int b = 0; b < BATCH; b++) {
				if (b >= n)
					break;
				if (r.products)
					s.add(productClass(a[b].cls, x[b].cls), (i64)a[b].exp + x[b].exp);
				else
					s.add(r.magnitudes ? a[b].cls & ~1u : a[b].cls, a[b].exp);
			}
		}
	}
	if (r.later)
		s.flags &= ~(SEEN_POSITIVE_ZERO | SEEN_NEGATIVE_ZERO);
	__shared__ span found[SCAN_THREADS];
	s = mergeLanes<SCAN_THREADS>(found, s, rows);
	if (lane == 0 && row < r.a.n)
		s.write(r.parts, (i64)(r.first + blockIdx.y) * r.a.n + row);
	if (r.later)
		return;
	i64 words = (i64)(r.digits + 1) * r.a.n + 1, threads = (i64)gridDim.x * gridDim.y * SCAN_THREADS;
	i64 thread = ((i64)blockIdx.y * gridDim.x + blockIdx.x) * SCAN_THREADS + threadIdx.x;
	for (i64 i = thread; i < words; i += threads)
		((i64 *)r.columns)[i] = 0;
	if (r.tiles != 0)
		toeplitz(r, (int)thread, (int)threads);
}

// How rows are rounded.
struct rounding {
	spans s;
	u64 columns;
	target c;
	leftovers rest; // behind the count is that of blocks that are done, 0
	u64 answer; // to the host: the number of rows that are left over
	i64 unit;     // exponent of column K - 1 relative to the row's, and of the factor
	double error; // of a sum in such units
	i64 exact;    // rows whose addends' exponents spread no more than this have exact sums
	int digits, rows;
	int neg;
	int expansions; // the addends are terms of expansions
	u32 ticket;
};

#define ROUND_THREADS 32

// roundRow rounds a row. A sum that its error or its class leaves undecided is left to the host.
static __device__ void roundRow(const rounding &r, int row, u32 *digits)
{
	u32 flags = ((const u32 *)r.s.flags)[row];
	i64 top = ((const i64 *)r.s.top)[row], to = r.c.off + row * r.c.rs;
	if (flags & SEEN_SPECIAL) {
		leave(r.rest, row, 0);
		return;
	}
	if (!(flags & SEEN_FINITE)) {
		bool positive = flags & SEEN_POSITIVE_ZERO, negative = flags & SEEN_NEGATIVE_ZERO;
		storeZero(r.c, to, r.neg ? positive && !negative : negative && !positive);
		return;
	}
	int words = (DIGIT * r.digits + 64 + 31) / 32;
	integer x = {digits, ROUND_THREADS, words};
	const i64 *column = (const i64 *)r.columns + row;
	i64 carry = 0;
	u64 bits = 0; // low bits of the next word
	int have = 0, w = 0;
#pragma unroll 8
	for (int c = r.digits; c > 0; c--) {
		i64 v = column[(i64)c * r.rows] + carry;
		carry = v >> DIGIT;
		bits |= (u64)(v & MASK) << have;
		have += DIGIT;
		if (have >= 32) {
			x.at[w++ * ROUND_THREADS] = (u32)bits;
			bits >>= 32;
			have -= 32;
		}
	}
	// The rest, sign included.
	i64 v = column[0] + carry;
	u64 low = bits | (u64)v << have;
	i64 high = have ? v >> (64 - have) : v >> 63;
	for (; w < words; w++) {
		x.at[w * ROUND_THREADS] = (u32)low;
		low = low >> 32 | (u64)high << 32;
		high >>= 32;
	}
	bool neg = x.magnitude() != (r.neg != 0);
	int n = x.length();
	double error = top + ((const i64 *)r.s.bottom)[row] <= r.exact ? 0 : r.error;
	if (n == 0 ? error != 0 || r.expansions : !store(r.c, to, x, n, neg, top + r.unit, error))
		leave(r.rest, row, 0);
	else if (n == 0)
		storeZero(r.c, to, false);
}

// roundRows rounds a row a thread.
extern "C" __global__ void __launch_bounds__(ROUND_THREADS) roundRows(const __grid_constant__ rounding r)
{
	extern __shared__ u32 digits[];
	int row = blockIdx.x * ROUND_THREADS + threadIdx.x;
	if (row < r.rows)
		roundRow(r, row, digits + threadIdx.x);
	if (lastBlock((u32 *)r.rest.count + 1, gridDim.x) && threadIdx.x == 0)
		tellWord(r.answer, 0, r.ticket, __ldcg((const u32 *)r.rest.count));
}
