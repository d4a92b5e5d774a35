// Sums of rows as the integers that kernels/exact/settle.cu rounds.
#include "reduce.cuh"

struct vectorData {
	u64 exp, norm, flags; // i64, double and u8 a row
};

struct integers {
	spans s;
	u64 columns;
	u64 raw;        // word w of row 32 s + e goes to 32 (s pitch + pitch - words + w) + e
	vectorData l;   // of the rows: the norm is 0 if a sum is exact, else 1
	vectorData r;   // of one column: zeros
	u64 counts;     // u64: two counts and the leftovers' become 0
	i64 exact;      // rows whose addends' exponents spread no more than this have exact sums
	int digits, rows;
	int words;      // of an integer
	int pitch;
	int expansions; // the addends are terms of expansions
	int pad;
};

#define INTEGER_THREADS 128

extern "C" __global__ void __launch_bounds__(INTEGER_THREADS) integersOfRows(const __grid_constant__ integers p)
{
	int row = blockIdx.x * INTEGER_THREADS + threadIdx.x;
	if (row == 0) {
		*(i64 *)p.r.exp = 0;
		*(double *)p.r.norm = 0;
		*(u8 *)p.r.flags = 0;
		for (int k = 0; k < 3; k++)
			((u64 *)p.counts)[k] = 0;
	}
	if (row >= p.rows)
		return;
	u32 flags = ((const u32 *)p.s.flags)[row];
	bool some = flags & SEEN_FINITE;
	i64 top = some ? ((const i64 *)p.s.top)[row] : 0;
	((i64 *)p.l.exp)[row] = top;
	((double *)p.l.norm)[row] = some && top + ((const i64 *)p.s.bottom)[row] > p.exact;
	// Whether a sum of 0 is -0 is for others to find out: of zeros, and of terms.
	bool zeros = p.expansions || flags & (SEEN_POSITIVE_ZERO | SEEN_NEGATIVE_ZERO);
	((u8 *)p.l.flags)[row] = (flags & SEEN_SPECIAL ? SPECIAL : 0) | (zeros ? HAS_ZERO : 0);
	u32 *to = (u32 *)p.raw + 32 * ((i64)(row / 32) * p.pitch + p.pitch - p.words) + row % 32;
	const i64 *column = (const i64 *)p.columns + row;
	i64 carry = 0;
	u64 bits = 0; // low bits of the next word
	int have = 0, w = 0;
#pragma unroll 8
	for (int c = p.digits; c > 0; c--) {
		i64 v = column[(i64)c * p.rows] + carry;
		carry = v >> DIGIT;
		bits |= (u64)(v & MASK) << have;
		have += DIGIT;
		if (have >= 32) {
			to[32 * w++] = (u32)bits;
			bits >>= 32;
			have -= 32;
		}
	}
	// The rest, sign included.
	i64 v = column[0] + carry;
	u64 low = bits | (u64)v << have;
	i64 high = have ? v >> (64 - have) : v >> 63;
	for (; w < p.words; w++) {
		to[32 * w] = (u32)low;
		low = low >> 32 | (u64)high << 32;
		high >>= 32;
	}
}
