// From residues to results. With W_t = floor(M/m_t 2^-cut), F_t = round(2^37/m_t) and q
// the integer nearest to 2^-37 sum y_t F_t, the integer product is
// 2^cut (sum y_t W_t - q floor(M 2^-cut)) up to an error that the host bounds.
#include "round.cuh"

struct vectorData {
	u64 exp, norm, flags; // as scan makes them
};

struct finishing {
	target c;
	leftovers failed;
	vectorData l, r;
	double errorL, errorR, error; // entry (i, j): errorL norm_i + errorR norm_j + error
	u64 y, wide;                  // residues, bytes and half words
	i64 stride, ld;               // entries from plane to plane, from column to column
	i64 unit;                     // exponent of one unit, vectors' exponents aside
	u64 weights;                  // u32 [group of 8][modulus][8]: F, then the words of W
	u64 product;                  // u32: the words of floor(M 2^-cut)
	u64 raw;                      // if not null, the words of the integers go here
	int plain, karatsuba;
	int words; // of the integers, in two's complement
	int m, n;
	int i0, j0;   // place of entry (0, 0) in C
	int neg;      // alpha is negative
	int triangle; // 'U', 'L' or 0
};

#define ENTRIES 4 // consecutive rows that a thread finishes
#define GROUP 8

static __device__ __forceinline__ void add(u64 (&sum)[GROUP], u32 y, const uint4 &a, const uint4 &b)
{
	sum[0] += (u64)y * a.x;
	sum[1] += (u64)y * a.y;
	sum[2] += (u64)y * a.z;
	sum[3] += (u64)y * a.w;
	sum[4] += (u64)y * b.x;
	sum[5] += (u64)y * b.y;
	sum[6] += (u64)y * b.z;
	sum[7] += (u64)y * b.w;
}

static __device__ void finishEntry(const finishing &f, integer x, int i, int j)
{
	const i64 *el = (const i64 *)f.l.exp, *er = (const i64 *)f.r.exp;
	u8 fl = ((const u8 *)f.l.flags)[i], fr = ((const u8 *)f.r.flags)[j];
	double error = f.errorL * ((const double *)f.l.norm)[i] + f.errorR * ((const double *)f.r.norm)[j] + f.error;
	if ((fl | fr) & SPECIAL) {
		leave(f.failed, f.i0 + i, f.j0 + j);
		return;
	}
	i64 to = f.c.off + (f.i0 + i) * f.c.rs + (f.j0 + j) * f.c.cs;
	bool neg = x.magnitude() != (f.neg != 0);
	int n = x.length();
	if (n == 0) {
		// A zero addend may be -0, which the exact pass finds out.
		if (error != 0 || (fl | fr) & HAS_ZERO)
			leave(f.failed, f.i0 + i, f.j0 + j);
		else
			storeZero(f.c, to, false);
		return;
	}
	if (!store(f.c, to, x, n, neg, f.unit + el[i] + er[j], error))
		leave(f.failed, f.i0 + i, f.j0 + j);
}

extern "C" __global__ void __launch_bounds__(128) finish(const __grid_constant__ finishing f)
{
	extern __shared__ u32 digits[]; // word w of entry e of a thread: (w ENTRIES + e) threads
	int per = ENTRIES * blockDim.x, across = (f.m + per - 1) / per;
	int j = blockIdx.x / across, i = (blockIdx.x % across * blockDim.x + threadIdx.x) * ENTRIES;
	int below = f.i0 - f.j0 + i - j; // the diagonal
	if (i >= f.m || f.triangle == 'U' && below > 0 || f.triangle == 'L' && below + ENTRIES <= 0)
		return;
	i64 at = j * f.ld + i;
	int moduli = f.plain + f.karatsuba;
	const u32 *product = (const u32 *)f.product;
	i64 q[ENTRIES] = {}, carry[ENTRIES] = {};
	for (int g = 0; g * GROUP < f.words + 1; g++) {
		const uint4 *w = (const uint4 *)f.weights + (i64)g * moduli * 2;
		u64 sum[ENTRIES][GROUP] = {};
		const u8 *y = (const u8 *)f.y + at;
#pragma unroll 4
		for (int t = 0; t < f.plain; t++, y += f.stride, w += 2) {
			u32 v = *(const u32 *)y;
			uint4 a = __ldg(w), b = __ldg(w + 1);
			add(sum[0], v & 0xff, a, b);
			add(sum[1], v >> 8 & 0xff, a, b);
			add(sum[2], v >> 16 & 0xff, a, b);
			add(sum[3], v >> 24, a, b);
		}
		const u16 *z = (const u16 *)f.wide + at;
#pragma unroll 4
		for (int t = 0; t < f.karatsuba; t++, z += f.stride, w += 2) {
			uint2 v = *(const uint2 *)z;
			uint4 a = __ldg(w), b = __ldg(w + 1);
			add(sum[0], v.x & 0xffff, a, b);
			add(sum[1], v.x >> 16, a, b);
			add(sum[2], v.y & 0xffff, a, b);
			add(sum[3], v.y >> 16, a, b);
		}
#pragma unroll
		for (int k = 0; k < GROUP; k++) {
			int word = g * GROUP + k - 1;
			if (word < 0) {
#pragma unroll
				for (int e = 0; e < ENTRIES; e++)
					q[e] = (i64)((sum[e][0] + (1ull << 36)) >> 37);
			} else if (word < f.words) {
				u32 m = product[word];
#pragma unroll
				for (int e = 0; e < ENTRIES; e++) {
					i64 x = (i64)sum[e][k] - q[e] * m + carry[e];
					digits[(word * ENTRIES + e) * blockDim.x + threadIdx.x] = (u32)x;
					carry[e] = x >> 32;
				}
			}
		}
	}
	for (int e = 0; e < ENTRIES && i + e < f.m; e++) {
		if (f.triangle == 'U' && below + e > 0 || f.triangle == 'L' && below + e < 0)
			continue;
		integer x = {digits + e * blockDim.x + threadIdx.x, (int)(ENTRIES * blockDim.x), f.words};
		if (f.raw) {
			u32 *to = (u32 *)f.raw + ((i64)j * f.m + i + e) * f.words;
			for (int w = 0; w < f.words; w++)
				to[w] = x.word(w);
		} else {
			finishEntry(f, x, i + e, j);
		}
	}
}
