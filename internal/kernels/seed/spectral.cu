// Reduction of a symmetric matrix to a tridiagonal one, T = H^T A H, in binary64, and the product
// of H and a matrix, with which package eigen begins. Nothing is known of the errors.
//
// H is the product of reflectors H_0 H_1 ..., H_j = I - tau_j v_j v_j^T, where v_j begins with a 1
// in row j + 1. As in LAPACK's dsytrd (Dongarra, Hammarling and Sorensen, 1989) the columns of a
// panel are reduced before all others are updated, A += V W^T + W V^T, with
//
//	w_j = -tau_j y - alpha v_j,  y = (A + V W^T + W V^T) v_j,  alpha = -tau_j^2/2 y^T v_j.
//
// A column takes two launches, whose blocks do not wait for each other: spectralColumn completes
// w_j-1 and computes column j, spectralDots computes the products of v_j with the columns of A, V
// and W. What a launch sums over all rows it leaves as a sum for each block, and every block of the
// next launch adds them up.
//
// A, V and the matrix that H multiplies are stored by columns, of n numbers, n a multiple of BLOCK;
// what lies behind order is zero. Both triangles of A are kept.
#include "../common/common.cuh"
#include "tensor.cuh"
#include "update.cuh"

struct spectral {
	u64 a, v;       // double: A, and the vectors v_j as columns
	u64 w;          // double: the vectors w_j of the panel
	u64 raw[2];     // double: rows from j + 2 on of column j, else 0; for even and odd j
	u64 squares[2]; // double: row j + 1 of column j, and the blocks' sums of the squares of raw
	u64 u;          // double: A v_j
	u64 p, q;       // double: V^T v_j and W^T v_j
	u64 cross;      // double: the blocks' sums of v_j^T u
	u64 d, e, tau;  // double: the results
	int n, order;
};

// Rows of a block of spectralColumn, and groups of threads that share the columns of the panel.
#define ROWS 32
#define GROUPS (THREADS / ROWS)

// Threads and columns of a block of spectralDots: a warp has PAIR columns.
#define DOT_THREADS 128
#define PAIR 2
#define DOT_COLUMNS (DOT_THREADS / 32 * PAIR)

// A reflector is H = I - tau v v^T with H x = beta e_1, for v = e_1 + scale raw.
struct reflector {
	double beta, tau, scale;
};

// reflect returns the reflector for x with the first number head, the squares of the others having
// the given sum. Squares of less than 2^-900 count as 0: they may have underflowed.
static __device__ __forceinline__ reflector reflect(double head, double sum)
{
	if (!(sum >= 0x1p-900))
		return {head, 0, 0};
	double norm = sqrt(head * head + sum), beta = head < 0 ? norm : -norm;
	return {beta, (beta - head) / beta, 1 / (head - beta)};
}

static __device__ __forceinline__ double warpSum(double x)
{
#pragma unroll
	for (int d = 16; d; d /= 2)
		x += __shfl_xor_sync(~0u, x, d);
	return x;
}

// blocksOf returns how many blocks spectralColumn has for column j.
static __device__ __forceinline__ int blocksOf(const spectral &g, int j) { return (g.n - j + ROWS - 1) / ROWS; }

// spectralColumn completes w_j-1, if column j - 1 is in the panel from column first on, and stores
// v_j-1. Unless j is the end of the panel (column is 0) it computes column j.
extern "C" __global__ void __launch_bounds__(THREADS) spectralColumn(const __grid_constant__ spectral g, int first, int j, int column)
{
	__shared__ double p[BLOCK], q[BLOCK], vj[BLOCK], wj[BLOCK], sums[THREADS / 32][4], parts[GROUPS][2][ROWS];
	const i64 n = g.n;
	int t = threadIdx.x, lane = t % 32, group = t / ROWS, stored = j - first - 1;
	double *v = (double *)g.v + first * n, *w = (double *)g.w;
	const double *u = (const double *)g.u;
	bool pending = j > first;
	reflector h = {};
	double alpha = 0, last = 0; // last is row j of w_j-1
	const double *old = (const double *)g.raw[(j + 1) & 1];
	if (pending) {
		const double *squares = (const double *)g.squares[(j + 1) & 1], *cross = (const double *)g.cross;
		double s[4] = {};
		for (int k = t; k < blocksOf(g, j - 1); k += THREADS)
			s[0] += squares[1 + k];
		for (int k = t; k < (g.n - j + DOT_COLUMNS - 1) / DOT_COLUMNS; k += THREADS)
			s[1] += cross[k];
		if (t < stored) {
			p[t] = ((const double *)g.p)[t];
			q[t] = ((const double *)g.q)[t];
			vj[t] = v[j + t * n];
			wj[t] = w[j + t * n];
			s[2] = vj[t] * q[t] + wj[t] * p[t];
			s[3] = p[t] * q[t];
		}
#pragma unroll
		for (int c = 0; c < 4; c++) {
			s[c] = warpSum(s[c]);
			if (lane == 0)
				sums[t / 32][c] = s[c];
		}
		__syncthreads();
#pragma unroll
		for (int c = 0; c < 4; c++) {
			s[c] = 0;
			for (int k = 0; k < THREADS / 32; k++)
				s[c] += sums[k][c];
		}
		h = reflect(squares[0], s[0]);
		alpha = -h.tau * h.tau / 2 * (s[1] + 2 * s[3]);
		last = -(h.tau * (u[j] + s[2]) + alpha);
		if (blockIdx.x == 0 && t == 0) {
			((double *)g.e)[j - 1] = h.beta;
			((double *)g.tau)[j - 1] = h.tau;
		}
	}
	int r = j + blockIdx.x * ROWS + t % ROWS;
	double y = 0, sum = 0;
	if (r < n) {
		for (int c = group; c < stored; c += GROUPS) {
			double a = v[r + c * n], b = w[r + c * n];
			y += a * q[c] + b * p[c];
			sum += a * wj[c] + b * vj[c];
		}
	}
	parts[group][0][t % ROWS] = y;
	parts[group][1][t % ROWS] = sum;
	__syncthreads();
	if (group > 0)
		return;
	double square = 0;
	if (r < n) {
		y = sum = 0;
		for (int k = 0; k < GROUPS; k++) {
			y += parts[k][0][t];
			sum += parts[k][1][t];
		}
		if (pending) {
			double x = r == j ? 1 : h.scale * old[r], z = -(h.tau * (u[r] + y) + alpha * x);
			v[r + stored * n] = x;
			w[r + stored * n] = z;
			sum += x * last + z;
		}
		if (column) {
			double x = ((const double *)g.a)[r + j * n] + sum;
			if (r == j)
				((double *)g.d)[j] = x;
			if (r == j + 1)
				*(double *)g.squares[j & 1] = x;
			x = r > j + 1 ? x : 0;
			((double *)g.raw[j & 1])[r] = x;
			square = x * x;
		}
	}
	if (!column)
		return;
	square = warpSum(square);
	if (t == 0)
		((double *)g.squares[j & 1])[1 + blockIdx.x] = square;
}

static_assert(ROWS == 32, "a group is a warp");

// spectralDots computes u, p and q for v_j: the first blocks have the columns of A from column
// j + 1 on, the others have the columns of V and of W.
extern "C" __global__ void __launch_bounds__(DOT_THREADS) spectralDots(const __grid_constant__ spectral g, int first, int j)
{
	__shared__ double crosses[DOT_THREADS / 32];
	const i64 n = g.n;
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, stored = j - first;
	int ofA = (g.n - j - 1 + DOT_COLUMNS - 1) / DOT_COLUMNS, block = blockIdx.x;
	bool left = block >= ofA;
	int k = (left ? block - ofA : block) * DOT_COLUMNS + warp * PAIR;
	const double *squares = (const double *)g.squares[j & 1], *raw = (const double *)g.raw[j & 1];
	double *to[PAIR];
	const double *from[PAIR];
	bool there[PAIR];
#pragma unroll
	for (int c = 0; c < PAIR; c++) {
		int i = k + c;
		if (left) {
			there[c] = i < 2 * stored;
			bool ofW = i >= stored;
			i = there[c] ? ofW ? i - stored : i : 0;
			from[c] = ofW ? (const double *)g.w + i * n : (const double *)g.v + (first + i) * n;
			to[c] = ofW ? (double *)g.q + i : (double *)g.p + i;
		} else {
			i += j + 1;
			there[c] = i < g.n;
			i = there[c] ? i : g.n - 1;
			from[c] = (const double *)g.a + i * n;
			to[c] = (double *)g.u + i;
		}
	}
	double sum = 0, dot[PAIR] = {};
	for (int i = lane; i < blocksOf(g, j); i += 32)
		sum += squares[1 + i];
#pragma unroll 4
	for (int r = ((j + 1) & ~1) + 2 * lane; r < g.n; r += 64) {
		double2 x = *(const double2 *)(raw + r);
#pragma unroll
		for (int c = 0; c < PAIR; c++) {
			double2 a = *(const double2 *)(from[c] + r);
			dot[c] += a.x * x.x + a.y * x.y;
		}
	}
	reflector h = reflect(squares[0], warpSum(sum));
	double cross = 0;
#pragma unroll
	for (int c = 0; c < PAIR; c++) {
		dot[c] = h.scale * warpSum(dot[c]) + from[c][j + 1];
		int i = j + 1 + k + c;
		if (there[c] && lane == 0)
			*to[c] = dot[c];
		if (there[c] && !left)
			cross += dot[c] * (i == j + 1 ? 1 : h.scale * raw[i]);
	}
	if (left)
		return;
	if (lane == 0)
		crosses[warp] = cross;
	__syncthreads();
	if (threadIdx.x == 0) {
		cross = 0;
		for (int i = 0; i < DOT_THREADS / 32; i++)
			cross += crosses[i];
		((double *)g.cross)[block] = cross;
	}
}

// A spectralRank adds the product of left and right to rows and columns of F from some on: BLOCK
// columns, and as many rows of right, each of n numbers.
struct spectralRank {
	u64 f, left, right; // double
	u64 zeros;          // n times an int 0
	int n, row, column, pad;
};

struct spectralTiles {
	int n, row, column;

	__device__ __forceinline__ int down() const { return (n - row + TALL - 1) / TALL; }
	__device__ __forceinline__ int count() const { return down() * ((n - column) / BLOCK); }
	__device__ __forceinline__ void at(int tile, int &i0, int &j0) const
	{
		i0 = row + tile % down() * TALL;
		j0 = column + tile / down() * BLOCK;
	}
};

// spectralUpdate computes a spectralRank.
extern "C" __global__ void __launch_bounds__(THREADS, 2) spectralUpdate(const __grid_constant__ spectralRank g)
{
	extern __shared__ __align__(16) double shared[];
	rankUpdate r = {(double *)g.f, (const double *)g.left, (const double *)g.right, (const int *)g.zeros, g.n, 1 << 30, BLOCK, 0};
	update<4, BLOCK, false>(r, spectralTiles{g.n, g.row, g.column}, g.n, shared);
}

// A spectralProduct is a product of BLOCK columns of V, transposed, and of columns of a matrix Z,
// of rows from some on, in several parts that are to be added up.
struct spectralProduct {
	u64 v, z; // double, by columns of n numbers; v is the first of the columns
	u64 to;   // double: part s of row c has number j at (s BLOCK + c) n + j
	int n, row, parts, pad;
};

// tileOf computes the product of the BLOCK columns at v and at z, of the given rows, and stores
// row c at c ld.
static __device__ void tileOf(const double *v, const double *z, i64 n, int row, int end, double *to, i64 ld)
{
	__shared__ double left[CHUNK * BLOCK], right[CHUNK * BLOCK];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wi = warp % 4 * 16, wj = warp / 4 * 32;
	double2 c[4][2] = {};
	for (int r0 = row; r0 < end; r0 += CHUNK) {
		__syncthreads();
#pragma unroll
		for (int h = 0; h < CHUNK * BLOCK / THREADS; h++) {
			int i = h * THREADS + threadIdx.x, k = i % CHUNK, column = i / CHUNK;
			bool in = r0 + k < end;
			left[swizzled<BLOCK>(k, column)] = in ? v[r0 + k + column * n] : 0;
			right[swizzled<BLOCK>(k, column)] = in ? z[r0 + k + column * n] : 0;
		}
		__syncthreads();
		multiplyChunk<2, CHUNK, BLOCK, BLOCK, false>(c, right, left, wj, wi);
	}
#pragma unroll
	for (int s = 0; s < 4; s++)
#pragma unroll
		for (int t = 0; t < 2; t++) {
			int i = wi + 8 * t + 2 * (lane % 4), j = wj + 8 * s + lane / 4;
			to[i * ld + j] = c[s][t].x;
			to[(i + 1) * ld + j] = c[s][t].y;
		}
}

// spectralProducts computes a spectralProduct: block x has BLOCK columns of Z, block y a part.
extern "C" __global__ void __launch_bounds__(THREADS) spectralProducts(const __grid_constant__ spectralProduct g)
{
	const i64 n = g.n;
	int share = ((g.n - g.row + g.parts - 1) / g.parts + CHUNK - 1) / CHUNK * CHUNK;
	int row = g.row + blockIdx.y * share, end = row + share < g.n ? row + share : g.n;
	tileOf((const double *)g.v, (const double *)g.z + (i64)blockIdx.x * BLOCK * n, n, row, end,
		(double *)g.to + blockIdx.y * BLOCK * n + blockIdx.x * BLOCK, n);
}

// spectralFactors computes T of H_j H_j+1 ... = I - V T V^T for BLOCK columns j, j + 1, ... each
// (Schreiber and Van Loan, 1989), upper triangular, by rows. Block x has the columns from x BLOCK
// on.
extern "C" __global__ void __launch_bounds__(THREADS) spectralFactors(const __grid_constant__ spectral g, u64 to)
{
	__shared__ double f[BLOCK][BLOCK]; // T^T
	const i64 n = g.n;
	int first = blockIdx.x * BLOCK, t = threadIdx.x;
	const double *v = (const double *)g.v + first * n, *tau = (const double *)g.tau + first;
	double *z = (double *)to + (i64)blockIdx.x * BLOCK * BLOCK; // V^T V, and then T
	tileOf(v, v, n, first, g.n, z, BLOCK);
	__syncthreads();
	if (t < BLOCK) {
		for (int c = 0; c < BLOCK; c++) {
			double sum = 0;
			for (int h = 0; h < c; h++)
				sum += f[h][t] * z[h * BLOCK + c];
			f[c][t] = c < t ? 0 : c == t ? tau[c] : -tau[c] * sum;
		}
	}
	__syncthreads();
	for (int i = t; i < BLOCK * BLOCK; i += THREADS)
		z[i] = f[i % BLOCK][i / BLOCK];
}

// Columns of a block of spectralTurn.
#define TURN 32

// spectralTurn multiplies the sum of the parts of a product by -T, and stores it as the first part.
extern "C" __global__ void __launch_bounds__(THREADS) spectralTurn(const __grid_constant__ spectralProduct g, u64 factor)
{
	__shared__ double f[BLOCK][BLOCK], x[BLOCK][TURN];
	const i64 n = g.n;
	int t = threadIdx.x, j = blockIdx.x * TURN + t % TURN, group = t / TURN;
	double *to = (double *)g.to;
	for (int i = t; i < BLOCK * BLOCK; i += THREADS)
		f[i / BLOCK][i % BLOCK] = ((const double *)factor)[i];
	for (int c = group; c < BLOCK; c += THREADS / TURN) {
		double sum = 0;
		for (int s = 0; s < g.parts; s++)
			sum += to[(s * BLOCK + c) * n + j];
		x[c][t % TURN] = sum;
	}
	__syncthreads();
	const int some = BLOCK / (THREADS / TURN);
	double z[some] = {};
	for (int h = 0; h < BLOCK; h++)
#pragma unroll
		for (int c = 0; c < some; c++)
			z[c] -= f[group * some + c][h] * x[h][t % TURN];
#pragma unroll
	for (int c = 0; c < some; c++)
		to[(group * some + c) * n + j] = z[c];
}
