// What the plan of a product needs to know of its operands: for each vector (row of
// the left factor, column of the right one) the exponent that all its numbers lie
// below, the unit that they are multiples of, the sum of their magnitudes; and the
// sizes of some entries of the product.
#include "../common/leading.cuh"
#include "../common/report.cuh"

// Exponents of a vector of zeros.
#define ZERO_EXP (-(1ll << 61))
#define ZERO_LOW (1ll << 61)

struct scanned {
	u64 exp;   // i64: |x| < 2^exp[v]
	u64 low;   // i64: x is a multiple of 2^low[v]
	u64 norm;  // double: at least sum |x| 2^-exp[v]
	u64 flags; // u8
	u64 total; // struct totals; 0 if the rest is there already, or nobody wants them
};

// A block scans VECTORS vectors with LANES threads each, BATCH numbers at a time, or PLAIN_BATCH of
// F32 and F64.
#define VECTORS 8
#define LANES 32
#define BATCH 4
#define PLAIN_BATCH 8

struct state {
	i64 top, low;
	double sum; // of magnitudes in units of 2^top
	u32 flags;

	__device__ void rescale(i64 e)
	{
		if (e > top) {
			sum *= pow2(top - e);
			top = e;
		}
	}

	// add takes in a magnitude of at most lead 2^e < 2^e, a multiple of 2^l.
	__device__ void add(double lead, i64 e, i64 l)
	{
		rescale(e);
		low = min64(low, l);
		sum += lead * pow2(e - top);
	}

	__device__ void merge(const state &s)
	{
		rescale(s.top);
		low = min64(low, s.low);
		sum += s.sum * pow2(s.top - top);
		flags |= s.flags;
	}
};

// scanMP takes in BATCH numbers from position at on, step apart, of which n are there.
static __device__ __forceinline__ void scanMP(state &s, const numbers &a, i64 at, i64 step, int n)
{
	u8 classes[BATCH];
	int exps[BATCH];
	u64 tops[BATCH], lows[BATCH];
	const u64 *sig = (const u64 *)a.plane[0];
#pragma unroll
	for (int b = 0; b < BATCH; b++) {
		i64 i = b < n ? at + b * step : at;
		classes[b] = ((const u8 *)a.plane[2])[i];
		exps[b] = ((const int *)a.plane[1])[i];
		tops[b] = sig[i * a.limbs + a.limbs - 1];
		lows[b] = sig[i * a.limbs];
	}
#pragma unroll
	for (int b = 0; b < BATCH; b++) {
		if (b >= n)
			break;
		if (classes[b] >> 1 != FINITE) {
			s.flags |= classes[b] >> 1 == ZERO ? HAS_ZERO : SPECIAL;
			continue;
		}
		i64 e = exps[b], least = e - 64 * a.limbs;
		s.rescale(e);
		// The leading 53 bits, whose last is cut off, times 2^(e - top).
		u64 lead = tops[b] << 1 >> 12 | (u64)(max64(e - s.top, -1000) + 1022) << 52;
		s.sum += __longlong_as_double((i64)lead);
		if (least < s.low) {
			int k = 0;
			u64 w = lows[b];
			while (w == 0)
				w = sig[(at + b * step) * a.limbs + ++k];
			s.low = min64(s.low, least + 64 * k + __ffsll((i64)w) - 1);
		}
	}
}

// addTerm takes in x, which leaves room for the sum of terms.
static __device__ void addTerm(state &s, double x, int spread)
{
	if (!finite(x)) {
		s.flags |= SPECIAL;
		return;
	}
	int e;
	u64 m = decompose(x, e);
	int len = 64 - __clzll((i64)m);
	s.add((double)m * pow2(-len - spread), e + len + spread, e + __ffsll((i64)m) - 1);
}

// A plainState is for numbers of biased exponents 1 to PLAIN, whose sum is not scaled.
#define PLAIN 1999

struct plainState {
	double sum;
	int top, low; // biased exponents of the largest number, and of the unit

	__device__ __forceinline__ void add(state &s, double x)
	{
		u64 b = (u64)__double_as_longlong(x);
		int e = (int)(b >> 52) & 0x7ff;
		if ((u32)(e - 1) >= PLAIN) {
			if (x == 0)
				s.flags |= HAS_ZERO;
			else
				addTerm(s, x, 0);
			return;
		}
		sum += fabs(x);
		top = max(top, e);
		if (e < low)
			low = min(low, e + __ffsll((i64)(b | 1ull << 52)) - 1);
	}

	__device__ __forceinline__ void merge(const plainState &p)
	{
		sum += p.sum;
		top = max(top, p.top);
		low = min(low, p.low);
	}

	__device__ void mergeInto(state &s) const
	{
		if (top > 0)
			s.merge(state{top - 1022, low - 1075, sum * __longlong_as_double((i64)(2045 - top) << 52), 0});
	}
};

// scanPlain takes in numbers lane, lane + LANES, ... of k, the first of which lies at position at,
// the next ones step apart. Numbers for which a plainState is not go to s.
template <class T> static __device__ __forceinline__ void scanPlain(plainState &p, state &s, const T *a, i64 at, i64 step, int lane, int k)
{
	for (int h = lane; h < k; h += PLAIN_BATCH * LANES, at += PLAIN_BATCH * step) {
		T x[PLAIN_BATCH];
#pragma unroll
		for (int b = 0; b < PLAIN_BATCH; b++)
			if (h + b * LANES < k)
				x[b] = a[at + b * step];
#pragma unroll
		for (int b = 0; b < PLAIN_BATCH; b++)
			if (h + b * LANES < k)
				p.add(s, x[b]);
	}
}

// scanTerms takes in the terms of expansions one by one. Their sum stays below four times
// the largest; spread is the room for that.
static __device__ void scanTerms(state &s, const numbers &a, i64 at, i64 step, int n, int terms, int spread)
{
	u32 zeros = (1u << n) - 1;
	for (int t = 0; t < terms; t++) {
		double x[BATCH];
#pragma unroll
		for (int b = 0; b < BATCH; b++)
			x[b] = b < n ? term(a, at + b * step, t) : 0;
#pragma unroll
		for (int b = 0; b < BATCH; b++) {
			if (x[b] == 0)
				continue;
			zeros &= ~(1u << b);
			addTerm(s, x[b], spread);
		}
	}
	if (zeros)
		s.flags |= HAS_ZERO;
}

// store stores what the first VECTORS threads of a block have found of its vectors, in sums of so
// many magnitudes, and updates the extremes.
static __device__ void store(state s, int sums, int n, const scanned &out)
{
	int vector = blockIdx.x * VECTORS + threadIdx.x;
	// Each of the at most 4 sums additions and scalings errs by at most 2^-53.
	s.sum *= 1 + (double)(12 * sums + 64) * 0x1p-53;
	// s is that of no numbers if there is no such vector
	u64 norm = (u64)__double_as_longlong(s.sum);
	i64 width = s.top == ZERO_EXP ? 0 : s.top - s.low;
	if (vector < n) {
		((i64 *)out.exp)[vector] = s.top;
		((i64 *)out.low)[vector] = s.low;
		((double *)out.norm)[vector] = s.sum;
		((u8 *)out.flags)[vector] = (u8)s.flags;
	}
	// One update of the extremes for all vectors of the block.
	const u32 mask = (1 << VECTORS) - 1;
#pragma unroll
	for (int step = VECTORS / 2; step > 0; step /= 2) {
		norm = max(norm, __shfl_down_sync(mask, norm, step));
		width = max64(width, __shfl_down_sync(mask, width, step));
		s.flags |= __shfl_down_sync(mask, s.flags, step);
	}
	if (threadIdx.x > 0 || out.total == 0)
		return;
	totals *t = (totals *)out.total;
	atomicMax(&t->norm, norm);
	atomicMax(&t->width, width);
	if (s.flags)
		atomicOr(&t->flags, s.flags);
}

// What a warp knows of a vector whose numbers are plain.
struct plainPart {
	plainState p;
	u32 flags, pad;
};

// storePlain is store for vectors whose numbers are plain, from what the threads of the block know.
// A warp has numbers of all vectors if these lie across it, else of one.
static __device__ void storePlain(plainState p, u32 flags, bool across, const vectors &x, const scanned &out, void *shared)
{
	plainPart *part = (plainPart *)shared;
	int warp = threadIdx.x / 32, here = across ? VECTORS : 1;
	for (int step = 16; step >= here; step /= 2) {
		i64 sum = __shfl_xor_sync(~0u, __double_as_longlong(p.sum), step);
		p.merge(plainState{__longlong_as_double(sum), __shfl_xor_sync(~0u, p.top, step), __shfl_xor_sync(~0u, p.low, step)});
		flags |= __shfl_xor_sync(~0u, flags, step);
	}
	if (threadIdx.x % 32 < here)
		part[warp * here + threadIdx.x % 32] = plainPart{p, flags, 0};
	__syncthreads();
	if (threadIdx.x >= VECTORS)
		return;
	plainPart all = part[threadIdx.x];
	if (across)
		for (int w = 1; w < VECTORS * LANES / 32; w++) {
			const plainPart &other = part[w * VECTORS + threadIdx.x];
			all.p.merge(other.p);
			all.flags |= other.flags;
		}
	state s = {ZERO_EXP, ZERO_LOW, 0, all.flags};
	all.p.mergeInto(s);
	store(s, x.k, x.n, out);
}

static __device__ void scanVectors(const vectors &x, const scanned &out, void *shared)
{
	state(*part)[LANES + 1] = (state(*)[LANES + 1])shared;
	int v, lane;
	bool across = x.rs == 1 || x.rs == -1;
	if (across) {
		v = threadIdx.x % VECTORS;
		lane = threadIdx.x / VECTORS;
	} else {
		v = threadIdx.x / LANES;
		lane = threadIdx.x % LANES;
	}
	int vector = blockIdx.x * VECTORS + v;
	state s = {ZERO_EXP, ZERO_LOW, 0, 0};
	plainState p = {0, 0, 4095};
	if (vector < x.n) {
		int t = terms(x.a), spread = t > 2 ? 2 : t - 1;
		i64 step = LANES * x.cs, at = x.off + vector * x.rs + lane * x.cs;
		if (x.a.kind == F64)
			scanPlain(p, s, (const double *)x.a.plane[0], at, step, lane, x.k);
		else if (x.a.kind == F32)
			scanPlain(p, s, (const float *)x.a.plane[0], at, step, lane, x.k);
		else
			for (int h = lane; h < x.k; h += BATCH * LANES, at += BATCH * step) {
				int n = min(BATCH, (x.k - h + LANES - 1) / LANES);
				if (x.a.kind == MP)
					scanMP(s, x.a, at, step, n);
				else
					scanTerms(s, x.a, at, step, n, t, spread);
			}
	}
	if (x.a.kind == F64 || x.a.kind == F32) {
		if (!__syncthreads_or(s.top != ZERO_EXP)) {
			storePlain(p, s.flags, across, x, out, shared);
			return;
		}
		p.mergeInto(s);
	}
	part[v][lane] = s;
	for (int step = LANES / 2; step > 0; step /= 2) {
		__syncthreads();
		if (lane < step)
			part[v][lane].merge(part[v][lane + step]);
	}
	__syncthreads();
	if (threadIdx.x >= VECTORS)
		return;
	store(part[threadIdx.x][0], x.k, x.n, out);
}

// What is added to the product: ratio 2^exp times the old entries, number off + i rs + j cs.
struct oldSample {
	numbers old;
	i64 off, rs, cs;
	double ratio; // 0: nothing
	i64 exp;
};

// A sum of numbers in units of 2^top, top being the largest exponent met.
struct scaledSum {
	i64 top;
	double sum, magnitude;

	__device__ void add(double s, double m, i64 e)
	{
		if (e > top) {
			double f = pow2(top - e);
			sum *= f;
			magnitude *= f;
			top = e;
		}
		double f = pow2(e - top);
		sum += s * f;
		magnitude += m * f;
	}
};

// sampled returns which of n rows, or columns, entry number index of SAMPLES has: those of a Weyl
// sequence over both.
#define ROW_STEP 0.7548776662466927
#define COLUMN_STEP 0.5698402909980532

static __device__ int sampled(int index, double step, int n)
{
	double u = (index + 0.5) * step;
	return min((int)((u - floor(u)) * n), n - 1);
}

// A number x 2^exp, as function leading returns it.
struct lead {
	double x;
	i64 exp;
};

// The left factor in panels, which several devices have looked at: panel p is numbers start[p] <= h
// < start[p + 1] of every vector. What is known of it is record p, at at + p size: exponents, least
// exponents and norms of the n vectors, then struct lead [SAMPLES][width] of the sampled rows, then
// flags.
#define MAX_PANELS 16

struct panels {
	u64 at;
	i64 size;
	int count, width, n, k;
	int start[MAX_PANELS + 1];
	int pad;

	__device__ scanned found(int p) const
	{
		u64 exp = at + p * size, low = exp + 8 * n, norm = low + 8 * n;
		return scanned{exp, low, norm, norm + 8 * n + sizeof(lead) * SAMPLES * width, 0};
	}

	// number returns number h of the row of a sample.
	__device__ double number(int index, int, int h, i64 &e) const
	{
		int p = 0;
		while (h >= start[p + 1])
			p++;
		const lead &l = ((const lead *)(at + p * size + 24 * n))[index * width + h - start[p]];
		e = l.exp;
		return l.x;
	}
};

// The left factor in one.
struct wholeRows {
	const vectors &x;
	int n, k;

	__device__ double number(int, int i, int h, i64 &e) const { return leading(x.a, x.off + i * x.rs + h * x.cs, e); }
};

// sampleEntry measures entry number index of SAMPLES of the result, in binary64. Where
// cancellation within the product spoils that, the entry counts as 2^-30 times the sum of
// magnitudes.
template <class X> static __device__ void sampleEntry(const X &x, const vectors &y, const oldSample &o, int index, sample *out, void *shared)
{
	// of x, y and their products
	scaledSum(*part)[VECTORS * LANES] = (scaledSum(*)[VECTORS * LANES])shared;
	int i = sampled(index, ROW_STEP, x.n), j = sampled(index, COLUMN_STEP, y.n);
	scaledSum s[3] = {{ZERO_EXP, 0, 0}, {ZERO_EXP, 0, 0}, {ZERO_EXP, 0, 0}};
	for (int h = threadIdx.x; h < x.k; h += VECTORS * LANES) {
		i64 ex, ey;
		double a = x.number(index, i, h, ex);
		double b = leading(y.a, y.off + j * y.rs + h * y.cs, ey);
		if (a != 0)
			s[0].add(a, fabs(a), ex);
		if (b != 0)
			s[1].add(b, fabs(b), ey);
		if (a != 0 && b != 0)
			s[2].add(a * b, fabs(a * b), ex + ey);
	}
	for (int c = 0; c < 3; c++)
		part[c][threadIdx.x] = s[c];
	for (int step = VECTORS * LANES / 2; step > 0; step /= 2) {
		__syncthreads();
		if (threadIdx.x < step)
			for (int c = 0; c < 3; c++) {
				scaledSum t = part[c][threadIdx.x + step];
				part[c][threadIdx.x].add(t.sum, t.magnitude, t.top);
			}
	}
	if (threadIdx.x != 0)
		return;
	const scaledSum &l = part[0][0], &r = part[1][0], &p = part[2][0];
	sample e = {-1e9, l.magnitude, r.magnitude, 0};
	double size = fmax(fabs(p.sum), p.magnitude * 0x1p-30);
	if (size > 0) {
		i64 top = p.top, exp;
		double old;
		if (o.ratio != 0 && (old = o.ratio * leading(o.old, o.off + i * o.rs + j * o.cs, exp)) != 0) {
			scaledSum all = {top, p.sum < 0 ? -size : size, size};
			all.add(old, fabs(old), exp + o.exp);
			e.cancelled = fabs(all.sum) <= all.magnitude * 0x1p-30;
			size = e.cancelled ? all.magnitude : fabs(all.sum);
			top = all.top;
		}
		e.size = fmin((double)(ilogb(size) + 1 + top - l.top - r.top), 64);
	}
	out[index] = e;
}

#define SHARED_BYTES (3 * sizeof(scaledSum) * VECTORS * LANES)
static_assert(sizeof(state) * VECTORS * (LANES + 1) <= SHARED_BYTES, "shared memory of scanVectors");

template <class X> static __device__ void sampleEntries(const X &x, const vectors &y, const oldSample &old, u64 c, void *shared)
{
	for (int i = blockIdx.x; i < SAMPLES; i += gridDim.x) {
		sampleEntry(x, y, old, i, ((control *)c)->r.samples, shared);
		__syncthreads();
	}
}

// scan scans both factors and measures entries of their product: blocks (b, 0) entries, blocks
// (b, 1) the left factor, blocks (b, 2) the right one. The extremes of the vectors and the
// entries are told the host, unless to is 0: then a later kernel tells (struct telling).
extern "C" __global__ void __launch_bounds__(VECTORS *LANES, 3) scan(const __grid_constant__ vectors x, const __grid_constant__ scanned sx,
	const __grid_constant__ vectors y, const __grid_constant__ scanned sy, const __grid_constant__ oldSample old,
	u64 c, u64 to, u32 ticket)
{
	__shared__ double shared[SHARED_BYTES / 8];
	if (blockIdx.y == 0)
		sampleEntries(wholeRows{x, x.n, x.k}, y, old, c, shared);
	else if (blockIdx.y == 1 && sx.total != 0)
		scanVectors(x, sx, shared);
	else if (blockIdx.y == 2 && sy.total != 0)
		scanVectors(y, sy, shared);
	if (to != 0 && lastBlock(&((control *)c)->blocks, gridDim.x * gridDim.y))
		tell(to, ticket, &((control *)c)->r, sizeof(report) / 8);
}

// What extents are wanted of, in one launch.
#define LOOKS 4

struct looks {
	struct {
		vectors x;
		scanned to;
	} of[LOOKS];
};

// extents scans matrices that are no factors of a product: blocks (b, k) matrix k.
extern "C" __global__ void __launch_bounds__(VECTORS *LANES, 3) extents(const __grid_constant__ looks l)
{
	__shared__ state shared[VECTORS * (LANES + 1)];
	const vectors &x = l.of[blockIdx.y].x;
	if (blockIdx.x * VECTORS < x.n)
		scanVectors(x, l.of[blockIdx.y].to, shared);
}

// scanPanel makes the record of a panel x: blocks (b, 0) the sampled rows, blocks (b, 1) the rest.
extern "C" __global__ void __launch_bounds__(VECTORS *LANES, 3) scanPanel(const __grid_constant__ panels q, const __grid_constant__ vectors x, int p)
{
	__shared__ double shared[SHARED_BYTES / 8];
	if (blockIdx.y == 1) {
		scanVectors(x, q.found(p), shared);
		return;
	}
	for (int index = blockIdx.x; index < SAMPLES; index += gridDim.x) {
		lead *to = (lead *)(q.at + p * q.size + 24 * q.n) + index * q.width;
		int i = sampled(index, ROW_STEP, x.n);
		for (int h = threadIdx.x; h < x.k; h += VECTORS * LANES)
			to[h].x = leading(x.a, x.off + i * x.rs + h * x.cs, to[h].exp);
	}
}

// scanPanels is scan for a left factor that is known by the records of its panels.
extern "C" __global__ void __launch_bounds__(VECTORS *LANES, 3) scanPanels(const __grid_constant__ panels x, const __grid_constant__ scanned sx,
	const __grid_constant__ vectors y, const __grid_constant__ scanned sy, const __grid_constant__ oldSample old,
	u64 c, u64 to, u32 ticket)
{
	__shared__ double shared[SHARED_BYTES / 8];
	if (blockIdx.y == 0) {
		sampleEntries(x, y, old, c, shared);
	} else if (blockIdx.y == 1 && threadIdx.x < VECTORS) {
		int vector = blockIdx.x * VECTORS + threadIdx.x;
		state s = {ZERO_EXP, ZERO_LOW, 0, 0};
		for (int p = 0; p < x.count && vector < x.n; p++) {
			scanned f = x.found(p);
			s.merge(state{((const i64 *)f.exp)[vector], ((const i64 *)f.low)[vector], ((const double *)f.norm)[vector], ((const u8 *)f.flags)[vector]});
		}
		store(s, x.count, x.n, sx);
	} else if (blockIdx.y == 2 && sy.total != 0) {
		scanVectors(y, sy, shared);
	}
	if (lastBlock(&((control *)c)->blocks, gridDim.x * gridDim.y))
		tell(to, ticket, &((control *)c)->r, sizeof(report) / 8);
}

// outcomes tells the host what became of the entries, in one block, and clears all for the next
// product where the exact pass has nothing to do.
extern "C" __global__ void outcomes(u64 c, u64 to, u32 ticket)
{
	bool over = ((control *)c)->o.list == 0;
	tell(to, ticket, &((control *)c)->o, sizeof(outcome) / 8);
	__syncthreads();
	if (over)
		for (int i = threadIdx.x; i < sizeof(control) / 8; i += blockDim.x)
			((u64 *)c)[i] = 0;
}
