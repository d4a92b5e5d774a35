// From residues to results. With W_t = floor(M/m_t 2^-cut), F_t = round(2^33/m_t) and q
// the integer nearest to 2^-33 sum y_t F_t, the integer product is
// 2^cut (sum y_t W_t - q floor(M 2^-cut)) up to an error that the host bounds. The sums are a
// product of matrices: digits in radix 2^8 of F_t and W_t times the y_t. A half word y_t
// is two bytes, the upper one with the digits of 256 F_t and 256 W_t.
#include "../common/mma.cuh"
#include "../common/round.cuh"

struct vectorData {
	u64 exp, norm, flags; // as scan makes them
};

// How integers are compared with their residues modulo a redundant modulus m, a Karatsuba modulus
// whose residues follow those of the base: the integer product is
// 2^cut V + sum y_t r_t - q R modulo m, for the integer V that is rounded. Digits of r_t follow
// those of W_t.
struct checking {
	u64 powers;  // u32: 2^(cut + 32 w) mod m, for every word w of V and the one above
	u64 fault;   // the largest of those of entries that differ: see compare
	u64 inverse; // floor((2^64 - 1) / m)
	u32 modulus;
	u32 rest; // -R mod m
	int rows; // of C
	int pad;
};

struct finishing {
	target c;
	leftovers failed;
	vectorData l, r;
	// entry (i, j): errorL norm_i + errorR norm_j + error; below 0: the integers are rounded as
	// they are, and zeros have no sign
	double errorL, errorR, error;
	u64 y, wide;                  // residues, bytes and half words
	i64 stride, ld;               // entries from plane to plane, from column to column
	i64 unit;                     // exponent of one unit, vectors' exponents aside
	u64 weights;                  // fragments of the weights: uint4 [tile][step][lane]
	u64 product;                  // u32: the words of floor(M 2^-cut)
	// if not null, the integers go here: word w of entry 32 s + e at 32 (s pitch + w) + e
	u64 raw;
	int plain, karatsuba;
	int words; // of the integers, in two's complement
	int m, n;
	int i0, j0;   // place of entry (0, 0) in C
	int neg;      // alpha is negative
	int triangle; // 'U', 'L' or 0
	int pitch;
	int steps; // of 32 bytes of residues, for finishLong
	checking check;
};

#define MAX_THREADS 256

// From so many steps on, weights pass through shared memory, in two buffers: they would
// not stay in the first level cache.
#define STAGED 5

#define TILE_DIGITS 16
#define TILE_PITCH 36 // words from digit to digit of sums in shared memory

// Words from word to word of the integers of a warp's entries in shared memory, where these go to
// memory together: a word of all entries lies in different banks, and so do words of an entry.
#define WORD_PITCH 33

// place rounds the magnitude x of length n, at least that of a significand, to a significand that
// takes the place of its lowest words, and reports whether that became 1 one exponent above.
static __device__ __forceinline__ bool place(const target &c, const integer &x, int n, bool up)
{
	int limbs = c.a.limbs, pos = n - 64 * limbs, i = pos >> 5, s = pos & 31;
	u64 lsb = 1ull << (64 * limbs - (int)c.prec), keep = 0 - lsb, carry = up ? lsb : 0;
	u32 low = x.word(i);
	for (int k = 0; k < 2 * limbs; k += 2, i += 2) {
		u32 middle = x.word(i + 1), high = x.word(i + 2);
		u64 word = ((u64)__funnelshift_r(middle, high, s) << 32 | __funnelshift_r(low, middle, s)) & keep;
		low = high;
		keep = ~0ull;
		word += carry;
		carry = word < carry;
		x.at[k * x.stride] = (u32)word;
		x.at[(k + 1) * x.stride] = (u32)(word >> 32);
	}
	if (carry)
		x.at[(2 * limbs - 1) * x.stride] = 1u << 31;
	return carry != 0;
}

// finishRows is finishEntry for the entries of a warp that are live, one below the other in
// memory, of kind MP: it writes their significands together.
static __device__ __forceinline__ void finishRows(const finishing &f, integer x, int i, int j, bool live)
{
	int lane = threadIdx.x % 32, limbs = f.c.a.limbs;
	i64 to = f.c.off + f.i0 + i + (f.j0 + j) * f.c.cs;
	bool stored = false;
	if (live) {
		u32 flags = ((const u8 *)f.l.flags)[i] | ((const u8 *)f.r.flags)[j];
		double error = f.errorL * ((const double *)f.l.norm)[i] + f.errorR * ((const double *)f.r.norm)[j] + f.error;
		bool special = flags & SPECIAL;
		if (error < 0)
			error = flags = 0;
		bool neg = x.magnitude() != (f.neg != 0), up;
		int n = x.length();
		i64 top = f.unit + ((const i64 *)f.l.exp)[i] + ((const i64 *)f.r.exp)[j] + n;
		bool done = true;
		if (special || n == 0 && (error != 0 || flags & HAS_ZERO)) { // a zero addend may be -0
			done = false;
		} else if (n == 0) {
			storeZero(f.c, to, false);
		} else if (n < 64 * limbs) {
			done = store(f.c, to, x, n, neg, top - n, error);
		} else if (top > 0x7ffffffd || top < -0x7ffffffell || !rounds(x, n - (int)f.c.prec, error, up, 0)) {
			done = false;
		} else {
			stored = true;
			top += place(f.c, x, n, up);
			((int *)f.c.a.plane[1])[to] = (int)top;
			((u8 *)f.c.a.plane[2])[to] = FINITE << 1 | neg;
		}
		if (!done)
			leave(f.failed, f.i0 + i, f.j0 + j);
	}
	u32 all = __ballot_sync(~0u, stored);
	__syncwarp();
	const u32 *words = x.at - lane;
	u64 *sig = (u64 *)f.c.a.plane[0] + (to - lane) * limbs;
	int e = lane / limbs, k = lane % limbs, entries = 32 / limbs, rest = 32 % limbs;
	for (int at = lane; at < 32 * limbs; at += 32) {
		const u32 *from = words + 2 * k * WORD_PITCH + e;
		if (all >> e & 1)
			sig[at] = (u64)from[WORD_PITCH] << 32 | from[0];
		k += rest;
		e += entries;
		if (k >= limbs) {
			k -= limbs;
			e++;
		}
	}
}

static __device__ void finishEntry(const finishing &f, integer x, int i, int j)
{
	const i64 *el = (const i64 *)f.l.exp, *er = (const i64 *)f.r.exp;
	u8 fl = ((const u8 *)f.l.flags)[i], fr = ((const u8 *)f.r.flags)[j];
	double error = f.errorL * ((const double *)f.l.norm)[i] + f.errorR * ((const double *)f.r.norm)[j] + f.error;
	if ((fl | fr) & SPECIAL) {
		leave(f.failed, f.i0 + i, f.j0 + j);
		return;
	}
	if (error < 0)
		error = fl = fr = 0;
	i64 to = f.c.off + (f.i0 + i) * f.c.rs + (f.j0 + j) * f.c.cs;
	bool neg = x.magnitude() != (f.neg != 0);
	int n = x.length();
	if (n == 0) {
		// A zero addend may be -0, which the exact pass finds out.
		if (error != 0 || (fl | fr) & HAS_ZERO)
			leave(f.failed, f.i0 + i, f.j0 + j);
		else
			storeZero(f.c, to, false);
		return;
	}
	if (!store(f.c, to, x, n, neg, f.unit + el[i] + er[j], error))
		leave(f.failed, f.i0 + i, f.j0 + j);
}

// modulo returns x modulo the redundant modulus.
static __device__ __forceinline__ u32 modulo(const checking &c, u64 x)
{
	// The quotient is at most 1 too small.
	u32 r = (u32)(x - __umul64hi(x, c.inverse) * c.modulus);
	return r >= c.modulus ? r - c.modulus : r;
}

// compare compares the integer of entry (i, j) of a block, rest being sum y_t r_t, with its
// residue. It notes the first entry, column after column, that differs.
static __device__ __forceinline__ void compare(const finishing &f, const integer &x, i64 quotient, u64 rest, int i, int j)
{
	const checking &c = f.check;
	const u32 *powers = (const u32 *)c.powers;
	u64 sum = rest + (u64)quotient * c.rest; // below 2^48, and every word adds less than 2^46
	for (int w = 0; w < x.words; w++)
		sum += (u64)x.word(w) * powers[w];
	if ((int)x.word(x.words - 1) < 0)
		sum += c.modulus - powers[x.words];
	u32 got = modulo(c, sum), want = modulo(c, ((const u16 *)f.wide)[f.karatsuba * f.stride + j * f.ld + i]);
	if (got != want) {
		u32 place = (u32)(f.j0 + j) * (u32)c.rows + (u32)(f.i0 + i);
		atomicMax((unsigned long long *)c.fault, ~((u64)place << 32 | got << 16 | want));
	}
}

// bytes of K steps of 32 residues of 32 entries: word (s, h, j) holds residues 32 s + 16 h + 4 q
// to + 3 of entry 4 g + j, q and g as in the fragments of mma.
template <int K> struct residuesOf {
	u32 y[K][2][4];
};

// loadPlain loads residues t to t + 3 of four entries, one after the other.
static __device__ __forceinline__ void loadPlain(u32 (&a)[4], const finishing &f, i64 at, int t)
{
	const u8 *from = (const u8 *)f.y + t * f.stride + at;
#pragma unroll
	for (int b = 0; b < 4; b++)
		a[b] = t + b < f.plain ? *(const u32 *)(from + b * f.stride) : 0;
}

// loadWide loads residues t and t + 1 of four entries, one after the other.
static __device__ __forceinline__ void loadWide(u32 (&a)[4], const finishing &f, i64 at, int t)
{
#pragma unroll
	for (int b = 0; b < 2; b++) {
		uint2 x = t + b < f.karatsuba ? *(const uint2 *)((const u16 *)f.wide + (t + b) * f.stride + at) : make_uint2(0, 0);
		a[2 * b] = x.x;
		a[2 * b + 1] = x.y;
	}
}

// transpose puts the residues of an entry into one word.
static __device__ __forceinline__ void transpose(u32 (&a)[4], bool plain)
{
	u32 x0, x1, y0, y1; // entries 0 and 1, 2 and 3
	if (plain) {
		x0 = __byte_perm(a[0], a[1], 0x5140), x1 = __byte_perm(a[2], a[3], 0x5140);
		y0 = __byte_perm(a[0], a[1], 0x7362), y1 = __byte_perm(a[2], a[3], 0x7362);
	} else {
		x0 = a[0], x1 = a[2], y0 = a[1], y1 = a[3];
	}
	a[0] = __byte_perm(x0, x1, 0x5410);
	a[1] = __byte_perm(x0, x1, 0x7632);
	a[2] = __byte_perm(y0, y1, 0x5410);
	a[3] = __byte_perm(y0, y1, 0x7632);
}

// exchange hands the sums of a tile over to the lanes of their entries, digit after digit.
static __device__ __forceinline__ void exchange(u32 *sums, const int (&sum)[4][4], int g, int q)
{
	// Rows g and g + 8 are digits; columns 2q and 2q + 1 of part n are entries 8q + n and
	// 8q + 4 + n.
	__syncwarp();
	uint4 *to = (uint4 *)(sums + g * TILE_PITCH + 8 * q);
	to[0] = make_uint4(sum[0][0], sum[1][0], sum[2][0], sum[3][0]);
	to[1] = make_uint4(sum[0][1], sum[1][1], sum[2][1], sum[3][1]);
	to += 8 * TILE_PITCH / 4;
	to[0] = make_uint4(sum[0][2], sum[1][2], sum[2][2], sum[3][2]);
	to[1] = make_uint4(sum[0][3], sum[1][3], sum[2][3], sum[3][3]);
	__syncwarp();
}

// sumTile hands over the sums of TILE_DIGITS digits, whose weights lie at w, of a warp's entries.
template <int K> static __device__ __forceinline__ void sumTile(u32 *sums, const uint4 *w, const residuesOf<K> &r)
{
	int lane = threadIdx.x % 32;
	int sum[4][4] = {};
#pragma unroll
	for (int s = 0; s < K; s++) {
		uint4 a = w[32 * s + lane];
#pragma unroll
		for (int n = 0; n < 4; n++)
			multiplyAddUnsigned(sum[n], a, r.y[s][0][n], r.y[s][1][n]);
	}
	exchange(sums, sum, lane / 4, lane % 4);
}

// digits adds up four digits' sums.
static __device__ __forceinline__ u64 digits(const u32 *d)
{
	return d[0] + ((u64)d[TILE_PITCH] << 8) + ((u64)d[2 * TILE_PITCH] << 16) + ((u64)d[3 * TILE_PITCH] << 24);
}

// quotientOf is the integer nearest to x 2^-33.
static __device__ __forceinline__ i64 quotientOf(u64 x) { return (i64)(x + (1ull << 32) >> 33); }

// What becomes of the sums of a lane's entry, word after word.
struct reconstruction {
	const u32 *sums; // of a tile
	u32 *words;      // word w at w pitch
	const u32 *product;
	int count, pitch; // of words
	u32 quotient;
	i64 carry;
	u64 rest; // the word above, if there is one

	// take takes word k of tile t.
	__device__ __forceinline__ void take(int t, int k)
	{
		u64 x = digits(sums + 4 * k * TILE_PITCH);
		int word = 4 * t + k - 1;
		if (word < 0) {
			quotient = (u32)quotientOf(x);
		} else if (word < count) {
			i64 y = (i64)(x - (u64)quotient * product[word]) + carry;
			words[word * pitch] = (u32)y;
			carry = y >> 32;
		} else if (word == count) {
			rest = x;
		}
	}
};

// warpWords is what a warp has in shared memory: sums, and words.
static __device__ __forceinline__ int warpWords(int words) { return TILE_DIGITS * TILE_PITCH + (WORD_PITCH * words + 3 & ~3); }

// end makes results of the integers x of a warp's entries, or copies them to raw unless they lie
// there. Those of MP go to memory together where that is set: of 424 and 848 bits that took 0.91
// and 0.85 of the time of all of the kernel on an H100, of 106 and 212 bits 1.06 and 1.13
// (bench/records/h100-residues.json).
template <bool CHECK, bool TOGETHER>
static __device__ __forceinline__ void end(const finishing &f, const integer &x, const reconstruction &c, int i, int j, bool live, u32 *raw)
{
	if (CHECK && live)
		compare(f, x, c.quotient, c.rest, i, j);
	if (f.raw) {
		for (int w = 0; raw && live && w < f.words; w++)
			raw[32 * w] = x.word(w);
	} else if (TOGETHER && f.c.a.kind == MP && f.c.rs == 1) {
		finishRows(f, x, i, j, live);
	} else if (live) {
		finishEntry(f, x, i, j);
	}
}

// A warp finishes 32 rows of a column, whose residues it keeps in registers.
template <int K, bool CHECK> static __device__ __forceinline__ void finish(const finishing &f)
{
	extern __shared__ uint4 memory[];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
	u32 across = (f.m + 31) / 32, strip = blockIdx.x * (blockDim.x / 32) + warp; // all fit 32 bits
	int j = strip / across, i = strip % across * 32;
	int below = f.i0 - f.j0 + i - j; // the diagonal
	bool idle = j >= f.n || f.triangle == 'U' && below > 0 || f.triangle == 'L' && below + 32 <= 0;
	if (idle && K < STAGED)
		return;

	const uint4 *weights = (const uint4 *)f.weights;
	uint4 *staged = memory;
	int tiles = (f.words + 1 + CHECK + TILE_DIGITS / 4 - 1) / (TILE_DIGITS / 4);
	// load starts the copy of the weights of tile t.
	auto load = [&](int t) {
		if (t < tiles)
			for (int i = threadIdx.x; i < 32 * K; i += blockDim.x)
				copyAsync(sharedAddress(staged + t % 2 * 32 * K + i), weights + t * 32 * K + i);
		closeGroup();
	};
	if (K >= STAGED)
		load(0);

	residuesOf<K> r;
	int halves = (f.plain + 15) / 16;
	i64 at = idle ? 4 * g : j * f.ld + i + 4 * g;
#pragma unroll
	for (int h = 0; h < 2 * K; h++) {
		if (h < halves)
			loadPlain(r.y[h / 2][h % 2], f, at, 16 * h + 4 * q);
		else
			loadWide(r.y[h / 2][h % 2], f, at, 8 * (h - halves) + 2 * q);
	}
	// All loads are under way before the first is waited for.
#pragma unroll
	for (int h = 0; h < 2 * K; h++)
		transpose(r.y[h / 2][h % 2], h < halves);

	u32 *sums = (u32 *)(memory + (K >= STAGED ? 2 * 32 * K : 0)) + warp * warpWords(f.words);
	u32 *words = sums + TILE_DIGITS * TILE_PITCH + lane;
	const int pitch = K >= STAGED ? WORD_PITCH : 32;
	reconstruction c = {sums + lane, words, (const u32 *)f.product, f.words, pitch, 0, 0, 0};
	for (int t = 0; t < tiles; t++) {
		const uint4 *w = weights + t * 32 * K;
		if (K >= STAGED) {
			__syncthreads();
			load(t + 1);
			waitGroups<1>();
			__syncthreads();
			w = staged + t % 2 * 32 * K;
		}
		sumTile<K>(sums, w, r);
#pragma unroll
		for (int k = 0; k < TILE_DIGITS / 4; k++)
			c.take(t, k);
	}
	if (idle)
		return;

	i += lane;
	bool live = i < f.m && !(f.triangle == 'U' && below + lane > 0) && !(f.triangle == 'L' && below + lane < 0);
	end<CHECK, K >= STAGED>(f, {words, pitch, f.words}, c, i, j, live, f.raw ? (u32 *)f.raw + (i64)strip * 32 * f.pitch + lane : 0);
}

// What follows is finish<1> for integers of at most N words, which stay in registers, and results
// F32 or F64. A warp finishes SHORT_ROWS rows of a column, whose residues it loads together, in
// groups of 32: lane l has row 16 (l % 8) + l / 8, and 4 further on in each group.
#define SHORT_ROWS 128
#define SHORT_PITCH 40 // words from digit to digit of sums in shared memory

// normalize makes the magnitude of an integer that is not 0, shifts its leading one to the
// uppermost bit, and returns its length.
template <int N> static __device__ __forceinline__ int normalize(u32 (&w)[N], bool &neg)
{
	neg = (int)w[N - 1] < 0;
	u32 ones = neg ? ~0u : 0, carry = neg;
#pragma unroll
	for (int k = 0; k < N; k++) {
		u64 t = (u64)(w[k] ^ ones) + carry;
		w[k] = (u32)t;
		carry = (u32)(t >> 32);
	}
	int n = 32 * N;
#pragma unroll 1
	for (; w[N - 1] == 0; n -= 32)
#pragma unroll
		for (int k = N - 1; k >= 0; k--)
			w[k] = k > 0 ? w[k - 1] : 0;
	int s = __clz((int)w[N - 1]);
#pragma unroll
	for (int k = N - 1; k >= 0; k--)
		w[k] = __funnelshift_l(k > 0 ? w[k - 1] : 0, w[k], s);
	return n - s;
}

// roundsShort is rounds for drop bits, of which tail has the upper 64, and below is not 0 if others
// are not. odd is the last bit kept.
static __device__ __forceinline__ bool roundsShort(u64 tail, u32 below, bool odd, int drop, double error, bool &up)
{
	up = tail >> 63;
	if (error == 0) {
		if (tail == 1ull << 63)
			up = odd || below;
		return true;
	}
	// as within has it
	u64 e = (u64)error + 1;
	if (drop < 2 || error >= 0x1p60 || e >> min(drop - 2, 63))
		return false;
	e = drop < 64 ? e << (64 - drop) : (e >> min(drop - 64, 63)) + 1;
	i64 d = (i64)(tail - (1ull << 63));
	return (u64)(d < 0 ? -d : d) > e + 2;
}

// storeShort is store for an integer of words w, in two's complement and not 0.
template <int N> static __device__ __forceinline__ bool storeShort(const target &c, i64 to, u32 (&w)[N], bool flip, i64 exp, double error)
{
	bool neg, up, wide = c.a.kind == F64;
	int n = normalize(w, neg), drop = n - (wide ? 53 : 24); // drop bits are rounded off
	i64 top = exp + n;
	if (wide ? top > 1023 || top < -1021 : top > 127 || top < -125)
		return false;
	u32 a[4] = {w[N - 4], w[N - 3], w[N - 2], w[N - 1]}, below = 0;
#pragma unroll
	for (int k = 0; k < N - 4; k++)
		below |= w[k];
	if (!wide) {
		below |= a[0];
		a[0] = a[1], a[1] = a[2], a[2] = a[3], a[3] = 0;
	}
	int s = wide ? 11 : 8;
	u64 tail = (u64)__funnelshift_r(a[1], a[2], s) << 32 | __funnelshift_r(a[0], a[1], s);
	u64 q = (u64)(a[3] >> s) << 32 | __funnelshift_r(a[2], a[3], s);
	if (!roundsShort(tail, below | a[0] << (32 - s), q & 1, drop, error, up))
		return false;
	// q may be 2^prec: the carry goes into the exponent.
	q += up;
	neg ^= flip;
	if (wide)
		((double *)c.a.plane[0])[to] = __longlong_as_double((i64)(q + ((u64)(top + 1021) << 52) | (u64)neg << 63));
	else
		((float *)c.a.plane[0])[to] = __uint_as_float((u32)q + ((u32)(top + 125) << 23) | (u32)neg << 31);
	return true;
}

// WHOLE: the integers have exactly N words.
template <int N, bool WHOLE> static __device__ __forceinline__ void finishShort(const finishing &f)
{
	extern __shared__ uint4 memory[];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
	u32 across = (f.m + SHORT_ROWS - 1) / SHORT_ROWS, strip = blockIdx.x * (blockDim.x / 32) + warp;
	int j = strip / across, i = strip % across * SHORT_ROWS;
	int below = f.i0 - f.j0 + i - j; // the diagonal
	if (j >= f.n || f.triangle == 'U' && below > 0 || f.triangle == 'L' && below + SHORT_ROWS <= 0)
		return;
	uint4 y[2][4];
	i64 at = j * f.ld + i + 16 * g;
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int b = 0; b < 4; b++) {
			int t = 16 * h + 4 * q + b;
			y[h][b] = t < f.plain ? *(const uint4 *)((const u8 *)f.y + t * f.stride + at) : make_uint4(0, 0, 0, 0);
		}
	// What does not depend on the row is on its way, too.
	i64 unit = f.unit + ((const i64 *)f.r.exp)[j];
	double common = f.errorR * ((const double *)f.r.norm)[j];
	u32 sort = ((const u8 *)f.r.flags)[j];
	u32 *sums = (u32 *)memory + warp * TILE_DIGITS * SHORT_PITCH;
	u32 *put = sums + g * SHORT_PITCH + 2 * q;
	u32 complement[N]; // of the product
#pragma unroll
	for (int w = 0; w < N; w++)
		complement[w] = WHOLE || w < f.words ? ~((const u32 *)f.product)[w] : 0;
	i64 to = f.c.off + f.i0 * f.c.rs + (f.j0 + j) * f.c.cs;
	i += 16 * (lane % 8) + lane / 8;
#pragma unroll 1
	for (int k = 0; k < 4; k++, i += 4) {
		bool there = i < f.m;
		int row = there ? i : 0;
		i64 exp = unit + ((const i64 *)f.l.exp)[row];
		double error = f.errorL * ((const double *)f.l.norm)[row] + common + f.error;
		u32 flags = sort | ((const u8 *)f.l.flags)[row];
		if (error < 0) {
			error = 0;
			flags &= SPECIAL;
		}
		u32 r[2][4];
#pragma unroll
		for (int h = 0; h < 2; h++) {
#pragma unroll
			for (int b = 0; b < 4; b++) {
				r[h][b] = y[h][b].x;
				y[h][b] = make_uint4(y[h][b].y, y[h][b].z, y[h][b].w, 0);
			}
			transpose(r[h], true);
		}
		u32 w[N] = {}, quotient = 0, carry = 0;
#pragma unroll
		for (int t = 0; 4 * t < N + 1; t++) {
			if (!WHOLE && 4 * t - 1 >= f.words)
				break;
			uint4 weights = ((const uint4 *)f.weights)[32 * t + lane];
			__syncwarp();
			// Columns 2 q and 2 q + 1 of part n are entries 8 q + n and 8 q + 4 + n.
#pragma unroll
			for (int n = 0; n < 4; n++) {
				int sum[4] = {};
				multiplyAddUnsigned(sum, weights, r[0][n], r[1][n]);
				*(uint2 *)(put + 8 * n) = make_uint2(sum[0], sum[1]);
				if (4 * t + 1 < N) // digits of words 4 t + 1 and 4 t + 2
					*(uint2 *)(put + 8 * n + 8 * SHORT_PITCH) = make_uint2(sum[2], sum[3]);
			}
			__syncwarp();
#pragma unroll
			for (int d = 0; d < TILE_DIGITS / 4; d++) {
				const int word = 4 * t + d - 1;
				if (word >= N || !WHOLE && word >= f.words)
					break;
				// Sums are below 2^21, and so is the carry.
				const u32 *from = sums + 4 * d * SHORT_PITCH + lane;
				u32 low = from[0] + (from[SHORT_PITCH] << 8) + carry, high = from[2 * SHORT_PITCH] + (from[3 * SHORT_PITCH] << 8);
				u64 x = low + ((u64)high << 16);
				if (word < 0) {
					// To take off q M is to add q and q ^M, modulo all words.
					quotient = carry = (u32)quotientOf(x);
				} else {
					x += (u64)quotient * complement[word];
					w[word] = (u32)x;
					carry = (u32)(x >> 32);
				}
			}
		}
#pragma unroll
		for (int d = 1; d < N; d++)
			if (!WHOLE && d >= f.words)
				w[d] = (int)w[d - 1] >> 31;
		int under = f.i0 - f.j0 + i - j;
		if (!there || f.triangle == 'U' && under > 0 || f.triangle == 'L' && under < 0)
			continue;
		u32 some = 0;
#pragma unroll
		for (int d = 0; d < N; d++)
			some |= w[d];
		bool done = !(flags & SPECIAL);
		if (done && some == 0) {
			done = error == 0 && !(flags & HAS_ZERO); // a zero addend may be -0
			if (done)
				storeZero(f.c, to + row * f.c.rs, false);
		} else if (done) {
			done = storeShort(f.c, to + row * f.c.rs, w, f.neg, exp, error);
		}
		if (!done)
			leave(f.failed, f.i0 + row, f.j0 + j);
	}
}

// finishK takes up to 2 K groups of residues: 16 bytes or 8 half words; finish0 two, see
// finishShort. finishKChecked compares the integers with their residues modulo a redundant modulus.
extern "C" __global__ void __launch_bounds__(MAX_THREADS, 3) finish0(const __grid_constant__ finishing f)
{
	if (f.words < 4)
		finishShort<4, false>(f);
	else if (f.words == 4)
		finishShort<4, true>(f);
	else if (f.words == 5)
		finishShort<5, true>(f);
	else
		finishShort<6, true>(f);
}

#define FINISH(K) \
	extern "C" __global__ void __launch_bounds__(MAX_THREADS) finish##K(const __grid_constant__ finishing f) \
	{ \
		finish<K, false>(f); \
	} \
	extern "C" __global__ void __launch_bounds__(MAX_THREADS) finish##K##Checked(const __grid_constant__ finishing f) \
	{ \
		finish<K, true>(f); \
	}

FINISH(1)
FINISH(2)
FINISH(3)
FINISH(5)
FINISH(9)
FINISH(13)
FINISH(17)
FINISH(20)

// Warps of a block of finishLong, and tiles whose sums they keep.
#define WARPS 4
#define TILES 8

// Buffers of weights: one is read while the next ones arrive.
#define BUFFERS 3

// A warp finishes 32 rows of a column, whose residues it reads once for every TILES tiles.
template <bool CHECK> static __device__ __forceinline__ void finishTiles(const finishing &f)
{
	extern __shared__ uint4 memory[];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
	u32 across = (f.m + 31) / 32, strip = blockIdx.x * (blockDim.x / 32) + warp; // all fit 32 bits
	int j = strip / across, i = strip % across * 32;
	int below = f.i0 - f.j0 + i - j; // the diagonal
	bool idle = j >= f.n || f.triangle == 'U' && below > 0 || f.triangle == 'L' && below + 32 <= 0;
	int tiles = (f.words + 1 + CHECK + TILE_DIGITS / 4 - 1) / (TILE_DIGITS / 4), halves = (f.plain + 15) / 16;
	i64 at = idle ? 4 * g : j * f.ld + i + 4 * g;
	const uint4 *weights = (const uint4 *)f.weights;
	u32 *sums = (u32 *)(memory + BUFFERS * TILES * 32) + warp * warpWords(f.raw ? 0 : f.words);
	u32 *words = f.raw && !idle ? (u32 *)f.raw + (i64)strip * 32 * f.pitch : sums + TILE_DIGITS * TILE_PITCH;
	integer x = {words + lane, f.raw ? 32 : WORD_PITCH, f.words};
	reconstruction c = {sums + lane, x.at, (const u32 *)f.product, f.words, x.stride, 0, 0, 0};
	auto fetch = [&](u32 (&y)[2][4], int k) {
#pragma unroll
		for (int h = 0; h < 2; h++) {
			if (2 * k + h < halves)
				loadPlain(y[h], f, at, 16 * (2 * k + h) + 4 * q);
			else
				loadWide(y[h], f, at, 8 * (2 * k + h - halves) + 2 * q);
		}
	};
	for (int t0 = 0; t0 < tiles; t0 += TILES) {
		int live = min(TILES, tiles - t0);
		// load starts the copy of step k of the weights of these tiles.
		auto load = [&](int k) {
			if (k < f.steps)
				for (int i = threadIdx.x; i < 32 * live; i += 32 * WARPS)
					copyAsync(sharedAddress(memory + k % BUFFERS * TILES * 32 + i), weights + ((i64)(t0 + i / 32) * f.steps + k) * 32 + i % 32);
			closeGroup();
		};
		__syncthreads();
		for (int k = 0; k < BUFFERS - 1; k++)
			load(k);
		int sum[TILES][4][4] = {};
		u32 next[2][4];
		fetch(next, 0);
		for (int k = 0; k < f.steps; k++) {
			u32 y[2][4];
#pragma unroll
			for (int h = 0; h < 2; h++) {
#pragma unroll
				for (int n = 0; n < 4; n++)
					y[h][n] = next[h][n];
				transpose(y[h], 2 * k + h < halves);
			}
			waitGroups<BUFFERS - 2>();
			__syncthreads();
			load(k + BUFFERS - 1);
			if (k + 1 < f.steps)
				fetch(next, k + 1);
			const uint4 *w = memory + k % BUFFERS * TILES * 32 + lane;
#pragma unroll
			for (int t = 0; t < TILES; t++) {
				if (t >= live)
					break;
				uint4 a = w[32 * t];
#pragma unroll
				for (int n = 0; n < 4; n++)
					multiplyAddUnsigned(sum[t][n], a, y[0][n], y[1][n]);
			}
		}
#pragma unroll
		for (int t = 0; t < TILES; t++) {
			if (t >= live || idle)
				break;
			exchange(sums, sum[t], g, q);
#pragma unroll
			for (int k = 0; k < TILE_DIGITS / 4; k++)
				c.take(t0 + t, k);
		}
	}
	if (idle)
		return;
	i += lane;
	end<CHECK, true>(f, x, c, i, j, i < f.m && !(f.triangle == 'U' && below + lane > 0) && !(f.triangle == 'L' && below + lane < 0), 0);
}

// finishLong takes any number of groups of residues.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) finishLong(const __grid_constant__ finishing f)
{
	finishTiles<false>(f);
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) finishLongChecked(const __grid_constant__ finishing f)
{
	finishTiles<true>(f);
}
