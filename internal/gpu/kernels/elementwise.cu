// Entry by entry: z_ij <- RN(alpha x_i y_j + z_ij), z_i <- RN(alpha z_i), and the first of the
// numbers of largest magnitude.
//
// A thread computes an entry exactly, in a window of 32-bit words in shared memory, and rounds it
// once. Where one addend lies so far below the other that its sign alone matters, it counts as
// one unit of the window. Windows are wide enough for this but for sums of expansions' terms.
#include "round.cuh"

#define ALPHA_WORDS 128

// The kind of y for y_j = 1.
#define ONES -1

struct updating {
	vectors x, y; // x_i and y_j are numbers off + i rs and off + j rs
	target c;     // entry (i, j) is z_ij
	leftovers rest;
	u64 counts;   // u64: overflows, underflows
	double value; // alpha, if it is a binary64 number
	i64 exp;      // alpha = (-1)^(cls & 1) alpha[] 2^exp, if it is finite
	int cls;      // class byte of alpha
	int isDouble;
	int bits;      // of alpha[]
	int add;       // 0: z_i <- RN(alpha z_i); x is z, and y ones
	int words;     // of a window
	u32 alpha[ALPHA_WORDS];
};

// A part of a number is m 2^low, m < 2^(top - low) an integer of words 32-bit words. A number
// other than an expansion has one.
struct part {
	const u32 *at; // stride words apart; null: lo and hi
	u32 lo, hi;
	int stride, words;
	i64 low, top;
	bool neg;

	__device__ __forceinline__ u32 word(int k) const { return at ? at[k * stride] : k ? hi : lo; }
};

static __device__ __forceinline__ int parts(const numbers &a) { return a.kind == MP || a.kind == ONES ? 1 : terms(a); }

// partWords returns how many words the parts of numbers have.
static __device__ __forceinline__ int partWords(const numbers &a) { return a.kind == MP ? 2 * a.limbs : 2; }

// partOf sets f to part t of number i, other than 0. The words of an MP number are at.
static __device__ __forceinline__ bool partOf(part &f, const numbers &a, i64 i, int t, const u32 *at, int stride)
{
	f.at = 0;
	f.words = 2;
	if (a.kind == MP) {
		u32 c = ((const u8 *)a.plane[2])[i];
		f.at = at;
		f.stride = stride;
		f.words = 2 * a.limbs;
		f.top = ((const int *)a.plane[1])[i];
		f.low = f.top - 64 * a.limbs;
		f.neg = c & 1;
		return c >> 1 == FINITE;
	}
	double x = term(a, i, t);
	int e;
	u64 m = decompose(x, e);
	f.neg = (u64)__double_as_longlong(x) >> 63;
	f.lo = (u32)m;
	f.hi = (u32)(m >> 32);
	f.low = e;
	f.top = e + 64 - __clzll((i64)m);
	return m != 0;
}

// classOf returns the class byte of number i, NaN for an expansion with a special term or with terms
// that might cancel.
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

// alpha y_j, of which each part is a product of alpha and a part of y_j.
struct scaled {
	u32 cls;
	int words;     // of a part
	bool isDouble; // and is value
	double value;
	i64 low[4], top[4];
	bool neg[4];
};

// scale sets t to alpha y_j, its words at words, one part after the other. All threads of a block
// take part.
static __device__ void scale(const updating &u, int j, scaled &t, u32 *words)
{
	const numbers &y = u.y.a;
	i64 i = u.y.off + j * u.y.rs;
	bool ones = y.kind == ONES;
	int m = (u.bits + 31) / 32, n = ones ? 0 : partWords(y), total = n + m;
	for (int s = 0; s < parts(y); s++) {
		part f = {0, 0, 0, 1, n, 0, 0, false};
		bool some = true;
		if (!ones)
			some = partOf(f, y, i, s, y.kind == MP ? (const u32 *)y.plane[0] + i * n : 0, 1);
		u32 *out = words + s * total;
		for (int k = threadIdx.x; k < total; k += blockDim.x) {
			if (!some)
				out[k] = 0;
			else if (ones)
				out[k] = u.alpha[k];
		}
		if (some && !ones && threadIdx.x == 0) {
			u64 low = 0, high = 0; // of the column under way: low + 2^64 high
			for (int c = 0; c < total; c++) {
				for (int k = max(0, c - n + 1); k < min(m, c + 1); k++) {
					u64 d = (u64)u.alpha[k] * f.word(c - k);
					low += d;
					high += low < d;
				}
				out[c] = (u32)low;
				low = low >> 32 | high << 32;
				high >>= 32;
			}
		}
		if (threadIdx.x == 0) {
			t.low[s] = f.low + u.exp;
			t.top[s] = some ? f.top + u.exp + u.bits : t.low[s];
			t.neg[s] = f.neg != (u.cls & 1);
		}
	}
	if (threadIdx.x == 0) {
		t.words = total;
		t.cls = ones ? u.cls : productClass(u.cls, classOf(y, i));
		t.isDouble = u.isDouble;
		t.value = u.value;
		if (!ones && u.isDouble) {
			double v = y.kind == F64 || y.kind == F32 ? term(y, i, 0) : 0;
			double p = __dmul_rn(u.value, v);
			t.isDouble = (y.kind == F64 || y.kind == F32) && fabs(p) > 0x1p-900 && finite(p) && __fma_rn(u.value, v, -p) == 0;
			t.value = p;
		}
	}
}

// A window is an integer in two's complement.
struct window : integer {
	// carry adds 1 from word k on, or subtracts it.
	__device__ __forceinline__ void carry(int k, bool neg)
	{
		for (; k < words; k++) {
			u32 old = at[k * stride];
			at[k * stride] = neg ? old - 1 : old + 1;
			if (old != (neg ? 0 : 0xffffffff))
				return;
		}
	}

	// put adds (-1)^neg v and the carry c to word k, and returns the next carry. FIRST sets the word
	// to v.
	template <bool FIRST> __device__ __forceinline__ u32 put(int k, u32 v, bool neg, u32 c)
	{
		if (k >= words)
			return 0; // nothing but zeros comes here
		if (FIRST) {
			at[k * stride] = v;
			return 0;
		}
		u64 old = at[k * stride], t = neg ? old - v - c : old + v + c;
		at[k * stride] = (u32)t;
		return (u32)(t >> 32) & 1;
	}

	// add adds (-1)^neg f g 2^shift, or f 2^shift without g. FIRST sets the window to f g 2^shift.
	template <bool FIRST, bool PRODUCT> __device__ void add(const part &f, const part &g, bool neg, i64 shift)
	{
		int k = (int)(shift >> 5), s = (int)(shift & 31), n = f.words + (PRODUCT ? g.words : 0);
		if (FIRST)
			for (int i = 0; i < k; i++)
				at[i * stride] = 0;
		u32 c = 0, below = 0;
		u64 low = 0, high = 0; // of the column under way: low + 2^64 high
		u32 last = 0, g0 = PRODUCT ? g.word(0) : 0, g1 = PRODUCT && g.words == 2 ? g.word(1) : 0;
		for (int w = 0; w <= n; w++) {
			u32 v;
			if (!PRODUCT) {
				v = w < n ? f.word(w) : 0;
			} else {
				if (g.words <= 2) {
					u32 here = w < f.words ? f.word(w) : 0;
					u64 d = (u64)last * g1;
					low += (u64)here * g0;
					low += d;
					high += low < d;
					last = here;
				} else {
					for (int i = max(0, w - g.words + 1); i < min(f.words, w + 1); i++) {
						u64 d = (u64)f.word(i) * g.word(w - i);
						low += d;
						high += low < d;
					}
				}
				v = (u32)low;
				low = low >> 32 | high << 32;
				high >>= 32;
			}
			c = put<FIRST>(k++, __funnelshift_l(below, v, s), neg, c);
			below = v;
		}
		if (FIRST)
			for (; k < words; k++)
				at[k * stride] = 0;
		else if (c)
			carry(k, neg);
	}
};

// What a rounding meets, as internal/num counts it; LEFT is for the host.
enum { OVERFLOW_ = 1, UNDERFLOW_ = 2, LEFT = 4 };

// roundMP stores (-1)^neg x 2^exp, x > 0 of length n, in number to of c; the words of its significand
// go to sig, stride apart.
static __device__ int roundMP(const target &c, i64 to, const window &x, int n, bool neg, i64 exp, u32 *sig, int stride)
{
	int limbs = c.a.limbs, spare = 64 * limbs - (int)c.prec, drop = n - (int)c.prec;
	i64 top = exp + n;
	bool power = top == -0x80000001ll && !x.below(n - 1); // the tie below the smallest number
	bool up = x.bits(drop - 1) & 1 && (x.bits(drop) & 1 || x.below(drop - 1));
	u32 carry = 0;
	int first32 = n - 64 * limbs, i = first32 >> 5, s = first32 & 31;
	u32 here = x.word(i);
	for (int k = 0; k < 2 * limbs; k++) {
		u32 next = x.word(++i), v = __funnelshift_r(here, next, s), one = 0;
		here = next;
		int first = spare - 32 * k; // the last bit kept, if it lies here
		if (first >= 32)
			v = 0;
		else if (first >= 0) {
			v &= ~0u << first;
			one = up ? 1u << first : 0;
		}
		u64 t = (u64)v + one + carry;
		carry = (u32)(t >> 32);
		sig[k * stride] = (u32)t;
	}
	if (carry) {
		sig[(2 * limbs - 1) * stride] = 1u << 31;
		top++;
	}
	if (top > 0x7fffffff) {
		storeSpecial(c.a, to, INF << 1 | neg);
		return OVERFLOW_;
	}
	if (top < -0x80000000ll) {
		if (exp + n != -0x80000001ll || power) {
			storeSpecial(c.a, to, ZERO << 1 | neg);
			return UNDERFLOW_;
		}
		for (int k = 0; k < 2 * limbs; k++)
			sig[k * stride] = k == 2 * limbs - 1 ? 1u << 31 : 0;
		((int *)c.a.plane[1])[to] = -0x7fffffff - 1;
		((u8 *)c.a.plane[2])[to] = FINITE << 1 | neg;
		return UNDERFLOW_;
	}
	((int *)c.a.plane[1])[to] = (int)top;
	((u8 *)c.a.plane[2])[to] = FINITE << 1 | neg;
	return 0;
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
	u64 q = x.bits(drop) & ((1ull << prec) - 1);
	if (drop <= 0) { // n <= prec
		q = x.bits(0) << -drop;
	} else {
		bool half = x.bits(drop - 1) & 1, rest = x.below(drop - 1);
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

// roundExpansion stores the same number as an expansion, unless a term leaves the normal range or the
// terms are not canonical. It changes x.
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
		u64 q = x.bits(drop) & ((1ull << 53) - 1);
		bool up = false;
		if (drop <= 0)
			q = x.bits(0) << -drop;
		else
			up = x.bits(drop - 1) & 1 && (q & 1 || x.below(drop - 1));
		t[k] = __longlong_as_double((i64)(q + up + ((u64)(top + 1021) << 52) | (u64)neg << 63));
		if (drop <= 0)
			break;
		// What is left lies below bit drop, or is that less 2^drop.
		x.words = (drop + 31) / 32;
		u32 mask = drop % 32 ? (1u << drop % 32) - 1 : ~0u;
		u32 carry = 1;
		for (int w = 0; w < x.words; w++) {
			u32 v = x.at[w * x.stride];
			if (up) {
				u64 d = (u64)~v + carry;
				v = (u32)d;
				carry = (u32)(d >> 32);
			}
			x.at[w * x.stride] = w == x.words - 1 ? v & mask : v;
		}
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

// A place is where a block keeps words of numbers in shared memory, stride words from one to the next.
struct place {
	u32 *at; // of the thread's number
	int stride;
};

// updateEntry computes number to of c from number from of x and t.
static __device__ int updateEntry(const updating &u, const scaled &t, const u32 *tWords, i64 from, i64 to, const place &px,
	const place &pc, window w)
{
	const numbers &x = u.x.a, &c = u.c.a;
	if (t.isDouble && c.kind <= F64 && x.kind <= c.kind) {
		// One fused operation rounds correctly; what may be counted or special goes on below.
		if (c.kind == F64) {
			double v = term(x, from, 0);
			v = u.add ? __fma_rn(t.value, v, ((const double *)c.plane[0])[to]) : __dmul_rn(t.value, v);
			if (fabs(v) > 0x1p-1022 && finite(v)) {
				((double *)c.plane[0])[to] = v;
				return 0;
			}
		} else if ((double)(float)t.value == t.value) {
			float v = ((const float *)x.plane[0])[from], s = (float)t.value;
			v = u.add ? __fmaf_rn(s, v, ((const float *)c.plane[0])[to]) : __fmul_rn(s, v);
			if (fabsf(v) > 0x1p-126f && fabsf(v) <= 0x1.fffffep127f) {
				((float *)c.plane[0])[to] = v;
				return 0;
			}
		}
	}
	bool expansions = parts(x) > 1 || parts(u.y.a) > 1 || parts(c) > 1;
	u32 cx = classOf(x, from), cp = productClass(t.cls, cx), cc = u.add ? classOf(c, to) : 0;
	if (expansions && (t.cls >> 1 > FINITE || cx >> 1 > FINITE || cc >> 1 > FINITE))
		return LEFT;
	int special = u.add ? sumClass(cp, cc) : cp >> 1 == FINITE ? -1 : (int)cp;
	if (special >= 0) {
		storeSpecial(c, to, (u32)special);
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
			if (partOf(f, x, from, s, px.at, px.stride))
				for (int k = 0; k < parts(u.y.a); k++)
					if (t.top[k] != t.low[k]) {
						topP = max64(topP, f.top + t.top[k]);
						lowP = min64(lowP, f.low + t.low[k]);
					}
	if (addend)
		for (int s = 0; s < parts(c); s++)
			if (partOf(f, c, to, s, pc.at, pc.stride)) {
				topC = max64(topC, f.top);
				lowC = min64(lowC, f.low);
			}
	top = max64(topP, topC);
	low = min64(lowP, lowC);
	int unit = 0; // of the window, for an addend left out
	if (top - low + 6 > 32 * w.words) {
		if (expansions || !product || !addend)
			return LEFT;
		bool larger = topP > topC; // the product
		low = min64((larger ? lowP : lowC) - 2, top - u.c.prec - 8);
		if ((larger ? topC : topP) > low || top - low + 6 > 32 * w.words)
			return LEFT;
		unit = (larger ? cc : cp) & 1 ? -1 : 1;
		product = larger;
		addend = !larger;
	}
	w.words = (int)(top - low + 6 + 31) / 32;
	bool first = true, minus = false; // the window holds the sum with the sign of the first part
	if (product)
		for (int s = 0; s < parts(x); s++)
			if (partOf(f, x, from, s, px.at, px.stride))
				for (int k = 0; k < parts(u.y.a); k++)
					if (t.top[k] != t.low[k]) {
						g.at = tWords + k * t.words;
						g.stride = 1;
						g.words = t.words;
						bool neg = f.neg != t.neg[k];
						i64 shift = f.low + t.low[k] - low;
						if (first)
							w.add<true, true>(f, g, false, shift);
						else
							w.add<false, true>(f, g, neg != minus, shift);
						minus = first ? neg : minus;
						first = false;
					}
	if (addend)
		for (int s = 0; s < parts(c); s++)
			if (partOf(f, c, to, s, pc.at, pc.stride)) {
				if (first)
					w.add<true, false>(f, f, false, f.low - low);
				else
					w.add<false, false>(f, f, f.neg != minus, f.low - low);
				minus = first ? f.neg : minus;
				first = false;
			}
	if (unit != 0)
		w.carry(0, unit < 0 != minus);
	bool neg = w.magnitude() != minus;
	int n = w.length();
	if (n == 0) {
		if (expansions)
			return LEFT; // a zero may be an addend, with its sign
		storeSpecial(c, to, ZERO << 1);
		return 0;
	}
	if (c.kind == MP)
		return roundMP(u.c, to, w, n, neg, low, pc.at, pc.stride);
	if (c.kind <= F64)
		return roundFloat(u.c, to, w, n, neg, low);
	return roundExpansion(u.c, to, w, n, neg, low);
}

// A strip is what a block copies: n MP numbers, step apart in memory from number first on.
struct strip {
	u64 *significands;
	i64 first, step;
	int n, limbs;
};

// copyStrip copies the words of numbers to shared memory, word k of number i at k pitch + i, or back.
static __device__ void copyStrip(const strip &s, u32 *shared, int pitch, bool back)
{
	int words = 2 * s.limbs, i = threadIdx.x / words, k = threadIdx.x % words;
	int stepI = blockDim.x / words, stepK = blockDim.x % words;
	while (i < s.n) {
		u32 *at = (u32 *)s.significands + (s.first + i * s.step) * words + k;
		if (back)
			*at = shared[k * pitch + i];
		else
			shared[k * pitch + i] = *at;
		i += stepI;
		k += stepK;
		if (k >= words) {
			k -= words;
			i++;
		}
	}
}

// update computes entries, a thread one at a time, blocks along the rows in x and the columns in y.
extern "C" __global__ void update(const __grid_constant__ updating u)
{
	extern __shared__ u32 room[];
	__shared__ scaled t;
	int pitch = blockDim.x + 1; // odd, for copyStrip
	bool mpX = u.x.a.kind == MP, mpC = u.c.a.kind == MP;
	u32 *xs = room, *cs = u.add && mpX ? xs + 2 * u.x.a.limbs * pitch : xs;
	u32 *ws = mpC ? cs + 2 * u.c.a.limbs * pitch : cs;
	u32 *ts = ws + u.words * pitch;
	int done = -1, over = 0, under = 0;
	for (i64 base = (i64)blockIdx.x * blockDim.x; base < u.x.n; base += (i64)gridDim.x * blockDim.x) {
		int n = (int)min64(blockDim.x, u.x.n - base);
		i64 firstX = u.x.off + base * u.x.rs;
		if (mpX)
			copyStrip(strip{(u64 *)u.x.a.plane[0], firstX, u.x.rs, n, u.x.a.limbs}, xs, pitch, false);
		for (int j = blockIdx.y; j < u.y.n; j += gridDim.y) {
			strip c = {(u64 *)u.c.a.plane[0], u.c.off + base * u.c.rs + j * u.c.cs, u.c.rs, n, u.c.a.limbs};
			if (mpC && u.add)
				copyStrip(c, cs, pitch, false);
			if (j != done) {
				__syncthreads();
				scale(u, j, t, ts);
				done = j;
				__syncthreads();
			} else if (mpX || mpC) {
				__syncthreads();
			}
			if (threadIdx.x < n) {
				i64 to = c.first + threadIdx.x * c.step;
				int flags = updateEntry(u, t, ts, firstX + threadIdx.x * u.x.rs, to, place{xs + threadIdx.x, pitch},
					place{cs + threadIdx.x, pitch}, window{ws + threadIdx.x, pitch, u.words});
				over += flags & OVERFLOW_;
				under += flags / UNDERFLOW_ & 1;
				if (flags & LEFT)
					leave(u.rest, (int)base + threadIdx.x, j);
			}
			if (mpC) {
				__syncthreads();
				copyStrip(c, cs, pitch, true);
			}
			if (mpX || mpC)
				__syncthreads();
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

// A candidate is the index of a number, whose magnitude comes after that of another if its key does.
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
