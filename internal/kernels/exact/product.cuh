// What the products of residues have in common: their arguments, the order of their
// tiles, and the reduction of their sums.
#pragma once
#include "../common/mma.cuh"

// How sums modulo m are reduced. A plain modulus takes one product of planes; a
// Karatsuba modulus, whose residues are a = 128 a1 + a0, three:
//   a b = -127 a0 b0 + 16256 a1 b1 + 128 (a0 + a1)(b0 + b1).
struct reduction {
	int m;
	int shift;     // plain: scale = round(2^(32+shift)/m)
	int factor[3]; // Karatsuba: the three factors modulo m, in (-m/2, m/2)
	int scale[3];  // and round(2^32 factor/m)
};

// A product of every plane of the right operand's columns with that of the left one's
// rows: entry (i, j), i a row of the left operand, of modulus t is out[t][j ld + i]. The
// plain moduli come first and make bytes, the Karatsuba moduli half words.
struct product {
	u64 left, right;
	i64 leftStride, rightStride; // bytes from plane to plane
	u64 moduli;                  // reduction[plain + karatsuba]
	u64 out, wide;
	i64 stride; // entries from plane to plane of out and of wide
	i64 ld;
	int plain, karatsuba;
	int blocks;      // tiles along k
	int rows, cols;  // tiles of rows of the left operand and of columns of the right one
	int i0, j0;      // of all of the result, the first row and column here
	// 'U', 'L' or 0: the triangle of the result that is wanted, and those of the operands
	// beyond which there are zeros
	int triangle, leftTriangle, rightTriangle;
	int pad;
	u64 taken; // u32: items that blocks have taken beside their first ones; 0 before and after
};

// A tile of the result for one modulus.
struct item {
	int modulus, row, col;
	bool plain;
};

// Tiles along k, none where the item is not wanted.
struct range {
	int begin, end;
};

// rangeOf returns what an item of tall rows takes, not to be multiplied by zeros; a tile of them if
// there is no other.
static __device__ __forceinline__ range rangeOf(const product &p, const item &w, int tall)
{
	int i0 = p.i0 + w.row * tall, i1 = i0 + tall, j0 = p.j0 + w.col * TILE, j1 = j0 + TILE;
	if (p.triangle == 'L' && j0 >= i1 || p.triangle == 'U' && i0 >= j1)
		return {0, 0};
	int begin = 0, end = p.blocks;
	if (p.leftTriangle == 'L')
		end = min(end, (i1 + TILE - 1) / TILE);
	if (p.leftTriangle == 'U')
		begin = i0 / TILE;
	if (p.rightTriangle == 'L')
		begin = max(begin, j0 / TILE);
	if (p.rightTriangle == 'U')
		end = min(end, (j1 + TILE - 1) / TILE);
	begin = min(begin, p.blocks - 1);
	return {begin, max(end, begin + 1)};
}

// BAND columns of tiles are taken together: what a wave of blocks reads then fits the second level
// cache, as long as the blocks remain together.
#define BAND 16

// itemOf finds tile index of all. The Karatsuba moduli, whose tiles take longer, come first.
static __device__ __forceinline__ item itemOf(const product &p, int index)
{
	item w;
	int tiles = p.rows * p.cols, t = index / tiles;
	int at = index - t * tiles, size = BAND * p.rows, band = at / size;
	int width = min(BAND, p.cols - band * BAND);
	at -= band * size;
	w.row = at / width;
	w.col = band * BAND + at % width;
	w.plain = t >= p.karatsuba;
	w.modulus = w.plain ? t - p.karatsuba : p.plain + t;
	return w;
}

// reducePlain returns r congruent to s modulo m with 0 <= r <= m in its low byte (any r for
// m = 256), for |s| <= 2^30: s scale 2^-(32+shift) differs from s/m by at most
// 2^-(3+shift) <= 1/(2m), so its floor is too small by at most 1 where m divides s, and
// nowhere too large.
static __device__ __forceinline__ u32 reducePlain(int s, int scale, int shift, int m)
{
	int q = __mulhi(s, scale) >> shift;
	return (u32)(s - q * m);
}

// reduceFactor returns r congruent to s factor modulo m with -m/8 <= r < 9m/8, for
// |s| <= 2^30: s scale 2^-32 differs from s factor/m by at most 1/8.
static __device__ __forceinline__ u32 reduceFactor(int s, int factor, int scale, int m)
{
	return (u32)(s * factor - __mulhi(s, scale) * m);
}

// Tiles along k up to which sums modulo Karatsuba moduli are reduced in binary32.
#define QUICK_BLOCKS 8

// 1.5 2^23: a sum with it is an integer, in its low bits.
#define WHOLE 0x4B400000
#define WHOLE_FLOAT 12582912.0f

// The constants by which sums of at most 1024 products are reduced modulo a Karatsuba modulus m.
struct quickly {
	int factor, m;
	float ratio; // factor/m
	u32 base;    // WHOLE m

	__device__ __forceinline__ quickly(int factor, int scale, int m) : factor(factor), m(m), ratio((float)scale * 0x1p-32f), base(WHOLE * (u32)m) {}

	// reduce returns r congruent to s factor modulo m. Sums of products of a0, or of a1, are at
	// most 2^22, for magnitudes up to 64; sums of products of a0 + a1 are below 2^24, and exact in
	// binary32. Their factors are -127, at most m/2 in magnitude, and 128. So for m > 520 quotients
	// are below 2^20, 2^21 + 1 and 2^22. Before they are rounded to integers they are wrong by less
	// than 1/16, 1/8 and 1/4, and 2^-8 more, by the errors of ratio and of its scale. The three
	// results add up to less than (3/2 + 7/16 + 3/256) m < 2 m in magnitude.
	__device__ __forceinline__ u32 reduce(int s) const
	{
		float q = __fmaf_rn((float)s, ratio, WHOLE_FLOAT);
		return (u32)s * (u32)factor + base - (u32)__float_as_int(q) * (u32)m;
	}

	// fold is fold below, for half words that start at 2 m: they end below 4 m < 2^16.
	__device__ __forceinline__ void fold(u32 &pair, int s0, int s1) const { pair += reduce(s0) + (reduce(s1) << 16); }
};

// startOf returns the pair that sums modulo a Karatsuba modulus are added to.
static __device__ __forceinline__ u32 startOf(bool quick, int m) { return quick ? m * 0x20002u : m * 0x10001u; }

// fold adds the factor's multiples of two sums to a pair of half words. These start at
// m and end below m + 3 9m/8 <= 2^16, for m < 2^16/4.375.
static __device__ __forceinline__ void fold(u32 &pair, int s0, int s1, int factor, int scale, int m)
{
	u32 lo = reduceFactor(s0, factor, scale, m), hi = reduceFactor(s1, factor, scale, m);
	pair += lo + (hi << 16);
}
