// Types and numbers that all kernels share.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// The kinds of formats, as internal/num numbers them.
enum { F32 = 0, F64 = 1, DD = 2, TD = 3, QD = 4, MP = 5 };

// The classes of MP numbers; bit 0 of a class byte is the sign.
enum { ZERO = 0, FINITE = 1, INF = 2, NAN_ = 3 };

// An array of numbers. Plane t of F64, DD, TD and QD holds term t, plane 0 of F32
// the numbers. MP has limbs 64-bit words a number in plane 0, exponents in plane 1
// and classes in plane 2: (-1)^s 0.S 2^exp.
struct numbers {
	u64 plane[4];
	int kind;
	int limbs;
};

// A view of n vectors of k numbers: number h of vector v lies at off + v rs + h cs.
struct vectors {
	numbers a;
	i64 off, rs, cs;
	int n, k;
};

// Flags of a vector.
enum { SPECIAL = 1, HAS_ZERO = 2 };

static __device__ __forceinline__ i64 max64(i64 a, i64 b) { return a > b ? a : b; }
static __device__ __forceinline__ i64 min64(i64 a, i64 b) { return a < b ? a : b; }

// terms returns how many binary floating-point terms a number of a is the sum of.
static __device__ __forceinline__ int terms(const numbers &a)
{
	return a.kind == F32 ? 1 : a.kind;
}

// term returns term t of number i.
static __device__ __forceinline__ double term(const numbers &a, i64 i, int t)
{
	if (a.kind == F32)
		return ((const float *)a.plane[0])[i];
	return ((const double *)a.plane[t])[i];
}

// decompose returns m and e with |x| = m 2^e for finite x, m = 0 for zero.
static __device__ __forceinline__ u64 decompose(double x, int &e)
{
	u64 b = (u64)__double_as_longlong(x);
	u64 m = b & ((1ull << 52) - 1);
	e = (int)(b >> 52 & 0x7ff);
	if (e == 0) {
		e = -1074;
		return m;
	}
	e -= 1075;
	return m | 1ull << 52;
}

// finite reports whether x is neither an infinity nor NaN.
static __device__ __forceinline__ bool finite(double x)
{
	return ((u64)__double_as_longlong(x) >> 52 & 0x7ff) != 0x7ff;
}

// pow2 returns 2^e for e <= 0, or 2^-1000 if that is more.
static __device__ __forceinline__ double pow2(i64 e)
{
	return __longlong_as_double((max64(e, -1000) + 1023) << 52);
}
