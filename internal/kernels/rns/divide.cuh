// Quotients, square roots and fused multiply-adds of package rns, bit for bit as its divide.go and
// fma.go define them, and the kernel that applies them number by number.
#pragma once
#include "rnskernels.cuh"

#define DIGIT_BITS 45
#define DIGIT_SLACK 10
#define REMAINDER_LIM -3
#define SHARED_ROOM 2

// leading returns D and sets t with D 2^t near f 2^i, 1/2 < f < 4.
static __device__ __forceinline__ u64 leading(double f, int i, int &t)
{
	t = 0;
	if (i > DIGIT_BITS) {
		t = i - DIGIT_BITS;
		return (u64)(f * (double)(1ll << DIGIT_BITS));
	}
	if (i < -3)
		return 0;
	return (u64)floor(f * __longlong_as_double((i64)(1023 + i) << 52) + 0.5);
}

// nextDigit returns D and sets t with D 2^t near r/y.
static __device__ __forceinline__ u64 nextDigit(xfloat r, xfloat y, int &t)
{
	return leading(__ddiv_rn(r.f, y.f), r.i - y.i, t);
}

// remainderBound returns an upper bound for a remainder after a digit at 2^t.
static __device__ __forceinline__ xfloat remainderBound(xfloat y, int t)
{
	xfloat up = scaled(y, t + DIGIT_SLACK);
	return up.i > REMAINDER_LIM ? xfloat{1, REMAINDER_LIM} : up;
}

template <int G, int R> struct divider : group<G, R> {
	using group<G, R>::b;
	using group<G, R>::m;

	__device__ __forceinline__ divider(const base &constants) : group<G, R>(constants) {}

	// power sets z to D 2^t: the table has zeros where moduli are padding.
	__device__ __forceinline__ void power(u32 *z, u64 digit, int t) const
	{
		alignas(16) u32 p[R];
		this->fetch(p, b.pow, t);
		const u64 *mu = (const u64 *)b.mu;
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			z[j] = reduced(digit, m[j], mu[this->at(j)]);
		this->times(z, z, p);
	}

	// shift2 sets z to 2^k x.
	__device__ __forceinline__ void shift2(u32 *z, const u32 *x, int k) const
	{
		alignas(16) u32 p[R];
		this->fetch(p, b.pow, k);
		this->times(z, x, p);
	}

	// plus sets z to z + x, or to z - x.
	__device__ __forceinline__ void plus(u32 *z, const u32 *x, bool minus) const
	{
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			z[j] = minus ? submod(z[j], x[j], m[j]) : addmod(z[j], x[j], m[j]);
	}

	// zero says whether all residues of the group are 0.
	__device__ __forceinline__ bool zero(const u32 *x) const
	{
		u32 any = 0;
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			any |= x[j];
		return !__any_sync(this->mask, any);
	}

	__device__ __forceinline__ void negate(u32 *x) const
	{
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			x[j] = submod(0, x[j], m[j]);
	}

	// quotient sets z to z / y, or with ROOT to the square root of z; y is spoiled.
	//
	// Both go digit by digit: what is left is X 2^k - Q Y, or X 2^k - Q^2 with 2 Q, as its first
	// digit gives it, in the place of Y.
	template <bool ROOT> __device__ __forceinline__ void quotient(value<R> &z, value<R> &y) const
	{
		if (z.isNaN() || (ROOT ? z.neg && !z.isZero() : y.isNaN() || y.isZero())) {
			z.setNaN();
			return;
		}
		if (z.isZero()) {
			z.setZero();
			return;
		}
		i64 exp = ROOT ? z.exp : (i64)z.exp - y.exp;
		int k;
		if (ROOT) {
			k = fit(z.up, product<false>(product<false>(b.target, b.target), b.mLo));
			if ((exp - k) & 1)
				k--;
		} else {
			k = max(fit(z.up, product<false>(product<false>(b.target, b.mLo), y.lo)), 0);
		}
		const xfloat whole = sum<true>(b.lim, scaled(b.half, 1)); // a bound of Q/M
		value<R> r;
		alignas(16) u32 q[R], d[R];
		shift2(r.x, z.x, k);
		r.up = scaled(z.up, k);
		bool minus = false;
		xfloat yUp = y.up; // as it was
		if (ROOT) {
			// The square stays in z, and r is a copy of it until there is a first digit.
			copy<R>(z.x, r.x);
		} else {
			z.neg = z.neg != y.neg;
			this->evaluate(y);
		}
#pragma unroll(FLAT(R))
		for (int j = 0; j < R; j++)
			q[j] = 0;
		for (bool first = true;; first = false) {
			this->evaluate(r);
			int t;
			u64 digit;
			if (ROOT && first) {
				double f = r.lo.f * b.mLo.f;
				int i = r.lo.i + b.mLo.i;
				if (i & 1) {
					f *= 0.5;
					i++;
				}
				digit = leading(__dsqrt_rn(f), i / 2, t);
			} else {
				digit = nextDigit(r.lo, y.lo, t);
				if (digit == 0)
					break;
			}
			power(d, digit, t);
			plus(q, d, minus);
			bool last = digit == 1 && t == 0; // what is left is at most 1/2 of Y
			if (ROOT) {
				if (last && !first)
					break;
				if (first) {
					copy<R>(y.x, q);
					y.up = whole;
					this->evaluate(y);
					y.lo = scaled(y.lo, 1);
					yUp = scaled(y.up, 1);
				}
				this->times(d, q, q);
				copy<R>(r.x, z.x);
				plus(r.x, d, true);
				last = false;
				minus = false;
			} else {
				this->times(d, d, y.x);
				plus(r.x, d, true);
			}
			if (last || zero(r.x))
				break;
			r.up = remainderBound(yUp, t);
			if (this->negative(r.x, r.up)) {
				negate(r.x);
				minus = !minus;
			}
		}
		copy<R>(z.x, q);
		z.up = whole;
		this->finish(z, ROOT ? (exp - k) / 2 : exp - k, true);
	}

	// fma sets z to z y + c with one rounding; y and c are spoiled.
	__device__ __forceinline__ void fma(value<R> &z, value<R> &y, value<R> &c) const
	{
		if (z.isNaN() || y.isNaN() || c.isNaN()) {
			z.setNaN();
			return;
		}
		if (z.isZero() || y.isZero()) {
			z = c;
			return;
		}
		i64 exp = (i64)z.exp + y.exp;
		z.neg = z.neg != y.neg;
		z.lo = product<false>(product<false>(z.lo, y.lo), b.mLo);
		z.up = product<true>(product<true>(z.up, y.up), b.mUp);
		this->times(z.x, z.x, y.x);
		i64 k = c.exp - exp; // of c over the product
		bool alone = c.isZero();
		if (!alone) {
			if (tooWide(z.lo, z.up))
				this->evaluate(z);
			alone = k <= 0 && -k > fit(z.up, b.sumLim); // c is dropped
		}
		if (alone) {
			this->finish(z, exp, false);
			return;
		}
		if (k <= 0) {
			shift2(z.x, z.x, (int)-k);
			z.lo = scaled(z.lo, (int)-k);
			z.up = scaled(z.up, (int)-k);
			exp = c.exp;
		} else {
			i64 j = min64(k, fit(c.up, b.sumLim) - SHARED_ROOM);
			if (j == k && fit(z.up, b.sumLim) < SHARED_ROOM)
				j = k > SHARED_ROOM ? k - SHARED_ROOM : 0;
			i64 r = k - j;
			if (r > 0) {
				this->scaleDown(z.x, (int)min64(r, b.bits + 1));
				if (zero(z.x)) {
					z = c;
					return;
				}
				z.lo = difference<false>(scaled(z.lo, -(int)r), b.half);
				z.up = sum<true>(scaled(z.up, -(int)r), b.half);
				if (tooWide(z.lo, z.up))
					this->evaluate(z);
				exp += r;
			}
			shift2(c.x, c.x, (int)j);
			c.lo = scaled(c.lo, (int)j);
			c.up = scaled(c.up, (int)j);
		}
		this->combine(z, c, exp);
	}
};

// z(i, j) = x / y, the root of x, or x y + c.
enum { QUOTIENT, ROOT, FMA };

struct applications {
	operand x, y, c, z;
	i64 rows, cols;
};

template <int G, int R, int OP> static __device__ __forceinline__ void apply(const base &b, const applications &k)
{
	i64 item = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / G;
	if (item >= k.rows * k.cols)
		return;
	i64 i = item % k.rows, j = item / k.rows;
	divider<G, R> g(b);
	value<R> z, y;
	g.load(z, k.x.a, k.x.at(i, j));
	if (OP != ROOT)
		g.load(y, k.y.a, k.y.at(i, j));
	if (OP == FMA) {
		value<R> c;
		g.load(c, k.c.a, k.c.at(i, j));
		g.fma(z, y, c);
	} else {
		g.template quotient<OP == ROOT>(z, y);
	}
	g.store(z, k.z.a, k.z.at(i, j));
}

// The kernels of bases padded to 8 G moduli.
#define APPLY(NAME, G, OP)                                                                              \
	extern "C" __global__ void __launch_bounds__(THREADS, 4) NAME(const base b, const applications k) \
	{                                                                                               \
		apply<G, 8, OP>(b, k);                                                                  \
	}
#define DIVIDE_KERNELS(G)                                                                               \
	APPLY(rnsQuotient, G, QUOTIENT)                                                                 \
	APPLY(rnsRoot, G, ROOT)                                                                         \
	APPLY(rnsFMA, G, FMA)
