// Old entries of a product that is known to be small: they are added to the residues of the
// product, so that the moduli need hold the sum alone. Residue y_t of a number is |x (M/m_t)^-1|
// mod m_t, a byte for plain moduli and a half word for the others, below m_t here.
#include "../common/round.cuh"

struct adding {
	numbers old; // of F32, F64 or MP: entry (i, j) is number off + i rs + j cs
	i64 off, rs, cs;
	leftovers failed;  // takes entries that are not finite
	u64 expL, expR;    // i64: exponents of the factors' vectors
	u64 y, wide;       // residues, bytes and half words
	i64 stride, ld;    // entries from plane to plane, from column to column
	u64 moduli;        // u32: CONSTANTS numbers a modulus
	i64 exp;           // the integer of an entry is old 2^(exp - expL[i] - expR[j]), cut off
	int neg;           // its negative
	int plain, karatsuba;
	int m, n, i0, j0;  // entry (0, 0) is (i0, j0) of C
	int triangle;      // 'U', 'L' or 0
	int pad;
};

// Constants of a modulus m: m, floor(2^32/m), (M/m)^-1 mod m, and 2^(16 z) mod m for z < POWERS.
#define POWERS 61
#define CONSTANTS (3 + POWERS)

// Moduli that a thread takes at a time.
#define SOME 8

// nearly returns x or x + m, of which one is the rest of a number modulo m: below 2 m.
static __device__ __forceinline__ u32 nearly(u32 x, u32 m, u32 inverse) { return x - __umulhi(x, inverse) * m; }

// A significand: 32-bit words, or two of them.
struct significand {
	const u32 *at; // null: m
	u64 m;
	int words;

	__device__ __forceinline__ u32 word(int k) const { return (u32)k >= (u32)words ? 0 : at ? at[k] : (u32)(m >> 32 * k); }
};

// The pieces of 16 bits of a significand from a position on downwards. Each word is read once.
struct pieces {
	const significand &s;
	int pos; // of the next piece: its lowest bit
	u32 low, high; // words pos / 32 and the next one

	__device__ __forceinline__ pieces(const significand &s, int pos) : s(s), pos(pos), low(s.word(pos >> 5)), high(s.word((pos >> 5) + 1)) {}

	__device__ __forceinline__ u32 next()
	{
		u32 piece = __funnelshift_r(low, high, (u32)pos & 31) & 0xffff;
		if ((pos & 31) < 16) {
			high = low;
			low = s.word((pos >> 5) - 1);
		}
		pos -= 16;
		return piece;
	}
};

static __device__ __forceinline__ void addOld(const adding &a, int i, int j, i64 to)
{
	i64 at = a.off + (a.i0 + i) * a.rs + (a.j0 + j) * a.cs, low;
	significand s = {0, 0, 2};
	bool neg;
	if (a.old.kind == MP) {
		u32 cls = ((const u8 *)a.old.plane[2])[at];
		if (cls >> 1 == ZERO)
			return;
		if (cls >> 1 > FINITE)
			return leave(a.failed, a.i0 + i, a.j0 + j);
		neg = cls & 1;
		s.words = 2 * a.old.limbs;
		s.at = (const u32 *)a.old.plane[0] + at * s.words;
		low = (i64)((const int *)a.old.plane[1])[at] - 32 * s.words;
	} else {
		double x = term(a.old, at, 0);
		if (!finite(x))
			return leave(a.failed, a.i0 + i, a.j0 + j);
		int e;
		s.m = decompose(x, e);
		if (s.m == 0)
			return;
		neg = x < 0;
		low = e;
	}
	// The integer is the significand times 2^low.
	low += a.exp - ((const i64 *)a.expL)[i] - ((const i64 *)a.expR)[j];
	i64 bits = 32 * s.words + low; // that it has at most
	if (bits <= 0)
		return;
	// Its pieces of 16 bits lie at positions first + 16 k of the significand, above zeros of them.
	int zeros = low > 0 ? (int)(low >> 4) : 0, first = (int)(16 * zeros - low);
	int many = (int)((bits - 16 * zeros + 15) >> 4);
	neg = neg != (a.neg != 0);
	const u32 *constants = (const u32 *)a.moduli;
	int count = a.plain + a.karatsuba;
	for (int t = 0; t < count; t += SOME, constants += SOME * CONSTANTS) {
		u32 m[SOME], inverse[SOME], r[SOME];
#pragma unroll
		for (int k = 0; k < SOME; k++) {
			const u32 *c = constants + (t + k < count ? k * CONSTANTS : 0);
			m[k] = c[0];
			inverse[k] = c[1];
			r[k] = 0;
		}
		pieces from(s, first + 16 * (many - 1));
		for (int p = many; p > 0; p--) {
			u32 w = from.next();
#pragma unroll
			for (int k = 0; k < SOME; k++)
				r[k] = nearly(r[k] << 16 | w, m[k], inverse[k]); // below 2^15, like m[k] below 2^14
		}
#pragma unroll
		for (int k = 0; k < SOME; k++) {
			if (t + k >= count)
				break;
			const u32 *c = constants + k * CONSTANTS;
			for (int z = zeros; z > 0; z -= POWERS - 1)
				r[k] = nearly(r[k] * c[3 + min(z, POWERS - 1)], m[k], inverse[k]);
			u32 v = nearly(r[k] * c[2], m[k], inverse[k]);
			if (neg)
				v = 2 * m[k] - v;
			u8 *byte = (u8 *)a.y + (t + k) * a.stride + to;
			u16 *half = (u16 *)a.wide + (t + k - a.plain) * a.stride + to;
			bool plain = t + k < a.plain;
			v = nearly(v + (plain ? *byte : *half), m[k], inverse[k]);
			v = v >= m[k] ? v - m[k] : v;
			if (plain)
				*byte = (u8)v;
			else
				*half = (u16)v;
		}
	}
}

extern "C" __global__ void __launch_bounds__(256) olds(const __grid_constant__ adding a)
{
	for (int j = blockIdx.y; j < a.n; j += gridDim.y)
		for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < a.m; i += gridDim.x * blockDim.x) {
			int below = a.i0 - a.j0 + i - j;
			if (!(a.triangle == 'U' && below > 0 || a.triangle == 'L' && below < 0))
				addOld(a, i, j, j * a.ld + i);
		}
}
