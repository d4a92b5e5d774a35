// Band, symmetric and triangular matrices as dense ones, and what products of these with zeros for
// the entries that are not there make otherwise: signs of zeros.
#include "../common/round.cuh"

#define THREADS 256

// How entries are stored.
enum {
	VIEW = 0,         // entry (i, j) is number off + i rs + j cs
	SYMMETRIC = 1,    // likewise for i <= j, and those below the diagonal are those across
	PACKED_UPPER = 2, // a symmetric matrix: number off + rs (i + j (j + 1) / 2) for i <= j
	PACKED_LOWER = 3, // number off + rs (i + j (2 order - j - 1) / 2) for i >= j
};

// Rows and columns of a structured matrix, from entry (i0, j0) on, become the dense matrix Z.
struct filling {
	vectors x; // its n and k are those of Z
	target z;  // of a format that holds all numbers of x
	i64 i0, j0, order;
	int below, above; // there are entries with i - j <= below and j - i <= above
	int layout;
	int unit; // the diagonal is 1 and is not stored
};

// numberOf is number to of z as it is stored, of which the parts are set one by one.
struct slot {
	const numbers &z;
	i64 to;

	__device__ __forceinline__ void cls(u32 c) const { ((u8 *)z.plane[2])[to] = (u8)c; }

	// word sets a finite number of MP to (-1)^neg 0.M 2^exp, M the 64 bits of m, if its top bit is
	// set.
	__device__ __forceinline__ void word(u64 m, int exp, bool neg) const
	{
		u64 *sig = (u64 *)z.plane[0] + to * z.limbs;
		for (int k = 0; k < z.limbs - 1; k++)
			sig[k] = 0;
		sig[z.limbs - 1] = m;
		((int *)z.plane[1])[to] = exp;
		cls(FINITE << 1 | neg);
	}

	// terms sets number to, of another format than MP, to x.
	__device__ __forceinline__ void value(double x) const
	{
		if (z.kind == F32) {
			((float *)z.plane[0])[to] = (float)x;
			return;
		}
		for (int t = 0; t < z.kind; t++)
			((double *)z.plane[t])[to] = t == 0 ? x : 0;
	}
};

// copyNumber sets number to of z to number from of x, exactly. Bits stay as they are where formats
// agree.
static __device__ void copyNumber(const numbers &z, i64 to, const numbers &x, i64 from)
{
	slot s = {z, to};
	if (x.kind == MP) {
		const u64 *words = (const u64 *)x.plane[0] + from * x.limbs;
		u64 *sig = (u64 *)z.plane[0] + to * z.limbs;
		int more = z.limbs - x.limbs;
		for (int k = 0; k < z.limbs; k++)
			sig[k] = k < more ? 0 : words[k - more];
		((int *)z.plane[1])[to] = ((const int *)x.plane[1])[from];
		s.cls(((const u8 *)x.plane[2])[from]);
		return;
	}
	if (x.kind == F32 && z.kind == F32) {
		((u32 *)z.plane[0])[to] = ((const u32 *)x.plane[0])[from];
		return;
	}
	double v = term(x, from, 0);
	if (z.kind == MP) {
		int e;
		u64 m = decompose(v, e);
		bool neg = (u64)__double_as_longlong(v) >> 63;
		if (!finite(v))
			s.cls(v != v ? NAN_ << 1 : INF << 1 | neg);
		else if (m == 0)
			s.cls(ZERO << 1 | neg);
		else
			s.word(m << __clzll((i64)m), e + 64 - __clzll((i64)m), neg);
		return;
	}
	for (int t = 0; t < z.kind; t++) {
		u64 b = 0;
		if (t < terms(x))
			b = x.kind == F32 ? (u64)__double_as_longlong(v) : ((const u64 *)x.plane[t])[from];
		if (x.kind == F32 && v != v && t == 0)
			b = 0x7ff8000000000001ull; // the one NaN of the format
		((u64 *)z.plane[t])[to] = b;
	}
}

// Threads have one row each of the columns of their block.
extern "C" __global__ void __launch_bounds__(THREADS) fill(const __grid_constant__ filling f)
{
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= f.x.n)
		return;
	i64 row = f.i0 + i;
	for (int j = blockIdx.y; j < f.x.k; j += gridDim.y) {
		i64 column = f.j0 + j, to = f.z.off + i * f.z.rs + j * f.z.cs;
		slot s = {f.z.a, to};
		if (row - column > f.below || column - row > f.above) {
			storeZero(f.z, to, false);
			continue;
		}
		if (f.unit && row == column) {
			if (f.z.a.kind == MP)
				s.word(1ull << 63, 1, false);
			else
				s.value(1);
			continue;
		}
		i64 p = row, q = column;
		if (f.layout == SYMMETRIC && p > q || f.layout == PACKED_UPPER && p > q || f.layout == PACKED_LOWER && p < q) {
			p = column;
			q = row;
		}
		i64 from = f.x.off;
		if (f.layout == PACKED_UPPER)
			from += f.x.rs * (p + q * (q + 1) / 2);
		else if (f.layout == PACKED_LOWER)
			from += f.x.rs * (p + q * (2 * f.order - q - 1) / 2);
		else
			from += p * f.x.rs + q * f.x.cs;
		copyNumber(f.z.a, to, f.x.a, from);
	}
}

struct looking {
	vectors x; // rows
	u64 count; // u32
};

// odd counts numbers that are not finite, and expansions whose terms overlap.
extern "C" __global__ void __launch_bounds__(THREADS) odd(const __grid_constant__ looking l)
{
	const numbers &x = l.x.a;
	int i = blockIdx.x * THREADS + threadIdx.x;
	bool found = false;
	for (int j = blockIdx.y; j < l.x.k && i < l.x.n; j += gridDim.y) {
		i64 at = l.x.off + i * l.x.rs + j * l.x.cs;
		if (x.kind == MP) {
			found |= ((const u8 *)x.plane[2])[at] >> 1 > FINITE;
			continue;
		}
		for (int t = 0; t < terms(x); t++) {
			double v = term(x, at, t);
			found |= !finite(v) || t > 0 && __dadd_rn(term(x, at, t - 1), v) != term(x, at, t - 1);
		}
	}
	if (__syncthreads_or(found) && threadIdx.x == 0)
		atomicAdd((u32 *)l.count, 1);
}

// C = alpha S B + beta Old has been computed with zeros for entries of S that are not there.
struct mending {
	vectors s;   // rows of S, dense, from entry (i0, j0) on
	vectors b;   // columns of B
	vectors old; // rows, if beta is not 0
	target c;
	i64 i0, j0;
	int below, above;
	int neg, negBeta; // the signs of alpha and beta
	int adds;         // beta is not 0
	int pad;
};

// isZero reports whether number i, finite and no overlapping sum of terms, is 0.
static __device__ __forceinline__ bool isZero(const numbers &a, i64 i)
{
	return a.kind == MP ? ((const u8 *)a.plane[2])[i] >> 1 == ZERO : term(a, i, 0) == 0;
}

static __device__ __forceinline__ bool isNegative(const numbers &a, i64 i)
{
	return a.kind == MP ? ((const u8 *)a.plane[2])[i] & 1 : (u64)__double_as_longlong(term(a, i, 0)) >> 63;
}

// mend gives zeros of C the sign of the sum of what is there: -0 if there are addends and all are
// -0. A sum that has another addend than a zero keeps its sign.
extern "C" __global__ void __launch_bounds__(THREADS) mend(const __grid_constant__ mending m)
{
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= m.s.n)
		return;
	i64 diagonal = m.i0 - m.j0 + i; // the column of S's rows that it lies in
	int lo = (int)max64(0, diagonal - m.below), hi = (int)min64(m.s.k, diagonal + m.above + 1);
	for (int j = blockIdx.y; j < m.b.n; j += gridDim.y) {
		i64 to = m.c.off + i * m.c.rs + j * m.c.cs;
		if (!isZero(m.c.a, to))
			continue;
		bool minus = true, zeros = true;
		for (int h = lo; h < hi && zeros; h++) {
			i64 p = m.s.off + i * m.s.rs + h * m.s.cs, q = m.b.off + j * m.b.rs + h * m.b.cs;
			zeros = isZero(m.s.a, p) || isZero(m.b.a, q);
			minus = minus && (isNegative(m.s.a, p) != isNegative(m.b.a, q)) != (m.neg != 0);
		}
		if (m.adds) {
			i64 p = m.old.off + i * m.old.rs + j * m.old.cs;
			zeros = zeros && isZero(m.old.a, p);
			minus = minus && isNegative(m.old.a, p) != (m.negBeta != 0);
		}
		if (zeros)
			storeZero(m.c, to, minus && (lo < hi || m.adds));
	}
}
