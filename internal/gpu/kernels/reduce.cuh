// Sums of numbers and of products, along the rows of a matrix: level 1 and matrix-vector
// products.
//
// Row r has a reference P, the largest exponent of its addends. An addend of a sum, a =
// A 2^e with 1/2 <= A < 1, enters as the first K digits of A 2^(e-P) in radix B = 2^28. Of a
// product a x, x = X 2^f, the first factor enters as the first K digits of A 2^(e+f-P), the
// second as the first K digits of X, and of the product of these the columns c < K of digits
// are kept, column c weighing B^-(c+2). In units of 2^P a sum's addend is wrong by less than
// B^-K, a product by less than
//
//	B^-K (digits of A cut) + B^-K (digits of X cut) + K B^-K / (1 - 1/B) (columns cut),
//
// that is (K + 3) B^-K; all digits have the sign of the addend.
//
// Every thread keeps its columns in registers, and adds them to those of its row in the
// device's memory at the end. Integers are added, so the order does not matter.
#pragma once
#include "common.cuh"

#define THREADS 128
#define DIGIT 28
#define MASK ((1 << DIGIT) - 1)

// Flags of a row.
enum { SEEN_SPECIAL = 1, SEEN_FINITE = 2, SEEN_POSITIVE_ZERO = 4, SEEN_NEGATIVE_ZERO = 8 };

// What is known of the addends of each row. All bytes start as 0x80.
struct spans {
	u64 top;    // i64: the largest exponent of an addend, that is of the sum of its factors'
	u64 bottom; // i64: the negative of the least such exponent
	u64 flags;  // u32
};

// No exponent of an addend is as low: there is none.
#define NO_TOP (-(1ll << 61))

// What is known of a number without its significand: |x| = 0.S 2^exp, and the class byte of
// an MP number.
struct head {
	int exp;
	u32 cls;
};

static __device__ __forceinline__ head headOfTerm(double x)
{
	head h;
	int e;
	u64 m = decompose(x, e);
	h.exp = e + 64 - __clzll((i64)m);
	h.cls = (m == 0 ? ZERO : finite(x) ? FINITE : NAN_) << 1 | (u32)((u64)__double_as_longlong(x) >> 63);
	return h;
}

struct reduction {
	vectors a; // the first factors, or the addends of sums
	vectors x; // one vector: the second factors
	spans s;
	u64 columns;    // i64: number c n + r is column c - 1 of row r, c <= K; what overflows column 0 is in column -1
	int digits;     // K
	int products;   // 0: sums
	int magnitudes; // sums of magnitudes
	int rows;       // that a block works on at a time: 1 or THREADS
	int width;      // entries of a row that a thread works on at a time
	int down;       // whether memory runs down the columns of a
	int later;      // terms of expansions but the first: their zeros do not count
};

// A tile of numbers in shared memory: number (f, s), f < fast, s < slow, has place f df + s ds.
struct tile {
	head *h;
	u64 *words; // pitch a number, an odd count
	int pitch;
};

static __device__ __forceinline__ void copyWord(u64 *to, const u64 *from)
{
	asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from));
}

// load begins to load the numbers at + f sf + s ss of a into a tile.
static __device__ void load(const tile &t, const numbers &a, i64 at, int fast, i64 sf, int df, int slow, i64 ss, int ds)
{
	// Positions in a mixed radix, advanced by THREADS at a time.
	int f = threadIdx.x % fast, s = threadIdx.x / fast, stepF = THREADS % fast, stepS = THREADS / fast;
	if (a.kind != MP) {
		while (s < slow) {
			double x = term(a, at + f * sf + s * ss, 0);
			int to = f * df + s * ds, e;
			t.h[to] = headOfTerm(x);
			u64 m = decompose(x, e);
			t.words[to * t.pitch] = m << (__clzll((i64)m) & 63);
			f += stepF;
			s += stepS;
			if (f >= fast) {
				f -= fast;
				s++;
			}
		}
		return;
	}
	int words = a.limbs;
	int w = threadIdx.x % words, n = threadIdx.x / words;
	int wf = n % fast, ws = n / fast;
	n = THREADS / words;
	int stepW = THREADS % words, stepWF = n % fast, stepWS = n / fast;
	while (ws < slow) {
		copyWord(&t.words[(wf * df + ws * ds) * t.pitch + w], (const u64 *)a.plane[0] + (at + wf * sf + ws * ss) * words + w);
		w += stepW;
		wf += stepWF;
		ws += stepWS;
		if (w >= words) {
			w -= words;
			wf++;
		}
		if (wf >= fast) {
			wf -= fast;
			ws++;
		}
	}
	while (s < slow) {
		i64 i = at + f * sf + s * ss;
		head h = {__ldg((const int *)a.plane[1] + i), __ldg((const u8 *)a.plane[2] + i)};
		t.h[f * df + s * ds] = h;
		f += stepF;
		s += stepS;
		if (f >= fast) {
			f -= fast;
			s++;
		}
	}
}

// significand is an integer of words 32-bit words, most significant bit set, as a fraction.
struct significand {
	const u32 *at;
	int words;

	// word returns word i from the top, 0 outside.
	__device__ __forceinline__ u32 word(int i) const
	{
		int k = words - 1 - i;
		return (u32)k < (u32)words ? at[k] : 0;
	}
};

// digits finds the first K digits of 2^-shift times x.
template <int K> static __device__ __forceinline__ void digits(u32 (&d)[K], const significand &x, int shift)
{
	const int n = (DIGIT * K + 31) / 32;
	int i = -shift >> 5, s = -shift & 31;
	u32 above = x.word(i), last = 0;
	int k = 0;
#pragma unroll
	for (int m = 0; m < n; m++) {
		u32 below = x.word(i + m + 1);
		u32 v = __funnelshift_l(below, above, s); // word m of the shifted fraction
		above = below;
		// The digits that end in this word.
#pragma unroll
		for (int q = 0; q < 2; q++) {
			if (k < K && DIGIT * (k + 1) <= 32 * (m + 1)) {
				int end = DIGIT * (k + 1) - 32 * m; // bits of v that belong to it or are above
				d[k] = (end < 32 ? __funnelshift_r(v, last, 32 - end) : v) & MASK;
				k++;
			}
		}
		last = v;
	}
	}

// normalise carries once, so that all columns but the first are less than 2^28 + 2^36.
template <int K> static __device__ __forceinline__ void normalise(i64 (&sum)[K + 1])
{
#pragma unroll
	for (int c = 0; c < K; c++) {
		sum[c] += sum[c + 1] >> DIGIT; // still the old sum of column c + 1
		sum[c + 1] &= MASK;
	}
}

// accumulate adds the addends of rows to their columns.
template <int K, bool PRODUCTS> static __device__ __forceinline__ void accumulate(const reduction &r)
{
	extern __shared__ u64 room[];
	int rows = r.rows, lanes = THREADS / rows, width = lanes * r.width;
	int row = blockIdx.x * rows + threadIdx.x % rows, lane = threadIdx.x / rows;
	int rowsHere = min(rows, r.a.n - (int)blockIdx.x * rows);
	tile a, x;
	a.pitch = r.a.a.kind == MP ? r.a.a.limbs | 1 : 1;
	x.pitch = r.x.a.kind == MP ? r.x.a.limbs | 1 : 1;
	a.words = room;
	x.words = a.words + width * rows * a.pitch;
	a.h = (head *)(x.words + (PRODUCTS ? width * x.pitch : 0));
	x.h = a.h + width * rows;

	i64 sum[K + 1];
#pragma unroll
	for (int c = 0; c <= K; c++)
		sum[c] = 0;
	i64 top = row < r.a.n ? ((const i64 *)r.s.top)[row] : 0;
	const int longest = PRODUCTS ? 126 / K : 1 << 30; // products between normalisations
	int count = 0;
	for (int base = blockIdx.y * width; base < r.a.k; base += gridDim.y * width) {
		int n = min(width, r.a.k - base);
		i64 at = r.a.off + (i64)blockIdx.x * rows * r.a.rs + base * r.a.cs;
		if (rows > 1 && r.down)
			load(a, r.a.a, at, rowsHere, r.a.rs, 1, n, r.a.cs, rows);
		else
			load(a, r.a.a, at, n, r.a.cs, rows, rowsHere, r.a.rs, 1);
		if (PRODUCTS)
			load(x, r.x.a, r.x.off + base * r.x.cs, n, r.x.cs, 1, 1, 0, 0);
		asm volatile("cp.async.wait_all;" ::: "memory");
		__syncthreads();
		for (int h = lane; h < n && row < r.a.n; h += lanes) {
			int place = h * rows + threadIdx.x % rows;
			head ha = a.h[place];
			significand sa = {(const u32 *)(a.words + place * a.pitch), r.a.a.kind == MP ? 2 * r.a.a.limbs : 2};
			u32 negative = ha.cls & 1;
			i64 shift = top - ha.exp;
			bool some = ha.cls >> 1 == FINITE;
			if (PRODUCTS) {
				head hx = x.h[h];
				negative ^= hx.cls & 1;
				shift -= hx.exp;
				some = some && hx.cls >> 1 == FINITE;
			} else if (r.magnitudes) {
				negative = 0;
			}
			if (!some || shift >= DIGIT * K)
				continue;
			u32 d[K];
			digits<K>(d, sa, (int)shift);
			int sign = -(int)negative;
			if (!PRODUCTS) {
#pragma unroll
				for (int c = 0; c < K; c++)
					sum[c + 1] += (int)(d[c] ^ sign) - sign;
				continue;
			}
			significand sx = {(const u32 *)(x.words + h * x.pitch), r.x.a.kind == MP ? 2 * r.x.a.limbs : 2};
			u32 e[K];
			digits<K>(e, sx, 0);
#pragma unroll
			for (int j = 0; j < K; j++) {
				int v = (int)(e[j] ^ sign) - sign;
#pragma unroll
				for (int i = 0; i < K - j; i++)
					sum[i + j + 1] += (i64)(int)d[i] * v;
			}
			if (++count >= longest) {
				normalise<K>(sum);
				count = 0;
			}
		}
		__syncthreads();
	}
	normalise<K>(sum);
	u64 *to = (u64 *)r.columns;
	if (rows > 1) {
		if (row < r.a.n) {
#pragma unroll
			for (int c = 0; c <= K; c++)
				atomicAdd(to + (i64)c * r.a.n + row, (u64)sum[c]);
		}
		return;
	}
	i64 *part = (i64 *)room;
#pragma unroll
	for (int c = 0; c <= K; c++) {
		i64 v = sum[c];
#pragma unroll
		for (int d = 16; d > 0; d /= 2)
			v += __shfl_xor_sync(~0u, v, d);
		if (threadIdx.x % 32 == 0)
			part[threadIdx.x / 32 * (K + 1) + c] = v;
	}
	__syncthreads();
	for (int c = threadIdx.x; c <= K; c += THREADS) {
		i64 v = 0;
		for (int w = 0; w < THREADS / 32; w++)
			v += part[w * (K + 1) + c];
		atomicAdd(to + (i64)c * r.a.n + row, (u64)v);
	}
}

#define ACCUMULATE(K)                                                                                                     \
	extern "C" __global__ void __launch_bounds__(THREADS) sums##K(const __grid_constant__ reduction r) { accumulate<K, false>(r); } \
	extern "C" __global__ void __launch_bounds__(THREADS) products##K(const __grid_constant__ reduction r) { accumulate<K, true>(r); }

