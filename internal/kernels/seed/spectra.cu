// What package eigen does entry by entry with approximate eigenvectors X, the columns x_j, and with
// S = X^T A X and R = I - X^T X: bounds of S and R, the enclosures of eigenvalues that are apart
// from all others, the corrections E of X, and signs of vectors. eigen/internal/sym has the proofs;
// the functions here have the names of its functions, and the same roundings but for the order of
// sums of positive numbers.
//
// The error of a sum of n positive terms is at most (n - 1) 2^-53 of the sum in any order (Higham,
// Accuracy and stability of numerical algorithms, section 4.2), and each term is computed by fewer
// than 32 operations. The host enlarges sums by the factor 1 + (n + 64) 2^-52.
//
// Products are not fused with sums.
#include "../common/leading.cuh"
#include "../common/round.cuh"

// Magnitudes are 0 or between 2^-PLAIN and 2^PLAIN; products of three such do not underflow.
#define PLAIN 250
#define LEAST 0x1p-250

// A pair of columns is separated if 2^UNRESOLVED times its coupling is less than its gap.
#define UNRESOLVED 12

#define THREADS 256
#define SIDE 32 // of tiles

struct spectra {
	vectors s, r; // rows, of MP, upper triangles: S and R
	u64 fs, fr;   // double: bounds of all entries of S and R, by columns
	// double, n numbers each; S differs from the exact one by longS[i] lostS[j], i <= j
	u64 longS, lostS;
	// d = hi + lo + last: the Rayleigh quotients, in error by 2^-140 |d|; a bound size of |d| and
	// a bound lost of the error as a quotient; the 2-norms of rows of S and R without the diagonal
	u64 hi, lo, last, size, lost, rowS, rowR;
	// double: bounds of the enclosures, and of the 2-norms of the columns of C X or null
	u64 radius, tilt, image;
	u64 to;           // double: results, lists of n numbers
	u64 failed;       // u32: not 0: a number is out of range, or a pair of columns not separated
	double alpha;     // bounds the norm of R
	double cut;       // the relative error of the entries of E
	int n, pad;
};

static __device__ __forceinline__ double at(u64 list, int i) { return ((const double *)list)[i]; }

static __device__ __forceinline__ void fail(u64 failed) { *(volatile u32 *)failed = 1; }

// exponential returns 2^e for -1022 <= e <= 1023.
static __device__ __forceinline__ double exponential(i64 e) { return __longlong_as_double((e + 1023) << 52); }

// plainOf returns a bound of the magnitude of number i of a; ok is set to false if it is out of
// range.
static __device__ __forceinline__ double plainOf(const numbers &a, i64 i, bool &ok)
{
	if (((const u8 *)a.plane[2])[i] >> 1 != FINITE)
		return 0;
	int e = ((const int *)a.plane[1])[i];
	if (e <= -PLAIN || e >= PLAIN) {
		ok = false;
		return 0;
	}
	u64 top = ((const u64 *)a.plane[0])[i * a.limbs + a.limbs - 1];
	return (double)((top >> 11) + 1) * 0x1p-53 * exponential(e); // the top 53 bits, rounded up
}

// spectraBounds computes fs and fr. Block (x, y) has the tile with rows from x SIDE on and columns
// from y SIDE on, and its transpose.
extern "C" __global__ void __launch_bounds__(THREADS) spectraBounds(const __grid_constant__ spectra g)
{
	__shared__ double rooms[2][SIDE][SIDE + 1];
	int i0 = blockIdx.x * SIDE, j0 = blockIdx.y * SIDE, x = threadIdx.x % SIDE, y0 = threadIdx.x / SIDE;
	if (i0 > j0)
		return;
	i64 n = g.n;
	double *fs = (double *)g.fs, *fr = (double *)g.fr;
	bool ok = true;
	for (int y = y0; y < SIDE; y += THREADS / SIDE) {
		int i = i0 + x, j = j0 + y;
		if (i > j || j >= g.n)
			continue;
		double v = plainOf(g.s.a, g.s.off + i * g.s.rs + j * g.s.cs, ok), w = plainOf(g.r.a, g.r.off + i * g.r.rs + j * g.r.cs, ok);
		v = (v + at(g.longS, i) * at(g.lostS, j)) * (1 + 0x1p-50);
		ok = ok && !(v != 0 && v < LEAST || w != 0 && w < LEAST);
		fs[i + j * n] = v;
		fr[i + j * n] = w;
		rooms[0][y][x] = v;
		rooms[1][y][x] = w;
	}
	if (!ok)
		fail(g.failed);
	__syncthreads();
	for (int y = y0; y < SIDE; y += THREADS / SIDE) {
		int i = i0 + y, j = j0 + x;
		if (i < j && j < g.n) {
			fs[j + i * n] = rooms[0][x][y];
			fr[j + i * n] = rooms[1][x][y];
		}
	}
}

// total adds up the numbers of the threads of a block, most returns the largest one, and least the
// smallest one, in all threads.
template <class F> static __device__ __forceinline__ double reduced(double x, F f)
{
	__shared__ double all[THREADS / 32];
#pragma unroll
	for (int d = 16; d; d /= 2)
		x = f(x, __shfl_xor_sync(~0u, x, d));
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		all[threadIdx.x / 32] = x;
	__syncthreads();
	x = all[0];
	for (int k = 1; k < THREADS / 32; k++)
		x = f(x, all[k]);
	return x;
}

static __device__ __forceinline__ double larger(double x, double y) { return x > y ? x : y; }

static __device__ double total(double x)
{
	return reduced(x, [](double x, double y) { return x + y; });
}

static __device__ double most(double x)
{
	return reduced(x, [](double x, double y) { return larger(x, y); });
}

static __device__ double least(double x)
{
	return reduced(x, [](double x, double y) { return x < y ? x : y; });
}

// spectraSums computes the sums of the squares of the columns of fs and of fr without the diagonal,
// and the diagonal of fr. Block x has column x.
extern "C" __global__ void __launch_bounds__(THREADS) spectraSums(const __grid_constant__ spectra g)
{
	int j = blockIdx.x;
	i64 n = g.n;
	const double *fs = (const double *)g.fs + j * n, *fr = (const double *)g.fr + j * n;
	double a = 0, b = 0;
	for (int i = threadIdx.x; i < g.n; i += THREADS) {
		double v = i == j ? 0 : fs[i], w = i == j ? 0 : fr[i];
		a += v * v;
		b += w * w;
	}
	a = total(a);
	b = total(b);
	if (threadIdx.x == 0) {
		double *to = (double *)g.to;
		to[j] = a;
		to[j + n] = b;
		to[j + 2 * n] = fr[j];
	}
}

// apart returns a lower bound of |d_i - d_j|, which may be 0 or less.
static __device__ __forceinline__ double apart(const spectra &g, int i, int j)
{
	double d = fabs((at(g.hi, i) - at(g.hi, j)) + (at(g.lo, i) - at(g.lo, j)));
	return d * (1 - 0x1p-49) - larger(at(g.size, i), at(g.size, j)) * 0x1p-93;
}

// spectraCouplings computes, for column i of a cluster of its own, the largest number of the column
// of R, and of the quotients of first-order corrections, up to row i; then the couplings: the
// nearest gap and the sums of x_k^2/gap_k, (x_k/gap_k)^2, x_k rho_k/gap_k and (rho_k/gap_k)^2.
// Block x has column x.
extern "C" __global__ void __launch_bounds__(THREADS) spectraCouplings(const __grid_constant__ spectra g)
{
	int i = blockIdx.x;
	i64 n = g.n;
	const double *fs = (const double *)g.fs + i * n, *fr = (const double *)g.fr + i * n;
	double size = at(g.size, i), in = at(g.lost, i) * (1.5 * (1 + 0x1p-50)), largest = 0, nearest = 0x1p1000;
	bool ok = true;
	for (int k = threadIdx.x; k < g.n; k += THREADS) {
		double w = fr[k];
		if (k <= i)
			largest = larger(largest, w);
		if (k == i)
			continue;
		double a = apart(g, k, i), v = fs[k] + larger(size, at(g.size, k)) * w;
		ok = ok && a > LEAST && v * ((1 << UNRESOLVED) * (1 + 0x1p-40)) < a;
		if (k < i)
			largest = larger(largest, v / a);
		double gap = a * (1 - 0x1p-48) - in;
		nearest = gap < nearest ? gap : nearest;
	}
	largest = most(largest);
	nearest = least(nearest);
	ok = ok && nearest >= LEAST;
	double m = (size + in + nearest / 128) * (1 + 0x1p-48), sum = 0, sumGap = 0, sumRow = 0, theta = 0;
	for (int k = threadIdx.x; k < g.n; k += THREADS) {
		if (k == i)
			continue;
		double gap = apart(g, k, i) * (1 - 0x1p-48) - in;
		gap = gap * ((1 - 0x1p-6 - 0x1p-45) * (1 - g.alpha)) - at(g.lost, k) * 1.25;
		ok = ok && gap >= LEAST;
		double inverse = 1 / gap, v = fs[k] + m * fr[k], row = (at(g.rowS, k) + m * at(g.rowR, k)) * inverse, x = v * inverse;
		sum += x * v;
		sumGap += x * x;
		sumRow += row * v;
		theta += row * row;
	}
	if (!ok)
		fail(g.failed);
	sum = total(sum);
	sumGap = total(sumGap);
	sumRow = total(sumRow);
	theta = total(theta);
	if (threadIdx.x == 0) {
		double *to = (double *)g.to + i;
		to[0] = largest;
		to[n] = nearest;
		to[2 * n] = sum;
		to[3 * n] = sumGap;
		to[4 * n] = sumRow;
		to[5 * n] = theta;
	}
}

// spectraDistances computes the sum of the squares of the distances of column j, the largest of
// them, and the sum of the distances times image. Block x has column x.
extern "C" __global__ void __launch_bounds__(THREADS) spectraDistances(const __grid_constant__ spectra g)
{
	int j = blockIdx.x;
	i64 n = g.n;
	const double *fs = (const double *)g.fs + j * n, *fr = (const double *)g.fr + j * n;
	double r = at(g.radius, j), tilt = at(g.tilt, j), large = (at(g.size, j) + r) * (1 + 0x1p-50), sum = 0, largest = 0, pull = 0;
	bool ok = true;
	for (int k = threadIdx.x; k < g.n; k += THREADS) {
		if (k == j)
			continue;
		double lost = at(g.lost, k);
		double gap = (apart(g, j, k) * (1 - 0x1p-47) - 2 * r - 2 * lost) * (1 - 0x1p-47) * (1 - g.alpha);
		ok = ok && gap >= LEAST;
		double inverse = 1 / gap, x = fs[k] + large * fr[k], row = at(g.rowS, k) + large * at(g.rowR, k);
		double relative = g.cut + 2 * ((const double *)g.fr)[k + k * n] + 2 * (r + lost) * inverse;
		double v = row * tilt + r * fr[k] + x * relative;
		v += at(g.longS, j < k ? j : k) * at(g.lostS, j < k ? k : j);
		v *= inverse;
		largest = larger(largest, v);
		sum += v * v;
		if (g.image)
			pull += at(g.image, k) * v;
	}
	if (!ok)
		fail(g.failed);
	sum = total(sum);
	pull = total(pull);
	largest = most(largest);
	if (threadIdx.x == 0) {
		((double *)g.to)[j] = sum;
		((double *)g.to)[j + n] = largest;
		((double *)g.to)[j + 2 * n] = pull;
	}
}

// A two is the unevaluated sum hi + lo.
struct two {
	double hi, lo;
};

static __device__ __forceinline__ two twoSum(double a, double b)
{
	double s = a + b, c = s - a;
	return {s, (a - (s - c)) + (b - c)};
}

static __device__ __forceinline__ two quickTwoSum(double a, double b)
{
	double s = a + b;
	return {s, b - (s - a)};
}

// twoOf returns number i of a, in MP and in range, cut to 106 bits.
static __device__ __forceinline__ two twoOf(const numbers &a, i64 i)
{
	u8 c = ((const u8 *)a.plane[2])[i];
	if (c >> 1 != FINITE)
		return {0, 0};
	const u64 *w = (const u64 *)a.plane[0] + i * a.limbs + a.limbs - 1;
	u64 top = w[0], rest = top << 53 | (a.limbs > 1 ? w[-1] >> 11 : 0);
	double f = exponential(((const int *)a.plane[1])[i]);
	two z = {(double)(top >> 11) * (f * 0x1p-53), (double)(rest >> 11) * (f * 0x1p-106)};
	return c & 1 ? two{-z.hi, -z.lo} : z;
}

typedef unsigned __int128 u128;

// storeTwo rounds z to number i of c, in MP of at most 106 bits: |z| in units of 2^(e - 128), for
// 2^(e - 1) <= |z.hi| < 2^e, to nearest, halfway cases away from zero.
static __device__ void storeTwo(const target &c, i64 i, two z)
{
	z = quickTwoSum(z.hi, z.lo);
	u8 *cls = (u8 *)c.a.plane[2] + i;
	if (z.hi == 0) {
		*cls = ZERO << 1;
		return;
	}
	bool neg = z.hi < 0;
	if (neg)
		z = {-z.hi, -z.lo};
	int e, low;
	u64 m = decompose(z.hi, e);
	e += 53;
	u128 mag = (u128)m << 75, part = 0;
	m = decompose(z.lo, low);
	low += 128 - e; // at most 22: the low part is at most 2^-53 of the high one
	if (low > -64)
		part = low >= 0 ? (u128)m << low : (u128)(m >> -low);
	mag = z.lo < 0 ? mag - part : mag + part;
	if (!(mag >> 127)) {
		mag <<= 1;
		e--;
	}
	u128 half = (u128)1 << (127 - (int)c.prec), sum = mag + half;
	if (sum < mag) {
		sum = (u128)1 << 127;
		e++;
	}
	sum &= ~(2 * half - 1);
	u64 *to = (u64 *)c.a.plane[0] + i * c.a.limbs;
	if (c.a.limbs == 2)
		*to++ = (u64)sum;
	*to = (u64)(sum >> 64);
	((int *)c.a.plane[1])[i] = e;
	*cls = FINITE << 1 | neg;
}

// spectraCorrection computes E, e_kj = (s_kj + d_j r_kj) / (d_j - d_k), of MP of 24 to 90 bits: the
// entry in the column of the smaller |d| by a division, and e_kj + e_jk = r_kj; r_jj/2 on the
// diagonal.
//
// The difference of d is computed as a sum of three exact differences, and has to be 2^-40 of the
// larger |d| or more, so that its relative error is below 2^-98. Numbers of S and R are cut to 106
// bits, and products and quotients of pairs have relative errors of a few 2^-104. So the errors of
// both entries are below 2^-95 of (|s_kj| + |d| |r_kj|) / |difference|, for the larger |d|. Blocks
// have tiles as for spectraBounds.
extern "C" __global__ void __launch_bounds__(THREADS) spectraCorrection(const __grid_constant__ spectra g, const __grid_constant__ target e)
{
	__shared__ two room[SIDE][SIDE + 1];
	int k0 = blockIdx.x * SIDE, j0 = blockIdx.y * SIDE, x = threadIdx.x % SIDE, y0 = threadIdx.x / SIDE;
	if (k0 > j0)
		return;
	bool ok = true;
	for (int y = y0; y < SIDE; y += THREADS / SIDE) {
		int k = k0 + x, j = j0 + y;
		if (k > j || j >= g.n)
			continue;
		two r = twoOf(g.r.a, g.r.off + k * g.r.rs + j * g.r.cs);
		i64 to = e.off + k * e.rs + j * e.cs;
		if (k == j) {
			storeTwo(e, to, {r.hi / 2, r.lo / 2});
			continue;
		}
		bool swap = at(g.size, k) < at(g.size, j);
		int small = swap ? k : j, large = swap ? j : k;
		two m = twoOf(g.s.a, g.s.off + k * g.s.rs + j * g.s.cs);
		double hi = at(g.hi, small), lo = at(g.lo, small);
		two high = twoSum(hi, -at(g.hi, large)), low = twoSum(lo, -at(g.lo, large));
		two gap = twoSum(high.hi, low.hi);
		gap = quickTwoSum(gap.hi, gap.lo + (high.lo + (low.lo + (at(g.last, small) - at(g.last, large)))));
		if (!(fabs(gap.hi) >= 0x1p-40 * at(g.size, large)) || fabs(gap.hi) < LEAST)
			ok = false;
		double product = hi * r.hi, rest = fma(hi, r.hi, -product) + hi * r.lo + lo * r.hi;
		two v = twoSum(m.hi, product);
		v = twoSum(v.hi, v.lo + (m.lo + rest));
		double q = v.hi / gap.hi;
		two z = quickTwoSum(q, (fma(-q, gap.hi, v.hi) + (v.lo - q * gap.lo)) / gap.hi), other = twoSum(r.hi, -z.hi);
		other.lo += r.lo - z.lo;
		storeTwo(e, to, large == k ? z : other); // entry (large, small) is the quotient
		room[y][x] = large == k ? other : z;
	}
	if (!ok)
		fail(g.failed);
	__syncthreads();
	for (int y = y0; y < SIDE; y += THREADS / SIDE) {
		int k = k0 + y, j = j0 + x;
		if (k < j && j < g.n)
			storeTwo(e, e.off + j * e.rs + k * e.cs, room[x][y]);
	}
}

// The signs of vectors, the columns of X + D, up to errors.
struct spectraSign {
	vectors x, d; // rows, of MP
	u64 errors;   // i64: column j is in error by less than 2^errors[j]
	u64 to;       // i32: signs
};

static __device__ __forceinline__ double scaled(const vectors &x, int i, int j, double top)
{
	i64 e;
	double v = leading(x.a, x.off + i * x.rs + j * x.cs, e);
	return v == 0 ? 0 : v * pow2(e - (i64)top);
}

// spectraSigns computes the sign of the first entry of a column whose magnitude exceeds pi/4 of the
// largest one; 0 if the errors do not decide which entry it is. Block x has column x.
extern "C" __global__ void __launch_bounds__(THREADS) spectraSigns(const __grid_constant__ spectraSign g)
{
	int j = blockIdx.x, n = g.x.n;
	double top = -0x1p62, largest = 0;
	for (int i = threadIdx.x; i < n; i += THREADS) {
		i64 e;
		if (leading(g.x.a, g.x.off + i * g.x.rs + j * g.x.cs, e) != 0)
			top = larger(top, (double)(e + 1));
		if (leading(g.d.a, g.d.off + i * g.d.rs + j * g.d.cs, e) != 0)
			top = larger(top, (double)(e + 1));
	}
	top = most(top);
	i64 error = ((const i64 *)g.errors)[j];
	if (!(top > -0x1p61 && error <= (i64)top - 20)) {
		if (threadIdx.x == 0)
			((int *)g.to)[j] = 0;
		return;
	}
	for (int i = threadIdx.x; i < n; i += THREADS)
		largest = larger(largest, fabs(scaled(g.x, i, j, top) + scaled(g.d, i, j, top)));
	double quarter = most(largest) * 0.785398163397448309615660845819876;
	double margin = 0x1p-40 + pow2(error + 2 - (i64)top), first = n;
	for (int i = threadIdx.x; i < n; i += THREADS)
		if (!(fabs(scaled(g.x, i, j, top) + scaled(g.d, i, j, top)) < quarter - margin)) {
			first = i;
			break;
		}
	first = least(first);
	if (threadIdx.x)
		return;
	double v = first < n ? scaled(g.x, (int)first, j, top) + scaled(g.d, (int)first, j, top) : 0;
	((int *)g.to)[j] = fabs(v) > quarter + margin ? v < 0 ? -1 : 1 : 0;
}

// Columns of a matrix in another order, or with other signs.
struct spectraOrder {
	vectors x; // rows
	target z;  // of the format of x
	u64 order; // i32: which column of X a column of Z is
	u64 signs; // i32: of the columns of Z, 1 or -1
};

// spectraColumns computes a spectraOrder. Block y has column y.
extern "C" __global__ void __launch_bounds__(THREADS) spectraColumns(const __grid_constant__ spectraOrder g)
{
	const numbers &x = g.x.a, &z = g.z.a;
	int p = blockIdx.y, j = ((const int *)g.order)[p], i = blockIdx.x * THREADS + threadIdx.x;
	bool neg = ((const int *)g.signs)[p] < 0;
	if (i >= g.x.n)
		return;
	i64 from = g.x.off + i * g.x.rs + j * g.x.cs, to = g.z.off + i * g.z.rs + p * g.z.cs;
	if (x.kind == MP) {
		for (int k = 0; k < z.limbs; k++)
			((u64 *)z.plane[0])[to * z.limbs + k] = ((const u64 *)x.plane[0])[from * x.limbs + k];
		((int *)z.plane[1])[to] = ((const int *)x.plane[1])[from];
		((u8 *)z.plane[2])[to] = ((const u8 *)x.plane[2])[from] ^ (u8)neg;
	} else if (x.kind == F32) {
		float v = ((const float *)x.plane[0])[from];
		((float *)z.plane[0])[to] = neg ? -v : v;
	} else {
		for (int t = 0; t < x.kind; t++) {
			double v = ((const double *)x.plane[t])[from];
			((double *)z.plane[t])[to] = neg ? -v : v;
		}
	}
}

// spectraSeed stores the column order[p] of a matrix of double, by columns of ld numbers, as column
// p of X, in MP of 53 bits or more and at most 64. Numbers below 2^-1022 become 0. failed is set if
// one is not finite. Block y has column y.
extern "C" __global__ void __launch_bounds__(THREADS) spectraSeed(u64 from, i64 ld, u64 order, const __grid_constant__ target x, u64 failed, int n)
{
	int p = blockIdx.y, i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= n)
		return;
	double v = ((const double *)from)[i + ((const int *)order)[p] * ld];
	i64 to = x.off + i * x.rs + p * x.cs;
	u8 *cls = (u8 *)x.a.plane[2] + to;
	if (!finite(v))
		fail(failed);
	if (!finite(v) || fabs(v) < 0x1p-1022) {
		*cls = ZERO << 1;
		return;
	}
	int e;
	u64 m = decompose(v, e);
	((u64 *)x.a.plane[0])[to] = m << 11;
	((int *)x.a.plane[1])[to] = e + 53;
	*cls = FINITE << 1 | (v < 0);
}

// spectraFloats stores A, of numbers below 1, as a matrix of double by columns of ld numbers, with
// zeros behind its rows and columns. Numbers are cut to 53 bits, and below 2^-1000 or so become 0.
// Block y has column y.
extern "C" __global__ void __launch_bounds__(THREADS) spectraFloats(const __grid_constant__ vectors a, u64 to, i64 ld)
{
	int j = blockIdx.y, i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= ld)
		return;
	double v = 0;
	if (i < a.n && j < a.k) {
		i64 e;
		v = leading(a.a, a.off + i * a.rs + j * a.cs, e);
		v = e < -1000 ? 0 : v * pow2(e);
	}
	((double *)to)[i + j * ld] = v;
}

// spectraLoad sets column j of a matrix, by columns of ld numbers, to column j of another one, of
// the given rows, from row base[j] on, and to zeros elsewhere. Block y has column y.
extern "C" __global__ void __launch_bounds__(THREADS) spectraLoad(u64 to, i64 ld, u64 from, int rows, u64 base, int order)
{
	int j = blockIdx.y, i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= ld)
		return;
	int k = j < order && i < order ? i - ((const int *)base)[j] : -1;
	((double *)to)[i + j * ld] = k >= 0 && k < rows ? ((const double *)from)[k + (i64)j * rows] : 0;
}
