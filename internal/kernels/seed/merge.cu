// Merges of divide and conquer for symmetric tridiagonal matrices in binary64, with which package
// eigen begins: the eigenvectors of D + z z^T, in the basis Q of the vectors of two parts. Nothing
// is known of the errors. internal/symeig describes the method, and deflates.
//
// The poles D_0 < D_1 < ... are those of the columns that are kept. Root i lies between D_i and
// D_i+1, the last one above all poles. It is stored as D_o + tau with a pole D_o near it, so that
// the differences D_j - D_o - tau have small relative errors.
#include "../common/common.cuh"
#include "tensor.cuh"

struct merging {
	u64 q;                  // double: Q, by columns, from the first row and column of the piece on
	u64 d, z;               // double: the poles, and the vector z
	u64 roots, tau;         // double: the results
	u64 origin;             // int: o of each root
	u64 place;              // int: the row of the vectors for each pole
	u64 columns;            // int: columns of Q: of the first part, both, the second, deflated
	u64 above, below, rest; // double: columns of Q in this order, without zeros
	u64 delta;              // double: the vectors, by columns
	u64 failed;             // int
	int ld, order, upper;   // of Q; the first part has upper rows
	int kept, top, mixed;   // columns before the deflated ones, of the first kind, of the first two
};

#define CHUNK 16

// blockSums adds up the numbers of all threads. All threads get the sums.
template <int N> static __device__ __forceinline__ void blockSums(double (&x)[N])
{
	__shared__ double part[N][THREADS / 32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	__syncthreads();
#pragma unroll
	for (int c = 0; c < N; c++) {
#pragma unroll
		for (int d = 16; d; d /= 2)
			x[c] += __shfl_xor_sync(~0u, x[c], d);
		if (lane == 0)
			part[c][warp] = x[c];
	}
	__syncthreads();
#pragma unroll
	for (int c = 0; c < N; c++) {
		x[c] = 0;
		for (int w = 0; w < THREADS / 32; w++)
			x[c] += part[c][w];
	}
}

// A point has the sums of z_j^2 / (D_j - x) over the poles up to some one and over the others, and
// their derivatives.
struct point {
	double psi, phi, dpsi, dphi;
};

static __device__ __forceinline__ point pointAt(const double *d, const double *z, int n, double origin, int split, double tau)
{
	double s[4] = {};
	for (int j = threadIdx.x; j < n; j += THREADS) {
		double q = z[j] / (d[j] - origin - tau), v = q * z[j];
		bool left = j <= split;
		s[0] += left ? v : 0;
		s[1] += left ? 0 : v;
		s[2] += left ? q * q : 0;
		s[3] += left ? 0 : q * q;
	}
	blockSums(s);
	return {s[0], s[1], s[2], s[3]};
}

// step returns the root x of c + s / (p - x) + t / (q - x) = 0 between p < q or, if above, the root
// above both: a zero of c x^2 - a x + b.
static __device__ __forceinline__ double step(double a, double b, double c, bool above)
{
	double root = sqrt(fabs(a * a - 4 * b * c));
	if (above)
		return a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
	return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

// middle returns a number between low and high, the geometric mean if they have the same sign.
static __device__ __forceinline__ double middle(double low, double high)
{
	if (low > 0 || high < 0) {
		double m = sqrt(fabs(low)) * sqrt(fabs(high));
		return low > 0 ? m : -m;
	}
	return low + (high - low) / 2;
}

// mergeRoots computes root blockIdx.x, as root of internal/symeig does. All threads take the same
// decisions, from the same sums.
extern "C" __global__ void __launch_bounds__(THREADS) mergeRoots(const __grid_constant__ merging g)
{
	const double *d = (const double *)g.d, *z = (const double *)g.z;
	int n = g.kept, i = blockIdx.x, o = i;
	bool last = i == n - 1, ok = false;
	double tau = 0;
	double all[1] = {};
	for (int j = threadIdx.x; j < n; j += THREADS)
		all[0] += z[j] * z[j];
	blockSums(all);
	if (n == 1) {
		tau = all[0];
		ok = true;
	} else {
		double low = 0, high = last ? all[0] * (1 + 0x1p-50) : d[i + 1] - d[i];
		int split = last ? n - 2 : i, p = split, q = split + 1; // the poles of interpolations
		double width = high, zp = z[p] * z[p], zq = z[q] * z[q];
		tau = high / 2;
		point at = pointAt(d, z, n, d[o], split, tau);
		double w = 1 + at.psi + at.phi, gp = d[p] - d[o], gq = d[q] - d[o];
		double c = w - zp / (gp - tau) - zq / (gq - tau);
		if (w < 0 && !last) {
			o = i + 1;
			low = -width / 2;
			high = 0;
			gp = d[p] - d[o];
			gq = d[q] - d[o];
		} else if (w < 0) {
			low = tau;
		} else {
			high = tau;
		}
		tau = step(c * (gp + gq) + zp + zq, c * gp * gq + zp * gq + zq * gp, c, last);
		if (!(low < tau && tau < high))
			tau = middle(low, high);
		double before = 1.0 / 0.0;
		bool bisect = false;
		for (int round = 0; round < 200; round++) {
			at = pointAt(d, z, n, d[o], split, tau);
			w = 1 + at.psi + at.phi;
			double slope = at.dpsi + at.dphi;
			if (fabs(w) <= 0x1p-53 * (8 * (fabs(at.psi) + fabs(at.phi)) + 2 + fabs(tau) * slope)) {
				ok = true;
				break;
			}
			if (w < 0)
				low = tau;
			else
				high = tau;
			double dp = gp - tau, dq = gq - tau;
			bool slow = fabs(w) > before / 4;
			before = fabs(w);
			if (last || slow && !bisect) // the derivatives of both sums are interpolated
				c = w - dp * at.dpsi - dq * at.dphi;
			else if (o == i) // the weight of the nearest pole is kept
				c = w - dq * slope + (dq - dp) * (zp / dp) / dp;
			else
				c = w - dp * slope + (dp - dq) * (zq / dq) / dq;
			double next = tau + step((dp + dq) * w - dp * dq * slope, dp * dq * w, c, last);
			bisect = slow && !bisect;
			if (!(low < next && next < high) || bisect)
				next = middle(low, high);
			if (!(low < next && next < high) || next == tau) { // nothing lies between
				ok = tau != 0;
				break;
			}
			tau = next;
		}
	}
	if (threadIdx.x == 0) {
		((double *)g.roots)[i] = d[o] + tau;
		((double *)g.tau)[i] = tau;
		((int *)g.origin)[i] = o;
		if (!ok)
			*(int *)g.failed = 1;
	}
}

// mergeRebuild sets z_j^2, for j = blockIdx.x, to the product of D_i - root_i over all i divided by
// the differences of the poles (Gu and Eisenstat, 1994).
extern "C" __global__ void __launch_bounds__(THREADS) mergeRebuild(const __grid_constant__ merging g)
{
	__shared__ double part[THREADS / 32];
	const double *d = (const double *)g.d, *tau = (const double *)g.tau;
	const int *origin = (const int *)g.origin;
	int j = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	double x = 1, at = d[j];
	for (int i = threadIdx.x; i < g.kept; i += THREADS) {
		double v = at - d[origin[i]] - tau[i];
		x *= i == j ? v : v / (at - d[i]);
	}
#pragma unroll
	for (int s = 16; s; s /= 2)
		x *= __shfl_xor_sync(~0u, x, s);
	if (lane == 0)
		part[warp] = x;
	__syncthreads();
	if (threadIdx.x > 0)
		return;
	for (int w = 1; w < THREADS / 32; w++)
		x *= part[w];
	double *z = (double *)g.z + j;
	x = sqrt(fabs(x));
	*z = *z < 0 ? -x : x;
}

// mergeVectors computes the vector z_j / (D_j - root), of norm 1, for root blockIdx.x.
extern "C" __global__ void __launch_bounds__(THREADS) mergeVectors(const __grid_constant__ merging g)
{
	const double *d = (const double *)g.d, *z = (const double *)g.z;
	const int *place = (const int *)g.place;
	int n = g.kept, i = blockIdx.x;
	double origin = d[((const int *)g.origin)[i]], tau = ((const double *)g.tau)[i], squares[1] = {};
	double *to = (double *)g.delta + (i64)i * n;
	for (int j = threadIdx.x; j < n; j += THREADS) {
		double v = z[j] / (d[j] - origin - tau);
		to[place[j]] = v;
		squares[0] += v * v;
	}
	blockSums(squares);
	double f = 1 / sqrt(squares[0]);
	for (int j = threadIdx.x; j < n; j += THREADS)
		to[place[j]] *= f;
}

// mergeRow stores the last row of the first part for its columns, and the first row of the second
// part for its columns.
extern "C" __global__ void __launch_bounds__(THREADS) mergeRow(const __grid_constant__ merging g, u64 to)
{
	int j = blockIdx.x * THREADS + threadIdx.x;
	if (j < g.order)
		((double *)to)[j] = ((const double *)g.q)[(j < g.upper ? g.upper - 1 : g.upper) + (i64)j * g.ld];
}

// A rotation replaces columns x and y by c x + s y and c y - s x.
struct rotation {
	int x, y;
	double c, s;
};

// mergeRotate rotates columns of Q, one pair after the other.
extern "C" __global__ void __launch_bounds__(THREADS) mergeRotate(const __grid_constant__ merging g, u64 list, int count)
{
	int i = blockIdx.x * THREADS + threadIdx.x;
	if (i >= g.order)
		return;
	double *q = (double *)g.q + i;
	for (int k = 0; k < count; k++) {
		rotation r = ((const rotation *)list)[k];
		double *x = q + (i64)r.x * g.ld, *y = q + (i64)r.y * g.ld, a = *x, b = *y;
		*x = r.c * a + r.s * b;
		*y = r.c * b - r.s * a;
	}
}

// mergeGather copies the columns of Q to above, below and rest; block y has column y of these.
extern "C" __global__ void __launch_bounds__(THREADS) mergeGather(const __grid_constant__ merging g)
{
	int i = blockIdx.x * THREADS + threadIdx.x, c = blockIdx.y;
	if (i >= g.order)
		return;
	double v = ((const double *)g.q)[i + (i64)((const int *)g.columns)[c] * g.ld];
	if (c >= g.kept)
		((double *)g.rest)[i + (i64)(c - g.kept) * g.order] = v;
	else if (i < g.upper && c < g.mixed)
		((double *)g.above)[i + (i64)c * g.upper] = v;
	else if (i >= g.upper && c >= g.top)
		((double *)g.below)[i - g.upper + (i64)(c - g.top) * (g.order - g.upper)] = v;
}

// mergeReturn copies rest behind the columns of Q that are kept; block y has column y of it.
extern "C" __global__ void __launch_bounds__(THREADS) mergeReturn(const __grid_constant__ merging g)
{
	int i = blockIdx.x * THREADS + threadIdx.x, c = blockIdx.y;
	if (i < g.order)
		((double *)g.q)[i + (i64)(g.kept + c) * g.ld] = ((const double *)g.rest)[i + (i64)c * g.order];
}

// mergeMultiply stores the products of above and below with rows of delta in Q, in tiles of BLOCK
// rows and columns: block x has some rows, y some columns, z one of the products.
extern "C" __global__ void __launch_bounds__(THREADS) mergeMultiply(const __grid_constant__ merging g)
{
	__shared__ double left[CHUNK * BLOCK], right[CHUNK * BLOCK];
	bool second = blockIdx.z;
	int rows = second ? g.order - g.upper : g.upper, depth = second ? g.kept - g.top : g.mixed, i0 = blockIdx.x * BLOCK, j0 = blockIdx.y * BLOCK;
	if (i0 >= rows)
		return;
	const double *a = (const double *)(second ? g.below : g.above) + i0, *b = (const double *)g.delta + (second ? g.top : 0) + (i64)j0 * g.kept;
	double *to = (double *)g.q + (second ? g.upper : 0) + i0 + (i64)j0 * g.ld;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wi = warp % 4 * 16, wj = warp / 4 * 32;
	int height = rows - i0, width = g.kept - j0;
	double2 c[4][2] = {};
	double nextLeft[CHUNK * BLOCK / THREADS], nextRight[CHUNK * BLOCK / THREADS];
	auto load = [&](int k0) {
#pragma unroll
		for (int h = 0; h < CHUNK * BLOCK / THREADS; h++) {
			int at = h * THREADS + threadIdx.x, i = at % BLOCK, k = k0 + at / BLOCK;
			nextLeft[h] = i < height && k < depth ? a[i + (i64)k * rows] : 0;
			i = at / CHUNK;
			k = k0 + at % CHUNK;
			nextRight[h] = i < width && k < depth ? b[k + (i64)i * g.kept] : 0;
		}
	};
	load(0);
	for (int k0 = 0; k0 < depth; k0 += CHUNK) {
		__syncthreads();
#pragma unroll
		for (int h = 0; h < CHUNK * BLOCK / THREADS; h++) {
			int at = h * THREADS + threadIdx.x;
			left[swizzled<BLOCK>(at / BLOCK, at % BLOCK)] = nextLeft[h];
			right[swizzled<BLOCK>(at % CHUNK, at / CHUNK)] = nextRight[h];
		}
		__syncthreads();
		load(k0 + CHUNK); // zeros at the end
		multiplyChunk<2, CHUNK, BLOCK, BLOCK, false>(c, right, left, wj, wi);
	}
#pragma unroll
	for (int s = 0; s < 4; s++)
#pragma unroll
		for (int t = 0; t < 2; t++) {
			int i = wi + 8 * t + 2 * (lane % 4), j = wj + 8 * s + lane / 4;
			if (j < width && i < height)
				to[i + (i64)j * g.ld] = c[s][t].x;
			if (j < width && i + 1 < height)
				to[i + 1 + (i64)j * g.ld] = c[s][t].y;
		}
}
