// Numbers aligned to integers, and these modulo all moduli. An integer's balanced digits in
// radix 2^8 times 2^(8s) mod m, for left operands times (M/m)^-1 as well: a product of
// small matrices, whose entries are then reduced.
#include "mma.cuh"

struct conversion {
	u64 constants; // fragments of the constants: uint4 [tile][step][lane]
	u64 moduli;    // struct modulus a row of the tiles
	u64 planes;
	i64 stride;          // bytes from plane to plane
	int plain, karatsuba; // moduli of the two sorts
	int blocks;          // tiles along k
	int width;           // bits of the integers
	int permute;         // vectors are placed as place says
};

struct modulus {
	float inverse; // 1/m
	int m;
};

// With this in the accumulators from the start, sums of magnitude below 2^22 are the
// low bits of a binary32 number 1.5 2^23 + sum. Modulo 2^16 it is nothing.
#define MAGIC 0x4B400000
#define MAGIC_FLOAT 12582912.0f

// Threads of a block, and numbers along k that it converts.
#define THREADS 256
#define STRIP 64

// Vectors that a block converts, such that their digits fit shared memory.
template <int K> static __device__ constexpr int groupOf() { return K <= 2 ? 16 : K <= 4 ? 8 : 4; }

// Digits of number h of vector v lie at word v vectorWords + h 8 K + h / 16 PAD. Words i
// and i + 4 of eight are neighbours: a lane reads both at once.
template <int K> static __device__ constexpr int padOf() { return K % 2 ? 16 : 8; }
template <int K> static __device__ constexpr int vectorWords() { return STRIP * 8 * K + STRIP / 16 * padOf<K>() + 8; }

static __device__ __forceinline__ int slot(int i) { return i & ~7 | (i & 3) << 1 | i >> 2 & 1; }

// An integer of words 32-bit words.
struct source {
	const u32 *at; // null: the words are lo and hi
	u32 lo, hi;
	int words;

	__device__ __forceinline__ u32 word(int i) const
	{
		if ((u32)i >= (u32)words)
			return 0;
		if (at)
			return at[i];
		return i ? hi : lo;
	}
};

// writeDigits stores the balanced digits of (-1)^neg round(x 2^-pos) in 8 K words.
template <int K> static __device__ __forceinline__ void writeDigits(u32 *to, const source &x, i64 pos, bool neg)
{
	if (pos > 32 * x.words)
		pos = 32 * x.words + 32;
	int p = (int)pos, at = p >> 5;
	u32 s = p & 31;
	// Rounding adds bit pos - 1. Negation is ^x + 1, of x + r: ^x + 1 - r. Then 0x80 added
	// to every digit and taken off again digit by digit balances them.
	u32 carry = x.word((p - 1) >> 5) >> ((p - 1) & 31) & 1;
	u32 flip = neg ? ~0u : 0;
	if (neg)
		carry = 1 - carry;
	u32 low = x.word(at);
	for (int step = 0; step < K; step++) {
		u32 w[8];
#pragma unroll
		for (int i = 0; i < 8; i++) {
			u32 high = x.word(++at);
			u64 t = (u64)(__funnelshift_r(low, high, s) ^ flip) + 0x80808080u + carry;
			low = high;
			w[i] = (u32)t ^ 0x80808080u;
			carry = (u32)(t >> 32);
		}
		((uint4 *)to)[2 * step] = make_uint4(w[0], w[4], w[1], w[5]);
		((uint4 *)to)[2 * step + 1] = make_uint4(w[2], w[6], w[3], w[7]);
	}
}

template <int K> static __device__ void clearDigits(u32 *to)
{
	for (int i = 0; i < 2 * K; i++)
		((uint4 *)to)[i] = make_uint4(0, 0, 0, 0);
}

// writeSum stores the balanced digits of the sum of the rounded terms of an expansion.
template <int K> static __device__ void writeSum(u32 *to, const numbers &a, i64 at, i64 shift)
{
	clearDigits<K>(to);
	for (int t = 0; t < a.kind; t++) {
		double x = term(a, at, t);
		int e;
		u64 m = decompose(x, e);
		if (m == 0 || !finite(x))
			continue;
		i64 s = shift + e; // round(m 2^s) is added
		if (s < 0) {
			if (s < -54)
				continue;
			m = (m >> (-s - 1)) + 1 >> 1;
			s = 0;
		}
		int word = (int)(s >> 5), b = (int)(s & 31);
		u32 part[3] = {(u32)(m << b), (u32)(m << b >> 32), b ? (u32)(m >> 32 >> (32 - b)) : 0};
		u32 flip = x < 0 ? ~0u : 0, carry = flip & 1;
		for (int i = word; i < 8 * K; i++) {
			u32 y = i - word < 3 ? part[i - word] : 0;
			u64 sum = (u64)to[slot(i)] + (y ^ flip) + carry;
			to[slot(i)] = (u32)sum;
			carry = (u32)(sum >> 32);
		}
	}
	u32 carry = 0;
	for (int i = 0; i < 8 * K; i++) {
		u64 sum = (u64)to[slot(i)] + 0x80808080u + carry;
		to[slot(i)] = (u32)sum ^ 0x80808080u;
		carry = (u32)(sum >> 32);
	}
}

// align writes the digits of number h of vector v of x.
template <int K> static __device__ void align(u32 *to, const vectors &x, const i64 *exps, int v, int h, int width)
{
	if (v >= x.n || h >= x.k) {
		clearDigits<K>(to);
		return;
	}
	const numbers &a = x.a;
	i64 at = x.off + v * x.rs + h * x.cs, shift = width - exps[v];
	if (a.kind == MP) {
		u8 c = ((const u8 *)a.plane[2])[at];
		if (c >> 1 != FINITE) {
			clearDigits<K>(to);
			return;
		}
		source s = {(const u32 *)a.plane[0] + at * 2 * a.limbs, 0, 0, 2 * a.limbs};
		writeDigits<K>(to, s, 64 * a.limbs - ((const int *)a.plane[1])[at] - shift, c & 1);
		return;
	}
	if (a.kind > F64) {
		writeSum<K>(to, a, at, shift);
		return;
	}
	double d = term(a, at, 0);
	int e;
	u64 m = decompose(d, e);
	if (m == 0 || !finite(d)) {
		clearDigits<K>(to);
		return;
	}
	source s = {0, (u32)m, (u32)(m >> 32), 2};
	writeDigits<K>(to, s, -(shift + e), d < 0);
}

// reduced returns a number congruent to sum modulo m and of magnitude at most m/2, in its low
// 16 bits; sum holds MAGIC + s, |s| < 2^22. The quotient is the integer nearest to s/m: the
// error of s inverse, at most 2^22/m 2^-24, is less than its distance 1/(2m) from any
// half, if m is odd. For m = 256 both halves give the byte -128.
static __device__ __forceinline__ u32 reduced(int sum, float inverse, int m)
{
	float s = __fadd_rn(__int_as_float(sum), -MAGIC_FLOAT);
	float q = __fmaf_rn(s, inverse, MAGIC_FLOAT);
	return (u32)sum - (u32)__float_as_int(q) * (u32)m;
}

template <int K> static __device__ __forceinline__ void tile(int (&sum)[8][4], const uint4 *constants, const uint2 (&digits)[8][K])
{
#pragma unroll
	for (int j = 0; j < 8; j++)
		sum[j][0] = sum[j][1] = sum[j][2] = sum[j][3] = MAGIC;
#pragma unroll
	for (int s = 0; s < K; s++) {
		uint4 a = constants[32 * s];
#pragma unroll
		for (int j = 0; j < 8; j++)
			multiplyAdd(sum[j], a, digits[j][s].x, digits[j][s].y);
	}
}

template <int K> static __device__ __forceinline__ void residues(const vectors &x, const i64 *exps, const conversion &c)
{
	extern __shared__ uint4 memory[];
	u32 *words = (u32 *)memory;
	const int group = groupOf<K>();
	int k0 = blockIdx.x * STRIP, v0 = blockIdx.y * group;
	for (int e = threadIdx.x; e < group * STRIP; e += THREADS) {
		int v, h;
		if (x.rs == 1 || x.rs == -1)
			v = e % group, h = e / group;
		else
			v = e / STRIP, h = e % STRIP;
		align<K>(words + v * vectorWords<K>() + h * 8 * K + (h >> 4) * padOf<K>(), x, exps, v0 + v, k0 + h, c.width);
	}
	__syncthreads();

	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
	const int warps = THREADS / 32;
	const int parts = group >= warps ? 1 : warps / group; // warps that share a vector
	const uint4 *constants = (const uint4 *)c.constants + lane;
	const modulus *moduli = (const modulus *)c.moduli;
	int plainTiles = (c.plain + 15) / 16, pairs = (c.karatsuba + 15) / 16;
	for (int v = warp / parts; v < group; v += warps / parts) {
		// Column 2q + e of tile j is number 16 q + 2 j + e: a thread's results are
		// those of 16 consecutive numbers.
		uint2 digits[8][K];
		const u32 *from = words + v * vectorWords<K>() + (g >> 1) * (16 * 8 * K + padOf<K>()) + (g & 1) * 8 * K + 2 * q;
#pragma unroll
		for (int j = 0; j < 8; j++)
#pragma unroll
			for (int s = 0; s < K; s++)
				digits[j][s] = *(const uint2 *)(from + j * 16 * K + 8 * s);

		int at = c.permute ? place(v0 + v) : v0 + v;
		char *to = (char *)c.planes + ((i64)(at / TILE) * c.blocks + k0 / TILE) * TILE_BYTES +
			at % TILE * TILE + ((k0 % TILE / 16 + q) ^ (at & 7)) * 16;
		int sum[8][4];
		for (int t = warp % parts; t < plainTiles; t += parts) {
			tile<K>(sum, constants + (i64)t * K * 32, digits);
#pragma unroll
			for (int half = 0; half < 2; half++) {
				int row = 16 * t + 8 * half + g;
				modulus m = moduli[row];
				u32 r[16];
#pragma unroll
				for (int j = 0; j < 16; j++)
					r[j] = reduced(sum[j / 2][2 * half + j % 2], m.inverse, m.m);
				if (row < c.plain)
					*(uint4 *)(to + row * c.stride) = make_uint4(pack(r[0], r[1], r[2], r[3]), pack(r[4], r[5], r[6], r[7]),
						pack(r[8], r[9], r[10], r[11]), pack(r[12], r[13], r[14], r[15]));
			}
		}
		// Karatsuba moduli: the constants are 128 c1 + c0, in one tile each.
		for (int t = warp % parts; t < pairs; t += parts) {
			int high[8][4];
			const uint4 *from = constants + (i64)(plainTiles + 2 * t) * K * 32;
			tile<K>(sum, from, digits);
			tile<K>(high, from + K * 32, digits);
#pragma unroll
			for (int half = 0; half < 2; half++) {
				int row = 16 * t + 8 * half + g;
				modulus m = moduli[16 * plainTiles + row];
				u32 lo[4], hi[4], both[4];
#pragma unroll
				for (int w = 0; w < 4; w++) {
					u32 a0[4], a1[4], a2[4];
#pragma unroll
					for (int i = 0; i < 4; i++) {
						int j = 4 * w + i;
						// sum + 128 high stays below 2^22 for K <= 8.
						int h = (short)reduced(high[j / 2][2 * half + j % 2], m.inverse, m.m);
						int r = (short)reduced(sum[j / 2][2 * half + j % 2] + 128 * h, m.inverse, m.m);
						a1[i] = (u32)(r + 64 >> 7);
						a0[i] = (u32)r - 128 * a1[i];
						a2[i] = a0[i] + a1[i];
					}
					lo[w] = pack(a0[0], a0[1], a0[2], a0[3]);
					hi[w] = pack(a1[0], a1[1], a1[2], a1[3]);
					both[w] = pack(a2[0], a2[1], a2[2], a2[3]);
				}
				if (row < c.karatsuba) {
					char *plane = to + (c.plain + 3 * row) * c.stride;
					*(uint4 *)plane = make_uint4(lo[0], lo[1], lo[2], lo[3]);
					*(uint4 *)(plane + c.stride) = make_uint4(hi[0], hi[1], hi[2], hi[3]);
					*(uint4 *)(plane + 2 * c.stride) = make_uint4(both[0], both[1], both[2], both[3]);
				}
			}
		}
	}
}

// residuesK converts integers of at most 256 K - 2 bits. Block (b, g) converts numbers 64 b
// to 64 b + 63 of the vectors of group g.
#define RESIDUES(K) \
	extern "C" __global__ void __launch_bounds__(THREADS) residues##K(vectors x, u64 exps, conversion c) \
	{ \
		residues<K>(x, (const i64 *)exps, c); \
	}

RESIDUES(1)
RESIDUES(2)
RESIDUES(3)
RESIDUES(4)
RESIDUES(5)
RESIDUES(6)
RESIDUES(7)
RESIDUES(8)
