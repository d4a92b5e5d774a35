// The exact pass: entries that the rounding test left undecided, from the exact sum of
// their products.
#include "../common/round.cuh"
#include "../common/scaling.cuh"

struct vectorData {
	u64 exp, low, flags; // as scan makes them
};

struct exactPass {
	vectors x, y;
	vectorData l, r;
	target c;
	leftovers from, to; // to: what needs the host
	u64 counts;
	expression e;
	u64 partial; // u32: room + 1 words a block, the last one whether all addends are -0
	u64 arrived; // u32: the parts of an entry that are there, zeros from the start
	int room;    // 32-bit words that sums have in shared memory
	int pad;
};

// A sum is kept in COPIES of counters, one a digit in radix 2^16, each of which takes the
// products of as many threads: at most LONGEST in all between carries, so that no counter leaves
// its 32 bits.
#define COPIES 4
#define LONGEST (COPIES << 15)

#define THREADS 512

// Words of the second factor that a thread takes.
#define CHUNK_MP 8
#define CHUNK 2

// addProduct adds (-1)^neg times a and C words of b from word b0 on, in units of 2^unit, to a sum
// of the given words. Bits below one unit are zeros.
template <int C>
static __device__ __forceinline__ void addProduct(int *sum, int words, const factor &a, const factor &b, int b0, bool neg, i64 unit)
{
	i64 shift = a.exp + b.exp - unit;
	int at = (int)(shift >> 5) + b0, s = (int)(shift & 31);
	u32 y[C], low[C]; // low: the words of the product that are under way
#pragma unroll
	for (int k = 0; k < C; k++) {
		y[k] = b0 + k < b.words ? b.word(b0 + k) : 0;
		low[k] = 0;
	}
	u32 above = 0; // bits of the last word that go into the next
	for (int i = 0; i <= a.words + C; i++) {
		u32 x = i < a.words ? a.word(i) : 0, carry = 0;
#pragma unroll
		for (int k = 0; k < C; k++) {
			u64 t = (u64)x * y[k] + low[k] + carry;
			low[k] = (u32)t;
			carry = (u32)(t >> 32);
		}
		u32 d = low[0], v = s ? d << s | above : d;
		above = s ? d >> (32 - s) : 0;
#pragma unroll
		for (int k = 1; k < C; k++)
			low[k - 1] = low[k];
		low[C - 1] = carry;
		if (v && at + i >= 0 && at + i < words) {
			int lower = v & 0xffff, upper = v >> 16;
			atomicAdd(sum + 2 * (at + i), neg ? -lower : lower);
			atomicAdd(sum + 2 * (at + i) + 1, neg ? -upper : upper);
		}
	}
}

// A sum of counters and the integer that they make.
struct accumulator {
	int *sums; // COPIES of 2 words counters
	u32 *digits;
	int words;

	__device__ void clear(int n)
	{
		words = n;
		for (int w = threadIdx.x; w < 2 * COPIES * words; w += THREADS)
			sums[w] = 0;
	}

	__device__ __forceinline__ int *mine() const { return sums + threadIdx.x % COPIES * 2 * words; }

	// restart makes counters of the digits.
	__device__ void restart()
	{
		clear(words);
		__syncthreads();
		for (int w = threadIdx.x; w < words; w += THREADS) {
			sums[2 * w] = (int)(digits[w] & 0xffff);
			sums[2 * w + 1] = (int)(digits[w] >> 16);
		}
		__syncthreads();
	}

	// carry makes the digits, in two's complement. One thread calls it.
	__device__ void carry()
	{
		i64 c = 0;
		for (int w = 0; w < words; w++) {
#pragma unroll
			for (int k = 0; k < COPIES; k++)
				c += sums[2 * (k * words + w)] + (i64)sums[2 * (k * words + w) + 1] * 65536;
			digits[w] = (u32)c;
			c >>= 32;
		}
	}

	// addScaled adds (-1)^neg times the n words of x, from exponent exp on, times f.
	__device__ void addScaled(const factor &x, const factor &f, bool neg, i64 unit) const
	{
		for (int w = threadIdx.x; w < x.words; w += THREADS)
			addProduct<CHUNK>(mine(), words, f, single(x.word(w), x.exp + 32 * w, false), 0, neg, unit);
	}
};

// dot adds the products of numbers h0 to h1 - 1 of vectors i and j, chunks parts each. It
// clears zeros unless all the products are zeros of the sign of minus alpha, and sets odd at
// numbers that are not canonical.
template <int C>
static __device__ void dot(const accumulator &sum, const exactPass &p, int i, int j, int h0, int h1, int chunks, i64 unit, int *zeros, int *odd)
{
	for (int task = threadIdx.x; task < (h1 - h0) * chunks; task += THREADS) {
		int h = h0 + task / chunks, chunk = task % chunks * C;
		i64 ax = p.x.off + i * p.x.rs + h * p.x.cs, ay = p.y.off + j * p.y.rs + h * p.y.cs;
		factor a, b;
		for (int s = 0; s < parts(p.x.a); s++) {
			bool some = part(a, p.x.a, ax, s);
			for (int t = 0; t < parts(p.y.a); t++) {
				bool both = part(b, p.y.a, ay, t) && some;
				if (both)
					addProduct<C>(sum.mine(), sum.words, a, b, chunk, a.neg != b.neg, unit);
				if (s == 0 && t == 0 && (both || (a.neg != b.neg) == (p.e.alpha.neg != 0)))
					*zeros = 0;
			}
		}
		if (!canonical(p.x.a, ax) || !canonical(p.y.a, ay))
			*odd = 1;
	}
}

// together adds up what the blocks of an entry have found, and reports whether this block is the
// last one and has all. The sum of partial sums takes the place of this block's.
static __device__ bool together(accumulator &sum, const exactPass &p, u32 entry, int slice, int slices, int *zeros, int *last)
{
	u32 *all = (u32 *)p.partial + (i64)entry * slices * (p.room + 1), *mine = all + (i64)slice * (p.room + 1);
	for (int w = threadIdx.x; w < sum.words; w += THREADS)
		mine[w] = sum.digits[w];
	if (threadIdx.x == 0)
		mine[p.room] = (u32)*zeros;
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0)
		*last = atomicAdd((u32 *)p.arrived + entry, 1) == slices - 1;
	__syncthreads();
	if (!*last)
		return false;
	__threadfence();
	sum.clear(sum.words);
	__syncthreads();
	for (int w = threadIdx.x; w < sum.words; w += THREADS) {
		u64 t = 0;
		for (int s = 0; s < slices; s++)
			t += __ldcg(all + (i64)s * (p.room + 1) + w);
		atomicAdd(sum.sums + 2 * w, (int)(t & 0xffff));
		atomicAdd(sum.sums + 2 * w + 1, (int)(t >> 16 & 0xffff));
		if (w + 1 < sum.words)
			atomicAdd(sum.sums + 2 * w + 2, (int)(t >> 32));
	}
	for (int s = threadIdx.x; s < slices; s += THREADS)
		if (!__ldcg(all + (i64)s * (p.room + 1) + p.room))
			*zeros = 0;
	__syncthreads();
	if (threadIdx.x == 0)
		sum.carry();
	__syncthreads();
	return true;
}

// Blocks compute an entry each or, if there are few, a part of an entry's products.
extern "C" __global__ void __launch_bounds__(THREADS) exact(const __grid_constant__ exactPass p)
{
	extern __shared__ int sums[]; // COPIES of 2 room counters, then room words
	__shared__ int zeros; // every addend is -0
	__shared__ int odd;   // a number's value may be zero though its first term is not
	__shared__ int last;
	accumulator sum = {sums, (u32 *)(sums + 2 * COPIES * p.room), 0};
	u32 count = min(*(const u32 *)p.from.count, (u32)p.from.capacity);
	bool mp = p.y.a.kind == MP;
	int chunks = mp ? (2 * p.y.a.limbs + CHUNK_MP - 1) / CHUNK_MP : 1;
	int products = parts(p.x.a) * parts(p.y.a);
	// numbers that counters take
	int longest = max(1, (LONGEST / THREADS / products - 1) * THREADS / chunks);
	int slices = count == 0 ? 1 : max(1, (int)min64(gridDim.x / count, ((i64)p.x.k * chunks + THREADS - 1) / THREADS));
	bool bare = p.e.alpha.plain && !p.e.adds;
	for (u32 f = blockIdx.x; f < count * slices; f += gridDim.x) {
		u32 index = f / slices;
		int slice = (int)(f % slices);
		u64 entry = ((const u64 *)p.from.list)[index];
		int i = (int)(u32)entry, j = (int)(entry >> 32);
		i64 low = ((const i64 *)p.l.low)[i] + ((const i64 *)p.r.low)[j];
		i64 top = ((const i64 *)p.l.exp)[i] + ((const i64 *)p.r.exp)[j] + 2 + 32 - __clz(p.x.k);
		u8 flags = ((const u8 *)p.l.flags)[i] | ((const u8 *)p.r.flags)[j];
		if (top < low) // a vector of zeros
			top = low = 0;
		// The whole expression lies below 2^all and is a multiple of 2^unit.
		i64 all = top + p.e.alpha.length + p.e.alpha.exp, unit = low + p.e.alpha.exp;
		i64 from = p.e.off + i * p.e.rs + j * p.e.cs;
		extent o = {ZERO, false, 0, 0};
		if (p.e.adds && (o = extentOf(p.e.old, from)).cls == FINITE) {
			all = max64(all, o.top + p.e.beta.exp + p.e.beta.length) + 4;
			unit = min64(unit, o.low + p.e.beta.exp);
		}
		i64 need = max64(top - low, all - unit) / 32 + 2;
		int h0 = (int)((i64)p.x.k * slice / slices), h1 = (int)((i64)p.x.k * (slice + 1) / slices);
		if (flags & SPECIAL || o.cls > FINITE || need > p.room) {
			if (threadIdx.x == 0 && slice == 0)
				leave(p.to, i, j);
			continue;
		}
		sum.clear((int)((top - low) / 32 + 2));
		if (threadIdx.x == 0) {
			zeros = 1;
			odd = 0;
		}
		__syncthreads();
		// Once without products, too: a block may have none of few long numbers.
		for (int h = h0; h == h0 || h < h1; h += longest) {
			if (mp)
				dot<CHUNK_MP>(sum, p, i, j, h, min(h + longest, h1), chunks, low, &zeros, &odd);
			else
				dot<CHUNK>(sum, p, i, j, h, min(h + longest, h1), chunks, low, &zeros, &odd);
			__syncthreads();
			if (threadIdx.x == 0)
				sum.carry();
			__syncthreads();
			if (h + longest < h1)
				sum.restart();
		}
		if (slices > 1 && !together(sum, p, index, slice, slices, &zeros, &last))
			continue;
		integer x = {sum.digits, 1, sum.words};
		if (threadIdx.x == 0)
			last = x.magnitude() != (p.e.alpha.neg != 0); // the sign
		if (!bare) {
			int words = sum.words;
			__syncthreads();
			sum.clear((int)need);
			__syncthreads();
			factor product = {sum.digits, 0, 0, words, low, false}, b = factorOf(p.e.beta), part1;
			sum.addScaled(product, factorOf(p.e.alpha), last, unit);
			for (int t = 0; o.cls == FINITE && t < parts(p.e.old); t++)
				if (part(part1, p.e.old, from, t)) {
					for (int w = threadIdx.x; w < part1.words; w += THREADS)
						addProduct<CHUNK>(sum.mine(), sum.words, b, single(part1.word(w), part1.exp + 32 * w, false), 0, part1.neg != b.neg, unit);
				}
			__syncthreads();
			if (threadIdx.x == 0) {
				sum.carry();
				x.words = sum.words;
				last = x.magnitude();
			}
		}
		if (threadIdx.x == 0) {
			int n = x.length();
			i64 to = p.c.off + i * p.c.rs + j * p.c.cs;
			// beta times old is not -0
			bool plus = p.e.adds && (o.cls == FINITE || o.neg == (p.e.beta.neg != 0));
			if (n > 0 ? !storeAny(p.c, to, x, n, last, unit, 0, p.counts) : odd || p.e.adds && !canonical(p.e.old, from))
				leave(p.to, i, j);
			else if (n == 0)
				storeZero(p.c, to, zeros && !plus);
		}
		__syncthreads();
	}
}
