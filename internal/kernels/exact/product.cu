// Products of residues by mma.sync, for compute capability 8.0 and later.
#include "product.cuh"

#define THREADS 256
#define STAGES 3
#define STAGE_BYTES (2 * TILE_BYTES)

static __device__ __forceinline__ uint4 loadMatrices(u32 at)
{
	uint4 r;
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
		: "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "r"(at));
	return r;
}

// A block computes 128 columns of the right operand by 128 rows of the left one, for
// one modulus. Eight warps take 64 x 32 each.
extern "C" __global__ void __launch_bounds__(THREADS, 2) products(product p)
{
	extern __shared__ __align__(1024) char memory[];
	item w = itemOf(p, blockIdx.x);
	range k = rangeOf(p, w, TILE);
	int blocks = k.end - k.begin;
	if (blocks == 0)
		return;
	int passes = w.plain ? 1 : 3;
	int plane = w.plain ? w.modulus : p.plain + 3 * (w.modulus - p.plain);
	const char *right = (const char *)p.right + plane * p.rightStride + ((i64)w.col * p.blocks + k.begin) * TILE_BYTES;
	const char *left = (const char *)p.left + plane * p.leftStride + ((i64)w.row * p.blocks + k.begin) * TILE_BYTES;
	u32 base = sharedAddress(memory);
	int steps = passes * blocks;

	// load starts the copy of the tiles of a step, one group of copies.
	auto load = [&](int step) {
		if (step < steps) {
			int pass = step / blocks, b = step - pass * blocks;
			u32 to = base + step % STAGES * STAGE_BYTES + 16 * threadIdx.x;
			const char *r = right + pass * p.rightStride + (i64)b * TILE_BYTES + 16 * threadIdx.x;
			const char *l = left + pass * p.leftStride + (i64)b * TILE_BYTES + 16 * threadIdx.x;
#pragma unroll
			for (int i = 0; i < TILE_BYTES; i += 16 * THREADS) {
				copyAsync(to + i, r + i);
				copyAsync(to + TILE_BYTES + i, l + i);
			}
		}
		closeGroup();
	};

	int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
	int row0 = warp / 4 * 64, col0 = warp % 4 * 32; // in the tile: columns of B, rows of A
	const reduction *m = (const reduction *)p.moduli + w.modulus;
	int sum[4][4][4] = {};
	u32 pair[4][4][2];
	bool quick = p.blocks <= QUICK_BLOCKS;
#pragma unroll
	for (int i = 0; i < 32; i++)
		pair[i / 8][i / 2 % 4][i % 2] = startOf(quick, m->m);

	for (int s = 0; s < STAGES - 1; s++)
		load(s);
	for (int step = 0, b = 0, pass = 0; step < steps; step++) {
		waitGroups<STAGES - 2>();
		__syncthreads();
		load(step + STAGES - 1);
		u32 a = base + step % STAGES * STAGE_BYTES, bb = a + TILE_BYTES;
#pragma unroll
		for (int kk = 0; kk < 4; kk++) {
			uint4 x[4], y[2];
#pragma unroll
			for (int i = 0; i < 4; i++) {
				int r = row0 + 16 * i + lane % 16;
				x[i] = loadMatrices(a + r * TILE + ((2 * kk + lane / 16) ^ (r & 7)) * 16);
			}
#pragma unroll
			for (int i = 0; i < 2; i++) {
				int r = col0 + 16 * i + lane / 16 * 8 + lane % 8;
				y[i] = loadMatrices(bb + r * TILE + ((2 * kk + lane / 8 % 2) ^ (r & 7)) * 16);
			}
#pragma unroll
			for (int i = 0; i < 4; i++) {
				multiplyAdd(sum[i][0], x[i], y[0].x, y[0].y);
				multiplyAdd(sum[i][1], x[i], y[0].z, y[0].w);
				multiplyAdd(sum[i][2], x[i], y[1].x, y[1].y);
				multiplyAdd(sum[i][3], x[i], y[1].z, y[1].w);
			}
		}
		if (++b < blocks || w.plain)
			continue;
		int factor = m->factor[pass], scale = m->scale[pass];
		quickly of(factor, scale, m->m);
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int j = 0; j < 4; j++) {
				int(&c)[4] = sum[i][j];
				if (quick) {
					of.fold(pair[i][j][0], c[0], c[1]);
					of.fold(pair[i][j][1], c[2], c[3]);
				} else {
					fold(pair[i][j][0], c[0], c[1], factor, scale, m->m);
					fold(pair[i][j][1], c[2], c[3], factor, scale, m->m);
				}
				c[0] = c[1] = c[2] = c[3] = 0;
			}
		b = 0;
		pass++;
	}

	// Columns 8 j + 2 q + e of a group of 64 are its rows 16 q + 2 j + e of A: a thread
	// holds 8 consecutive ones.
	i64 col = (i64)w.col * TILE + row0 + g, row = w.row * TILE + col0 / 64 * 64 + 16 * q + col0 % 64 / 4;
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int half = 0; half < 2; half++) {
			i64 at = (col + 16 * i + 8 * half) * p.ld + row;
			if (w.plain) {
				u32 r[8];
#pragma unroll
				for (int j = 0; j < 8; j++)
					r[j] = reducePlain(sum[i][j / 2][2 * half + j % 2], m->scale[0], m->shift, m->m);
				*(uint2 *)((u8 *)p.out + w.modulus * p.stride + at) =
					make_uint2(pack(r[0], r[1], r[2], r[3]), pack(r[4], r[5], r[6], r[7]));
			} else {
				*(uint4 *)((u16 *)p.wide + (w.modulus - p.plain) * p.stride + at) =
					make_uint4(pair[i][0][half], pair[i][1][half], pair[i][2][half], pair[i][3][half]);
			}
		}
}
