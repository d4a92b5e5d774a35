// Numbers aligned to integers, and these modulo all moduli. An integer's balanced digits in
// radix 2^8 times 2^(8s) mod m, for left operands times (M/m)^-1 as well: a product of
// small matrices, whose entries are then reduced.
#include "../common/mma.cuh"
#include "../common/telling.cuh"

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
	telling told; // the report of the scan
};

// tellScan tells the report of the scan, if that is wanted, in one of the blocks.
static __device__ __forceinline__ void tellScan(const sides &both)
{
	if (both.told.c != 0 && (blockIdx.x | blockIdx.y | blockIdx.z) == 0)
		tellReport(both.told);
}

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
#define STRIP 128

// Vectors that a block converts, such that their digits fit shared memory.
template <int K> static __device__ constexpr int vectorsOf() { return K == 2 ? 8 : K <= 4 ? 4 : 2; }

// Digits of number h of vector v lie at word v vectorWords + h 8 K + h / 16 16, with even K
// steps 2 i and 2 i + 1 of odd numbers in turn. Words i and i + 4 of eight are neighbours: a lane
// reads both at once. So half a warp's reads have banks of their own.
template <int K> static __device__ constexpr int vectorWords() { return STRIP * 8 * K + STRIP; }

template <int K> static __device__ __forceinline__ int wordOf(int v, int h) { return v * vectorWords<K>() + h * 8 * K + (h >> 4) * 16; }

// turned is 1 where steps of number h lie in turn.
template <int K> static __device__ __forceinline__ int turned(int h) { return K % 2 ? 0 : h & 1; }

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
template <int K> static __device__ __forceinline__ void writeDigits(u32 *to, int turn, const source &x, i64 pos, bool neg, int first)
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
		uint4 *digits = (uint4 *)to + 2 * (step ^ turn);
		digits[0] = make_uint4(w[0], w[4], w[1], w[5]);
		digits[1] = make_uint4(w[2], w[6], w[3], w[7]);
	}
}

// alignSteps writes the digits of a block's numbers, of kind MP, from word first on. A lane makes
// those of one step of a number: what it reads and writes lies beside what its neighbours do.
template <int K> static __device__ __forceinline__ void alignSteps(u32 *words, const vectors &x, const i64 *exps, int width, int v0, int k0, int first)
{
	const int lanes = K <= 2 ? K : K <= 4 ? 4 : 8, group = vectorsOf<K>(), count = group * STRIP * lanes / THREADS, some = K == 1 ? 2 : 4;
	const u64 *sig = (const u64 *)x.a.plane[0];
	int limbs = x.a.limbs, part = threadIdx.x % lanes, begin = threadIdx.x % 32 - part;
	bool across = x.rs == 1 || x.rs == -1;
#pragma unroll 1
	for (int i0 = 0; i0 < count; i0 += some) {
		u32 *to[some];
		i64 at[some], pos[some];
		u32 cls[some];
#pragma unroll
		for (int i = 0; i < some; i++) {
			int e = ((i0 + i) * THREADS + threadIdx.x) / lanes, v = across ? e % group : e / STRIP, h = across ? e / group : e % STRIP;
			to[i] = words + wordOf<K>(v, h) + 8 * (part ^ turned<K>(h));
			at[i] = x.off + (v0 + v) * x.rs + (k0 + h) * x.cs;
			cls[i] = ZERO;
			pos[i] = 0;
			if (v0 + v < x.n && k0 + h < x.k) {
				cls[i] = ((const u8 *)x.a.plane[2])[at[i]];
				if (cls[i] >> 1 != FINITE)
					cls[i] = ZERO;
				pos[i] = 64 * limbs - (i64)((const int *)x.a.plane[1])[at[i]] - width + exps[v0 + v];
			}
		}
		u32 carry[some];
		for (int base = 0; base <= first; base += 8 * K) {
			u64 limb[some][4];
#pragma unroll
			for (int i = 0; i < some; i++) {
				int p = (int)min64(pos[i], 64 * limbs + 64);
				source s = {sig + at[i] * limbs, 0, cls[i] ? limbs : 0};
#pragma unroll
				for (int k = 0; k < 4; k++)
					limb[i][k] = s.limb((p >> 6) + base / 2 + 4 * part + k);
				// Rounding adds bit p - 1. Negation is ^x + 1, of x + r: ^x + 1 - r.
				if (base == 0)
					carry[i] = (u32)(s.limb((p - 1) >> 6) >> ((p - 1) & 63) ^ cls[i]) & 1;
			}
#pragma unroll
			for (int i = 0; i < some; i++) {
				int p = (int)min64(pos[i], 64 * limbs + 64);
				source s = {sig + at[i] * limbs, 0, cls[i] ? limbs : 0};
				u64 above = __shfl_down_sync(~0u, limb[i][0], 1);
				if (part == lanes - 1)
					above = s.limb((p >> 6) + base / 2 + 4 * lanes);
				u32 x[9], flip = cls[i] & 1 ? ~0u : 0;
#pragma unroll
				for (int k = 0; k < 9; k++) {
					u64 l = k / 2 < 4 ? limb[i][k / 2] : above, next = (k + 1) / 2 < 4 ? limb[i][(k + 1) / 2] : above;
					u32 even = k % 2 ? (u32)(l >> 32) : (u32)l, odd = k % 2 ? (u32)next : (u32)(l >> 32);
					x[k] = p & 32 ? odd : even;
				}
				// 0x80 added to every digit and taken off again digit by digit balances them.
				u32 w[8], over = 0, all = ~0u;
#pragma unroll
				for (int k = 0; k < 8; k++) {
					u64 t = (u64)(__funnelshift_r(x[k], x[k + 1], p & 31) ^ flip) + 0x80808080u + over;
					w[k] = (u32)t;
					all &= w[k];
					over = (u32)(t >> 32);
				}
				// What goes from step to step: a carry adds to those of ones before it.
				u32 mask = (1u << lanes) - 1, ones = __ballot_sync(~0u, all == ~0u) >> begin & mask;
				u32 in = (__ballot_sync(~0u, over) >> begin & mask) << 1 | carry[i];
				in = in + ones ^ ones;
				carry[i] = in >> lanes & 1;
				over = in >> part & 1;
#pragma unroll
				for (int k = 0; k < 8; k++) {
					u64 t = (u64)w[k] + over;
					w[k] = (u32)t ^ 0x80808080u;
					over = (u32)(t >> 32);
				}
				if (part < K && base == first) {
					((uint4 *)to[i])[0] = make_uint4(w[0], w[4], w[1], w[5]);
					((uint4 *)to[i])[1] = make_uint4(w[2], w[6], w[3], w[7]);
				}
			}
		}
	}
}

template <int K> static __device__ void clearDigits(u32 *to)
{
#pragma unroll(ROLLED(K, 2 * K))
	for (int i = 0; i < 2 * K; i++)
		((uint4 *)to)[i] = make_uint4(0, 0, 0, 0);
}

// writeSum stores the balanced digits of the sum of the rounded terms of an expansion.
template <int K> static __device__ void writeSum(u32 *to, int turn, const numbers &a, i64 at, i64 shift)
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
			u64 sum = (u64)to[slot(i ^ 8 * turn)] + (y ^ flip) + carry;
			to[slot(i ^ 8 * turn)] = (u32)sum;
			carry = (u32)(sum >> 32);
		}
	}
	u32 carry = 0;
#pragma unroll(ROLLED(K, 8 * K))
	for (int i = 0; i < 8 * K; i++) {
		u64 sum = (u64)to[slot(i ^ 8 * turn)] + 0x80808080u + carry;
		to[slot(i ^ 8 * turn)] = (u32)sum ^ 0x80808080u;
		carry = (u32)(sum >> 32);
	}
}

// align writes the digits of number h of vector v, of kind F32 or F64, from word first on.
template <int K> static __device__ __forceinline__ void align(u32 *to, int turn, const vectors &x, const i64 *exps, int width, int v, int h, int first)
{
	double value = v < x.n && h < x.k ? term(x.a, x.off + v * x.rs + h * x.cs, 0) : 0;
	if (value == 0 || !finite(value)) {
		clearDigits<K>(to);
		return;
	}
	int e;
	source s = {0, decompose(value, e), 1};
	writeDigits<K>(to, turn, s, -(width - exps[v] + e), value < 0, first);
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

// raised returns x congruent to sum modulo m with 0 <= x < 137/128 m, for magnitudes up to 2^28 and
// a little: sum scale 2^-32 with scale = round(2^32/m) errs by at most 1/32 and a little, MARGIN
// 2^-32 is 1/32 + 1/256.
//
// Karatsuba moduli are below 15000, so x fits 14 bits. With 128 d + 64 added to the sum first,
// d = floor(17 m/4096), the residue is 128 a1 + a0 for a1 = floor(x/128) - d and
// a0 = x mod 128 - 64: a1 is between -62 and 64, and a0 + a1 between -126 and 127.
#define MARGIN ((1 << 27) + (1 << 24))

static __device__ __forceinline__ int middleOf(int m) { return 17 * m >> 12; }

static __device__ __forceinline__ int raised(int sum, const modulus &m)
{
	int q = (int)((i64)sum * __float_as_int(m.inverse) - MARGIN >> 32);
	return sum - q * m.m;
}

// lessBytes takes c <= 128 off each byte, modulo 256: the differences are below 128.
static __device__ __forceinline__ u32 lessBytes(u32 x, int c) { return x + (u32)(0x80 - c) * 0x01010101u ^ 0x80808080u; }

// Where a lane finds digits of a strip of 64 numbers: step s of those of group j.
template <int K> struct digitsAt {
	const u32 *even, *odd; // of steps

	__device__ __forceinline__ uint2 step(int j, int s) const { return *(const uint2 *)((s % 2 ? odd : even) + 16 * K * j + 8 * s); }
};


// sums multiplies N tiles of constants by the digits of groups 2 w and 2 w + 1.
template <int K, int N>
static __device__ __forceinline__ void sums(int (&sum)[N][2][4], const int (&start)[2], const uint4 (&constants)[N][K], const digitsAt<K> &digits, int w)
{
#pragma unroll
	for (int n = 0; n < N; n++)
#pragma unroll
		for (int j = 0; j < 2; j++)
#pragma unroll
			for (int i = 0; i < 4; i++)
				sum[n][j][i] = n == 0 ? start[i / 2] : 0;
#pragma unroll
	for (int s = 0; s < K; s++)
#pragma unroll
		for (int j = 0; j < 2; j++) {
			uint2 b = digits.step(2 * w + j, s);
#pragma unroll
			for (int n = 0; n < N; n++)
				multiplyAdd(sum[n][j], constants[n][s], b.x, b.y);
		}
}

static __device__ __forceinline__ void write(char *to, const u32 (&w)[4])
{
	*(uint4 *)to = make_uint4(w[0], w[1], w[2], w[3]);
}

// residueAt is byte b, as a signed number, of the word at a place.
static __device__ __forceinline__ int residueAt(const char *from, int b) { return (signed char)from[b]; }

// plainTile writes the residues of 64 numbers modulo 16 plain moduli, of which n are there. If MORE
// is set it adds them to those that stand there.
template <int K, bool MORE>
static __device__ __forceinline__ void plainTile(char *to, i64 stride, const uint4 (&constants)[1][K], const modulus (&moduli)[2], int n, const digitsAt<K> &digits)
{
	int g = threadIdx.x % 32 / 4;
	u32 r[2][4];
#pragma unroll
	for (int w = 0; w < 4; w++) {
		int sum[1][2][4];
		sums<K>(sum, {MAGIC, MAGIC}, constants, digits, w);
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int row = 8 * half + g;
			if (MORE && row < n) {
#pragma unroll
				for (int i = 0; i < 4; i++)
					sum[0][i / 2][2 * half + i % 2] += residueAt(to + row * stride, 4 * w + i);
			}
			r[half][w] = pack(reduced(sum[0][0][2 * half], moduli[half]), reduced(sum[0][0][2 * half + 1], moduli[half]),
				reduced(sum[0][1][2 * half], moduli[half]), reduced(sum[0][1][2 * half + 1], moduli[half]));
		}
	}
#pragma unroll
	for (int half = 0; half < 2; half++)
		if (8 * half + g < n)
			write(to + (8 * half + g) * stride, r[half]);
}

// karatsubaTiles writes the residues of 64 numbers modulo 16 Karatsuba moduli, whose constants
// 128 c1 + c0 lie in a tile each. MORE is as in plainTile.
template <int K, bool MORE>
static __device__ __forceinline__ void karatsubaTiles(char *to, i64 stride, const uint4 (&constants)[2][K], const modulus (&moduli)[2], int n, const digitsAt<K> &digits)
{
	int g = threadIdx.x % 32 / 4;
	u32 a0[2][4], a1[2][4], both[2][4];
	int d[2] = {middleOf(moduli[0].m), middleOf(moduli[1].m)}, start[2] = {128 * d[0] + 64, 128 * d[1] + 64};
#pragma unroll
	for (int w = 0; w < 4; w++) {
		int sum[2][2][4];
		sums<K>(sum, start, constants, digits, w);
#pragma unroll
		for (int half = 0; half < 2; half++) {
			int row = 8 * half + g;
			const char *plane = to + 3 * row * stride;
			if (MORE && row < n) {
#pragma unroll
				for (int i = 0; i < 4; i++)
					sum[0][i / 2][2 * half + i % 2] += residueAt(plane, 4 * w + i) + 128 * residueAt(plane + stride, 4 * w + i);
			}
			int x[4];
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const int c = 2 * half + i % 2;
				x[i] = sum[0][i / 2][c] + 128 * sum[1][i / 2][c];
				x[i] = raised(x[i], moduli[half]);
			}
			u32 p = __byte_perm(x[0], x[1], 0x5410), q = __byte_perm(x[2], x[3], 0x5410);
			u32 lower = __byte_perm(p, q, 0x6420) & 0x7f7f7f7f, upper = __byte_perm(p >> 7, q >> 7, 0x6420);
			a0[half][w] = lessBytes(lower, 64);
			a1[half][w] = lessBytes(upper, d[half]);
			both[half][w] = lessBytes(lower + upper, 64 + d[half]);
		}
	}
#pragma unroll
	for (int half = 0; half < 2; half++) {
		char *plane = to + 3 * (8 * half + g) * stride;
		if (8 * half + g < n) {
			write(plane, a0[half]);
			write(plane + stride, a1[half]);
			write(plane + 2 * stride, both[half]);
		}
	}
}

// load takes a lane's part of N tiles of constants.
template <int K, int N> static __device__ __forceinline__ void load(uint4 (&to)[N][K], const uint4 *constants)
{
#pragma unroll
	for (int n = 0; n < N; n++)
#pragma unroll
		for (int s = 0; s < K; s++)
			to[n][s] = __ldg(constants + (n * K + s) * 32);
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
	// Numbers are taken in the order of memory.
	if (x.a.kind == MP) {
		alignSteps<K>(words, x, exps, c.width, v0, k0, MORE ? c.first : 0);
	} else {
		bool across = x.rs == 1 || x.rs == -1;
#pragma unroll 1
		for (int e = threadIdx.x; e < group * STRIP; e += THREADS) {
			int v = across ? e % group : e / STRIP, h = across ? e / group : e % STRIP;
			u32 *to = words + wordOf<K>(v, h);
			if (MORE || terms(x.a) == 1)
				align<K>(to, turned<K>(h), x, exps, c.width, v0 + v, k0 + h, MORE ? c.first : 0);
			else if (v0 + v < x.n && k0 + h < x.k)
				writeSum<K>(to, turned<K>(h), x.a, x.off + (v0 + v) * x.rs + (k0 + h) * x.cs, c.width - exps[v0 + v]);
			else
				clearDigits<K>(to);
		}
	}
	__syncthreads();

	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
	const uint4 *constants = (const uint4 *)c.constants + lane;
	const modulus *moduli = (const modulus *)c.moduli + g;
	int plainTiles = (c.plain + 15) / 16, pairs = (c.karatsuba + 15) / 16;
	// A warp takes a vector and a tile, or a pair of them, whose constants stay in registers. The
	// pairs, which take longer, come first.
	for (int task = warp; task < (plainTiles + pairs) * group; task += WARPS) {
		int v = task % group, t = task / group;
		// Column 2 q + e of group j is number 16 q + 2 j + e: a thread's results are those of 16
		// consecutive numbers.
		int h = 16 * (g >> 1) + (g & 1), turn = turned<K>(h);
		const u32 *from = words + wordOf<K>(v, h) + 2 * q;
		digitsAt<K> digits = {from + 8 * turn, from - 8 * turn};
		int at = c.permute ? place(v0 + v) : v0 + v;
		char *to = (char *)c.planes + ((i64)(at / TILE) * c.blocks + k0 / TILE) * TILE_BYTES + at % TILE * TILE;
		modulus m[2];
		i64 stride = c.stride;
		if (t < pairs) {
			uint4 a[2][K];
			load(a, constants + (plainTiles + 2 * t) * K * 32);
			m[0] = moduli[16 * (plainTiles + t)], m[1] = moduli[16 * (plainTiles + t) + 8];
			to += (c.plain + 48 * t) * stride;
#pragma unroll 1
			for (int half = 0; half < 2; half++, digits.even += wordOf<K>(0, 64), digits.odd += wordOf<K>(0, 64))
				karatsubaTiles<K, MORE>(to + (4 * half + q ^ (at & 7)) * 16, stride, a, m, c.karatsuba - 16 * t, digits);
		} else {
			t -= pairs;
			uint4 a[1][K];
			load(a, constants + t * K * 32);
			m[0] = moduli[16 * t], m[1] = moduli[16 * t + 8];
			to += 16 * t * stride;
#pragma unroll 1
			for (int half = 0; half < 2; half++, digits.even += wordOf<K>(0, 64), digits.odd += wordOf<K>(0, 64))
				plainTile<K, MORE>(to + (4 * half + q ^ (at & 7)) * 16, stride, a, m, c.plain - 16 * t, digits);
		}
	}
}

// What follows converts numbers of one 64-bit word to integers of at most 126 bits: 16 digits.
// A block converts a strip of SHORT_VECTORS vectors, a warp one strip at a time. Digits of number
// h of vector v lie at word v SHORT_PITCH + 4 h + h / 16 8.
#define SHORT_VECTORS 16
#define SHORT_STRIP 64
#define SHORT_PITCH (4 * SHORT_STRIP + SHORT_STRIP / 16 * 8 + 4)
#define SHORT_COUNT (SHORT_VECTORS * SHORT_STRIP / THREADS)

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
	int v = across ? id % SHORT_VECTORS : id / SHORT_STRIP, h = across ? id / SHORT_VECTORS : id % SHORT_STRIP;
	u32 *to = words + v * SHORT_PITCH + 4 * h + (h >> 4) * 8;
	v += v0, h += k0;
	// From number to number of a thread.
	int dv = across ? 0 : THREADS / SHORT_STRIP, dh = across ? THREADS / SHORT_VECTORS : 0;
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
		to += across ? THREADS / SHORT_VECTORS * 4 + 8 : THREADS / SHORT_STRIP * SHORT_PITCH;
	}
}

static __device__ __forceinline__ void shortResidues(const side &s)
{
	const vectors &x = s.x;
	const conversion &c = s.c;
	const i64 *exps = (const i64 *)s.exps;
	__shared__ uint4 memory[SHORT_VECTORS * SHORT_PITCH / 4];
	u32 *words = (u32 *)memory;
	int k0 = blockIdx.x * SHORT_STRIP, v0 = blockIdx.y * SHORT_VECTORS;
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
// of 64 numbers of 16 vectors.
extern "C" __global__ void __launch_bounds__(THREADS, 4) residues0(const __grid_constant__ sides both)
{
	tellScan(both);
	if (blockIdx.z == 0) // as in residues1
		shortResidues(both.s[0]);
	else
		shortResidues(both.s[1]);
}

// residuesK converts integers of at most 256 K - 2 bits, or the lowest 256 K bits of longer ones.
// Block (b, g, s) converts numbers 128 b to 128 b + 127 of the vectors of group g of the left
// factor, s = 0, or of the right one.
#define RESIDUES(K) \
	extern "C" __global__ void __launch_bounds__(THREADS, K == 1 ? 4 : K == 2 ? 3 : 2) residues##K(const __grid_constant__ sides both) \
	{ \
		tellScan(both); \
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
