// One right-hand side of F Y = G in fixed point: y is a sum of vectors of integers c, each about X
// r for an X in binary64, and r <- r - F c is exact but for what is cut off, which package linsolve
// counts. Numbers are integers in two's complement, of 64-bit words with the lowest first unless
// they are planes, which have the highest first. No kernel waits for the host: what scales the
// numbers of a step is the length of the longest r, which the step before has left on the device.
#include "stage.cuh"

#define ROWS 128 // threads of a block, a row each, of correction and product
#define PARTS 8  // threads that add up the slices of a row
#define CHUNK 4  // planes whose product with a vector is an integer of WORDS words
#define WORDS (CHUNK + 2)
#define COLUMNS 128 // of a slice, at most

struct refining {
	vectors f, x, g; // F of MP, X of F64, a column of MP
	vectors z;       // a column of MP of words + 2 limbs
	u64 planes;      // u64: word l of f_ij at (l n + j) n + i
	u64 r, y;        // u64: word k of row i at k n + i; words + 1 and words + 2 of them
	u64 parts;       // double: sums of slices of rows of X
	u64 sums;        // u64: integers of chunks, of slices
	u64 tops;        // int: |r| < 2^tops[step] in units of 2^-(64 words)
	i64 shift;       // |g| < 2^shift, which is 1 here
	int n, words;
	int top, count;  // |f| < 2^top, in count planes
	int scale;       // c is X r 2^-scale, rounded, for r of 62 bits
	int step, used;  // planes that a step takes
	int columns;     // of a slice
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
	for (int j = blockIdx.y; j < n; j += gridDim.y)
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
					to[(q.count - 1 - k) * n * n] = w;
				}
			}
			__syncthreads();
		}
}

// fixedBegin makes r = g and y = 0.
extern "C" __global__ void __launch_bounds__(ROWS) fixedBegin(const __grid_constant__ refining q)
{
	int i = blockIdx.x * ROWS + threadIdx.x, limbs = q.g.a.limbs;
	if (i >= q.n)
		return;
	i64 n = q.n, at = q.g.off + i * q.g.rs;
	u32 cls = ((const u8 *)q.g.a.plane[2])[at];
	bool some = cls >> 1 == FINITE;
	i64 first = 64 * (limbs - q.words) + q.shift - (some ? ((const int *)q.g.a.plane[1])[at] : 0);
	u64 *r = (u64 *)q.r + i, *y = (u64 *)q.y + i;
	for (int k = 0; k <= q.words; k++)
		r[k * n] = some ? bitsAt((const u64 *)q.g.a.plane[0] + at * limbs, first + 64 * k, limbs, 1, 0) : 0;
	if (some && cls & 1)
		negate(r, q.words + 1, n);
	for (int k = 0; k < q.words + 2; k++)
		y[k * n] = 0;
	atomicMax((int *)q.tops, lengthOf(r, q.words + 1, n));
}

// fixedCorrection multiplies a slice of columns of X by the leading 62 bits of r.
extern "C" __global__ void __launch_bounds__(ROWS) fixedCorrection(const __grid_constant__ refining q)
{
	__shared__ double lead[COLUMNS];
	int j0 = blockIdx.y * q.columns, count = min(q.columns, q.n - j0), i = blockIdx.x * ROWS + threadIdx.x;
	i64 n = q.n;
	int top = ((const int *)q.tops)[q.step];
	for (int c = threadIdx.x; c < count; c += ROWS) {
		const u64 *r = (const u64 *)q.r + j0 + c;
		u64 above = (i64)r[q.words * n] < 0 ? ~0ull : 0;
		lead[c] = (double)(i64)bitsAt(r, top - 62, q.words + 1, n, above);
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

// A sum of words.
struct sum {
	u64 w[WORDS];

	// add adds x 2^(64 k), from word k on.
	__device__ __forceinline__ void add(int k, u64 x)
	{
#pragma unroll
		for (int i = 0; i < WORDS; i++)
			if (i >= k) {
				w[i] += x;
				x = w[i] < x;
			}
	}
};

// fixedProduct multiplies a slice of columns of F, of some planes, by c, and adds c to y.
extern "C" __global__ void __launch_bounds__(ROWS) fixedProduct(const __grid_constant__ refining q)
{
	__shared__ i64 c[COLUMNS];
	int j0 = blockIdx.y * q.columns, count = min(q.columns, q.n - j0), i = blockIdx.x * ROWS + threadIdx.x;
	i64 n = q.n;
	int top = ((const int *)q.tops)[q.step];
	double scale = __longlong_as_double((i64)(1023 - q.scale) << 52);
	for (int k = threadIdx.x; k < count; k += ROWS) {
		double v = 0;
		for (int s = 0; s < gridDim.y; s++)
			v += ((const double *)q.parts)[s * n + j0 + k];
		i64 x = c[k] = __double2ll_rn(v * scale);
		if (blockIdx.x == 0) {
			int shift = 2 + top + q.scale, low = shift & 63;
			u64 *y = (u64 *)q.y + j0 + k, sign = x < 0 ? ~0ull : 0, carry = 0;
			u64 part[2] = {(u64)x << low, low == 0 ? sign : (u64)(x >> (64 - low))};
			for (int w = shift >> 6, p = 0; w < q.words + 2; w++, p++) {
				u64 add = p < 2 ? part[p] : sign, old = y[w * n], sum = old + add, all = sum + carry;
				carry = sum < old || all < sum;
				y[w * n] = all;
			}
		}
	}
	__syncthreads();
	if (i >= q.n)
		return;
	int chunks = (q.used + CHUNK - 1) / CHUNK;
	for (int z = 0; z < chunks; z++) {
		sum acc = {};
		int planes = min(CHUNK, q.used - CHUNK * z);
		const u64 *from = (const u64 *)q.planes + (i64)CHUNK * z * n * n + j0 * n + i;
#pragma unroll 2
		for (int k = 0; k < count; k++) {
			// f c is that of -1 - f and -c, and of -c alone.
			i64 x = c[k];
			u64 flip = x < 0 ? ~0ull : 0, size = x < 0 ? 0 - (u64)x : (u64)x, f[CHUNK];
#pragma unroll
			for (int l = 0; l < CHUNK; l++)
				f[CHUNK - 1 - l] = (l < planes ? __ldg(from + k * n + l * n * n) : 0) ^ flip;
			u64 carry = 0;
#pragma unroll
			for (int l = 0; l < CHUNK; l++) {
				u64 low = f[l] * size, high = __umul64hi(f[l], size);
				low += carry;
				high += low < carry;
				acc.w[l] += low;
				carry = high + (acc.w[l] < low); // high is 2^64 - 2 at most
			}
			acc.add(CHUNK, carry);
			if (z == 0 && (i64)f[CHUNK - 1] < 0) // the integer is f - 2^(64 CHUNK)
				acc.add(CHUNK, 0 - size), acc.add(CHUNK + 1, ~0ull * (size != 0));
			if (z == chunks - 1)
				acc.add(0, flip & size);
		}
		u64 *to = (u64 *)q.sums + ((i64)(z * gridDim.y + blockIdx.y) * WORDS) * n + i;
#pragma unroll
		for (int w = 0; w < WORDS; w++)
			to[w * n] = acc.w[w];
	}
}

// fixedResidual subtracts F c from r, and finds the length of the longest.
extern "C" __global__ void __launch_bounds__(32 * PARTS) fixedResidual(const __grid_constant__ refining q, int slices)
{
	__shared__ u64 part[PARTS][WORDS][32];
	int lane = threadIdx.x % 32, p = threadIdx.x / 32, i = blockIdx.x * 32 + lane;
	i64 n = q.n;
	int top = ((const int *)q.tops)[q.step], chunks = (q.used + CHUNK - 1) / CHUNK;
	for (int z = 0; z < chunks; z++) {
		sum acc = {};
		for (int s = p; s < slices && i < q.n; s += PARTS) {
			const u64 *from = (const u64 *)q.sums + ((i64)(z * slices + s) * WORDS) * n + i;
#pragma unroll
			for (int w = 0; w < WORDS; w++)
				acc.add(w, from[w * n]);
		}
#pragma unroll
		for (int w = 0; w < WORDS; w++)
			part[p][w][lane] = acc.w[w];
		__syncthreads();
		if (p == 0 && i < q.n) {
			for (int s = 1; s < PARTS; s++)
#pragma unroll
				for (int w = 0; w < WORDS; w++)
					acc.add(w, part[s][w][lane]);
#pragma unroll
			for (int w = 0; w < WORDS; w++)
				part[0][w][lane] = acc.w[w];
			// In units of r's last place.
			i64 shift = (i64)q.top + 1 - 64 * CHUNK * (z + 1) - 62 + top + q.scale;
			u64 *r = (u64 *)q.r + i, above = (i64)acc.w[WORDS - 1] < 0 ? ~0ull : 0, borrow = 0;
			for (int k = 0; k <= q.words; k++) {
				u64 old = r[k * n], less = bitsAt(&part[0][0][lane], 64 * k - shift, WORDS, 32, above), diff = old - less;
				r[k * n] = diff - borrow;
				borrow = old < less || diff < borrow;
			}
		}
		__syncthreads();
	}
	if (p == 0 && i < q.n)
		atomicMax((int *)q.tops + q.step + 1, lengthOf((const u64 *)q.r + i, q.words + 1, n));
}

// fixedNumbers stores y, which it changes.
extern "C" __global__ void __launch_bounds__(ROWS) fixedNumbers(const __grid_constant__ refining q)
{
	int i = blockIdx.x * ROWS + threadIdx.x, count = q.words + 2;
	if (i >= q.n)
		return;
	i64 n = q.n, to = q.z.off + i * q.z.rs;
	u64 *y = (u64 *)q.y + i;
	bool neg = (i64)y[(count - 1) * n] < 0;
	if (neg)
		negate(y, count, n);
	int length = lengthOf(y, count, n);
	((u8 *)q.z.a.plane[2])[to] = (length ? FINITE : ZERO) << 1 | neg;
	if (length == 0)
		return;
	((int *)q.z.a.plane[1])[to] = (int)(length - 64 * (q.words + 1) + q.shift);
	u64 *sig = (u64 *)q.z.a.plane[0] + to * count;
	for (int k = 0; k < count; k++)
		sig[k] = bitsAt(y, length - 64 * (count - k), count, n, 0);
}
