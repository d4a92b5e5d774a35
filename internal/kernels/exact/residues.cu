// Numbers aligned to integers, and these modulo all moduli. An integer's balanced digits in
// radix 2^8 times 2^(8s) mod m, for left operands times (M/m)^-1 as well: a product of
// small matrices, whose entries are then reduced.
#include "../common/mma.cuh"

struct conversion {
	u64 constants; // fragments of the constants: uint4 [tile][step][lane]
	u64 moduli;    // struct modulus a row of the tiles
	u64 planes;
	i64 stride;          // bytes from plane to plane
	int plain, karatsuba; // moduli of the two sorts
	int blocks;          // tiles along k
	int vectors;         // with padding
	int width;           // bits of the integers
	int permute;         // vectors are placed as place says
	int first;           // words of digits before those that residuesMore takes
	// UNTIL or FROM: products leave out what is beyond the diagonal, in rows of tiles of tall
	// vectors, the first of which is number base of the product's; and numbers along k before
	int triangle, base, tall, before;
	int pad;
};

// The triangles of a factor's vectors: numbers up to the vector's own place, or from there on.
enum { UNTIL = 1, FROM = 2 };

// unwanted reports whether products leave out the tile of number k0 of vector v0.
static __device__ __forceinline__ bool unwanted(const conversion &c, int v0, int k0)
{
	int tile = (k0 + c.before) / TILE, first = c.base + v0 / c.tall * c.tall;
	return c.triangle == UNTIL && tile * TILE >= first + c.tall || c.triangle == FROM && tile < min(first / TILE, c.blocks - 1);
}

// A factor on its way to residues. exps are the exponents of its vectors.
struct side {
	vectors x;
	u64 exps;
	conversion c;
};

// Both factors.
struct sides {
	side s[2];
};

struct __align__(8) modulus {
	float inverse; // 1/m for plain moduli, the bits of round(2^32/m) for Karatsuba moduli
	int m;
};

// With this in the accumulators from the start, sums of magnitude below 2^22 are the
// low bits of a binary32 number 1.5 2^23 + sum. Modulo 2^16 it is nothing.
#define MAGIC 0x4B400000
#define MAGIC_FLOAT 12582912.0f

// Threads of a block, and numbers along k that it converts.
#define THREADS 256
#define WARPS (THREADS / 32)
#define STRIP 64

// A warp converts J groups of 8 numbers of a vector at a time: half a strip.
#define J 4

// From so many steps on, constants pass through shared memory, in two buffers: they would
// not stay in the first level cache.
#define STAGED 3

// Vectors that a block converts, such that their digits fit shared memory. The warps have
// the same number of half strips each, one if constants are staged.
template <int K> static __device__ constexpr int vectorsOf() { return K < STAGED ? 16 : 4; }

// Digits of number h of vector v lie at word v vectorWords + h 8 K + h / 16 PAD. Words i
// and i + 4 of eight are neighbours: a lane reads both at once.
template <int K> static __device__ constexpr int padOf() { return K % 2 ? 16 : 8; }
template <int K> static __device__ constexpr int vectorWords() { return STRIP * 8 * K + STRIP / 16 * padOf<K>() + 8; }

static __device__ __forceinline__ int slot(int i) { return i & ~7 | (i & 3) << 1 | i >> 2 & 1; }

// Loops over N words are rolled where they are long.
#define ROLLED(K, N) (K <= 2 ? N : 1)

// An integer of limbs 64-bit words.
struct source {
	const u64 *at; // null: the only word is value
	u64 value;
	int limbs;

	__device__ __forceinline__ u64 limb(int i) const
	{
		if ((u32)i >= (u32)limbs)
			return 0;
		return at ? at[i] : value;
	}
};

// writeDigits stores words first to first + 8 K - 1 of the balanced digits of
// (-1)^neg round(x 2^-pos); first is a multiple of 8.
template <int K> static __device__ __forceinline__ void writeDigits(u32 *to, const source &x, i64 pos, bool neg, int first)
{
	if (pos > 64 * x.limbs)
		pos = 64 * x.limbs + 64;
	int p = (int)pos, at = p >> 6;
	bool cross = p & 32;
	u32 s = p & 31;
	// Rounding adds bit pos - 1. Negation is ^x + 1, of x + r: ^x + 1 - r. Then 0x80 added
	// to every digit and taken off again digit by digit balances them.
	u32 carry = (u32)(x.limb((p - 1) >> 6) >> ((p - 1) & 63)) & 1;
	u32 flip = neg ? ~0u : 0;
	if (neg)
		carry = 1 - carry;
	u64 low = x.limb(at);
#pragma unroll(ROLLED(K, K))
	for (int step = -first / 8; step < K; step++) {
		u32 w[8];
#pragma unroll
		for (int i = 0; i < 8; i += 2) {
			u64 high = x.limb(++at);
			u32 a = cross ? (u32)(low >> 32) : (u32)low, b = cross ? (u32)high : (u32)(low >> 32);
			u32 c = cross ? (u32)(high >> 32) : (u32)high;
			low = high;
			u64 t = (u64)(__funnelshift_r(a, b, s) ^ flip) + 0x80808080u + carry;
			w[i] = (u32)t ^ 0x80808080u;
			t = (u64)(__funnelshift_r(b, c, s) ^ flip) + 0x80808080u + (u32)(t >> 32);
			w[i + 1] = (u32)t ^ 0x80808080u;
			carry = (u32)(t >> 32);
		}
		if (step < 0)
			continue;
		((uint4 *)to)[2 * step] = make_uint4(w[0], w[4], w[1], w[5]);
		((uint4 *)to)[2 * step + 1] = make_uint4(w[2], w[6], w[3], w[7]);
	}
}

template <int K> static __device__ void clearDigits(u32 *to)
{
#pragma unroll(ROLLED(K, 2 * K))
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
#pragma unroll(ROLLED(K, 8 * K))
	for (int i = 0; i < 8 * K; i++) {
		u64 sum = (u64)to[slot(i)] + 0x80808080u + carry;
		to[slot(i)] = (u32)sum ^ 0x80808080u;
		carry = (u32)(sum >> 32);
	}
}

// A number on its way from memory. MP: the value is not yet read.
struct number {
	i64 at, shift; // place; the integer is round(number 2^shift)
	double value;
	int exp;
	u8 cls;
	bool there;
};

// fetch starts to load number h of vector v. touched depends on all loads, which bring the
// number into the first level cache.
static __device__ __forceinline__ void fetch(number &n, u64 &touched, const vectors &x, const i64 *exps, int v, int h, int width)
{
	n.there = v < x.n && h < x.k;
	if (!n.there)
		return;
	const numbers &a = x.a;
	n.at = x.off + v * x.rs + h * x.cs;
	n.shift = width - exps[v];
	if (a.kind == MP) {
		n.cls = ((const u8 *)a.plane[2])[n.at];
		n.exp = ((const int *)a.plane[1])[n.at];
		const u64 *sig = (const u64 *)a.plane[0] + n.at * a.limbs;
		for (int i = 0; i < a.limbs; i += 16) // 128 bytes
			touched ^= sig[i];
		touched ^= sig[a.limbs - 1];
	} else {
		n.value = term(a, n.at, 0);
	}
}

// align writes the digits of a number of a, no expansion, from word first on.
template <int K> static __device__ __forceinline__ void align(u32 *to, const numbers &a, const number &n, int first)
{
	if (n.there && a.kind == MP && n.cls >> 1 == FINITE) {
		source s = {(const u64 *)a.plane[0] + n.at * a.limbs, 0, a.limbs};
		writeDigits<K>(to, s, 64 * a.limbs - (i64)n.exp - n.shift, n.cls & 1, first);
		return;
	}
	if (n.there && a.kind != MP && n.value != 0 && finite(n.value)) {
		int e;
		source s = {0, decompose(n.value, e), 1};
		writeDigits<K>(to, s, -(n.shift + e), n.value < 0, first);
		return;
	}
	clearDigits<K>(to);
}

// reduced returns a number congruent to sum modulo m and of magnitude at most m/2, in its low
// byte; sum holds MAGIC + s, |s| <= 2^22. The quotient is the integer nearest to s/m: the error
// of s inverse, at most 2^22/m 2^-25, is less than its distance 1/(2m) from any half, if m is
// odd. For m = 256 both halves give the byte -128.
static __device__ __forceinline__ u32 reduced(int sum, const modulus &m)
{
	float s = __fadd_rn(__int_as_float(sum), -MAGIC_FLOAT);
	float q = __fmaf_rn(s, m.inverse, MAGIC_FLOAT);
	return (u32)sum - (u32)__float_as_int(q) * (u32)m.m;
}

// shifted returns r + 64 with r congruent to s modulo m, for |s| <= 2^28: with scale =
// round(2^32/m), s scale 2^-32 differs from s/m by at most 1/32, so |r| <= 17/32 m + 1.
static __device__ __forceinline__ int shifted(int s, const modulus &m)
{
	int q = __mulhi(s + m.m / 2, __float_as_int(m.inverse));
	return s + 64 - q * m.m;
}

// minus64 takes 64 off each byte, modulo 256.
static __device__ __forceinline__ u32 minus64(u32 x)
{
	x ^= 0x40404040;
	return x ^ (x & 0x40404040) << 1;
}

// tile multiplies a tile of constants, in shared memory if they are staged, by the digits.
template <int K>
static __device__ __forceinline__ void tile(int (&sum)[J][4], int start, const uint4 *constants, const uint2 (&digits)[J][K])
{
#pragma unroll
	for (int j = 0; j < J; j++)
		sum[j][0] = sum[j][1] = sum[j][2] = sum[j][3] = start;
#pragma unroll
	for (int s = 0; s < K; s++) {
		uint4 a = constants[32 * s];
#pragma unroll
		for (int j = 0; j < J; j++)
			multiplyAdd(sum[j], a, digits[j][s].x, digits[j][s].y);
	}
}

static __device__ __forceinline__ void write(char *to, const u32 (&w)[2]) { *(uint2 *)to = make_uint2(w[0], w[1]); }

// residueAt is byte b, as a signed number, of the word at a place.
static __device__ __forceinline__ int residueAt(const char *from, int b) { return (signed char)from[b]; }

// plainTile writes the residues modulo 16 plain moduli, of which n are there. If MORE is set it
// adds them to those that stand there.
template <int K, bool MORE>
static __device__ __forceinline__ void plainTile(char *to, i64 stride, const uint4 *constants, const modulus *moduli, int n, const uint2 (&digits)[J][K])
{
	int sum[J][4], g = threadIdx.x % 32 / 4;
	tile<K>(sum, MAGIC, constants, digits);
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int row = 8 * half + g;
		modulus m = moduli[row];
		if (MORE && row < n) {
#pragma unroll
			for (int j = 0; j < J; j++) {
				sum[j][2 * half] += residueAt(to + row * stride, 2 * j);
				sum[j][2 * half + 1] += residueAt(to + row * stride, 2 * j + 1);
			}
		}
		u32 r[J / 2];
#pragma unroll
		for (int j = 0; j < J / 2; j++)
			r[j] = pack(reduced(sum[2 * j][2 * half], m), reduced(sum[2 * j][2 * half + 1], m),
				reduced(sum[2 * j + 1][2 * half], m), reduced(sum[2 * j + 1][2 * half + 1], m));
		if (row < n)
			write(to + row * stride, r);
	}
}

// karatsubaTiles writes the residues modulo 16 Karatsuba moduli, whose constants 128 c1 + c0 lie
// in a tile each. MORE is as in plainTile.
template <int K, bool MORE>
static __device__ __forceinline__ void karatsubaTiles(char *to, i64 stride, const uint4 *constants, const modulus *moduli, int n, const uint2 (&digits)[J][K])
{
	int sum[J][4], high[J][4], g = threadIdx.x % 32 / 4;
	tile<K>(sum, 0, constants, digits);
	tile<K>(high, 0, constants + K * 32, digits);
#pragma unroll
	for (int half = 0; half < 2; half++) {
		int row = 8 * half + g;
		modulus m = moduli[row];
		char *plane = to + 3 * row * stride;
		if (MORE && row < n) {
#pragma unroll
			for (int j = 0; j < J; j++)
#pragma unroll
				for (int e = 0; e < 2; e++)
					sum[j][2 * half + e] += residueAt(plane, 2 * j + e) + 128 * residueAt(plane + stride, 2 * j + e);
		}
		u32 a0[J / 2], a1[J / 2], both[J / 2];
#pragma unroll
		for (int w = 0; w < J / 2; w++) {
			u32 r[4], h[4], b[4];
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const int j = 2 * w + i / 2, c = 2 * half + i % 2;
				int s = shifted(sum[j][c] + 128 * high[j][c], m); // a + 64 = 128 a1 + a0 + 64
				int top = s >> 7;
				r[i] = (u32)s;
				h[i] = (u32)top;
				b[i] = (u32)(s - 127 * top); // a0 + a1 + 64
			}
			a0[w] = minus64(pack(r[0], r[1], r[2], r[3]) & 0x7f7f7f7f);
			a1[w] = pack(h[0], h[1], h[2], h[3]);
			both[w] = minus64(pack(b[0], b[1], b[2], b[3]));
		}
		if (row < n) {
			write(plane, a0);
			write(plane + stride, a1);
			write(plane + 2 * stride, both);
		}
	}
}

template <int K, bool MORE> static __device__ __forceinline__ void residues(const side &s)
{
	const vectors &x = s.x;
	const conversion &c = s.c;
	const i64 *exps = (const i64 *)s.exps;
	extern __shared__ uint4 memory[];
	u32 *words = (u32 *)memory;
	const int group = vectorsOf<K>();
	int k0 = blockIdx.x * STRIP, v0 = blockIdx.y * group;
	if (v0 >= c.vectors || unwanted(c, v0, k0))
		return;
	const uint4 *constants = (const uint4 *)c.constants;
	int plainTiles = (c.plain + 15) / 16, tiles = plainTiles + (c.karatsuba + 15) / 16;
	const int buffer = 2 * K * 32; // of constants
	uint4 *staged = memory + group * vectorWords<K>() / 4;
	// load starts the copy of the constants of tile t, or of pair of tiles t - plainTiles.
	auto load = [&](int t) {
		if (t < tiles) {
			int first = t < plainTiles ? t : 2 * t - plainTiles, size = (t < plainTiles ? 1 : 2) * K * 32;
			for (int i = threadIdx.x; i < size; i += THREADS)
				copyAsync(sharedAddress(staged + t % 2 * buffer + i), constants + first * K * 32 + i);
		}
		closeGroup();
	};
	if (K >= STAGED)
		load(0);
	// Numbers are taken in the order of memory.
	const int count = group * STRIP / THREADS;
	bool across = x.rs == 1 || x.rs == -1;
	if (!MORE && terms(x.a) > 1 && x.a.kind != MP) {
#pragma unroll 1
		for (int e = threadIdx.x; e < group * STRIP; e += THREADS) {
			int v = across ? e % group : e / STRIP, h = across ? e / group : e % STRIP;
			u32 *to = words + v * vectorWords<K>() + h * 8 * K + (h >> 4) * padOf<K>();
			if (v0 + v < x.n && k0 + h < x.k)
				writeSum<K>(to, x.a, x.off + (v0 + v) * x.rs + (k0 + h) * x.cs, c.width - exps[v0 + v]);
			else
				clearDigits<K>(to);
		}
	} else {
		number n[count];
		u64 touched = 0;
#pragma unroll
		for (int i = 0; i < count; i++) {
			int e = i * THREADS + threadIdx.x, v = across ? e % group : e / STRIP, h = across ? e / group : e % STRIP;
			fetch(n[i], touched, x, exps, v0 + v, k0 + h, c.width);
		}
		asm volatile("" ::"l"(touched));
#pragma unroll
		for (int i = 0; i < count; i++) {
			int e = i * THREADS + threadIdx.x, v = across ? e % group : e / STRIP, h = across ? e / group : e % STRIP;
			align<K>(words + v * vectorWords<K>() + h * 8 * K + (h >> 4) * padOf<K>(), x.a, n[i], MORE ? c.first : 0);
		}
	}
	__syncthreads();

	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
	const modulus *moduli = (const modulus *)c.moduli;
	const int parts = STRIP / (8 * J); // of a vector's strip
	for (int task = warp; task < group * parts; task += WARPS) {
		int v = task / parts, h0 = task % parts * 8 * J;
		// Column 2q + e of group j is number 2 J q + 2 j + e: a thread's results are those of
		// 2 J consecutive numbers.
		uint2 digits[J][K];
		const u32 *from = words + v * vectorWords<K>() + 2 * q;
#pragma unroll
		for (int j = 0; j < J; j++) {
			int h = h0 + (g >> 1) * 2 * J + 2 * j + (g & 1);
#pragma unroll
			for (int s = 0; s < K; s++)
				digits[j][s] = *(const uint2 *)(from + h * 8 * K + (h >> 4) * padOf<K>() + 8 * s);
		}
		int at = c.permute ? place(v0 + v) : v0 + v, k = k0 + h0 + 2 * J * q;
		char *to = (char *)c.planes + ((i64)(at / TILE) * c.blocks + k / TILE) * TILE_BYTES +
			at % TILE * TILE + (k % TILE / 16 ^ (at & 7)) * 16 + k % 16;
		for (int t = 0; t < tiles; t++) {
			const uint4 *tile = constants + (t < plainTiles ? t : 2 * t - plainTiles) * K * 32;
			if (K >= STAGED) {
				__syncthreads();
				load(t + 1);
				waitGroups<1>();
				__syncthreads();
				tile = staged + t % 2 * buffer;
			}
			if (t < plainTiles)
				plainTile<K, MORE>(to + 16 * t * c.stride, c.stride, tile + lane, moduli + 16 * t, c.plain - 16 * t, digits);
			else
				karatsubaTiles<K, MORE>(to + (c.plain + 48 * (t - plainTiles)) * c.stride, c.stride, tile + lane, moduli + 16 * t,
					c.karatsuba - 16 * (t - plainTiles), digits);
		}
	}
}

// What follows converts numbers of one 64-bit word to integers of at most 126 bits: 16 digits.
// A block converts a strip of SHORT_VECTORS vectors, a warp one strip at a time. Digits of number
// h of vector v lie at word v SHORT_PITCH + 4 h + h / 16 8.
#define SHORT_VECTORS 16
#define SHORT_PITCH (4 * STRIP + STRIP / 16 * 8 + 4)
#define SHORT_COUNT (SHORT_VECTORS * STRIP / THREADS)

// shortDigits stores the balanced digits of (-1)^neg round(x 2^s).
static __device__ __forceinline__ void shortDigits(u32 *to, u64 x, int s, bool neg)
{
	int right = max(-s, 0), left = max(s, 0);
	u64 r = right > 64 ? 0 : x >> max(right - 1, 0);
	if (right > 0)
		r = (r >> 1) + (r & 1);
	int b = left & 31;
	u32 lo = (u32)r, hi = (u32)(r >> 32);
	u32 w0 = lo << b, w1 = __funnelshift_l(lo, hi, b), w2 = __funnelshift_l(hi, 0, b), w3 = 0;
	if (left & 32)
		w3 = w2, w2 = w1, w1 = w0, w0 = 0;
	if (left & 64)
		w3 = w1, w2 = w0, w1 = w0 = 0;
	// Negation is ^x + 1. Then 0x80 added to every digit and taken off again digit by digit
	// balances them.
	u32 flip = neg ? ~0u : 0;
	w0 ^= flip, w1 ^= flip, w2 ^= flip, w3 ^= flip;
	asm("{\n"
		"add.cc.u32 %0, %0, %4;\n"
		"addc.cc.u32 %1, %1, 0x80808080;\n"
		"addc.cc.u32 %2, %2, 0x80808080;\n"
		"addc.u32 %3, %3, 0x80808080;\n"
		"}" : "+r"(w0), "+r"(w1), "+r"(w2), "+r"(w3) : "r"(0x80808080u - flip));
	*(uint4 *)to = make_uint4(w0 ^ 0x80808080u, w1 ^ 0x80808080u, w2 ^ 0x80808080u, w3 ^ 0x80808080u);
}

// multiplyShort: d = a b + c for a 16 x 16 and b 16 x 8 of bytes, and c in all entries.
static __device__ __forceinline__ void multiplyShort(int (&d)[4], const uint4 &a, u32 b, int c)
{
	asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
		: "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a.x), "r"(a.y), "r"(b), "r"(c));
}

// alignShort writes the digits of the block's numbers, of kind F32, F64 or MP, which are taken in
// the order of memory.
template <int KIND> static __device__ __forceinline__ void alignShort(u32 *words, const vectors &x, const i64 *exps, int width, int v0, int k0)
{
	u32 id = threadIdx.x;
	bool across = x.rs == 1 || x.rs == -1;
	int v = across ? id % SHORT_VECTORS : id / STRIP, h = across ? id / SHORT_VECTORS : id % STRIP;
	u32 *to = words + v * SHORT_PITCH + 4 * h + (h >> 4) * 8;
	v += v0, h += k0;
	// From number to number of a thread.
	int dv = across ? 0 : THREADS / STRIP, dh = across ? THREADS / SHORT_VECTORS : 0;
	i64 at = x.off + v * x.rs + h * x.cs, step = dv * x.rs + dh * x.cs;
	u64 raw[SHORT_COUNT];
	int exp[SHORT_COUNT], top[SHORT_COUNT];
	u32 cls[SHORT_COUNT];
#pragma unroll
	for (int i = 0; i < SHORT_COUNT; i++, v += dv, h += dh, at += step) {
		raw[i] = 0;
		exp[i] = top[i] = cls[i] = 0;
		if (v < x.n && h < x.k) {
			top[i] = (int)exps[v]; // what is lost belongs to vectors of zeros
			if (KIND == F32) {
				raw[i] = (u64)__double_as_longlong((double)((const float *)x.a.plane[0])[at]);
			} else {
				raw[i] = ((const u64 *)x.a.plane[0])[at];
			}
			if (KIND == MP) {
				exp[i] = ((const int *)x.a.plane[1])[at];
				cls[i] = ((const u8 *)x.a.plane[2])[at];
			}
		}
	}
#pragma unroll
	for (int i = 0; i < SHORT_COUNT; i++) {
		u64 m = raw[i];
		int shift;
		bool neg;
		if (KIND == MP) {
			neg = cls[i] & 1;
			shift = (int)max64((i64)width + exp[i] - top[i], -64) - 64;
			if (cls[i] >> 1 != FINITE)
				m = 0;
		} else {
			neg = (i64)m < 0;
			int e = (int)(m >> 52) & 0x7ff;
			m &= (1ull << 52) - 1;
			if (e == 0x7ff)
				m = 0;
			else if (e == 0)
				e = 1;
			else
				m |= 1ull << 52;
			shift = width - top[i] + e - 1075;
		}
		shortDigits(to, m, shift, neg);
		// Of a vector, 16 numbers on; or of another.
		to += across ? THREADS / SHORT_VECTORS * 4 + 8 : THREADS / STRIP * SHORT_PITCH;
	}
}

static __device__ __forceinline__ void shortResidues(const side &s)
{
	const vectors &x = s.x;
	const conversion &c = s.c;
	const i64 *exps = (const i64 *)s.exps;
	__shared__ uint4 memory[SHORT_VECTORS * SHORT_PITCH / 4];
	u32 *words = (u32 *)memory;
	int k0 = blockIdx.x * STRIP, v0 = blockIdx.y * SHORT_VECTORS;
	if (v0 >= c.vectors || unwanted(c, v0, k0))
		return;
	if (x.a.kind == F64)
		alignShort<F64>(words, x, exps, c.width, v0, k0);
	else if (x.a.kind == F32)
		alignShort<F32>(words, x, exps, c.width, v0, k0);
	else
		alignShort<MP>(words, x, exps, c.width, v0, k0);
	__syncthreads();

	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
	for (int v = warp; v < SHORT_VECTORS; v += WARPS) {
		// Column 2 q + e of group j is number 16 q + 2 j + e: a thread's results are those of 16
		// consecutive numbers.
		u32 digits[8];
#pragma unroll
		for (int j = 0; j < 8; j++)
			digits[j] = words[v * SHORT_PITCH + (g >> 1) * 72 + 8 * j + 4 * (g & 1) + q];
		int at = c.permute ? place(v0 + v) : v0 + v, k = k0 + 16 * q;
		char *to = (char *)c.planes + ((i64)(at / TILE) * c.blocks + k / TILE) * TILE_BYTES +
			at % TILE * TILE + (k % TILE / 16 ^ (at & 7)) * 16;
		for (int first = 0; first < c.plain; first += 16) {
			uint4 constants = ((const uint4 *)c.constants)[2 * first + lane];
			int sum[8][4];
#pragma unroll
			for (int j = 0; j < 8; j++)
				multiplyShort(sum[j], constants, digits[j], MAGIC);
#pragma unroll
			for (int half = 0; half < 2; half++) {
				if (first + 8 * half >= c.plain)
					break;
				int t = first + 8 * half + g;
				modulus m = ((const modulus *)c.moduli)[t];
				u32 r[4];
#pragma unroll
				for (int w = 0; w < 4; w++) {
					const int i = 2 * half;
					r[w] = pack(reduced(sum[2 * w][i], m), reduced(sum[2 * w][i + 1], m),
						reduced(sum[2 * w + 1][i], m), reduced(sum[2 * w + 1][i + 1], m));
				}
				if (t < c.plain)
					*(uint4 *)(to + t * c.stride) = make_uint4(r[0], r[1], r[2], r[3]);
			}
		}
	}
}

// residues0 converts integers of at most 126 bits to residues of plain moduli, in blocks as below
// of 16 vectors.
extern "C" __global__ void __launch_bounds__(THREADS, 3) residues0(const __grid_constant__ sides both)
{
	if (blockIdx.z == 0) // as in residues1
		shortResidues(both.s[0]);
	else
		shortResidues(both.s[1]);
}

// residuesK converts integers of at most 256 K - 2 bits, or the lowest 256 K bits of longer ones.
// Block (b, g, s) converts numbers 64 b to 64 b + 63 of the vectors of group g of the left
// factor, s = 0, or of the right one.
#define RESIDUES(K) \
	extern "C" __global__ void __launch_bounds__(THREADS, K <= 2 ? 3 : 2) residues##K(const __grid_constant__ sides both) \
	{ \
		if (K > 1) /* one copy of the code: it is the better the longer that is */ \
			residues<K, false>(both.s[blockIdx.z]); \
		else if (blockIdx.z == 0) \
			residues<K, false>(both.s[0]); \
		else \
			residues<K, false>(both.s[1]); \
	}

RESIDUES(1)
RESIDUES(2)
RESIDUES(3)
RESIDUES(4)
RESIDUES(5)
RESIDUES(6)
RESIDUES(7)
RESIDUES(8)

// residuesMore adds the residues of the 2048 bits from word first on.
extern "C" __global__ void __launch_bounds__(THREADS, 2) residuesMore(const __grid_constant__ sides both)
{
	residues<8, true>(both.s[blockIdx.z]);
}
