// The numbers of package rns, and their arithmetic bit for bit as that package's
// documentation defines it: Go's arith.go, scale.go, eval.go and xfloat.go are the plain
// versions of what follows.
//
// A number is worked on by G lanes of a warp, each with R residues next to each other.
// All lanes of a group hold the same sign, exponent and evaluation and take the same
// branches; groups of a warp go their own ways.
//
// Moduli are odd and below 2^30. Bases are padded to G R moduli by moduli 1, whose tables
// hold zeros. Exponents of evaluations stay far from the ends of their range, as they do
// for all numbers that satisfy what package rns asks of them.
#pragma once
#include "../common/common.cuh"

// How far loops over R residues are unrolled: residues of few are in registers.
#define FLAT(R) ((R) <= 8 ? (R) : 1)

#define NAN_EXP 0x7fffffff
#define MAX_EXP (1 << 30)

// An extended-range floating-point number f 2^i, f in [1, 2), or 0.
struct xfloat {
	double f;
	int i;
};

struct base {
	u64 moduli;  // u32[n]
	u64 inverse; // u32[n]: 2^(L+31)/m rounded down, L the bits of m
	u64 shift;   // u32[n]: L - 1
	u64 mu;      // u64[n]: 2^64/m rounded down
	u64 muLow;   // u32[n]: the next 32 bits of 2^64/m
	u64 pow;     // u32[][n]: row k has 2^k mod m
	u64 inv;     // u32[][n]: 2^-k mod m
	u64 weight;  // u32[][n]: 2^k (M/m)^-1 mod m
	u64 low;     // u32[][n]: row a has word a of M/m
	u64 negM;    // u32[]: words of -M
	xfloat mLo, mUp, half, lim, target, sumLim;
	int slack; // fractions are less than slack 2^-64 too small
	int bits;  // of M
	int word;  // bits of words; a residue times a word, n times, is below 2^63
	int pad;
};

// An array: n residues a number, and its head.
struct array {
	u64 digits, heads;
};

// What is not residues; two 16-byte words.
struct head {
	double lo, up;
	int loI, upI, exp, neg;
};

static __device__ __forceinline__ bool less(xfloat x, xfloat y)
{
	if (x.f == 0 || y.f == 0)
		return x.f < y.f;
	return x.i < y.i || (x.i == y.i && x.f < y.f);
}

// down returns f 2^-d for d >= 0. Where d is large, any d as large serves directed
// rounding.
static __device__ __forceinline__ double down(double f, int d)
{
	d = d < 1000 ? d : 1000;
	return f * __longlong_as_double((i64)(1023 - d) << 52);
}

// normal returns x, f being any positive normal number.
static __device__ __forceinline__ xfloat normal(double f, int i)
{
	i64 bits = __double_as_longlong(f);
	i64 one = 1023ll << 52;
	return xfloat{__longlong_as_double((bits & ((1ll << 52) - 1)) | one), i + (int)(bits >> 52) - 1023};
}

template <bool UP> static __device__ __forceinline__ xfloat sum(xfloat x, xfloat y)
{
	if (less(x, y)) {
		xfloat t = x;
		x = y;
		y = t;
	}
	if (y.f == 0)
		return x;
	double s = down(y.f, x.i - y.i);
	s = UP ? __dadd_ru(x.f, s) : __dadd_rd(x.f, s);
	return s < 2 ? xfloat{s, x.i} : xfloat{s * 0.5, x.i + 1};
}

// difference returns x - y, or 0 if that is negative.
template <bool UP> static __device__ __forceinline__ xfloat difference(xfloat x, xfloat y)
{
	if (!less(y, x))
		return xfloat{0, 0};
	if (y.f == 0)
		return x;
	double s = -down(y.f, x.i - y.i);
	return normal(UP ? __dadd_ru(x.f, s) : __dadd_rd(x.f, s), x.i);
}

template <bool UP> static __device__ __forceinline__ xfloat product(xfloat x, xfloat y)
{
	if (x.f == 0 || y.f == 0)
		return xfloat{0, 0};
	double p = UP ? __dmul_ru(x.f, y.f) : __dmul_rd(x.f, y.f);
	int i = x.i + y.i;
	return p < 2 ? xfloat{p, i} : xfloat{p * 0.5, i + 1};
}

// fixed returns f 2^(-64-s) for f > 0.
template <bool UP> static __device__ __forceinline__ xfloat fixed(u64 f, int s)
{
	return normal(UP ? __ull2double_ru(f) : __ull2double_rd(f), -64 - s);
}

// scaled returns x 2^k.
static __device__ __forceinline__ xfloat scaled(xfloat x, int k)
{
	return x.f == 0 ? x : xfloat{x.f, x.i + k};
}

// fit returns the largest k with 2^k x <= lim.
static __device__ __forceinline__ int fit(xfloat x, xfloat lim)
{
	return lim.i - x.i - (x.f > lim.f);
}

// tooWide says whether up - lo > 2^-20 lo, or nearly so.
static __device__ __forceinline__ bool tooWide(xfloat lo, xfloat up)
{
	const u64 hidden = 1ull << 52;
	u64 l = ((u64)__double_as_longlong(lo.f) & (hidden - 1)) | hidden;
	u64 u = ((u64)__double_as_longlong(up.f) & (hidden - 1)) | hidden;
	int d = up.i - lo.i;
	if (d == 1)
		u <<= 1;
	return d < 0 || d > 1 || u - l > hidden >> 20;
}

// mulmod returns x y mod m for x, y < m < 2^30. With z = x y, t = z >> L-1 and the
// constant as above, q is less than 2^(L-1)/m + t/2^32 + 1 <= 2.5 off z/m.
static __device__ __forceinline__ u32 mulmod(u32 x, u32 y, u32 m, u32 inverse, u32 shift)
{
	u64 z = (u64)x * y;
	u32 q = __umulhi((u32)(z >> shift), inverse);
	u32 r = (u32)z - q * m;
	r = min(r, r - m);
	return min(r, r - m);
}

// reduced returns z mod m.
static __device__ __forceinline__ u32 reduced(u64 z, u32 m, u64 mu)
{
	u32 r = (u32)z - (u32)__umul64hi(z, mu) * m; // < 2 m
	return min(r, r - m);
}

static __device__ __forceinline__ u32 addmod(u32 x, u32 y, u32 m)
{
	u32 s = x + y;
	return min(s, s - m);
}

static __device__ __forceinline__ u32 submod(u32 x, u32 y, u32 m)
{
	u32 d = x - y;
	return min(d, d + m);
}

// copy copies R words of 32 bits, aligned to their size but at most 16 bytes.
template <int R> static __device__ __forceinline__ void copy(u32 *z, const u32 *x)
{
	if (R % 4 == 0) {
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j += 4)
			*(uint4 *)(z + j) = *(const uint4 *)(x + j);
	} else if (R % 2 == 0) {
#pragma unroll
		for (int j = 0; j < R; j += 2)
			*(uint2 *)(z + j) = *(const uint2 *)(x + j);
	} else {
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			z[j] = x[j];
	}
}

// A number: the residues of this lane, and what its group shares.
template <int R> struct value {
	alignas(16) u32 x[R];
	xfloat lo, up;
	int exp;
	bool neg;

	__device__ __forceinline__ bool isNaN() const { return exp == NAN_EXP; }
	__device__ __forceinline__ bool isZero() const { return up.f == 0 && exp != NAN_EXP; }

	__device__ __forceinline__ void setZero()
	{
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			x[j] = 0;
		lo = up = xfloat{0, 0};
		exp = 0;
		neg = false;
	}

	__device__ __forceinline__ void setNaN()
	{
		setZero();
		exp = NAN_EXP;
	}

	__device__ __forceinline__ void setExp(i64 e)
	{
		if (e > MAX_EXP)
			setNaN();
		else if (e < -MAX_EXP)
			setZero();
		else
			exp = (int)e;
	}
};

// A group of lanes, with the constants of their residues. Of every C G residues a lane has C
// next to each other: in wide groups as many as one access brings, so that what the lanes
// access at a time lies without gaps.
template <int G, int R> struct group {
	static const int C = G < 8 ? R : R % 4 == 0 ? 4 : R % 2 == 0 ? 2 : 1;

	const base &b;
	int lane;
	u32 mask; // the lanes of the group in the warp
	alignas(16) u32 m[R], inverse[R], shift[R];

	__device__ __forceinline__ group(const base &constants) : b(constants)
	{
		lane = threadIdx.x % G;
		mask = G == 32 ? 0xffffffffu : ((1u << (G % 32)) - 1) << (threadIdx.x % 32 / G * G);
		fetch(m, b.moduli, 0);
		fetch(inverse, b.inverse, 0);
		fetch(shift, b.shift, 0);
	}

	// at returns which residue of a number is residue j of this lane.
	__device__ __forceinline__ int at(int j) const { return j / C * (C * G) + lane * C + j % C; }

	// fetch sets z to the residues of this lane in row k of a table.
	__device__ __forceinline__ void fetch(u32 *z, u64 table, i64 k) const
	{
		const u32 *row = (const u32 *)table + k * (G * R) + lane * C;
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j += C)
			copy<C>(z + j, row + j * G);
	}

	__device__ __forceinline__ void load(value<R> &v, const array &a, i64 i) const
	{
		fetch(v.x, a.digits, i);
		alignas(16) u32 raw[8];
		copy<8>(raw, (const u32 *)a.heads + 8 * i);
		const head &h = *(const head *)raw;
		v.lo = xfloat{h.lo, h.loI};
		v.up = xfloat{h.up, h.upI};
		v.exp = h.exp;
		v.neg = h.neg;
	}

	// The head is written by one lane, once all lanes have read what was there.
	__device__ __forceinline__ void store(const value<R> &v, const array &a, i64 i) const
	{
		__syncwarp(mask);
		u32 *row = (u32 *)a.digits + i * (G * R) + lane * C;
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j += C)
			copy<C>(row + j * G, v.x + j);
		if (lane == 0) {
			alignas(16) u32 raw[8];
			*(head *)raw = head{v.lo.f, v.up.f, v.lo.i, v.up.i, v.exp, v.neg};
			copy<8>((u32 *)a.heads + 8 * i, raw);
		}
	}

	// total returns the sum of s over the group, modulo 2^64.
	__device__ __forceinline__ u64 total(u64 s) const
	{
#pragma unroll
		for (int o = G / 2; o > 0; o /= 2)
			s += __shfl_xor_sync(mask, s, o, 32);
		return s;
	}

	__device__ __forceinline__ void times(u32 *z, const u32 *x, const u32 *y) const
	{
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			z[j] = mulmod(x[j], y[j], m[j], inverse[j], shift[j]);
	}

	// fraction returns 2^s X/M modulo 1 in units of 2^-64, less than b.slack too small,
	// and how often the sum passed 1; the numerators are left in y.
	__device__ __forceinline__ u64 fraction(u32 *y, const u32 *x, int s, u32 &carries) const
	{
		alignas(16) u32 w[R];
		fetch(w, b.weight, s);
		times(y, x, w);
		fetch(w, b.muLow, 0);
		const u64 *mu = (const u64 *)b.mu;
		u64 f = 0;
		u32 c = 0;
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++) {
			u64 t = y[j] * mu[at(j)] + ((u64)y[j] * w[j] >> 32);
			f += t;
			c += f < t;
		}
#pragma unroll
		for (int o = G / 2; o > 0; o /= 2) {
			u64 t = __shfl_xor_sync(mask, f, o, 32);
			c += __shfl_xor_sync(mask, c, o, 32);
			f += t;
			c += f < t;
		}
		carries = c;
		return f;
	}

	// evaluate sets the evaluation of z from its residues, of which up is a bound.
	__device__ __forceinline__ void evaluate(value<R> &z) const
	{
		const u64 slack = b.slack;
		for (;;) {
			alignas(16) u32 y[R];
			u32 carries;
			int s = max(0, -z.up.i - 2);
			u64 f = fraction(y, z.x, s, carries);
			bool wrapped = f >= 0 - slack;
			z.up = fixed<true>(wrapped ? slack : f + slack, s);
			if (!wrapped && f >= slack << 40) {
				z.lo = fixed<false>(f, s);
				return;
			}
		}
	}

	// negative says whether the residues d are those of D < 0, not 0, |D|/M <= up.
	__device__ __forceinline__ bool negative(const u32 *d, xfloat up) const
	{
		const u64 slack = b.slack;
		for (;;) {
			alignas(16) u32 y[R];
			u32 carries;
			int s = max(0, -up.i - 3);
			u64 f = fraction(y, d, s, carries);
			if ((i64)f >= 0)
				return false;
			if (f < 0 - slack)
				return true;
			up = fixed<true>(slack, s);
		}
	}

	// BATCH sums of a group are made at a time: fewer shuffles, but more registers, which pays
	// where the group is wide.
	static const int BATCH = G >= 16 ? 4 : 1;

	// totals makes s[i] the sum of all s[i] of the group, modulo 2^64. Each half of the group
	// goes on with one half of the sums, and so does each quarter.
	__device__ __forceinline__ void totals(u64 *s) const
	{
		if (BATCH == 1) {
			s[0] = total(s[0]);
			return;
		}
		bool upper = lane & G / 2, odd = lane & G / 4;
		u64 t0 = upper ? s[2] : s[0], t1 = upper ? s[3] : s[1];
		t0 += __shfl_xor_sync(mask, upper ? s[0] : s[2], G / 2, 32);
		t1 += __shfl_xor_sync(mask, upper ? s[1] : s[3], G / 2, 32);
		u64 t = (odd ? t1 : t0) + __shfl_xor_sync(mask, odd ? t0 : t1, G / 4, 32);
#pragma unroll
		for (int o = G / 8; o > 0; o /= 2)
			t += __shfl_xor_sync(mask, t, o, 32);
#pragma unroll
		for (int i = 0; i < 4; i++)
			s[i] = __shfl_sync(mask, t, i * (G / 4), G);
	}

	// scaleDown sets x to X/2^k + 1/2 rounded down. The words of X modulo 2^k are known to
	// all lanes some at a time.
	__device__ __forceinline__ void scaleDown(u32 *x, int k) const
	{
		if (k > b.bits) {
#pragma unroll(FLAT(R))
			for (int j = 0; j < R; j++)
				x[j] = 0;
			return;
		}
		alignas(16) u32 y[R], t[R];
		u32 rank;
		if (fraction(y, x, 0, rank) >= 0 - (u64)b.slack)
			rank++;
		u64 carry = 0, z[R];
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			z[j] = 0;
		const u32 *negM = (const u32 *)b.negM;
		u32 up = 0;
		int last = (k - 1) / b.word; // word
#pragma unroll(BATCH == 1 ? 2 : 1)
		for (int a0 = 0; a0 * b.word < k; a0 += BATCH) {
			u64 s[4];
#pragma unroll
			for (int i = 0; i < BATCH; i++) {
				fetch(t, b.low, BATCH == 1 ? a0 : min(a0 + i, last));
				s[i] = 0;
#pragma unroll(FLAT(R))
				for (int j = 0; j < R; j++)
					s[i] += (u64)y[j] * t[j];
			}
			totals(s);
#pragma unroll
			for (int i = 0; i < BATCH; i++) {
				int a = a0 + i;
				if (BATCH > 1 && a > last)
					break;
				carry += s[i] + (u64)rank * negM[a];
				int top = min(k - a * b.word, b.word);
				u32 word = (u32)carry & ((1u << top) - 1);
				up = word >> (top - 1); // that of the last word counts
				carry >>= b.word;
				fetch(t, b.pow, a * b.word);
#pragma unroll(FLAT(R))
				for (int j = 0; j < R; j++)
					z[j] += (u64)word * t[j];
			}
		}
		fetch(t, b.inv, k);
		const u64 *mu = (const u64 *)b.mu;
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++) {
			u32 d = submod(x[j], reduced(z[j], m[j], mu[at(j)]), m[j]);
			x[j] = addmod(mulmod(d, t[j], m[j], inverse[j], shift[j]), up, m[j]);
		}
	}

	// finish brings z, not zero, to its form: an evaluation narrow enough, a significand
	// rounded if it has to be, the exponent exp before rounding. wide: there is no
	// evaluation yet but its upper bound.
	__device__ __forceinline__ void finish(value<R> &z, i64 exp, bool wide) const
	{
		for (bool rounded = false;; rounded = true) {
			if (wide || tooWide(z.lo, z.up))
				evaluate(z);
			wide = false;
			if (rounded || !less(b.lim, z.up))
				break;
			int k = -fit(z.up, b.target);
			scaleDown(z.x, k);
			z.lo = difference<false>(scaled(z.lo, -k), b.half);
			z.up = sum<true>(scaled(z.up, -k), b.half);
			exp += k;
		}
		z.setExp(exp);
	}

	// multiply sets z = z v.
	__device__ __forceinline__ void multiply(value<R> &z, const value<R> &v) const
	{
		if (z.isNaN() || v.isNaN()) {
			z.setNaN();
			return;
		}
		if (z.isZero() || v.isZero()) {
			z.setZero();
			return;
		}
		z.neg = z.neg != v.neg;
		z.lo = product<false>(product<false>(z.lo, v.lo), b.mLo);
		z.up = product<true>(product<true>(z.up, v.up), b.mUp);
		times(z.x, z.x, v.x);
		finish(z, (i64)z.exp + v.exp, false);
	}

	// add sets z = z + v, and spoils v.
	__device__ __forceinline__ void add(value<R> &z, value<R> &v) const
	{
		if (z.isNaN() || v.isNaN()) {
			z.setNaN();
			return;
		}
		if (v.isZero())
			return;
		if (z.isZero()) {
			z = v;
			return;
		}
		i64 d = (i64)z.exp - v.exp;
		bool second = d < 0; // v has the larger exponent
		i64 exp = second ? z.exp : v.exp;
		d = second ? -d : d;
		if (d > 0) {
			if (d > fit(second ? v.up : z.up, b.sumLim)) {
				if (second)
					z = v;
				return;
			}
			alignas(16) u32 t[R];
			fetch(t, b.pow, d);
#pragma unroll(FLAT(R))
			for (int j = 0; j < R; j++) {
				u32 r = mulmod(second ? v.x[j] : z.x[j], t[j], m[j], inverse[j], shift[j]);
				(second ? v.x[j] : z.x[j]) = r;
			}
			if (second) {
				v.lo.i += (int)d;
				v.up.i += (int)d;
			} else {
				z.lo.i += (int)d;
				z.up.i += (int)d;
			}
		}
		combine(z, v, exp);
	}

	// combine sets z = z + v, not zeros, of significands times 2^exp, and spoils v.
	__device__ __forceinline__ void combine(value<R> &z, value<R> &v, i64 exp) const
	{
		bool wide = false;
		if (z.neg == v.neg) {
#pragma unroll(FLAT(R))
			for (int j = 0; j < R; j++)
				z.x[j] = addmod(z.x[j], v.x[j], m[j]);
			z.lo = sum<false>(z.lo, v.lo);
			z.up = sum<true>(z.up, v.up);
		} else {
			u32 any = 0;
#pragma unroll(FLAT(R))
			for (int j = 0; j < R; j++) {
				z.x[j] = submod(z.x[j], v.x[j], m[j]);
				any |= z.x[j];
			}
			xfloat up = difference<true>(z.up, v.lo), other = difference<true>(v.up, z.lo);
			bool minus; // |z| < |v|
			if (less(v.up, z.lo)) {
				z.lo = difference<false>(z.lo, v.up);
				minus = false;
			} else if (less(z.up, v.lo)) {
				z.lo = difference<false>(v.lo, z.up);
				up = other;
				minus = true;
			} else { // the evaluations overlap
				if (!__any_sync(mask, any)) {
					z.setZero();
					return;
				}
				if (less(up, other))
					up = other;
				minus = negative(z.x, up);
				wide = true;
			}
			z.up = up;
			if (minus) {
				z.neg = v.neg;
#pragma unroll(FLAT(R))
				for (int j = 0; j < R; j++)
					z.x[j] = submod(0, z.x[j], m[j]);
			}
		}
		finish(z, exp, wide);
	}
};
