// Products of many small matrices of one shape in one launch: C = (-1)^neg 2^exp A B, each entry
// rounded once from its exact sum.
//
// The numbers of a row of A, or of a column of B, become integers in units of 2^(P - 28 K), where
// 2^P is 8 times the power of two above the largest of them: K signed digits of 28 bits, each of
// magnitude 2^27 at most. A problem with a number that has bits below that unit is left, and so is
// a problem with infinities or NaN. Products of digits are at most 2^54 in magnitude, so that a sum
// of 500 of them and the rest of a carry fits 64 bits. Vectors are below 2^(28 K - 1) units, since
// four terms below 2^(28 K - 3) are. So a sum of 256 products is below 2^(56 K + 6) units of the
// last column, and column 0, of 2^(56 K - 56) such units, stays below 2^62.
#include "../common/scaling.cuh"
#include "direct.cuh"

#define BATCH_THREADS 256

#define HALF (1 << (DIGIT - 1))

// The bits of P above the largest number of a vector, whose four terms may all be as large.
#define BATCH_MARGIN 3

// One operand of all problems. Vector r of problem q has number h at r rs + h cs.
struct batchOperand {
	numbers a; // of problem 0
	u64 table; // u64: or plane t of problem q is at 4 q + t, unless this is 0
	i64 step;  // bytes from a problem to the next in each plane
	i64 rs, cs;
};

// What becomes of a problem.
struct batchOutcome {
	u64 overflow, underflow;
	u32 left; // WIDE or OTHER, if it is left
	u32 pad;
};

enum { WIDE = 1, OTHER = 2 };

struct batchProducts {
	batchOperand factor[2]; // rows of A and columns of B
	batchOperand c;         // rs from row to row
	u64 list;               // u32: the problems; 0: all of them
	u64 outcomes;           // of the problems, in the order of the list
	i64 prec, exp;
	int size[2]; // rows and columns of C
	int log[2];  // of the rows and columns of a tile
	int k, count;
	int across; // tiles from column to column
	int chunk;  // numbers of a vector that are in shared memory at a time
	int neg;
	int pad;
};

// ofProblem returns the numbers of a problem.
static __device__ __forceinline__ numbers ofProblem(const batchOperand &o, i64 problem)
{
	numbers a = o.a;
#pragma unroll
	for (int t = 0; t < 4; t++)
		a.plane[t] = o.table ? ((const u64 *)o.table)[4 * problem + t] : a.plane[t] + problem * o.step;
	return a;
}

// batchTile is the part of a block: a tile of each of some problems.
struct batchTile {
	int first, problems;
	int origin[2];

	__device__ __forceinline__ batchTile(const batchProducts &p)
	{
		problems = BATCH_THREADS >> (p.log[0] + p.log[1]);
		first = blockIdx.x * problems;
		origin[0] = (int)(blockIdx.y % p.across) << p.log[0];
		origin[1] = (int)(blockIdx.y / p.across) << p.log[1];
	}

	// vector returns the numbers of a vector, slot of one of the factors, and whether there is one.
	__device__ __forceinline__ bool vector(const batchProducts &p, int side, int slot, numbers &a, i64 &at, int &place) const
	{
		int r = origin[side] + (slot & (1 << p.log[side]) - 1);
		place = first + (slot >> p.log[side]);
		if (place >= p.count || r >= p.size[side])
			return false;
		a = ofProblem(p.factor[side], p.list ? ((const u32 *)p.list)[place] : place);
		at = r * p.factor[side].rs;
		return true;
	}
};

static __device__ __forceinline__ void leaveProblem(const batchProducts &p, int place, u32 why)
{
	atomicOr(&((batchOutcome *)p.outcomes)[place].left, why);
}

// digitsOf sets d to the digits of number i of a, and reports whether they are all of it.
template <int K> static __device__ __forceinline__ bool digitsOf(int (&d)[K], const numbers &a, i64 i, i64 top)
{
	const int W = (DIGIT * K + 63) / 64;
	bool all = true;
#pragma unroll
	for (int c = 0; c < K; c++)
		d[c] = 0;
#pragma unroll 1
	for (int t = 0; t < termsOf(a); t++) {
		numbers of = termOf(a, t);
		number<W> x;
#pragma unroll
		for (int j = 0; j < W; j++)
			x.limb[j] = 0;
		cursor(of, i, 0).load(x, of, 0);
		convert(x, of);
		if (!finiteClass(x.h.cls))
			continue;
		int length = 0;
#pragma unroll
		for (int j = 0; j < W; j++)
			if (x.limb[j] != 0)
				length = 64 * j + 65 - __ffsll((i64)x.limb[j]);
		i64 shift = top - x.h.exp;
		if (shift + length > DIGIT * K) {
			all = false;
			continue;
		}
		u32 e[K];
		cut<K>(e, (int)shift, [&](int j) { return x.limb[j]; });
#pragma unroll
		for (int c = 0; c < K; c++)
			d[c] += x.h.cls & 1 ? -(int)e[c] : (int)e[c];
	}
#pragma unroll
	for (int c = K - 1; c > 0; c--) {
		int v = d[c] + HALF;
		d[c] = (v & MASK) - HALF;
		d[c - 1] += v >> DIGIT;
	}
	return all;
}

// negativeZeros reports whether all products of an entry that is 0 are -0, and clears sure if the
// entry may be none of the zeros of its format.
static __device__ __noinline__ bool negativeZeros(const batchProducts &p, const numbers &a, i64 i, const numbers &b, i64 j, bool &sure)
{
	bool all = true;
	for (int h = 0; h < p.k; h++) {
		i64 at = i + h * p.factor[0].cs, to = j + h * p.factor[1].cs;
		head u[1], v[1];
		heads(termOf(a, 0), at, 0, 1, u);
		heads(termOf(b, 0), to, 0, 1, v);
		bool both = finiteClass(u[0].cls) && finiteClass(v[0].cls);
		if (both || ((u[0].cls ^ v[0].cls) & 1) == p.neg)
			all = false;
		sure = sure && canonical(a, at) && canonical(b, to);
	}
	return all;
}

// batch computes the tiles of a block, each thread an entry.
template <int K> static __device__ __forceinline__ void batch(const batchProducts &p)
{
	const int COLUMNS = 2 * K - 1, WORDS = (DIGIT * (COLUMNS - 1) + 64 + 31) / 32;
	extern __shared__ int room[];
	__shared__ int tops[2][BATCH_THREADS];
	batchTile tile(p);
	int pitch[2];
#pragma unroll
	for (int side = 0; side < 2; side++) {
		tops[side][threadIdx.x] = -0x7fffffff - 1;
		pitch[side] = tile.problems << p.log[side] | 1;
	}
	__syncthreads();

	// The largest exponents.
#pragma unroll 1
	for (int side = 0; side < 2; side++) {
		int slots = tile.problems << p.log[side];
		for (int i = threadIdx.x; i < slots * p.k; i += BATCH_THREADS) {
			int slot = i & slots - 1, place;
			numbers a;
			i64 at;
			if (!tile.vector(p, side, slot, a, at, place))
				continue;
			at += i / slots * p.factor[side].cs;
			for (int t = 0; t < termsOf(a); t++) {
				head h[1];
				heads(termOf(a, t), at, 0, 1, h);
				if (h[0].cls >> 1 > FINITE)
					leaveProblem(p, place, OTHER);
				else if (finiteClass(h[0].cls))
					atomicMax(&tops[side][slot], h[0].exp);
			}
		}
	}
	__syncthreads();

	i64 sum[COLUMNS];
#pragma unroll
	for (int c = 0; c < COLUMNS; c++)
		sum[c] = 0;
	int own[2] = {(int)threadIdx.x & (1 << p.log[0]) - 1, (int)threadIdx.x >> p.log[0] & (1 << p.log[1]) - 1};
	int problem = threadIdx.x >> (p.log[0] + p.log[1]);
	int slotA = problem << p.log[0] | own[0], slotB = problem << p.log[1] | own[1];
	int *digits[2] = {room, room + p.chunk * K * pitch[0]};
#pragma unroll 1
	for (int first = 0; first < p.k; first += p.chunk) {
		int here = min(p.chunk, p.k - first);
#pragma unroll 1
		for (int side = 0; side < 2; side++) {
			const batchOperand &o = p.factor[side];
			int slots = tile.problems << p.log[side];
			// In the order of the numbers in memory.
			bool down = (o.rs < 0 ? -o.rs : o.rs) <= (o.cs < 0 ? -o.cs : o.cs);
			for (int i = threadIdx.x; i < slots * here; i += BATCH_THREADS) {
				int slot = down ? i & slots - 1 : i / here, h = down ? i / slots : i % here, place;
				numbers a;
				i64 at;
				int d[K];
				if (tile.vector(p, side, slot, a, at, place)) {
					if (!digitsOf<K>(d, a, at + (first + h) * o.cs, (i64)tops[side][slot] + BATCH_MARGIN))
						leaveProblem(p, place, WIDE);
				} else {
#pragma unroll
					for (int c = 0; c < K; c++)
						d[c] = 0;
				}
				int *to = digits[side] + h * K * pitch[side] + slot;
#pragma unroll
				for (int c = 0; c < K; c++)
					to[c * pitch[side]] = d[c];
			}
		}
		__syncthreads();
#pragma unroll 1
		for (int h = 0; h < here; h++) {
			const int *x = digits[0] + h * K * pitch[0] + slotA, *y = digits[1] + h * K * pitch[1] + slotB;
			int e[K];
#pragma unroll
			for (int c = 0; c < K; c++)
				e[c] = y[c * pitch[1]];
#pragma unroll
			for (int a = 0; a < K; a++) {
				int d = x[a * pitch[0]];
#pragma unroll
				for (int b = 0; b < K; b++)
					sum[a + b] += (i64)d * e[b];
			}
		}
#pragma unroll
		for (int c = COLUMNS - 1; c > 0; c--) {
			sum[c - 1] += sum[c] >> DIGIT;
			sum[c] &= MASK;
		}
		__syncthreads();
	}

	int place = tile.first + problem, i = tile.origin[0] + own[0], j = tile.origin[1] + own[1];
	if (place >= p.count || i >= p.size[0] || j >= p.size[1])
		return;
	integer x = {(u32 *)room + threadIdx.x, BATCH_THREADS, WORDS};
	u64 bits = 0; // low bits of the next word
	int have = 0, w = 0;
#pragma unroll
	for (int c = COLUMNS - 1; c > 0; c--) {
		bits |= (u64)sum[c] << have;
		have += DIGIT;
		if (have >= 32) {
			x.at[w++ * BATCH_THREADS] = (u32)bits;
			bits >>= 32;
			have -= 32;
		}
	}
	// The rest, sign included.
	u64 low = bits | (u64)sum[0] << have;
	i64 high = have ? sum[0] >> (64 - have) : sum[0] >> 63;
#pragma unroll
	for (; w < WORDS; w++) {
		x.at[w * BATCH_THREADS] = (u32)low;
		low = low >> 32 | (u64)high << 32;
		high >>= 32;
	}
	i64 id = p.list ? ((const u32 *)p.list)[place] : place;
	target c = {ofProblem(p.c, id), 0, p.c.rs, p.c.cs, p.prec};
	i64 to = i * p.c.rs + j * p.c.cs;
	bool neg = x.magnitude() != (p.neg != 0);
	int n = x.length();
	if (n != 0) {
		i64 unit = (i64)tops[0][slotA] + tops[1][slotB] + 2 * BATCH_MARGIN - 2 * DIGIT * K + p.exp;
		if (!storeAny(c, to, x, n, neg, unit, 0, (u64)((batchOutcome *)p.outcomes + place)))
			leaveProblem(p, place, OTHER);
		return;
	}
	bool sure = true;
	neg = negativeZeros(p, ofProblem(p.factor[0], id), i * p.factor[0].rs, ofProblem(p.factor[1], id), j * p.factor[1].rs, sure);
	if (sure)
		storeZero(c, to, neg);
	else
		leaveProblem(p, place, OTHER);
}

// BATCH defines the kernel for K digits; a multiprocessor is to hold so many blocks of them.
#define BATCH(K, BLOCKS)                                                                                                \
	extern "C" __global__ void __launch_bounds__(BATCH_THREADS, BLOCKS) batch##K(const __grid_constant__ batchProducts p) \
	{                                                                                                                   \
		batch<K>(p);                                                                                                    \
	}

BATCH(3, 3)
BATCH(5, 2)
BATCH(9, 2)
BATCH(17, 2)
