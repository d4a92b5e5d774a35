// Algorithm 1 of the papers as published (001): GEMV in ten launches, on arrays as the papers lay
// them out, and the basic implementation, in which one thread carries out each operation with
// multiple-precision numbers. Bits are those of package rns.
//
// An entrywise product is three kernels: signs, exponents and interval evaluations, one thread a
// number; digits, one thread a residue; rounding, one thread a number. Where a branch would
// depend on data the first leaves to the last what the second need not know: digits of 0 and NaN
// are zeros, and so are their products; an exponent out of range waits for rounding.
#pragma once
#include "rnskernels.cuh"

// An array of numbers of the papers: mp_array_t, each part of a number in an array of its own, or
// mp_float_t[], all parts next to each other.
struct mparray {
	u64 digits;   // u32[n] a number
	u64 sign;     // int
	u64 exp;      // int
	u64 lo, up;   // xfloat: mp_array_t has the lower bounds of all numbers, then the upper ones
	u64 buf;      // int4, with which additions of whole arrays hand variables on; not in GEMV
	i64 len;      // numbers
	int digitStep; // bytes from a number to the next, in digits
	int intStep;   // in sign and exp
	int evalStep;  // in lo and up
	int n;         // moduli

	__device__ __forceinline__ u32 *digitsOf(i64 i) const { return (u32 *)(digits + i * digitStep); }
	__device__ __forceinline__ int &signOf(i64 i) const { return *(int *)(sign + i * intStep); }
	__device__ __forceinline__ int &expOf(i64 i) const { return *(int *)(exp + i * intStep); }
	__device__ __forceinline__ xfloat &loOf(i64 i) const { return *(xfloat *)(lo + i * evalStep); }
	__device__ __forceinline__ xfloat &upOf(i64 i) const { return *(xfloat *)(up + i * evalStep); }
};

// FLOAT_BYTES is the size of an mp_float_t with n residues: two xfloats, sign, exponent, residues.
#define FLOAT_BYTES(n) (2 * (int)sizeof(xfloat) + 2 * (int)sizeof(int) + ((n) + 1) / 2 * 8)

// The number of the thread in its grid's row of blocks, and how many those have.
static __device__ __forceinline__ i64 me() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ i64 all() { return (i64)gridDim.x * blockDim.x; }

// padded is how many residues a number of this library takes in memory, and a row of its tables.
static __device__ __forceinline__ int padded(int n)
{
	int p = 8;
	while (p < n)
		p *= 2;
	return p;
}

// The conversions: z has the numbers of x by columns, or x those of z. One thread a residue.
extern "C" __global__ void rnsToPaper(const operand x, const mparray z, const i64 rows)
{
	int n = z.n, stride = padded(n);
	for (i64 k = me(); k < z.len * n; k += all()) {
		i64 i = k / n, from = x.at(i % rows, i / rows);
		int j = (int)(k % n);
		z.digitsOf(i)[j] = ((const u32 *)x.a.digits)[from * stride + j];
		if (j)
			continue;
		const head h = ((const head *)x.a.heads)[from];
		z.signOf(i) = h.neg;
		z.expOf(i) = h.exp;
		z.loOf(i) = xfloat{h.lo, h.loI};
		z.upOf(i) = xfloat{h.up, h.upI};
	}
}

extern "C" __global__ void rnsFromPaper(const mparray x, const operand z, const i64 rows)
{
	int n = x.n, stride = padded(n);
	for (i64 k = me(); k < x.len * stride; k += all()) {
		i64 i = k / stride, to = z.at(i % rows, i / rows);
		int j = (int)(k % stride);
		((u32 *)z.a.digits)[to * stride + j] = j < n ? x.digitsOf(i)[j] : 0;
		if (j)
			continue;
		xfloat lo = x.loOf(i), up = x.upOf(i);
		((head *)z.a.heads)[to] = head{lo.f, up.f, lo.i, up.i, x.expOf(i), x.signOf(i)};
	}
}

// esi sets the sign, the exponent and the evaluation of number k of z to those of the product of
// numbers i of x and j of y, not rounded. Exponents beyond the range are MAX_EXP + 1, NaN is
// NAN_EXP.
static __device__ __forceinline__ void esi(const base &b, const mparray &z, i64 k, const mparray &x, i64 i, const mparray &y, i64 j)
{
	int e = x.expOf(i), f = y.expOf(j);
	xfloat lo = product<false>(product<false>(x.loOf(i), y.loOf(j)), b.mLo);
	xfloat up = product<true>(product<true>(x.upOf(i), y.upOf(j)), b.mUp);
	i64 sum = (i64)e + f;
	int exp = sum > MAX_EXP ? MAX_EXP + 1 : (int)sum;
	if (up.f == 0) // a factor is 0
		exp = 0;
	if (e == NAN_EXP || f == NAN_EXP)
		exp = NAN_EXP;
	z.signOf(k) = up.f == 0 ? 0 : x.signOf(i) ^ y.signOf(j);
	z.expOf(k) = exp;
	z.loOf(k) = lo;
	z.upOf(k) = up;
}

// digit sets residue j of number k of z.
static __device__ __forceinline__ void digit(const base &b, const mparray &z, i64 k, u32 x, u32 y, int j)
{
	z.digitsOf(k)[j] = mulmod(x, y, ((const u32 *)b.moduli)[j], ((const u32 *)b.inverse)[j], ((const u32 *)b.shift)[j]);
}

// z = s x by the one number of s, or 0 for none: a one-dimensional grid. The digits of a number
// are the work of n threads of a block, whose size is a multiple of n.
extern "C" __global__ void rnsVecScalESI(const base b, const mparray z, const mparray x, const mparray s, const int none)
{
	for (i64 i = me(); i < z.len; i += all()) {
		if (none) {
			z.signOf(i) = z.expOf(i) = 0;
			z.loOf(i) = z.upOf(i) = xfloat{0, 0};
		} else {
			esi(b, z, i, x, i, s, 0);
		}
	}
}

extern "C" __global__ void rnsVecScalDigits(const base b, const mparray z, const mparray x, const mparray s, const int none)
{
	int j = threadIdx.x % z.n;
	u32 factor = none ? 0 : s.digitsOf(0)[j];
	i64 step = blockDim.x / z.n;
	for (i64 i = blockIdx.x * step + threadIdx.x / z.n; i < z.len; i += gridDim.x * step)
		digit(b, z, i, none ? 0 : x.digitsOf(i)[j], factor, j);
}

// z = a diag(d), or diag(d) a for LEFT, with as many rows: a two-dimensional grid, whose blocks
// with blockIdx.y = c make columns c, c + gridDim.y, ...
template <bool LEFT>
static __device__ __forceinline__ void matScalESI(const base &b, const mparray &z, const mparray &a, const mparray &d, i64 rows, i64 cols)
{
	for (i64 c = blockIdx.y; c < cols; c += gridDim.y)
		for (i64 i = me(); i < rows; i += all())
			esi(b, z, c * rows + i, a, c * rows + i, d, LEFT ? i : c);
}

template <bool LEFT>
static __device__ __forceinline__ void matScalDigits(const base &b, const mparray &z, const mparray &a, const mparray &d, i64 rows, i64 cols)
{
	int j = threadIdx.x % z.n;
	i64 step = blockDim.x / z.n;
	for (i64 c = blockIdx.y; c < cols; c += gridDim.y) {
		u32 factor = LEFT ? 0 : d.digitsOf(c)[j];
		for (i64 i = blockIdx.x * step + threadIdx.x / z.n; i < rows; i += gridDim.x * step)
			digit(b, z, c * rows + i, a.digitsOf(c * rows + i)[j], LEFT ? d.digitsOf(i)[j] : factor, j);
	}
}

#define SCALINGS(SIDE, LEFT)                                                                               \
	extern "C" __global__ void rnsMat##SIDE##ScalESI(const base b, const mparray z, const mparray a,   \
							 const mparray d, const i64 rows, const i64 cols)  \
	{                                                                                                  \
		matScalESI<LEFT>(b, z, a, d, rows, cols);                                                  \
	}                                                                                                  \
	extern "C" __global__ void rnsMat##SIDE##ScalDigits(const base b, const mparray z, const mparray a, \
							    const mparray d, const i64 rows, const i64 cols) \
	{                                                                                                  \
		matScalDigits<LEFT>(b, z, a, d, rows, cols);                                               \
	}

SCALINGS(Right, false)
SCALINGS(Left, true)

// A number that one thread works on: mp_float_t, or a number of an mp_array_t. Its residues are
// where it is stored.
struct mpfloat {
	u32 *x;
	xfloat lo, up;
	int exp, neg;

	__device__ __forceinline__ bool isNaN() const { return exp == NAN_EXP; }
	__device__ __forceinline__ bool isZero() const { return up.f == 0 && exp != NAN_EXP; }
};

static __device__ __forceinline__ mpfloat load(const mparray &a, i64 i)
{
	return mpfloat{a.digitsOf(i), a.loOf(i), a.upOf(i), a.expOf(i), a.signOf(i)};
}

// store puts back what is not residues.
static __device__ __forceinline__ void store(const mparray &a, i64 i, const mpfloat &v)
{
	a.signOf(i) = v.neg;
	a.expOf(i) = v.exp;
	a.loOf(i) = v.lo;
	a.upOf(i) = v.up;
}

// The arithmetic of one thread, for up to N moduli: that of struct group, with loops over all
// residues. A product or sum is begun, and finished in a place of its own, so that a kernel has
// the code for that once.
template <int N> struct serial {
	const base &b;
	const int n, stride; // moduli, and residues of a row of tables

	__device__ __forceinline__ serial(const base &constants, int moduli) : b(constants), n(moduli), stride(padded(moduli)) {}

	__device__ __forceinline__ u32 modulus(int j) const { return ((const u32 *)b.moduli)[j]; }
	__device__ __forceinline__ const u32 *row(u64 table, int k) const { return (const u32 *)table + (i64)k * stride; }
	__device__ __forceinline__ u32 times(u32 x, u32 y, int j) const
	{
		return mulmod(x, y, modulus(j), ((const u32 *)b.inverse)[j], ((const u32 *)b.shift)[j]);
	}

	__device__ __forceinline__ void setZero(mpfloat &z) const
	{
		for (int j = 0; j < n; j++)
			z.x[j] = 0;
		z = mpfloat{z.x, {0, 0}, {0, 0}, 0, 0};
	}

	// copy sets z to v.
	__device__ __forceinline__ void copy(mpfloat &z, const mpfloat &v) const
	{
		u32 *x = z.x;
		z = v;
		z.x = x;
		for (int j = 0; j < n; j++)
			x[j] = v.x[j];
	}

	// numerator returns residue j of 2^s X (M/m)^-1, weights being those of 2^s.
	__device__ __forceinline__ u32 numerator(const u32 *x, const u32 *weights, int j) const { return times(x[j], weights[j], j); }

	// fraction returns 2^s X/M modulo 1, and how often the sum passed 1.
	__device__ __forceinline__ u64 fraction(const u32 *x, int s, u32 &carries) const
	{
		const u32 *weights = row(b.weight, s);
		u64 f = 0;
		u32 c = 0;
		for (int j = 0; j < n; j++) {
			u32 y = numerator(x, weights, j);
			u64 t = y * ((const u64 *)b.mu)[j] + ((u64)y * ((const u32 *)b.muLow)[j] >> 32);
			f += t;
			c += f < t;
		}
		carries = c;
		return f;
	}

	// negative says whether the residues of z are those of D < 0, not 0, for |D|/M <= z.up, which
	// it may change; of a significand, which is not negative, it sets the evaluation. They are
	// negative and evaluate of struct group: both look for a fraction that is away from 0.
	__device__ __forceinline__ bool negative(mpfloat &z, bool significand) const
	{
		const u64 slack = b.slack;
		for (;;) {
			u32 carries;
			int s = max(0, -z.up.i - (significand ? 2 : 3));
			u64 f = fraction(z.x, s, carries);
			bool wrapped = f >= 0 - slack;
			if (!significand && !wrapped)
				return (i64)f < 0;
			z.up = fixed<true>(wrapped ? slack : f + slack, s);
			if (!wrapped && f >= slack << 40) {
				z.lo = fixed<false>(f, s);
				return false;
			}
		}
	}

	// scaleDown sets x to X/2^k + 1/2 rounded down, k <= b.bits. X modulo 2^k has at most 30 N
	// bits, in words of no less than 33 - log2 N.
	__device__ __forceinline__ void scaleDown(u32 *x, int k) const
	{
		u32 rank, y[N], words[N + N / 4 + 2];
		if (fraction(x, 0, rank) >= 0 - (u64)b.slack)
			rank++;
		const u32 *weights = row(b.weight, 0), *negM = (const u32 *)b.negM;
		for (int j = 0; j < n; j++)
			y[j] = numerator(x, weights, j);
		const int last = (k - 1) / b.word;
		u64 carry = 0;
		for (int a = 0; a <= last; a++) {
			const u32 *low = row(b.low, a);
			u64 s = 0;
			for (int j = 0; j < n; j++)
				s += (u64)y[j] * low[j];
			carry += s + (u64)rank * negM[a];
			words[a] = (u32)carry & ((1u << b.word) - 1);
			carry >>= b.word;
		}
		const int top = k - last * b.word;
		words[last] &= (1u << top) - 1;
		const u32 up = words[last] >> (top - 1);
		const u32 *inverse = row(b.inv, k);
		for (int j = 0; j < n; j++) {
			u64 z = 0;
			for (int a = 0; a <= last; a++)
				z += (u64)words[a] * row(b.pow, a * b.word)[j];
			u32 m = modulus(j);
			u32 d = submod(x[j], reduced(z, m, ((const u64 *)b.mu)[j]), m);
			x[j] = addmod(times(d, inverse[j], j), up, m);
		}
	}

	// finish is that of struct group.
	__device__ __forceinline__ void finish(mpfloat &z, i64 exp, bool wide) const
	{
		for (bool rounded = false;; rounded = true) {
			if (wide || tooWide(z.lo, z.up))
				negative(z, true);
			wide = false;
			if (rounded || !less(b.lim, z.up))
				break;
			int k = -fit(z.up, b.target);
			scaleDown(z.x, k);
			z.lo = difference<false>(scaled(z.lo, -k), b.half);
			z.up = sum<true>(scaled(z.up, -k), b.half);
			exp += k;
		}
		z.exp = (int)exp;
		if (exp > MAX_EXP || exp < -MAX_EXP) {
			setZero(z);
			z.exp = exp > 0 ? NAN_EXP : 0;
		}
	}

	// multiply begins z = x y, whose residues are apart: the exponent is exp, and finish has to
	// follow if it returns true.
	__device__ __forceinline__ bool multiply(mpfloat &z, const mpfloat &x, const mpfloat &y, i64 &exp) const
	{
		if (x.isNaN() || y.isNaN() || x.isZero() || y.isZero()) {
			bool nan = x.isNaN() || y.isNaN();
			setZero(z);
			z.exp = nan ? NAN_EXP : 0;
			return false;
		}
		exp = (i64)x.exp + y.exp;
		z.neg = x.neg ^ y.neg;
		z.lo = product<false>(product<false>(x.lo, y.lo), b.mLo);
		z.up = product<true>(product<true>(x.up, y.up), b.mUp);
		for (int j = 0; j < n; j++)
			z.x[j] = times(x.x[j], y.x[j], j);
		return true;
	}

	// add begins z = z + v, whose residues are apart, likewise; wide is that of finish.
	__device__ __forceinline__ bool add(mpfloat &z, mpfloat v, i64 &exp, bool &wide) const
	{
		wide = false;
		if (z.isNaN() || v.isZero())
			return false;
		i64 d = (i64)z.exp - v.exp;
		bool second = d < 0; // v has the larger exponent
		exp = second ? z.exp : v.exp;
		d = second ? -d : d;
		bool dropped = d > 0 && !z.isZero() && !v.isNaN() && d > fit(second ? v.up : z.up, b.sumLim);
		if (v.isNaN() || z.isZero() || dropped) {
			if (second || !dropped)
				copy(z, v);
			return false;
		}
		bool minus = z.neg != v.neg;
		const u32 *pow = row(b.pow, (int)d);
		u32 any = 0;
		for (int j = 0; j < n; j++) { // the one of the larger exponent is scaled up
			u32 x = z.x[j], y = v.x[j], m = modulus(j);
			if (d > 0) {
				u32 t = times(second ? y : x, pow[j], j);
				x = second ? x : t;
				y = second ? t : y;
			}
			x = minus ? submod(x, y, m) : addmod(x, y, m);
			any |= x;
			z.x[j] = x;
		}
		int k = (int)d;
		z.lo.i += second ? 0 : k;
		z.up.i += second ? 0 : k;
		v.lo.i += second ? k : 0;
		v.up.i += second ? k : 0;
		if (!minus) {
			z.lo = sum<false>(z.lo, v.lo);
			z.up = sum<true>(z.up, v.up);
			return true;
		}
		xfloat up = difference<true>(z.up, v.lo), other = difference<true>(v.up, z.lo);
		bool swapped; // |z| < |v|
		if (less(v.up, z.lo)) {
			z.lo = difference<false>(z.lo, v.up);
			z.up = up;
			swapped = false;
		} else if (less(z.up, v.lo)) {
			z.lo = difference<false>(v.lo, z.up);
			z.up = other;
			swapped = true;
		} else { // the evaluations overlap
			if (!any) {
				setZero(z);
				return false;
			}
			up = less(up, other) ? other : up;
			z.up = up;
			swapped = negative(z, false);
			z.up = up;
			wide = true;
		}
		if (swapped) {
			z.neg = v.neg;
			for (int j = 0; j < n; j++)
				z.x[j] = submod(0, z.x[j], modulus(j));
		}
		return true;
	}
};

// Rounding of an array, one thread a number: a one-dimensional grid.
template <int N> static __device__ __forceinline__ void rounding(const base &b, const mparray &z)
{
	serial<N> s(b, z.n);
	for (i64 i = me(); i < z.len; i += all()) {
		mpfloat v = load(z, i);
		if (v.isNaN() || v.isZero())
			continue;
		s.finish(v, v.exp, false);
		store(z, i, v);
	}
}

// The sums of rows of a, entry e of row i being number i rs + e cs, added to y: one block a row.
// Thread t adds the entries t, t + blockDim.x, ... to 0; the sums, in shared memory, are added as
// a tree, thread t adding that of thread t + h for h = half, half/2, ..., 1.
template <int N>
static __device__ __forceinline__ void rowSum(const base &b, const mparray &a, const mparray &y, i64 count, i64 rs, i64 cs, int half)
{
	extern __shared__ uint4 shared[];
	serial<N> s(b, a.n);
	mparray sums = a; // mp_float_t[blockDim.x]
	sums.lo = (u64)shared;
	sums.up = sums.lo + sizeof(xfloat);
	sums.sign = sums.up + sizeof(xfloat);
	sums.exp = sums.sign + sizeof(int);
	sums.digits = sums.exp + sizeof(int);
	sums.digitStep = sums.intStep = sums.evalStep = FLOAT_BYTES(a.n);
	const int t = threadIdx.x, size = blockDim.x;
	const i64 i = blockIdx.x;
	mpfloat z{sums.digitsOf(t)};
	s.setZero(z);
	// The entries; then, as negative steps, the halvings; last, as h = 0, the number of y.
	i64 e = t;
	for (int h = -1;;) {
		mpfloat v;
		bool some = true;
		if (h < 0) {
			some = e < count;
			if (some)
				v = load(a, i * rs + e * cs);
			e += size;
		} else if (h > 0) {
			some = t < h && t + h < size;
			if (some)
				v = load(sums, t + h);
		} else {
			some = t == 0;
			if (some)
				v = load(y, i);
		}
		i64 exp;
		bool wide;
		if (some && s.add(z, v, exp, wide))
			s.finish(z, exp, wide);
		if (h == 0)
			break;
		if (h < 0 && e < count)
			continue;
		if (h < 0 || some)
			store(sums, t, z);
		__syncthreads();
		h = h < 0 ? half : h / 2;
	}
	if (t == 0) {
		mpfloat w = load(y, i);
		s.copy(w, z);
		store(y, i, w);
	}
}

// The basic implementation, an operation one thread: thread i sets number i of y to y and the
// products of row i of a and x, added one after the other, to those alone if fresh, or to y + s
// times the sum of those if s is given. t and u have a number for each row: products and sums.
struct basic {
	mparray a, x, y, t, u, s;
	i64 count, rs, cs;
	int fresh, pad;
};

template <int N> static __device__ __forceinline__ void basicRow(const base &b, const basic &k)
{
	i64 i = me();
	if (i >= k.y.len)
		return;
	serial<N> s(b, k.y.n);
	mpfloat y{k.y.digitsOf(i)}, t{k.t.digitsOf(i)}, u{k.u.digitsOf(i)};
	s.setZero(u);
	if (!k.fresh) {
		y = load(k.y, i);
		if (k.s.digits == 0)
			s.copy(u, y);
	}
	// Steps 2 e and 2 e + 1 make product e and add it, the last two that of s.
	bool scale = k.s.digits != 0;
	i64 steps = 2 * (k.count + scale);
	for (i64 e = 0; e < steps; e++) {
		bool last = scale && e >= steps - 2, even = e % 2 == 0, more, wide = false;
		i64 exp;
		mpfloat &z = even ? t : u;
		if (even) {
			more = s.multiply(t, last ? u : load(k.a, i * k.rs + e / 2 * k.cs), last ? load(k.s, 0) : load(k.x, e / 2), exp);
		} else {
			if (last)
				s.copy(u, y);
			more = s.add(u, t, exp, wide);
		}
		if (more)
			s.finish(z, exp, wide);
	}
	s.copy(y, u);
	store(k.y, i, y);
}

// With rns*1, *2 and *3 bases have up to 32, 128 and 256 moduli.
#define SERIAL(K, N)                                                                                       \
	extern "C" __global__ void __launch_bounds__(128) rnsRound##K(const base b, const mparray z)       \
	{                                                                                                  \
		rounding<N>(b, z);                                                                         \
	}                                                                                                  \
	extern "C" __global__ void __launch_bounds__(256)                                                  \
		rnsRowSum##K(const base b, const mparray a, const mparray y, const i64 count, const i64 rs, \
			     const i64 cs, const int half)                                                 \
	{                                                                                                  \
		rowSum<N>(b, a, y, count, rs, cs, half);                                                   \
	}                                                                                                  \
	extern "C" __global__ void __launch_bounds__(128) rnsBasic##K(const base b, const basic k)         \
	{                                                                                                  \
		basicRow<N>(b, k);                                                                         \
	}
