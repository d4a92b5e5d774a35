// Entry by entry: z_ij <- RN(alpha x_i y_j + z_ij), z_i <- RN(alpha z_i), and the first of the
// numbers of largest magnitude.
//
// A thread computes an entry exactly, in a window of 64-bit words in shared memory, and rounds it
// once. Where one addend lies so far below the other that its sign alone matters, it counts as
// one unit of the window. Windows are wide enough for this but for sums of expansions' terms.
#include "../common/round.cuh"

#define ALPHA_WORDS 64
#define UPDATE_THREADS 256 // of a block, at most
#define FLOATS 4           // binary32 or binary64 entries that a thread computes at a time

// The kind of y for y_j = 1.
#define ONES -1

struct updating {
	vectors x, y; // x_i and y_j are numbers off + i rs and off + j rs
	target c;     // entry (i, j) is z_ij
	leftovers rest;
	u64 counts;   // u64: overflows, underflows
	double value; // alpha, if floats
	i64 exp;      // alpha = (-1)^(cls & 1) alpha[] 2^exp, if it is finite
	u64 alpha[ALPHA_WORDS];
	int cls;    // class byte of alpha
	int bits;   // of alpha[]
	// alpha is a number of binary64, y of binary32, binary64 or ones, z of one of them and x of z's
	// or binary32
	int floats;
	int add;    // 0: z_i <- RN(alpha z_i); x is z, and y ones
	int words;  // of a window
};

// A part of a number is m 2^low, m < 2^(top - low) an integer of words 64-bit words. A number
// other than an expansion has one.
struct part {
	const u64 *at; // stride words apart; null: m
	u64 m;
	int stride, words;
	i64 low, top;
	bool neg;

	__device__ __forceinline__ u64 word(int k) const { return at ? at[k * stride] : m; }
};

static __device__ __forceinline__ int parts(const numbers &a) { return a.kind == MP || a.kind == ONES ? 1 : terms(a); }

// partOf sets f to part t of number i, other than 0. The words of an MP number are at.
static __device__ __forceinline__ bool partOf(part &f, const numbers &a, i64 i, int t, const u64 *at, int stride)
{
	if (a.kind == MP) {
		u32 c = ((const u8 *)a.plane[2])[i];
		f.at = at;
		f.stride = stride;
		f.words = a.limbs;
		f.top = ((const int *)a.plane[1])[i];
		f.low = f.top - 64 * a.limbs;
		f.neg = c & 1;
		return c >> 1 == FINITE;
	}
	double x = term(a, i, t);
	int e;
	f.at = 0;
	f.m = decompose(x, e);
	f.words = 1;
	f.neg = (u64)__double_as_longlong(x) >> 63;
	f.low = e;
	f.top = e + 64 - __clzll((i64)f.m);
	return f.m != 0;
}

// classOf returns the class byte of number i, NaN for an expansion with a special term or with
// terms that might cancel.
static __device__ __forceinline__ u32 classOf(const numbers &a, i64 i)
{
	if (a.kind == MP)
		return ((const u8 *)a.plane[2])[i];
	double x = term(a, i, 0);
	u32 neg = (u64)__double_as_longlong(x) >> 63;
	if (!finite(x))
		return x != x ? NAN_ << 1 : INF << 1 | neg;
	double t = x;
	for (int k = 1; k < terms(a); k++) {
		double next = term(a, i, k);
		if (__dadd_rn(t, next) != t) // or a NaN
			return NAN_ << 1;
		t = next;
	}
	return (x != 0 ? FINITE : ZERO) << 1 | neg;
}

// productClass returns the class byte of a product.
static __device__ __forceinline__ u32 productClass(u32 a, u32 b)
{
	u32 hi = max(a >> 1, b >> 1), lo = min(a >> 1, b >> 1), neg = (a ^ b) & 1;
	if (hi == NAN_ || hi == INF && lo == ZERO)
		return NAN_ << 1;
	return (hi == INF ? INF : lo) << 1 | neg;
}

// sumClass returns the class byte of a sum, -1 if it does not follow from those of the addends.
static __device__ __forceinline__ int sumClass(u32 a, u32 b)
{
	u32 ca = a >> 1, cb = b >> 1;
	if (ca == NAN_ || cb == NAN_ || ca == INF && cb == INF && a != b)
		return NAN_ << 1;
	if (ca == INF)
		return (int)a;
	if (cb == INF)
		return (int)b;
	if (ca == ZERO && cb == ZERO)
		return ZERO << 1 | (a & b & 1);
	return -1;
}

// storeSpecial sets number to of c to a zero, an infinity or NaN.
static __device__ void storeSpecial(const numbers &c, i64 to, u32 cls)
{
	if (c.kind == MP) {
		((u8 *)c.plane[2])[to] = (u8)cls;
		return;
	}
	u64 b = cls >> 1 == ZERO ? 0 : cls >> 1 == INF ? 0x7ffull << 52 : 0x7ff8000000000001ull;
	b |= (u64)(cls & 1) << 63;
	if (c.kind == F32) {
		((u32 *)c.plane[0])[to] = (u32)(b >> 63) << 31 | (cls >> 1 == ZERO ? 0 : cls >> 1 == INF ? 0x7f800000 : 0x7fc00000);
		return;
	}
	for (int t = 0; t < c.kind; t++)
		((u64 *)c.plane[t])[to] = t == 0 ? b : 0;
}

// A sum of products of words: low + 2^64 middle + 2^128 high.
struct column {
	u64 low, middle, high;

	__device__ __forceinline__ void add(u64 a, u64 b)
	{
		u64 l = a * b, m = __umul64hi(a, b);
		low += l;
		m += low < l;
		middle += m;
		high += middle < m;
	}

	// next returns the lowest word and goes on to the column above.
	__device__ __forceinline__ u64 next()
	{
		u64 v = low;
		low = middle;
		middle = high;
		high = 0;
		return v;
	}
};

// alpha y_j, of which each part is a product of alpha and a part of y_j.
struct scaled {
	u32 cls;
	int words; // of a part
	i64 low[4], top[4];
	bool neg[4];
};

// scale sets t to alpha y_j, its words at words, one part after the other. All threads of a block
// take part.
static __device__ void scale(const updating &u, int j, scaled &t, u64 *words)
{
	const numbers &y = u.y.a;
	i64 i = u.y.off + j * u.y.rs;
	bool ones = y.kind == ONES;
	int m = (u.bits + 63) / 64, n = ones ? 0 : y.kind == MP ? y.limbs : 1, total = n + m;
	for (int k = threadIdx.x; ones && k < m; k += blockDim.x)
		words[k] = u.alpha[k];
	if (threadIdx.x != 0)
		return;
	for (int s = 0; s < parts(y); s++) {
		part f = {0, 0, 1, n, 0, 0, false};
		bool some = ones || partOf(f, y, i, s, y.kind == MP ? (const u64 *)y.plane[0] + i * n : 0, 1);
		if (some && !ones) {
			column sum = {0, 0, 0};
			for (int c = 0; c < total; c++) {
				for (int k = max(0, c - n + 1); k < min(m, c + 1); k++)
					sum.add(u.alpha[k], f.word(c - k));
				words[s * total + c] = sum.next();
			}
		}
		t.low[s] = f.low + u.exp;
		t.top[s] = some ? f.top + u.exp + u.bits : t.low[s];
		t.neg[s] = f.neg != (u.cls & 1);
	}
	t.words = total;
	t.cls = ones ? u.cls : productClass(u.cls, classOf(y, i));
}

// updateFloats computes rows base + threadIdx.x + r blockDim.x, r < FLOATS, of column j in one
// fused operation each, which rounds correctly, and returns the rows r that it could not: alpha y_j
// must be a number of c's format, and the result normal, so that nothing is to be counted.
static __device__ __forceinline__ u32 updateFloats(const updating &u, i64 base, int j)
{
	const numbers &x = u.x.a, &y = u.y.a, &c = u.c.a;
	double s = u.value;
	bool good = true;
	if (y.kind != ONES) {
		double v = term(y, u.y.off + j * u.y.rs, 0);
		s = __dmul_rn(u.value, v);
		good = fabs(s) > 0x1p-900 && finite(s) && __fma_rn(u.value, v, -s) == 0;
	}
	float narrow = (float)s;
	good = good && (c.kind == F64 || narrow == s);
	base += threadIdx.x;
	i64 from = u.x.off + base * u.x.rs, to = u.c.off + base * u.c.rs + j * u.c.cs;
	int rows = (int)min64(FLOATS, (u.x.n - base + blockDim.x - 1) / blockDim.x); // at most 0: none
	double v[FLOATS], z[FLOATS];
#pragma unroll
	for (int r = 0; r < FLOATS; r++) {
		i64 at = r < rows ? (i64)r * blockDim.x : 0;
		v[r] = rows > 0 ? term(x, from + at * u.x.rs, 0) : 0;
		z[r] = rows > 0 && u.add ? term(c, to + at * u.c.rs, 0) : -0.0;
	}
	u32 left = 0;
#pragma unroll
	for (int r = 0; r < FLOATS; r++) {
		if (r >= rows)
			break;
		i64 at = to + (i64)r * blockDim.x * u.c.rs;
		if (c.kind == F64) {
			double w = __fma_rn(s, v[r], z[r]);
			if (good && fabs(w) > 0x1p-1022 && finite(w))
				((double *)c.plane[0])[at] = w;
			else
				left |= 1u << r;
		} else {
			float w = __fmaf_rn(narrow, (float)v[r], (float)z[r]);
			if (good && fabsf(w) > 0x1p-126f && fabsf(w) <= 0x1.fffffep127f)
				((float *)c.plane[0])[at] = w;
			else
				left |= 1u << r;
		}
	}
	return left;
}

// A window is an integer in two's complement of words 64-bit words, stride words apart.
struct window {
	u64 *at;
	int stride, words;

	__device__ __forceinline__ u64 word(int k) const { return (u32)k < (u32)words ? at[k * stride] : 0; }

	// The functions from here to below are for non-negative integers.
	__device__ __forceinline__ bool bit(int pos) const { return word(pos >> 6) >> (pos & 63) & 1; }

	// bits returns the 64 bits from position pos on.
	__device__ __forceinline__ u64 bits(int pos) const
	{
		int k = pos >> 6, s = pos & 63;
		return word(k) >> s | word(k + 1) << 1 << (63 - s);
	}

	// below reports whether a bit below position pos is set.
	__device__ __forceinline__ bool below(int pos) const
	{
		int k = 0;
		for (; 64 * (k + 1) <= pos; k++)
			if (word(k))
				return true;
		return pos > 64 * k && word(k) << (64 - (pos - 64 * k));
	}

	__device__ __forceinline__ int length() const
	{
		for (int k = words - 1; k >= 0; k--) {
			u64 v = at[k * stride];
			if (v)
				return 64 * k + 64 - __clzll((i64)v);
		}
		return 0;
	}

	// increase adds v to word k, or subtracts it.
	__device__ __forceinline__ void increase(int k, u64 v, bool neg)
	{
		for (; k < words && v; k++) {
			u64 old = at[k * stride], t = neg ? old - v : old + v;
			at[k * stride] = t;
			v = neg ? old < v : t < v;
		}
	}

	// add adds (-1)^neg f g 2^shift, or if first sets the window to f g 2^shift.
	__device__ __forceinline__ void add(const part &f, const part &g, bool neg, i64 shift, bool first)
	{
		int k = (int)(shift >> 6), s = (int)(shift & 63);
		for (int i = 0; first && i < k; i++)
			at[i * stride] = 0;
		// What is subtracted is added as its complement and 1.
		u64 flip = neg ? ~0ull : 0, carry = neg, below = 0, g0 = g.word(0);
		column sum = {0, 0, 0};
#pragma unroll 1
		// above are nothing but zeros
		for (int w = 0; w <= f.words + g.words && k < words; w++, k++) {
			if (g.words == 1) {
				if (w < f.words)
					sum.add(f.word(w), g0);
			} else {
#pragma unroll 1
				for (int i = max(0, w - g.words + 1); i < min(f.words, w + 1); i++)
					sum.add(f.word(i), g.word(w - i));
			}
			u64 here = sum.next(), v = (here << s | below >> 1 >> (63 - s)) ^ flip;
			below = here;
			u64 t = first ? v : at[k * stride] + v, r = t + carry;
			carry = (!first && t < v) + (r < t);
			at[k * stride] = r;
		}
		for (; first && k < words; k++)
			at[k * stride] = 0;
		if (carry != neg)
			increase(k, 1, neg);
	}

	// raise sets the window to its first n words times 2^shift.
	__device__ __forceinline__ void raise(int n, i64 shift)
	{
		int off = (int)(shift >> 6), s = (int)(shift & 63), k = words - 1;
		for (; k > n + off; k--)
			at[k * stride] = 0;
		u64 here = k - off < n ? at[(k - off) * stride] : 0;
		for (; k >= off; k--) {
			u64 next = k > off ? at[(k - off - 1) * stride] : 0;
			at[k * stride] = here << s | next >> 1 >> (63 - s);
			here = next;
		}
		for (; k >= 0; k--)
			at[k * stride] = 0;
	}

	// lower sets the first n words to the n words from position pos on, the last bits of which are
	// cut.
	__device__ __forceinline__ void lower(int n, int pos, int cut)
	{
		int off = pos >> 6, s = pos & 63;
		if (off >= 0) {
			u64 here = word(off);
			for (int k = 0; k < n; k++) {
				u64 next = word(off + k + 1);
				at[k * stride] = here >> s | next << 1 << (63 - s);
				here = next;
			}
		} else {
			u64 here = word(off + n);
			for (int k = n - 1; k >= 0; k--) {
				u64 next = word(off + k);
				at[k * stride] = next >> s | here << 1 << (63 - s);
				here = next;
			}
		}
		at[0] = at[0] >> cut << cut;
	}

	// magnitude makes the magnitude of the integer and reports whether it was negative.
	__device__ __forceinline__ bool magnitude()
	{
		if (!(at[(words - 1) * stride] >> 63))
			return false;
		negate(words);
		return true;
	}

	// negate negates the integer of the first n words.
	__device__ __forceinline__ void negate(int n)
	{
		u64 carry = 1;
		for (int k = 0; k < n; k++) {
			u64 v = ~at[k * stride] + carry;
			carry = carry && v == 0;
			at[k * stride] = v;
		}
	}
};

// What a rounding meets, as internal/num counts it; LEFT is for the host.
enum { OVERFLOW_ = 1, UNDERFLOW_ = 2, LEFT = 4 };

// roundMP stores (-1)^neg x 2^exp, x > 0 of length n, in number to of c, but for the words of its
// significand: they become the first of x.
static __device__ __forceinline__ int roundMP(const target &c, i64 to, window x, int n, bool neg, i64 exp)
{
	int limbs = c.a.limbs, drop = n - (int)c.prec;
	i64 top = exp + n;
	bool smallest = top == -0x80000001ll && x.below(n - 1); // it rounds to the smallest number
	if (drop > 0 && x.bit(drop - 1) && (x.bit(drop) || x.below(drop - 1))) {
		x.increase(drop >> 6, 1ull << (drop & 63), false);
		if (x.bit(n)) {
			n++;
			top++;
		}
	}
	x.lower(limbs, n - 64 * limbs, 64 * limbs - (int)c.prec);
	int flags = 0;
	if (top > 0x7fffffff) {
		storeSpecial(c.a, to, INF << 1 | neg);
		return OVERFLOW_;
	}
	if (top < -0x80000000ll) {
		if (!smallest) {
			storeSpecial(c.a, to, ZERO << 1 | neg);
			return UNDERFLOW_;
		}
		for (int k = 0; k < limbs; k++)
			x.at[k * x.stride] = k == limbs - 1 ? 1ull << 63 : 0;
		top = -0x80000000ll;
		flags = UNDERFLOW_;
	}
	((int *)c.a.plane[1])[to] = (int)top;
	((u8 *)c.a.plane[2])[to] = FINITE << 1 | neg;
	return flags;
}

// roundFloat stores the same number in binary32 or binary64.
static __device__ int roundFloat(const target &c, i64 to, const window &x, int n, bool neg, i64 exp)
{
	bool wide = c.a.kind == F64;
	int prec = wide ? 53 : 24, lowest = wide ? -1074 : -149, highest = wide ? 1024 : 128;
	i64 top = exp + n;
	if (top > highest) {
		storeSpecial(c.a, to, INF << 1 | neg);
		return OVERFLOW_;
	}
	i64 last = max64(top - prec, lowest), far = last - exp;
	int drop = (int)min64(far, n + 2), flags = 0;
	u64 q;
	if (drop <= 0) { // n <= prec
		q = x.bits(0) << -drop;
	} else {
		q = x.bits(drop) & ((1ull << prec) - 1);
		bool half = x.bit(drop - 1), rest = x.below(drop - 1);
		if (top - prec < lowest && (half || rest))
			flags = UNDERFLOW_;
		q += half && (rest || q & 1);
	}
	// q may be 2^prec: the carry goes into the exponent.
	q += (u64)(last - lowest) << (prec - 1);
	if (q >> (prec - 1) >= (wide ? 0x7ff : 0xff))
		flags |= OVERFLOW_; // q is infinity
	if (wide)
		((u64 *)c.a.plane[0])[to] = q | (u64)neg << 63;
	else
		((u32 *)c.a.plane[0])[to] = (u32)q | (u32)neg << 31;
	return flags;
}

// roundExpansion stores the same number as an expansion, unless a term leaves the normal range or
// the terms are not canonical. It changes x.
static __device__ int roundExpansion(const target &c, i64 to, window x, int n, bool neg, i64 exp)
{
	double t[4] = {0, 0, 0, 0};
#pragma unroll
	for (int k = 0; k < 4; k++) {
		if (k >= c.a.kind || n == 0)
			break;
		i64 top = exp + n;
		if (top > 1023 || top < -1021)
			return LEFT;
		int drop = n - 53;
		u64 q = drop > 0 ? x.bits(drop) & ((1ull << 53) - 1) : x.bits(0) << -drop;
		bool up = drop > 0 && x.bit(drop - 1) && (q & 1 || x.below(drop - 1));
		t[k] = __longlong_as_double((i64)(q + up + ((u64)(top + 1021) << 52) | (u64)neg << 63));
		if (drop <= 0)
			break;
		// What is left lies below bit drop, or is that less 2^drop.
		x.words = (drop + 63) / 64;
		if (up)
			x.negate(x.words);
		int spare = 64 * x.words - drop;
		u64 *last = x.at + (x.words - 1) * x.stride;
		*last = *last << spare >> spare;
		neg = neg != up;
		n = x.length();
	}
#pragma unroll
	for (int k = 0; k < 3; k++)
		if (__dadd_rn(t[k], t[k + 1]) != t[k])
			return LEFT;
#pragma unroll
	for (int k = 0; k < 4; k++)
		if (k < c.a.kind)
			((double *)c.a.plane[k])[to] = t[k];
	return 0;
}

// updateEntry computes number to of c from number from of x and t. The words of MP numbers of x are
// at xWords, stride words apart, and those of c where the window begins.
static __device__ __forceinline__ int updateEntry(const updating &u, const scaled &t, const u64 *tWords, i64 from, i64 to,
	const u64 *xWords, window w)
{
	const numbers &x = u.x.a, &c = u.c.a;
	bool expansions = parts(x) > 1 || parts(u.y.a) > 1 || parts(c) > 1;
	u32 cx = classOf(x, from), cp = productClass(t.cls, cx), cc = u.add ? classOf(c, to) : 0;
	if (expansions && (t.cls >> 1 > FINITE || cx >> 1 > FINITE || cc >> 1 > FINITE))
		return LEFT;
	int special = u.add ? sumClass(cp, cc) : cp >> 1 == FINITE ? -1 : (int)cp;
	if (special >= 0) {
		storeSpecial(c, to, (u32)special);
		for (int k = 0; !u.add && c.kind == MP && k < c.limbs; k++)
			w.at[k * w.stride] = xWords[k * w.stride];
		return 0;
	}
	bool product = cp >> 1 == FINITE, addend = u.add && cc >> 1 == FINITE;
	if (!product && parts(c) == 1)
		return 0; // z_ij as it is

	// The range of all parts, then their sum.
	i64 top = -(1ll << 61), low = 1ll << 61, topP = top, lowP = low, topC = top, lowC = low;
	part f, g;
	if (product)
		for (int s = 0; s < parts(x); s++)
			if (partOf(f, x, from, s, xWords, w.stride))
				for (int k = 0; k < parts(u.y.a); k++)
					if (t.top[k] != t.low[k]) {
						topP = max64(topP, f.top + t.top[k]);
						lowP = min64(lowP, f.low + t.low[k]);
					}
	if (addend)
		for (int s = 0; s < parts(c); s++)
			if (partOf(f, c, to, s, w.at, w.stride)) {
				topC = max64(topC, f.top);
				lowC = min64(lowC, f.low);
			}
	top = max64(topP, topC);
	low = min64(lowP, lowC);
	int unit = 0; // of the window, for an addend left out
	if (top - low + 6 > 64 * w.words) {
		if (expansions || !product || !addend)
			return LEFT;
		bool larger = topP > topC; // the product
		low = min64((larger ? lowP : lowC) - 2, top - u.c.prec - 8);
		if ((larger ? topC : topP) > low || top - low + 6 > 64 * w.words)
			return LEFT;
		unit = (larger ? cc : cp) & 1 ? -1 : 1;
		product = larger;
		addend = !larger;
	}
	w.words = (int)(top - low + 6 + 63) / 64;
	bool first = true, minus = false; // the window holds the sum with the sign of the first part
	int many = parts(u.y.a), before = addend ? parts(c) : 0, all = before + (product ? parts(x) * many : 0);
#pragma unroll 1
	for (int p = 0; p < all; p++) {
		bool neg;
		i64 shift;
		if (p < before) {
			if (!partOf(f, c, to, p, 0, 0))
				continue;
			neg = f.neg;
			shift = f.low - low;
			g = {0, 1, 0, 1, 0, 1, false};
		} else {
			int s = (p - before) / many, k = (p - before) % many;
			if (!partOf(f, x, from, s, xWords, w.stride) || t.top[k] == t.low[k])
				continue;
			neg = f.neg != t.neg[k];
			shift = f.low + t.low[k] - low;
			g = {tWords + k * t.words, 0, 1, t.words, t.low[k], t.top[k], t.neg[k]};
		}
		if (p < before && c.kind == MP)
			w.raise(c.limbs, shift);
		else
			w.add(f, g, neg != minus && !first, shift, first);
		minus = first ? neg : minus;
		first = false;
	}
	if (unit != 0)
		w.increase(0, 1, unit < 0 != minus);
	bool neg = w.magnitude() != minus;
	int n = w.length();
	if (n == 0) {
		storeSpecial(c, to, ZERO << 1);
		return 0;
	}
	if (c.kind == MP)
		return roundMP(u.c, to, w, n, neg, low);
	if (c.kind <= F64)
		return roundFloat(u.c, to, w, n, neg, low);
	return roundExpansion(u.c, to, w, n, neg, low);
}

// copyStrip copies the words of n MP numbers, step apart in memory from number first of a on, to
// shared memory, word k of number i to k pitch + i, or back.
template <bool BACK> static __device__ __forceinline__ void copyStrip(const numbers &a, i64 first, i64 step, int n, u64 *shared, int pitch)
{
	int l = a.limbs, i = threadIdx.x / l, k = threadIdx.x % l;
	int stepI = blockDim.x / l, stepK = blockDim.x % l;
	u64 *at = (u64 *)a.plane[0] + (first + i * step) * l + k;
	i64 forward = stepI * step * l + stepK, wrap = step * l - l;
	shared += k * pitch + i;
	int forwardS = stepK * pitch + stepI, wrapS = 1 - l * pitch;
#pragma unroll 4
	while (i < n) {
		if (BACK)
			*at = *shared;
		else
			*shared = *at;
		i += stepI;
		k += stepK;
		at += forward;
		shared += forwardS;
		if (k >= l) {
			k -= l;
			i++;
			at += wrap;
			shared += wrapS;
		}
	}
}

// update computes entries, a thread one at a time, blocks along the rows in x and the columns in y.
extern "C" __global__ void __launch_bounds__(UPDATE_THREADS, 3) update(const __grid_constant__ updating u)
{
	extern __shared__ u64 room[];
	__shared__ scaled t;
	int pitch = blockDim.x + 1; // odd, for copyStrip
	bool mpX = u.x.a.kind == MP, mpC = u.c.a.kind == MP;
	u64 *xs = room, *ws = mpX ? xs + u.x.a.limbs * pitch : xs, *ts = ws + u.words * pitch;
	int scaled = -1, over = 0, under = 0;
	int rows = u.floats ? FLOATS : 1;
	for (i64 block = blockIdx.x; block * rows * blockDim.x < u.x.n; block += gridDim.x) {
		i64 first = block * rows * blockDim.x;
		if (mpX)
			copyStrip<false>(u.x.a, u.x.off + first * u.x.rs, u.x.rs, (int)min64(blockDim.x, u.x.n - first), xs, pitch);
		for (int j = blockIdx.y; j < u.y.n; j += gridDim.y) {
			u32 left = u.floats ? updateFloats(u, first, j) : 1;
			if (u.floats && !__syncthreads_or(left))
				continue;
			for (int r = 0; r < rows && first + r * blockDim.x < u.x.n; r++) {
				i64 base = first + r * blockDim.x, from = u.x.off + base * u.x.rs, to = u.c.off + base * u.c.rs + j * u.c.cs;
				int n = (int)min64(blockDim.x, u.x.n - base);
				if (mpC && u.add)
					copyStrip<false>(u.c.a, to, u.c.rs, n, ws, pitch);
				__syncthreads();
				if (j != scaled) {
					scale(u, j, t, ts);
					scaled = j;
					__syncthreads();
				}
				if (threadIdx.x < n && left >> r & 1) {
					window w = {ws + threadIdx.x, pitch, u.words};
					i64 at = to + threadIdx.x * u.c.rs;
					int flags = updateEntry(u, t, ts, from + threadIdx.x * u.x.rs, at, xs + threadIdx.x, w);
					over += flags & OVERFLOW_;
					under += flags / UNDERFLOW_ & 1;
					if (flags & LEFT) {
						leave(u.rest, (int)base + threadIdx.x, j);
						for (int k = 0; mpC && k < u.c.a.limbs; k++) // z_ij as it was
							w.at[k * pitch] = ((const u64 *)u.c.a.plane[0])[at * u.c.a.limbs + k];
					}
				}
				__syncthreads();
				if (mpC) {
					copyStrip<true>(u.c.a, to, u.c.rs, n, ws, pitch);
					__syncthreads();
				}
			}
		}
	}
	if (over)
		atomicAdd((u64 *)u.counts, (u64)over);
	if (under)
		atomicAdd((u64 *)u.counts + 1, (u64)under);
}

#define SEARCH_THREADS 256

struct searching {
	vectors x; // number i lies at off + i rs
	u64 from;  // u32: indices of x that take part; null: all
	u64 to;    // u32: what each block finds
	u64 odd;   // u32: set if there are numbers that it cannot compare
	int n;     // that take part
};

// A candidate is the index of a number, whose magnitude comes after that of another if its key
// does.
struct candidate {
	i64 key;
	int index; // -1: none
};

// canonical reports whether every term of expansion i is the nearest number to what it and the rest
// sum up to, with room for more than one ulp of the next.
static __device__ bool canonical(const numbers &a, i64 i)
{
	double t = term(a, i, 0);
	for (int k = 1; k < terms(a); k++) {
		double next = term(a, i, k);
		if (!finite(next) || !finite(t) && next != 0)
			return false;
		double more = next == 0 ? 0 : __longlong_as_double(__double_as_longlong(next) + 1);
		if (t == t && __dadd_rn(t, more) != t)
			return false;
		t = next;
	}
	return true;
}

static __device__ candidate candidateOf(const searching &s, int index)
{
	const numbers &a = s.x.a;
	i64 i = s.x.off + index * s.x.rs;
	if (a.kind == MP) {
		u32 c = ((const u8 *)a.plane[2])[i] >> 1;
		return candidate{(i64)c << 40 | (c == FINITE ? (i64)((const int *)a.plane[1])[i] + (1ll << 31) : 0), index};
	}
	if (terms(a) > 1 && !canonical(a, i))
		*(u32 *)s.odd = 1;
	double x = term(a, i, 0);
	return candidate{x != x ? 0x7ff8ll << 48 : __double_as_longlong(fabs(x)), index};
}

// later reports whether number i has a larger magnitude than number j, of the same key.
static __device__ bool later(const searching &s, int i, int j)
{
	const numbers &a = s.x.a;
	i64 u = s.x.off + i * s.x.rs, v = s.x.off + j * s.x.rs;
	if (a.kind == MP) {
		if (((const u8 *)a.plane[2])[u] >> 1 != FINITE)
			return false;
		const u64 *p = (const u64 *)a.plane[0] + u * a.limbs, *q = (const u64 *)a.plane[0] + v * a.limbs;
		for (int k = a.limbs - 1; k >= 0; k--)
			if (p[k] != q[k])
				return p[k] > q[k];
		return false;
	}
	double p = term(a, u, 0), q = term(a, v, 0);
	for (int k = 1; k < terms(a); k++) {
		double x = copysign(1.0, p) * term(a, u, k), y = copysign(1.0, q) * term(a, v, k);
		if (x != y)
			return x > y;
	}
	return false;
}

// choose sets a to b if that comes after it, or is as large and comes before it in the vector.
static __device__ void choose(const searching &s, candidate &a, const candidate &b)
{
	if (b.index < 0)
		return;
	if (a.index < 0 || b.key > a.key || b.key == a.key && (later(s, b.index, a.index) || b.index < a.index && !later(s, a.index, b.index)))
		a = b;
}

extern "C" __global__ void __launch_bounds__(SEARCH_THREADS) largest(const __grid_constant__ searching s)
{
	__shared__ candidate found[SEARCH_THREADS];
	candidate best = {0, -1};
	for (int k = blockIdx.x * SEARCH_THREADS + threadIdx.x; k < s.n; k += gridDim.x * SEARCH_THREADS)
		choose(s, best, candidateOf(s, s.from ? (int)((const u32 *)s.from)[k] : k));
	found[threadIdx.x] = best;
	for (int step = SEARCH_THREADS / 2; step > 0; step /= 2) {
		__syncthreads();
		if (threadIdx.x < step)
			choose(s, found[threadIdx.x], found[threadIdx.x + step]);
	}
	if (threadIdx.x == 0)
		((u32 *)s.to)[blockIdx.x] = (u32)found[0].index;
}
