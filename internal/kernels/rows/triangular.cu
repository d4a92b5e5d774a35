// Rows of a triangular system of equations, each quotient rounded once.
//
// With T = R + E, X is found row by row: x_i = RN((r_i - sum_h t_ih x_h) / t_ii), h over the rows
// of the block that were solved before. r is known up to 2^(top - prec + 5), prec its bits and top
// above all exponents it had: it was rounded to nearest at most 64 times, by 2^(top - prec - 1) at
// most. A sum whose quotients do not all round alike is counted, and is for the host.
#include "../common/sum.cuh"

#define LANES 32

struct quotients {
	vectors t;  // all rows of T
	vectors r;  // all rows, in MP with prec bits
	target x;
	u64 top;    // i64: of number i + j r.n
	u64 odd;    // u32: entries that are not decided
	u64 counts; // u64: overflows, underflows
	i64 prec;
	int lo, hi; // rows, LANES at most
	int lower;  // from row lo on, else from row hi - 1 back
	int unit;   // the diagonal is 1
	int words;    // of a window: an error of r stays far below 2^60 units of it
	int quotient; // words of a quotient
};

struct raising {
	vectors r; // rows, in MP
	u64 top;   // of its first row; numbers of columns are rows apart
	i64 rows;
	int first; // there is nothing in top yet
	int pad;
};

#define NO_TOP (-(1ll << 61))

// raise makes top[] as large as the exponents of r.
extern "C" __global__ void __launch_bounds__(256) raiseTops(const __grid_constant__ raising p)
{
	int i = blockIdx.x * 256 + threadIdx.x;
	for (int j = blockIdx.y; j < p.r.k && i < p.r.n; j += gridDim.y) {
		i64 at = p.r.off + i * p.r.rs + j * p.r.cs;
		bool some = ((const u8 *)p.r.a.plane[2])[at] >> 1 == FINITE;
		i64 e = some ? ((const int *)p.r.a.plane[1])[at] : NO_TOP, *to = (i64 *)p.top + i + j * p.rows;
		*to = p.first ? e : max64(*to, e);
	}
}

// divide sets q[], words of them, to floor(U / D), for an integer U of words + n words that is
// below D 2^(32 words), and D of n words with the top bit set. It changes U, which has room for a
// word more, 0. (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D.)
static __device__ void divide(u32 *q, int words, u32 *u, const u32 *d, int n)
{
	u64 high = d[n - 1], next = n > 1 ? d[n - 2] : 0;
	for (int j = words - 1; j >= 0; j--) {
		u64 two = (u64)u[j + n] << 32 | u[j + n - 1];
		u64 guess = two / high, rest = two % high;
		u64 below = n > 1 ? u[j + n - 2] : 0;
		while (guess >> 32 || guess * next > (rest << 32 | below)) {
			guess--;
			rest += high;
			if (rest >> 32)
				break;
		}
		u64 carry = 0;
		i64 borrow = 0;
		for (int k = 0; k < n; k++) {
			carry += guess * d[k];
			i64 v = (i64)u[j + k] - (i64)(u32)carry + borrow;
			u[j + k] = (u32)v;
			borrow = v >> 32;
			carry >>= 32;
		}
		i64 v = (i64)u[j + n] - (i64)carry + borrow;
		u[j + n] = (u32)v;
		if (v < 0) {
			guess--;
			u64 c = 0;
			for (int k = 0; k < n; k++) {
				c += (u64)u[j + k] + d[k];
				u[j + k] = (u32)c;
				c >>= 32;
			}
			u[j + n] += (u32)c;
		}
		q[j] = (u32)guess;
	}
}

// aligned sets to[], words of them, to floor(x 2^-shift), bits of x above them being left out.
static __device__ void aligned(u32 *to, int words, const integer &x, int shift)
{
	for (int w = 0; w < words; w++) {
		int at = 32 * w + shift, i = at >> 5;
		to[w] = __funnelshift_r(x.word(i), x.word(i + 1), at & 31);
	}
}

// divisorOf sets d to t_ii and reports whether it is finite and not 0.
static __device__ bool divisorOf(const quotients &p, int i, factor &d)
{
	d = single(1, 0, false);
	if (p.unit)
		return true;
	i64 at = p.t.off + i * (p.t.rs + p.t.cs);
	return extentOf(p.t.a, at).cls == FINITE && part(d, p.t.a, at, 0);
}

// quotient reports whether it rounded the quotient of the integer in x, up to error units of
// 2^unit, and of t_ii. room has space for 4 (Q + 1) words. Only one thread calls it.
static __device__ bool quotient(const quotients &p, int i, i64 to, integer x, i64 unit, double error, u32 *room)
{
	bool neg = x.magnitude();
	int n = x.length();
	if (n == 0)
		return false;
	factor d;
	if (!divisorOf(p, i, d))
		return false;
	int length = 32 * d.words; // of D
	while (d.word((length - 1) / 32) == 0)
		length -= 32;
	length -= __clz(d.word((length - 1) / 32));
	// Q words of the quotient of U = floor(V 2^a), V the sum, whose top bit is left free, and of D,
	// or of its upper Q + 1 words: D exceeds these by less than 1 part in 2^(32 Q + 31), which
	// takes less than a unit from a quotient of Q words. Cutting U, and the quotient, takes 2 more.
	int q = p.quotient, m = min(q + 1, (length + 31) / 32);
	u32 *quotientAt = room, *divisor = room + q, *dividend = divisor + m;
	int down = length - 32 * m; // of D
	for (int w = 0; w < m; w++) {
		int at = 32 * w + down, k = at >> 5;
		u32 a = k >= 0 && k < d.words ? d.word(k) : 0, b = k + 1 >= 0 && k + 1 < d.words ? d.word(k + 1) : 0;
		divisor[w] = __funnelshift_r(a, b, at & 31);
	}
	int a = 32 * (q + m) - 1 - n;
	aligned(dividend, q + m, x, -a);
	dividend[q + m] = 0;
	divide(quotientAt, q, dividend, divisor, m);
	integer z = {quotientAt, 1, q};
	// V / D < 2^(32 Q), so that an error of V counts (32 Q - n + 1) bits more at most.
	int scale = 32 * q - n + 1;
	if (scale > 1000)
		return false;
	error = error * __longlong_as_double((i64)(max(scale, -1000) + 1023) << 52) + 4;
	n = z.length();
	return n != 0 && storeAny(p.x, to, z, n, neg != d.neg, unit - a - down - d.exp, error, p.counts);
}

// A warp has a column. A lane adds the products with one row.
extern "C" __global__ void __launch_bounds__(LANES) quotientsOfRows(const __grid_constant__ quotients p)
{
	extern __shared__ u64 memory[];
	u32 *room = (u32 *)memory;
	int j = blockIdx.x, lane = threadIdx.x;
	integer mine = {room + lane, LANES, p.words};
	for (int step = 0; step < p.hi - p.lo; step++) {
		int i = p.lower ? p.lo + step : p.hi - 1 - step, h = p.lower ? p.lo + lane : p.hi - 1 - lane;
		i64 from = p.r.off + i * p.r.rs + j * p.r.cs, to = p.x.off + i * p.x.rs + j * p.x.cs;
		u32 cls = ((const u8 *)p.r.a.plane[2])[from];
		i64 bound = ((const i64 *)p.top)[i + (i64)j * p.r.n];
		// What there is to add: the lane's products, and to lane step, whose row is under way, r.
		extent t = {ZERO, false, 0, 0}, x = t;
		i64 tAt = p.t.off + i * p.t.rs + h * p.t.cs, xAt = p.x.off + h * p.x.rs + j * p.x.cs;
		bool some = false, odd = false, minus = true;
		i64 top = NO_TOP;
		if (lane < step) {
			t = extentOf(p.t.a, tAt);
			x = extentOf(p.x.a, xAt);
			odd = t.cls > FINITE || x.cls > FINITE;
			some = t.cls == FINITE && x.cls == FINITE;
			minus = t.neg == x.neg;
			if (some)
				top = t.top + x.top;
		} else if (lane == step) {
			odd = cls >> 1 > FINITE;
			some = cls >> 1 == FINITE;
			minus = cls & 1;
			if (some || bound != NO_TOP)
				top = bound;
		}
		for (int d = LANES / 2; d > 0; d /= 2)
			top = max64(top, __shfl_xor_sync(~0u, top, d));
		odd = __any_sync(~0u, odd);
		minus = __all_sync(~0u, minus);
		if (odd || top == NO_TOP) {
			if (lane == 0) {
				factor d;
				if (!odd && divisorOf(p, i, d)) {
					storeZero(p.x, to, minus != d.neg);
				} else {
					atomicAdd((u32 *)p.odd, 1);
					odd = true;
				}
			}
			if (__any_sync(~0u, odd))
				return;
			__syncwarp();
			continue;
		}
		// 33 addends, each below 2^top, and a sign.
		i64 unit = top + 8 - 32 * p.words;
		for (int w = 0; w < p.words; w++)
			mine.at[w * LANES] = 0;
		value v = {mine, false, unit, 0};
		if (some && lane < step) {
			for (int a = 0; a < parts(p.t.a); a++) {
				factor f, g;
				if (!part(f, p.t.a, tAt, a))
					continue;
				for (int b = 0; b < parts(p.x.a); b++)
					if (part(g, p.x.a, xAt, b) && addProduct(v, f, g, f.neg == g.neg))
						v.error += 1;
			}
		} else if (some) {
			factor f;
			part(f, p.r.a, from, 0);
			if (addProduct(v, f, single(1, 0, false), f.neg))
				v.error += 1;
		}
		if (lane == step && bound != NO_TOP) {
			i64 e = bound - p.prec + 5 - unit;
			v.error += e > 100 ? 0x1p100 : __longlong_as_double((max64(e, -100) + 1023) << 52);
		}
		for (int d = LANES / 2; d > 0; d /= 2)
			v.error += __shfl_xor_sync(~0u, v.error, d);
		__syncwarp();
		// The sum of the lanes, in two's complement, takes the place of lane 0's: first each
		// word's, of which the threads read those of different banks.
		u64 *sums = (u64 *)(room + p.words * LANES);
		for (int w = lane; w < p.words; w += LANES) {
			u64 sum = 0;
			for (int l = 0; l < LANES; l++)
				sum += room[w * LANES + (l + lane) % LANES];
			sums[w] = sum;
		}
		__syncwarp();
		if (lane == 0) {
			u64 carry = 0;
			for (int w = 0; w < p.words; w++) {
				carry += sums[w];
				room[w * LANES] = (u32)carry;
				carry >>= 32;
			}
			if (v.error >= 0x1p60 || !quotient(p, i, to, mine, unit, v.error, room + p.words * (LANES + 2))) {
				atomicAdd((u32 *)p.odd, 1);
				odd = true;
			}
		}
		if (__any_sync(~0u, odd))
			return;
		__syncwarp(); // what lane 0 has stored
	}
}
