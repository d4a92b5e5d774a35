// The spans of rows.
#include "reduce.cuh"

#define SCAN_THREADS 256
#define BATCH 8

// scanRows finds the spans of parts of rows, and sets the columns to 0.
// A block works on ROWS rows, where memory runs down the columns, else on one.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS) scanRows(const __grid_constant__ reduction r)
{
	int rows = r.down ? ROWS : 1, lanes = SCAN_THREADS / rows;
	int row = blockIdx.x * rows + threadIdx.x % rows, lane = threadIdx.x / rows;
	int step = lanes * gridDim.y;
	span s = {NO_TOP, NO_TOP, 0};
	if (row < r.a.n) {
		for (int h = blockIdx.y * lanes + lane; h < r.a.k; h += BATCH * step) {
			int n = min(BATCH, (r.a.k - h + step - 1) / step);
			head a[BATCH], x[BATCH];
			heads(r.a.a, r.a.off + row * r.a.rs + h * r.a.cs, step * r.a.cs, n, a);
			if (r.products)
				heads(r.x.a, r.x.off + h * r.x.cs, step * r.x.cs, n, x);
#pragma unroll
			for (int b = 0; b < BATCH; b++) {
				if (b >= n)
					break;
				i64 exp = a[b].exp;
				u32 cls = a[b].cls;
				if (r.products) {
					exp += x[b].exp;
					cls = productClass(cls, x[b].cls);
				} else if (r.magnitudes) {
					cls &= ~1u;
				}
				if (s.see(cls, exp))
					s.top = max64(s.top, exp);
			}
		}
	}
	if (r.later)
		s.flags &= ~(SEEN_POSITIVE_ZERO | SEEN_NEGATIVE_ZERO);
	__shared__ span found[SCAN_THREADS];
	s = mergeLanes<SCAN_THREADS>(found, s, rows);
	if (lane == 0 && row < r.a.n)
		s.write(r.parts, (i64)(r.first + blockIdx.y) * r.a.n + row);
	if (r.later)
		return;
	i64 words = (i64)(r.digits + 1) * r.a.n, threads = (i64)gridDim.x * gridDim.y * SCAN_THREADS;
	i64 thread = ((i64)blockIdx.y * gridDim.x + blockIdx.x) * SCAN_THREADS + threadIdx.x;
	for (i64 i = thread; i < words; i += threads)
		((i64 *)r.columns)[i] = 0;
}
