// One right-hand side of F Y = G in fixed point: y is a sum of vectors of integers c, each about X
// r for an X in binary64, and r <- r - F c is exact but for what is cut off, which package linsolve
// counts. Numbers are integers in two's complement, of 64-bit words with the lowest first unless
// they are planes, which have the highest first. No kernel waits for the host: what scales the
// numbers of a step is the length of the longest r, which the step before has left on the device.
//
// Several GPUs have some columns of F and of X each, and as many rows of r, y, g and z. What they
// make of their columns, parts and sums for all rows, the others read where it is.
#include "stage.cuh"

#define ROWS 128    // threads of a block, a row each, of correction and product
#define PARTS 16    // threads that add up the slices of a row
#define CHUNK 4     // planes that make an integer with a vector, of CHUNK + 1 words for a slice
#define WORDS (CHUNK + 2) // for all
#define COLUMNS 128 // of a slice of X, at most
#define SLICE 64    // of one of F
#define GPUS 16     // at most
#define HALF 26     // bits of half of a c: products with 32 bits of F add up to 64 bits in a slice

struct refining {
	vectors f, x; // columns of F of MP, of X of F64
	vectors g, z; // rows of a column of MP, and of one of MP of words + 2 limbs
	u64 planes;   // u64: word l of f_ij at (l width + j) n + i
	u64 r, y;     // u64: word k of row i at k width + i; words + 1 and words + 2 of them
	u64 parts;    // double: sums of slices of rows of X; for fixedProduct, of the own rows
	u64 sums;     // u64: integers of chunks, of slices
	u64 tops;     // int: |r| ≤ 2^tops[step] in units of 2^-(64 words)
	u64 joined;   // double: sums of rows of X
	u64 highest;  // int: tops of all GPUs
	u64 allParts[GPUS], allSums[GPUS], allTops[GPUS];
	int allWidths[GPUS]; // columns that they have
	i64 shift;       // |g| < 2^shift, which is 1 here
	int n, words;
	int top, count;  // |f| < 2^top, in count planes
	int scale;       // c is X r 2^-scale, rounded, for r of 62 bits: of 2 HALF bits at most
	int step, used;  // planes that a step takes
	int columns, slices; // of a slice of X, and how many there are
	int slice;       // columns of one of F, a power of two
	int begin, width; // the columns
	int gpus;
};

// raw returns word i of count words step apart, zeros below and what above stands for above.
static __device__ __forceinline__ u64 raw(const u64 *x, i64 i, int count, i64 step, u64 above)
{
	return i < 0 ? 0 : i < count ? x[i * step] : above;
}

// bitsAt returns the 64 bits from a position on.
static __device__ __forceinline__ u64 bitsAt(const u64 *x, i64 position, int count, i64 step, u64 above)
{
	i64 i = position >> 6;
	int s = (int)(position & 63);
	u64 low = raw(x, i, count, step, above);
	return s == 0 ? low : low >> s | raw(x, i + 1, count, step, above) << (64 - s);
}

// lengthOf returns n with |x| <= 2^n, for a number of count words step apart.
static __device__ __forceinline__ int lengthOf(const u64 *x, int count, i64 step)
{
	u64 sign = (i64)x[(count - 1) * step] < 0 ? ~0ull : 0;
	for (int k = count - 1; k >= 0; k--) {
		u64 w = x[k * step] ^ sign;
		if (w)
			return 64 * k + 64 - __clzll((i64)w);
	}
	return 0;
}

// negate negates a number of count words step apart.
static __device__ __forceinline__ void negate(u64 *x, int count, i64 step)
{
	u64 carry = 1;
	for (int k = 0; k < count; k++) {
		u64 w = ~x[k * step] + carry;
		carry = carry && w == 0;
		x[k * step] = w;
	}
}

// fixedPlanes cuts the entries of F into planes: the integers next to f 2^(64 count - 1 - top)
// towards zero.
extern "C" __global__ void __launch_bounds__(256) fixedPlanes(const __grid_constant__ refining q)
{
	extern __shared__ u64 room[];
	stage s(room, q.f.a);
	int t = threadIdx.x, limbs = s.limbs;
	i64 n = q.n;
	for (int j = blockIdx.y; j < q.width; j += gridDim.y)
		for (int i0 = blockIdx.x * blockDim.x; i0 < n; i0 += gridDim.x * blockDim.x) {
			int count = min((int)blockDim.x, q.n - i0);
			s.load(q.f, i0, j, count);
			asm volatile("cp.async.commit_group;" ::: "memory");
			asm volatile("cp.async.wait_group 0;" ::: "memory");
			__syncthreads();
			if (t < count) {
				i64 at = q.f.off + (i0 + t) * q.f.rs + j * q.f.cs;
				u32 cls = ((const u8 *)q.f.a.plane[2])[at];
				bool some = cls >> 1 == FINITE, neg = some && cls & 1;
				i64 first = 64 * (limbs - q.count) + q.top + 1 - (some ? ((const int *)q.f.a.plane[1])[at] : 0);
				u64 carry = neg, *to = (u64 *)q.planes + j * n + i0 + t;
				for (int k = 0; k < q.count; k++) {
					u64 w = some ? bitsAt(s.of(t), first + 64 * k, limbs, 1, 0) : 0;
					if (neg) {
						w = ~w + carry;
						carry = carry && w == 0;
					}
					to[(q.count - 1 - k) * n * q.width] = w;
				}
			}
			__syncthreads();
		}
}

// fixedBegin makes r = g and y = 0.
extern "C" __global__ void __launch_bounds__(ROWS) fixedBegin(const __grid_constant__ refining q)
{
	int i = blockIdx.x * ROWS + threadIdx.x, limbs = q.g.a.limbs;
	if (i >= q.width)
		return;
	i64 width = q.width, at = q.g.off + i * q.g.rs;
	u32 cls = ((const u8 *)q.g.a.plane[2])[at];
	bool some = cls >> 1 == FINITE;
	i64 first = 64 * (limbs - q.words) + q.shift - (some ? ((const int *)q.g.a.plane[1])[at] : 0);
	u64 *r = (u64 *)q.r + i, *y = (u64 *)q.y + i;
	for (int k = 0; k <= q.words; k++)
		r[k * width] = some ? bitsAt((const u64 *)q.g.a.plane[0] + at * limbs, first + 64 * k, limbs, 1, 0) : 0;
	if (some && cls & 1)
		negate(r, q.words + 1, width);
	for (int k = 0; k < q.words + 2; k++)
		y[k * width] = 0;
	atomicMax((int *)q.tops, lengthOf(r, q.words + 1, width));
}

// fixedCorrection multiplies a slice of columns of X by the leading 62 bits of their r.
extern "C" __global__ void __launch_bounds__(ROWS) fixedCorrection(const __grid_constant__ refining q)
{
	__shared__ double lead[COLUMNS];
	int j0 = blockIdx.y * q.columns, count = min(q.columns, q.width - j0), i = blockIdx.x * ROWS + threadIdx.x;
	i64 n = q.n, width = q.width;
	int top = ((const int *)q.tops)[q.step];
	for (int c = threadIdx.x; c < count; c += ROWS) {
		const u64 *r = (const u64 *)q.r + j0 + c;
		u64 above = (i64)r[q.words * width] < 0 ? ~0ull : 0;
		lead[c] = (double)(i64)bitsAt(r, top - 62, q.words + 1, width, above);
	}
	__syncthreads();
	if (i >= q.n)
		return;
	const double *x = (const double *)q.x.a.plane[0] + q.x.off + i * q.x.rs + j0 * q.x.cs;
	double sum = 0;
#pragma unroll 8
	for (int c = 0; c < count; c++)
		sum = fma(x[c * q.x.cs], lead[c], sum);
	((double *)q.parts)[blockIdx.y * n + i] = sum;
}

// fixedJoin adds up the slices of all GPUs, in units of the longest r.
extern "C" __global__ void __launch_bounds__(32 * PARTS) fixedJoin(const __grid_constant__ refining q)
{
	__shared__ double part[PARTS][32];
	int lane = threadIdx.x % 32, p = threadIdx.x / 32, j = blockIdx.x * 32 + lane;
	i64 n = q.n;
	int top = 0;
	for (int d = 0; d < q.gpus; d++)
		top = max(top, ((const int *)q.allTops[d])[q.step]);
	if (blockIdx.x == 0 && threadIdx.x == 0)
		((int *)q.highest)[q.step] = top;
	double sum = 0;
	for (int d = 0; d < q.gpus && j < q.width; d++) {
		int down = top - ((const int *)q.allTops[d])[q.step], slices = (q.allWidths[d] + q.columns - 1) / q.columns;
		const double *x = (const double *)q.allParts[d] + q.begin + j;
		double here = 0;
#pragma unroll 4
		for (int s = p; s < slices; s += PARTS)
			here += x[s * n];
		if (down < 1000)
			sum += here * __longlong_as_double((i64)(1023 - down) << 52);
	}
	part[p][lane] = sum;
	__syncthreads();
	if (p > 0 || j >= q.width)
		return;
	for (int s = 1; s < PARTS; s++)
		sum += part[s][lane];
	((double *)q.joined)[j] = sum;
}

// product stores the integer of P planes and c for row i, and of all words that may not be 0.
//
// f c is that of -1 - f and -c, and of -c alone: so c is not negative, and f is, if it is, its
// words less 2^(64 P).
template <int P> static __device__ __forceinline__ void product(const u64 *from, const i64 *c, int count, i64 n, i64 plane, bool first, bool last, u64 *to)
{
	u64 low[2 * P] = {}, high[2 * P] = {}, over = 0, more = 0;
#pragma unroll 2
	for (int k = 0; k < count; k++) {
		i64 x = c[k];
		u64 flip = x < 0 ? ~0ull : 0, size = (u64)(x < 0 ? -x : x), f[P];
		u32 l = (u32)size & ((1u << HALF) - 1), h = (u32)(size >> HALF);
#pragma unroll
		for (int p = 0; p < P; p++)
			f[p] = __ldg(from + k * n + (P - 1 - p) * plane) ^ flip;
#pragma unroll
		for (int p = 0; p < P; p++) {
			low[2 * p] += (u64)(u32)f[p] * l;
			high[2 * p] += (u64)(u32)f[p] * h;
			low[2 * p + 1] += (f[p] >> 32) * l;
			high[2 * p + 1] += (f[p] >> 32) * h;
		}
		if ((i64)f[P - 1] < 0)
			over += size;
		more += flip & size;
	}
	// Less than 2^59 all the time.
	u64 carry = last ? more : 0, word = 0;
#pragma unroll
	for (int p = 0; p < 2 * P; p++) {
		u64 sum = low[p] + (high[p] << HALF), top = (high[p] >> (64 - HALF)) + (sum < low[p]);
		sum += carry;
		top += sum < carry;
		carry = (sum >> 32) + (top << 32);
		if (p % 2 == 0) {
			word = (u32)sum;
		} else {
			to[p / 2 * n] = word | sum << 32;
		}
	}
	to[P * n] = first ? carry - over : carry;
}

// fixedProduct multiplies a slice of columns of F, of a chunk of planes, by c, and adds c to y.
extern "C" __global__ void __launch_bounds__(ROWS) fixedProduct(const __grid_constant__ refining q)
{
	__shared__ i64 c[SLICE];
	__shared__ double part[ROWS];
	int t = threadIdx.x, j0 = blockIdx.y * q.slice, count = min(q.slice, q.width - j0), i = blockIdx.x * ROWS + t, z = blockIdx.z;
	i64 n = q.n, width = q.width;
	int top = ((const int *)q.highest)[q.step], column = t & (q.slice - 1);
	double v = 0;
#pragma unroll 4
	for (int s = t / q.slice; s < q.slices; s += ROWS / q.slice)
		if (column < count)
			v += ((const double *)q.parts)[s * width + j0 + column];
	part[t] = v;
	__syncthreads();
	if (t < count) {
		for (int s = t + q.slice; s < ROWS; s += q.slice)
			v += part[s];
		i64 x = c[t] = __double2ll_rn(v * __longlong_as_double((i64)(1023 - q.scale) << 52));
		if (blockIdx.x == 0 && z == 0) {
			int shift = 2 + top + q.scale, low = shift & 63;
			u64 *y = (u64 *)q.y + j0 + t, sign = x < 0 ? ~0ull : 0, carry = 0;
			u64 both[2] = {(u64)x << low, low == 0 ? sign : (u64)(x >> (64 - low))};
			for (int w = shift >> 6, p = 0; w < q.words + 2; w++, p++) {
				u64 add = p < 2 ? both[p] : sign, old = y[w * width], sum = old + add, all = sum + carry;
				carry = sum < old || all < sum;
				y[w * width] = all;
			}
		}
	}
	__syncthreads();
	if (i >= q.n)
		return;
	int planes = min(CHUNK, q.used - CHUNK * z);
	const u64 *from = (const u64 *)q.planes + (i64)CHUNK * z * n * width + j0 * n + i;
	u64 *to = (u64 *)q.sums + ((i64)(z * gridDim.y + blockIdx.y) * (CHUNK + 1) + CHUNK - planes) * n + i;
	bool first = z == 0, last = z == gridDim.z - 1;
	if (planes == 1)
		product<1>(from, c, count, n, n * width, first, last, to);
	else if (planes == 2)
		product<2>(from, c, count, n, n * width, first, last, to);
	else if (planes == 3)
		product<3>(from, c, count, n, n * width, first, last, to);
	else
		product<4>(from, c, count, n, n * width, first, last, to);
}

// A sum of words.
struct sum {
	u64 w[WORDS];

	// add adds x 2^(64 k), and above 2^64 from there on.
	__device__ __forceinline__ void add(int k, u64 x, u64 above)
	{
		u64 carry = 0;
#pragma unroll
		for (int i = 0; i < WORDS; i++)
			if (i >= k) {
				u64 less = w[i] + (i == k ? x : above), all = less + carry;
				carry = less < w[i] || all < less;
				w[i] = all;
			}
	}
};

// fixedResidual subtracts F c from r, and finds the length of the longest.
extern "C" __global__ void __launch_bounds__(32 * PARTS) fixedResidual(const __grid_constant__ refining q)
{
	extern __shared__ u64 totals[]; // word w of row i at 32 w + i
	__shared__ u64 part[PARTS][WORDS][32];
	int lane = threadIdx.x % 32, p = threadIdx.x / 32, i = blockIdx.x * 32 + lane;
	i64 n = q.n, width = q.width;
	int top = ((const int *)q.highest)[q.step], chunks = (q.used + CHUNK - 1) / CHUNK;
	u64 carry[2] = {0, 0}; // from the chunk below
	for (int z = chunks - 1; z >= 0; z--) {
		int first = CHUNK - min(CHUNK, q.used - CHUNK * z); // words that are not 0
		sum acc = {};
		for (int d = 0; d < q.gpus && i < q.width; d++) {
			int slices = (q.allWidths[d] + q.slice - 1) / q.slice;
			for (int s = p; s < slices; s += PARTS) {
				const u64 *from = (const u64 *)q.allSums[d] + ((i64)(z * slices + s) * (CHUNK + 1)) * n + q.begin + i;
				u64 w[CHUNK + 1];
#pragma unroll
				for (int k = 0; k <= CHUNK; k++)
					w[k] = k < first ? 0 : from[k * n];
#pragma unroll
				for (int k = 0; k <= CHUNK; k++)
					acc.add(k, w[k], k == CHUNK && z == 0 && (i64)w[k] < 0 ? ~0ull : 0);
			}
		}
#pragma unroll
		for (int w = 0; w < WORDS; w++)
			part[p][w][lane] = acc.w[w];
		__syncthreads();
		if (p == 0) {
			for (int s = 1; s < PARTS; s++)
#pragma unroll
				for (int w = 0; w < WORDS; w++)
					acc.add(w, part[s][w][lane], 0);
			acc.add(0, carry[0], 0);
			acc.add(1, carry[1], 0);
#pragma unroll
			for (int w = 0; w < CHUNK; w++)
				totals[32 * (CHUNK * (chunks - 1 - z) + w) + lane] = acc.w[w];
			carry[0] = acc.w[CHUNK];
			carry[1] = acc.w[CHUNK + 1];
		}
		__syncthreads();
	}
	if (p > 0 || i >= q.width)
		return;
	int count = CHUNK * chunks + 2;
	totals[32 * (count - 2) + lane] = carry[0];
	totals[32 * (count - 1) + lane] = carry[1];
	// In units of r's last place.
	i64 shift = (i64)q.top + 1 - 64 * CHUNK * chunks - 62 + top + q.scale;
	u64 *r = (u64 *)q.r + i, above = (i64)carry[1] < 0 ? ~0ull : 0, borrow = 0;
	const int BATCH = 8;
	for (int k0 = 0; k0 <= q.words; k0 += BATCH) {
		u64 old[BATCH];
#pragma unroll
		for (int k = 0; k < BATCH; k++)
			old[k] = k0 + k <= q.words ? r[(k0 + k) * width] : 0;
#pragma unroll
		for (int k = 0; k < BATCH; k++)
			if (k0 + k <= q.words) {
				u64 less = bitsAt(totals + lane, 64 * (k0 + k) - shift, count, 32, above), diff = old[k] - less;
				r[(k0 + k) * width] = diff - borrow;
				borrow = old[k] < less || diff < borrow;
			}
	}
	atomicMax((int *)q.tops + q.step + 1, lengthOf(r, q.words + 1, width));
}

// fixedNumbers stores y, which it changes.
extern "C" __global__ void __launch_bounds__(ROWS) fixedNumbers(const __grid_constant__ refining q)
{
	int i = blockIdx.x * ROWS + threadIdx.x, count = q.words + 2;
	if (i >= q.width)
		return;
	i64 width = q.width, to = q.z.off + i * q.z.rs;
	u64 *y = (u64 *)q.y + i;
	bool neg = (i64)y[(count - 1) * width] < 0;
	if (neg)
		negate(y, count, width);
	int length = lengthOf(y, count, width);
	((u8 *)q.z.a.plane[2])[to] = (length ? FINITE : ZERO) << 1 | neg;
	if (length == 0)
		return;
	((int *)q.z.a.plane[1])[to] = (int)(length - 64 * (q.words + 1) + q.shift);
	u64 *sig = (u64 *)q.z.a.plane[0] + to * count;
	for (int k = 0; k < count; k++)
		sig[k] = bitsAt(y, length - 64 * (count - k), count, width, 0);
}
