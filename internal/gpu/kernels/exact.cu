// The exact pass: entries that the rounding test left undecided, from the exact sum of
// their products.
#include "round.cuh"

struct vectorData {
	u64 exp, low, flags; // as scan makes them
};

struct exactPass {
	vectors x, y;
	vectorData l, r;
	target c;
	leftovers from, to; // to: what needs the host
	i64 alphaExp;
	int alphaNeg;
	int room; // 32-bit words that sums have in shared memory
};

// A sum is kept in COPIES of counters, one a digit in radix 2^16, each of which takes part
// of the products: at most LONGEST in all, so that no counter leaves its 32 bits.
#define COPIES 4
#define LONGEST (COPIES << 15)

#define THREADS 512

// A magnitude of words 32-bit words times 2^exp.
struct factor {
	const u32 *at; // null: the words are lo and hi
	u32 lo, hi;
	int words;
	i64 exp;
	bool neg;

	__device__ __forceinline__ u32 word(int i) const { return at ? at[i] : i ? hi : lo; }
};

// parts returns of how many factors number i is the sum.
static __device__ __forceinline__ int parts(const numbers &a) { return a.kind == MP ? 1 : terms(a); }

// part sets f to part t of number i and reports whether it is not zero. neg is its sign.
static __device__ bool part(factor &f, const numbers &a, i64 i, int t)
{
	if (a.kind == MP) {
		u8 c = ((const u8 *)a.plane[2])[i];
		f.neg = c & 1;
		f.at = (const u32 *)a.plane[0] + i * 2 * a.limbs;
		f.words = 2 * a.limbs;
		f.exp = (i64)((const int *)a.plane[1])[i] - 64 * a.limbs;
		return c >> 1 == FINITE;
	}
	double x = term(a, i, t);
	int e;
	u64 m = decompose(x, e);
	f.neg = (u64)__double_as_longlong(x) >> 63;
	f.at = 0;
	f.lo = (u32)m;
	f.hi = (u32)(m >> 32);
	f.words = 2;
	f.exp = e;
	return m != 0;
}

// addProduct adds (-1)^neg a b 2^shift to a sum of the given words; shift may be negative where
// the bits that fall off are zeros.
static __device__ void addProduct(int *sum, int words, const factor &a, const factor &b, bool neg, i64 shift)
{
	int at = (int)(shift >> 5), s = (int)(shift & 31);
	u64 low = 0, high = 0; // of the column under way: low + 2^64 high
	u32 above = 0;         // bits of the last word that go into the next
	for (int c = 0; c <= a.words + b.words; c++) {
		int i0 = c < b.words ? 0 : c - b.words + 1, i1 = c < a.words ? c : a.words - 1;
		for (int i = i0; i <= i1; i++) {
			u64 t = (u64)a.word(i) * b.word(c - i);
			low += t;
			high += low < t;
		}
		u32 d = (u32)low;
		low = low >> 32 | high << 32;
		high >>= 32;
		u32 v = s ? d << s | above : d;
		above = s ? d >> (32 - s) : 0;
		if (v && at + c >= 0 && at + c < words) {
			int lower = v & 0xffff, upper = v >> 16;
			atomicAdd(sum + 2 * (at + c), neg ? -lower : lower);
			atomicAdd(sum + 2 * (at + c) + 1, neg ? -upper : upper);
		}
	}
}

// A block computes an entry at a time.
extern "C" __global__ void __launch_bounds__(THREADS) exact(const __grid_constant__ exactPass p)
{
	extern __shared__ int sums[]; // COPIES of 2 room counters, then room words
	__shared__ int negativeZero; // every addend is -0
	u32 count = min(*(const u32 *)p.from.count, (u32)p.from.capacity);
	for (u32 f = blockIdx.x; f < count; f += gridDim.x) {
		u64 entry = ((const u64 *)p.from.list)[f];
		int i = (int)(u32)entry, j = (int)(entry >> 32);
		i64 low = ((const i64 *)p.l.low)[i] + ((const i64 *)p.r.low)[j];
		i64 top = ((const i64 *)p.l.exp)[i] + ((const i64 *)p.r.exp)[j] + 2 + 32 - __clz(p.x.k);
		u8 flags = ((const u8 *)p.l.flags)[i] | ((const u8 *)p.r.flags)[j];
		bool zeros = top < low; // a vector of zeros
		i64 need = zeros ? 1 : (top - low) / 32 + 2;
		if (flags & SPECIAL || need > p.room || (i64)p.x.k * parts(p.x.a) * parts(p.y.a) > LONGEST) {
			if (threadIdx.x == 0)
				leave(p.to, i, j);
			continue;
		}
		int words = (int)need;
		for (int w = threadIdx.x; w < 2 * COPIES * words; w += THREADS)
			sums[w] = 0;
		int *sum = sums + threadIdx.x % COPIES * 2 * words;
		if (threadIdx.x == 0)
			negativeZero = 1;
		__syncthreads();
		for (int h = threadIdx.x; h < p.x.k; h += THREADS) {
			i64 ax = p.x.off + i * p.x.rs + h * p.x.cs, ay = p.y.off + j * p.y.rs + h * p.y.cs;
			factor a, b;
			for (int s = 0; s < parts(p.x.a); s++) {
				bool some = part(a, p.x.a, ax, s);
				for (int t = 0; t < parts(p.y.a); t++) {
					bool both = part(b, p.y.a, ay, t) && some;
					if (both)
						addProduct(sum, words, a, b, a.neg != b.neg, a.exp + b.exp - low);
					if (s == 0 && t == 0 && (both || (a.neg != b.neg) == (p.alphaNeg != 0)))
						negativeZero = 0;
				}
			}
		}
		__syncthreads();
		if (threadIdx.x == 0) {
			u32 *digits = (u32 *)(sums + 2 * COPIES * p.room);
			i64 carry = 0;
			for (int w = 0; w < words; w++) {
				i64 t = carry;
#pragma unroll
				for (int c = 0; c < COPIES; c++)
					t += sums[2 * (c * words + w)] + (i64)sums[2 * (c * words + w) + 1] * 65536;
				digits[w] = (u32)t;
				carry = t >> 32;
			}
			integer x = {digits, 1, words};
			bool neg = x.magnitude() != (p.alphaNeg != 0);
			int n = x.length();
			i64 to = p.c.off + i * p.c.rs + j * p.c.cs;
			bool expansions = parts(p.x.a) > 1 || parts(p.y.a) > 1;
			if (n == 0 && expansions || n > 0 && !store(p.c, to, x, n, neg, low + p.alphaExp, 0))
				leave(p.to, i, j);
			else if (n == 0)
				storeZero(p.c, to, negativeZero);
		}
		__syncthreads();
	}
}
