// Old entries of a product that is known to be small: they are added to the residues of the
// product, so that the moduli need hold the sum alone. Residue y_t of a number is |x (M/m_t)^-1|
// mod m_t, a byte for plain moduli and a half word for the others, below m_t here. What bytes of
// integers come to modulo m_t adds up in products of four bytes by four.
#include "../common/round.cuh"

struct adding {
	numbers old; // of F32, F64 or MP: entry (i, j) is number off + i rs + j cs
	i64 off, rs, cs;
	leftovers failed;  // takes entries that are not finite
	u64 expL, expR;    // i64: exponents of the factors' vectors
	u64 y, wide;       // residues, bytes and half words
	i64 stride, ld;    // entries from plane to plane, from column to column
	u64 moduli;        // u32: CONSTANTS numbers a modulus
	u64 table;         // u32: row r of group g for word w of an integer at (g words + w) ROWS + r
	i64 exp;           // the integer of an entry is old 2^(exp - expL[i] - expR[j]), cut off
	int neg;           // its negative
	int plain, karatsuba;
	int m, n, i0, j0;  // entry (0, 0) is (i0, j0) of C
	int triangle;      // 'U', 'L' or 0
	int words;         // of the table: those of the longest integer, or more
};

// Constants of a modulus m: m, floor(2^32/m), (M/m)^-1 mod m.
#define CONSTANTS 3

// The rows of the table that a thread takes at a time. Byte b of row t's number for word w is digit
// d of 2^(32 w + 8 b) (M/m)^-1 mod m, in radix 256: one row for a plain modulus, and two for the
// others, whose groups come behind those of all plain ones.
#define ROWS 16

// Words of integers that a thread has in shared memory at a time.
#define WORDS 24
#define THREADS 256

// nearly returns x or x + m, of which one is the rest of a number modulo m: below 2 m.
static __device__ __forceinline__ u32 nearly(u32 x, u32 m, u32 inverse) { return x - __umulhi(x, inverse) * m; }

// A significand: 32-bit words, or two of them.
struct significand {
	const u32 *at; // null: m
	u64 m;
	int words;

	__device__ __forceinline__ u32 word(int k) const { return (u32)k >= (u32)words ? 0 : at ? at[k] : (u32)(m >> 32 * k); }
};

// An integer: a significand times 2^low, cut off, or its negative; of no words if it is 0.
struct whole {
	significand s;
	i64 low;
	int begin, end; // words that may not be 0
	bool neg;

	__device__ __forceinline__ u32 word(int w) const
	{
		i64 from = 32ll * w - low, i = from >> 5;
		return __funnelshift_r(raw(i), raw(i + 1), (u32)from & 31);
	}

	__device__ __forceinline__ u32 raw(i64 i) const { return i < 0 || i >= s.words ? 0 : s.word((int)i); }
};

// oldOf returns the integer of entry (i, j).
static __device__ __forceinline__ whole oldOf(const adding &a, int i, int j)
{
	i64 at = a.off + (a.i0 + i) * a.rs + (a.j0 + j) * a.cs;
	whole v = {{0, 0, 2}, 0, 0, 0, false};
	if (a.old.kind == MP) {
		u32 cls = ((const u8 *)a.old.plane[2])[at];
		if (cls >> 1 > FINITE)
			leave(a.failed, a.i0 + i, a.j0 + j);
		if (cls >> 1 != FINITE)
			return v;
		v.neg = cls & 1;
		v.s.words = 2 * a.old.limbs;
		v.s.at = (const u32 *)a.old.plane[0] + at * v.s.words;
		v.low = (i64)((const int *)a.old.plane[1])[at] - 32 * v.s.words;
	} else {
		double x = term(a.old, at, 0);
		if (!finite(x)) {
			leave(a.failed, a.i0 + i, a.j0 + j);
			return v;
		}
		int e;
		v.s.m = decompose(x, e);
		if (v.s.m == 0)
			return v;
		v.neg = x < 0;
		v.low = e;
	}
	v.low += a.exp - ((const i64 *)a.expL)[i] - ((const i64 *)a.expR)[j];
	v.neg = v.neg != (a.neg != 0);
	v.begin = (int)min64(max64(v.low >> 5, 0), a.words);
	v.end = (int)min64(max64((v.low + 32 * v.s.words + 31) >> 5, v.begin), a.words);
	return v;
}

// multiplyBytes returns sum and the products of four bytes by four.
static __device__ __forceinline__ u32 multiplyBytes(u32 x, u32 y, u32 sum)
{
	asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(x), "r"(y));
	return sum;
}

// put adds what a number of a modulus comes to, or its negative, to residue y.
template <class T> static __device__ __forceinline__ void put(T *y, u32 x, u32 m, u32 inverse, bool neg)
{
	u32 v = nearly((neg ? 2 * m - x : x) + *y, m, inverse); // x is below 2 m
	*y = (T)(v >= m ? v - m : v);
}

extern "C" __global__ void __launch_bounds__(THREADS) olds(const __grid_constant__ adding a)
{
	__shared__ u32 windows[WORDS * THREADS];
	u32 *window = windows + threadIdx.x;
	const u32 *constants = (const u32 *)a.moduli;
	for (int j = blockIdx.y; j < a.n; j += gridDim.y)
		for (int i0 = blockIdx.x * THREADS; i0 < a.m; i0 += gridDim.x * THREADS) {
			int i = i0 + threadIdx.x, below = a.i0 - a.j0 + i - j;
			whole v = {{0, 0, 2}, 0, 0, 0, false};
			if (i < a.m && !(a.triangle == 'U' && below > 0 || a.triangle == 'L' && below < 0))
				v = oldOf(a, i, j);
			bool some = v.end > v.begin;
			if (!__any_sync(~0u, some))
				continue;
			// The words of all numbers of the warp.
			int begin = some ? v.begin : a.words, end = v.end;
			for (int d = 16; d > 0; d /= 2) {
				begin = min(begin, __shfl_xor_sync(~0u, begin, d));
				end = max(end, __shfl_xor_sync(~0u, end, d));
			}
			i64 to = j * a.ld + i;
			for (int w0 = begin; w0 < end; w0 += WORDS) {
				int count = min(WORDS, end - w0);
				for (int w = 0; w < count; w++)
					window[w * THREADS] = some ? v.word(w0 + w) : 0;
				const uint4 *table = (const uint4 *)a.table + (i64)w0 * (ROWS / 4);
				for (int t = 0; t < a.plain + a.karatsuba; table += (i64)a.words * (ROWS / 4)) {
					u32 sum[ROWS] = {};
					for (int w = 0; w < count; w++) {
						u32 x = window[w * THREADS];
#pragma unroll
						for (int r = 0; r < ROWS; r += 4) {
							uint4 c = __ldg(table + w * (ROWS / 4) + r / 4);
							sum[r] = multiplyBytes(x, c.x, sum[r]);
							sum[r + 1] = multiplyBytes(x, c.y, sum[r + 1]);
							sum[r + 2] = multiplyBytes(x, c.z, sum[r + 2]);
							sum[r + 3] = multiplyBytes(x, c.w, sum[r + 3]);
						}
					}
					if (t < a.plain) {
#pragma unroll
						for (int r = 0; r < ROWS; r++)
							if (t + r < a.plain && some) {
								const u32 *c = constants + (t + r) * CONSTANTS;
								put((u8 *)a.y + (t + r) * a.stride + to, nearly(sum[r], c[0], c[1]), c[0], c[1], v.neg);
							}
						t = min(t + ROWS, a.plain);
						continue;
					}
#pragma unroll
					for (int r = 0; r < ROWS; r += 2)
						if (t + r / 2 < a.plain + a.karatsuba && some) {
							const u32 *c = constants + (t + r / 2) * CONSTANTS;
							u32 x = nearly(sum[r] + 256 * nearly(sum[r + 1], c[0], c[1]), c[0], c[1]);
							put((u16 *)a.wide + (t + r / 2 - a.plain) * a.stride + to, x, c[0], c[1], v.neg);
						}
					t += ROWS / 2;
				}
			}
		}
}
