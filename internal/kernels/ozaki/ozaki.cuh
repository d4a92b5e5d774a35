// Arithmetic of package ozaki, operation by operation as on the CPU.
#pragma once
#include "../common/common.cuh"

// exponentOf returns ⌈log2 x⌉ for the bits of x > 0, and 0 for 0.
static __device__ __forceinline__ int exponentOf(u64 b)
{
	u64 m = b & ((1ull << 52) - 1);
	int e = (int)(b >> 52);
	if (e > 0)
		return e - 1023 + (m != 0);
	if (m == 0)
		return 0;
	return 64 - __clzll((i64)(m - 1)) - 1074; // of m = 1: clz(0) = 64
}

// power returns 2^e, -1022 <= e <= 1023.
static __device__ __forceinline__ double power(int e) { return __longlong_as_double((i64)(e + 1023) << 52); }

// fraction returns f and e with x = f 2^e and 1/2 <= |f| < 1, for finite x but 0.
static __device__ __forceinline__ double fraction(double x, int &e)
{
	e = 0;
	if ((((u64)__double_as_longlong(x) >> 52) & 0x7ff) == 0) {
		x = __dmul_rn(x, power(54));
		e = -54;
	}
	u64 b = (u64)__double_as_longlong(x);
	e += (int)(b >> 52 & 0x7ff) - 1022;
	return __longlong_as_double((i64)((b & ~(0x7ffull << 52)) | 1022ull << 52));
}

// scaled returns x 2^e, rounded once.
static __device__ __forceinline__ double scaled(double x, int e)
{
	if (e >= -1022 && e <= 1023)
		return __dmul_rn(x, power(e));
	if (x == 0 || !finite(x))
		return x;
	int shift;
	double f = fraction(x, shift);
	e = max(-1100, min(e + shift, 1100));
	int half = e > 0 ? 600 : -500; // f 2^half is exact
	return __dmul_rn(__dmul_rn(f, power(half)), power(e - half));
}

// combine returns α t 2^x + β c for α = m 2^e and finite t: see ozaki/combine.go.
static __device__ __forceinline__ double combine(double t, int x, double m, int e, double beta, double c)
{
	double v = __dadd_rn(__dmul_rn(m, t), 0.0);
	x += e;
	if (beta == 0)
		return scaled(v, x);
	if (!finite(beta) || !finite(c))
		return __dmul_rn(beta, c);
	if (v == 0 || c == 0)
		return __dadd_rn(scaled(v, x), __dmul_rn(beta, c));
	int ev, eb, ec;
	double fv = fraction(v, ev), fb = fraction(beta, eb), fc = fraction(c, ec);
	int z = max(ev + x, eb + ec);
	return scaled(__fma_rn(fb, scaled(fc, max(eb + ec - z, -1000)), scaled(fv, max(ev + x - z, -1000))), z);
}

// firstRemainder returns r_1 = x 2^(α - e), 0 for infinite and NaN x.
static __device__ __forceinline__ double firstRemainder(double x, int shift)
{
	int half = shift / 2;
	return finite(x) ? __dmul_rn(__dmul_rn(x, power(half)), power(shift - half)) : 0;
}

// nextSlice sets q_t = ⌊r_t⌉ and rest = fl32(r_t), and r to r_(t+1).
static __device__ __forceinline__ void nextSlice(double &r, double up, double &q, float &rest)
{
	q = rint(r);
	rest = __double2float_rn(r);
	r = __dmul_rn(__dsub_rn(r, q), up);
}

// boundOf returns a bound of the error of combine(t, x - exponent of α, …) = z for one of t, e:
// see ofResult of ozaki/bound.go.
static __device__ __forceinline__ double boundOf(double e, double t, double m, int x, double beta, double old, double z)
{
	const double upward = 1 + 0x1p-43, unit = 0x1p-53;
	if (!finite(z))
		return __longlong_as_double(0x7ffll << 52);
	m = fabs(m);
	if (m != 0.5)
		e = __dmul_rn(__dmul_rn(m, __dadd_rn(e, __dmul_rn(unit, fabs(t)))), upward);
	else
		e = __dmul_rn(e, m);
	double sum = __dmul_rn(scaled(e, x), upward);
	if ((sum == 0 && e != 0) || (sum != 0 && sum < 0x1p-1000))
		sum = __dadd_rn(sum, 0x1p-1073);
	bool added = beta != 0 && old != 0;
	if (added)
		sum = __dadd_rn(sum, __dmul_rn(unit, fabs(z)));
	if (fabs(z) < 0x1p-1000 && (added || t != 0))
		sum = __dadd_rn(sum, 0x1p-1073);
	if (sum == 0)
		return 0;
	sum = __dmul_rn(sum, upward);
	return sum <= 0x1.fffffffffffffp1023 ? __longlong_as_double(__double_as_longlong(sum) + 1) : sum;
}
