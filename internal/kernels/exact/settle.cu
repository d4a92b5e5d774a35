// From integers to results where more than a rounding is left to do: alpha A B + beta Old with
// alpha not a power of two or beta not 0, results that are expansions, and integers too long
// for the kernels of finish.cu to round.
#include "../common/sum.cuh"

struct vectorData {
	u64 exp, norm, flags; // as scan makes them
};

struct settling {
	target c;
	leftovers failed;
	u64 counts;
	vectorData l, r;
	double errorL, errorR, error; // as for finish
	expression e;
	u64 raw;     // the integers: word w of entry 32 s + e at 32 (s (below + words) + below + w) + e
	i64 unit;    // exponent of one unit, vectors' exponents and alpha aside
	int words;   // of the integers, in two's complement
	// words of room below them: those of alpha if it is not a power of two, and two for beta
	int below;
	int m, n;
	int i0, j0;
	int triangle;
	int pad;
};

#define THREADS 256

// multiplyBy multiplies the integer of the given words that starts at word below by alpha. The
// product starts at word base; its words before first are not computed.
static __device__ void multiplyBy(u32 *at, int below, int base, int words, const scaling &alpha, int first)
{
	const u32 *a = (const u32 *)alpha.words;
	u64 low = 0, high = 0; // of the column under way: low + 2^64 high
	for (int c = first; c < words + alpha.count; c++) {
		int i0 = max(0, c - words + 1), i1 = min(c, alpha.count - 1);
		for (int i = i0; i <= i1; i++) {
			u64 t = (u64)a[i] * at[32 * (below + c - i)];
			low += t;
			high += low < t;
		}
		// Word base + c is read no more: base + alpha.count <= below.
		at[32 * (base + c)] = (u32)low;
		low = low >> 32 | high << 32;
		high >>= 32;
	}
}

// shiftDown divides x by 2^d.
static __device__ void shiftDown(integer &x, i64 d)
{
	int by = (int)min64(d >> 5, x.words), s = (int)(d & 31);
	for (int i = 0; i < x.words; i++)
		x.at[i * x.stride] = __funnelshift_r(x.word(i + by), x.word(i + by + 1), s);
}

// addOld adds beta times number i of old, whose extent is o, to v, whose top words are 0.
static __device__ void addOld(value &v, const expression &e, i64 i, const extent &o)
{
	i64 top = o.top + e.beta.exp + e.beta.length - v.unit; // no part reaches 2^top
	int n = v.x.length();
	bool nothing = n == 0 && v.error == 0;
	i64 down = (nothing ? top : max64(n, top)) + 4 - 32 * (i64)v.x.words;
	if (nothing) {
		v.unit += down;
	} else if (down > 0) {
		bool lost = v.error != 0 || v.x.below((int)min64(down, 32 * v.x.words));
		shiftDown(v.x, down);
		v.error = v.error * pow2(-down) + (lost ? 1 : 0);
		v.unit += down;
	}
	factor b = factorOf(e.beta), f;
	for (int t = 0; t < parts(e.old); t++)
		if (part(f, e.old, i, t) && addProduct(v, f, b, (f.neg != b.neg) != v.neg))
			v.error += 1;
	if (v.x.magnitude())
		v.neg = !v.neg;
}

// settleEntry reports whether it rounded entry (i, j).
static __device__ bool settleEntry(const settling &p, u32 *at, int i, int j)
{
	u8 flags = ((const u8 *)p.l.flags)[i] | ((const u8 *)p.r.flags)[j];
	if (flags & SPECIAL)
		return false;
	value v;
	v.x = {at + 32 * p.below, 32, p.words};
	v.neg = v.x.magnitude() != (p.e.alpha.neg != 0);
	v.error = p.errorL * ((const double *)p.l.norm)[i] + p.errorR * ((const double *)p.r.norm)[j] + p.error;
	v.unit = p.unit + ((const i64 *)p.l.exp)[i] + ((const i64 *)p.r.exp)[j] + p.e.alpha.exp;
	if (v.error >= 0x1p60)
		return false;
	if (v.error < 0)
		v.error = flags = 0;
	bool exact = v.error == 0, zero = exact && v.x.length() == 0;
	int base = p.below; // of what the words are
	if (!p.e.alpha.plain && !zero) {
		base -= p.e.alpha.count;
		// Columns that cannot add a unit to the words kept are left out.
		multiplyBy(at, p.below, base, p.words, p.e.alpha, exact ? 0 : max(0, p.e.alpha.count - 2));
		if (!exact)
			v.error += 3; // the factor is less than 2^(32 count)
	}
	if (exact) {
		for (int w = 0; w < base; w++)
			at[32 * w] = 0;
		v.x = {at, 32, p.below + p.words};
		v.unit -= 32 * base;
	} else {
		v.unit += 32 * (p.below - base);
	}
	if (p.e.adds) {
		i64 from = p.e.off + (p.i0 + i) * p.e.rs + (p.j0 + j) * p.e.cs;
		extent o = extentOf(p.e.old, from);
		if (o.cls > FINITE)
			return false;
		if (o.cls == FINITE) {
			addOld(v, p.e, from, o);
			zero = false;
		}
	}
	i64 to = p.c.off + (p.i0 + i) * p.c.rs + (p.j0 + j) * p.c.cs;
	int n = v.x.length();
	if (n != 0)
		return storeAny(p.c, to, v.x, n, v.neg, v.unit, v.error, p.counts);
	// A zero addend may be -0, which the exact pass finds out.
	if (v.error != 0 || zero && flags & HAS_ZERO)
		return false;
	storeZero(p.c, to, false);
	return true;
}

// A warp settles 32 rows of a column, as finish.cu numbers them.
extern "C" __global__ void __launch_bounds__(THREADS) settle(const __grid_constant__ settling p)
{
	int lane = threadIdx.x % 32, across = (p.m + 31) / 32;
	i64 strip = (i64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
	int j = (int)(strip / across), i = (int)(strip % across) * 32 + lane;
	int below = p.i0 - p.j0 + i - j; // the diagonal
	if (j >= p.n || i >= p.m || p.triangle == 'U' && below > 0 || p.triangle == 'L' && below < 0)
		return;
	if (!settleEntry(p, (u32 *)p.raw + strip * 32 * (p.below + p.words) + lane, i, j))
		leave(p.failed, p.i0 + i, p.j0 + j);
}
