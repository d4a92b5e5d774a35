// What Newton's method of package linsolve does entry by entry: Z = diag(2^rows) X diag(2^cols),
// and the sum of two matrices, rounded, or as far as its errors let its rounding be known.
#include "../common/round.cuh"

// Exponents beyond this are left to the host.
#define FAR (1ll << 29)

struct shifting {
	vectors x; // rows of F32, F64 or MP
	target z;  // MP of at least as many bits
	u64 rows, cols; // i64; null: zeros
	u64 odd;   // u32: numbers that are not finite, or of exponents or shifts that are FAR
};

static __device__ __forceinline__ i64 at(u64 list, int i) { return list ? ((const i64 *)list)[i] : 0; }

// shiftEntry stores x_ij 2^by, and reports whether it can.
static __device__ __forceinline__ bool shiftEntry(const shifting &s, int i, int j, i64 by)
{
	const numbers &x = s.x.a, &z = s.z.a;
	i64 from = s.x.off + i * s.x.rs + j * s.x.cs, to = s.z.off + i * s.z.rs + j * s.z.cs, e;
	u64 *sig = (u64 *)z.plane[0] + to * z.limbs;
	u32 cls;
	if (x.kind == MP) {
		cls = ((const u8 *)x.plane[2])[from];
		if (cls >> 1 > FINITE)
			return false;
		e = ((const int *)x.plane[1])[from];
		const u64 *word = (const u64 *)x.plane[0] + from * x.limbs;
		int above = z.limbs - x.limbs;
		for (int k = 0; cls >> 1 == FINITE && k < z.limbs; k++)
			sig[k] = k < above ? 0 : word[k - above];
	} else {
		double v = term(x, from, 0);
		if (!finite(v))
			return false;
		int low;
		u64 m = decompose(v, low);
		cls = (m ? FINITE : ZERO) << 1 | (u32)((u64)__double_as_longlong(v) >> 63);
		int zeros = m ? __clzll((i64)m) : 0;
		e = low + 64 - zeros;
		for (int k = 0; m && k < z.limbs; k++)
			sig[k] = k < z.limbs - 1 ? 0 : m << zeros;
	}
	((u8 *)z.plane[2])[to] = (u8)cls;
	if (cls >> 1 == ZERO)
		return true;
	if (max64(e, -e) > FAR || max64(by, -by) > FAR)
		return false;
	((int *)z.plane[1])[to] = (int)(e + by);
	return true;
}

#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS) shifted(const __grid_constant__ shifting s)
{
	for (int j = blockIdx.y; j < s.x.k; j += gridDim.y) {
		i64 by = at(s.cols, j);
		for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < s.x.n; i += gridDim.x * blockDim.x)
			if (!shiftEntry(s, i, j, at(s.rows, i) + by))
				atomicAdd((u32 *)s.odd, 1);
	}
}

struct summing {
	vectors x, d; // rows, of finite numbers of MP
	target z;
	leftovers rest; // entries that are not stored
	// i64: entries of column j of X + D are in error by 2^errors[j]; null: X + D is rounded as it
	// is, but for what is cut off
	u64 errors;
	u64 rows, cols; // i64: exponents that results are scaled by; null: zeros
	i64 unit;       // without errors sums are cut off to multiples of 2^unit
	int words;      // of the windows that sums are made in, beside one for the carry
	int triangle;   // 'U', 'L' or 0
};

// A magnitude: word k of 32 bits is the bits from position first + 32 k of a significand on.
struct magnitude {
	const u32 *at;
	int count; // 0 for zero
	i64 first;

	__device__ __forceinline__ u32 raw(i64 i) const { return i >= 0 && i < count ? at[i] : 0; }

	__device__ __forceinline__ u32 word(int k) const
	{
		i64 pos = first + 32 * k, i = pos >> 5;
		return __funnelshift_r(raw(i), raw(i + 1), (u32)pos & 31);
	}
};

// load returns number i, and its exponent, which is that of nothing for zero.
static __device__ __forceinline__ magnitude load(const numbers &a, i64 i, i64 &exp, bool &neg)
{
	u32 cls = ((const u8 *)a.plane[2])[i];
	neg = cls & 1;
	exp = -(1ll << 40);
	if (cls >> 1 == ZERO)
		return {0, 0, 0};
	exp = ((const int *)a.plane[1])[i];
	return {(const u32 *)a.plane[0] + i * 2 * a.limbs, 2 * a.limbs, exp - 64 * a.limbs};
}

// sumEntry stores entry (i, j) and reports whether its rounding is known. What is cut off of X and
// D is less than two units of the window's last place, whose first one is that of the larger of
// both.
static __device__ __forceinline__ bool sumEntry(const summing &s, integer v, int i, int j)
{
	i64 ex, ed;
	bool neg, other;
	magnitude x = load(s.x.a, s.x.off + i * s.x.rs + j * s.x.cs, ex, neg);
	magnitude d = load(s.d.a, s.d.off + i * s.d.rs + j * s.d.cs, ed, other);
	i64 to = s.z.off + i * s.z.rs + j * s.z.cs;
	if (x.count == 0 && d.count == 0) {
		if (s.errors)
			return false;
		storeZero(s.z, to, false);
		return true;
	}
	i64 exp = max64(ex, ed) - 32 * s.words;
	// From positions of the numbers' own to those of the window.
	x.first = exp - x.first;
	d.first = exp - d.first;
	u32 flip = neg != other ? ~0u : 0;
	u64 carry = flip & 1;
	for (int k = 0; k <= s.words; k++) {
		carry += (u64)x.word(k) + (d.word(k) ^ flip);
		v.at[k * v.stride] = (u32)carry;
		carry >>= 32;
	}
	neg ^= v.magnitude();
	int n = v.length();
	double error = 0;
	if (s.errors) {
		i64 e = ((const i64 *)s.errors)[j] - exp;
		if (n <= e)
			return false;
		int spare = (int)max64(e - 26, 0) / 32; // words that the error covers
		v.at += spare * v.stride;
		v.words -= spare;
		exp += 32 * spare;
		e -= 32 * spare;
		n -= 32 * spare;
		// what is cut off, and what is less than a unit
		error = 4 + (e >= 0 ? (double)(1ll << e) : 0);
	} else {
		if (s.unit > exp) {
			i64 drop = s.unit - exp; // bits below the unit
			for (int k = 0; k <= s.words && drop > 0; k++, drop -= 32)
				v.at[k * v.stride] &= drop < 32 ? ~0u << drop : 0;
			n = v.length();
		}
		if (n == 0) {
			storeZero(s.z, to, false);
			return true;
		}
	}
	exp += at(s.rows, i) + at(s.cols, j);
	return terms(s.z.a) > 1 && s.z.a.kind != MP ? storeTerms(s.z, to, v, neg, exp, error) : store(s.z, to, v, n, neg, exp, error);
}

extern "C" __global__ void __launch_bounds__(THREADS) summed(const __grid_constant__ summing s)
{
	extern __shared__ u32 windows[]; // word k of thread t at k blockDim + t
	integer v = {windows + threadIdx.x, (int)blockDim.x, s.words + 1};
	for (int j = blockIdx.y; j < s.x.k; j += gridDim.y)
		for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < s.x.n; i += gridDim.x * blockDim.x)
			if (!(s.triangle == 'U' && i > j || s.triangle == 'L' && i < j || sumEntry(s, v, i, j)))
				leave(s.rest, i, j);
}
