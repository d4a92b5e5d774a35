// Products of residues by wgmma, for compute capability 9.0. One thread copies tiles into
// a ring of shared memory; two groups of four warps multiply.
//
// Blocks take items in turn as they are done with others: where a triangle makes some shorter,
// those that are multiplied at a time lie together. With every 132nd item for a block 47 % of the
// tiles of a product by an upper triangle would not be in the second level cache when they are
// read, by a simulation, in place of 6 %, and on an H100 it takes longer than by a square matrix.
//
// On an H100 the tensor cores are 90 % busy at n = 4096, at the clock that 700 W allow. At n = 1000
// a product of a tile takes 8800 cycles, 8192 of them theirs, and its reduction 2500. What was
// tried and is slower: clusters of two blocks that share tiles; seven products of
// halves by Strassen and Winograd, added up here; a group that lags behind the other one, by one to
// three stages, to reduce while that multiplies.
#include "product.cuh"

#define CONSUMERS 2
#define THREADS (128 * (CONSUMERS + 1))
#define STAGES 4
#define STAGE_BYTES (3 * TILE_BYTES) // one tile of columns of B, two of rows of A

static __device__ __forceinline__ void barrierInit(u32 at, u32 count)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count));
}

static __device__ __forceinline__ void barrierWait(u32 at, u32 parity)
{
	asm volatile("{\n"
		".reg .pred done;\n"
		"again:\n"
		"mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
		"@done bra ready;\n"
		"bra again;\n"
		"ready:\n"
		"}" ::"r"(at), "r"(parity) : "memory");
}

static __device__ __forceinline__ void barrierArrive(u32 at)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}

static __device__ __forceinline__ void barrierExpect(u32 at, u32 bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}

// copyTile starts the copy of a tile, which the barrier at full counts.
static __device__ __forceinline__ void copyTile(u32 to, const char *from, u32 full)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
		::"r"(to), "l"(from), "r"(TILE_BYTES), "r"(full) : "memory");
}

// descriptor tells wgmma of rows of 128 bytes, eight of them swizzled together.
static __device__ __forceinline__ u64 descriptor(u32 at)
{
	return (u64)(at >> 4 & 0x3fff) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}

#define R4(i) "%" #i "0,%" #i "1,%" #i "2,%" #i "3,%" #i "4,%" #i "5,%" #i "6,%" #i "7,%" #i "8,%" #i "9"
#define C8(i) "+r"(c[i]), "+r"(c[i + 1]), "+r"(c[i + 2]), "+r"(c[i + 3]), "+r"(c[i + 4]), "+r"(c[i + 5]), "+r"(c[i + 6]), "+r"(c[i + 7])
#define C32(i) C8(i), C8(i + 8), C8(i + 16), C8(i + 24)

// multiply: c (+)= a b for a 64 x 32 and b 32 x 256 of bytes in shared memory.
static __device__ __forceinline__ void multiply(int (&c)[128], u64 a, u64 b, int add)
{
	asm volatile("{\n"
		".reg .pred p;\n"
		"setp.ne.b32 p, %130, 0;\n"
		"wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
		"%0,%1,%2,%3,%4,%5,%6,%7,%8,%9," R4(1) "," R4(2) "," R4(3) "," R4(4) "," R4(5) "," R4(6) "," R4(7) ","
		R4(8) "," R4(9) "," R4(10) "," R4(11) ",%120,%121,%122,%123,%124,%125,%126,%127"
		"}, %128, %129, p;\n"
		"}"
		: C32(0), C32(32), C32(64), C32(96)
		: "l"(a), "l"(b), "r"(add));
}

struct ring {
	u32 base, full, empty; // addresses of stage 0 and of its barriers
	int stage;
	u32 phase;

	__device__ __forceinline__ void next()
	{
		if (++stage == STAGES) {
			stage = 0;
			phase ^= 1;
		}
	}
};

// What consumers need to know of an item. Those whose stages are in the ring and the one before
// have places of their own.
struct task {
	u64 out;    // where the first entry goes
	int blocks; // stages of each product; 0: there is no item left
	int plain;
	reduction m;
};

#define TASKS (2 * STAGES)

// produce copies the tiles of items that the block takes, in the order of their use, and tells of
// each item before its first stage is full. The first items, of which each block has one, are not
// taken, and each block takes in vain once: so the last one is known by what it counts.
static __device__ __forceinline__ void produce(const product &p, ring r, task *tasks)
{
	int items = p.rows * p.cols * (p.plain + p.karatsuba);
	i64 panel = (i64)p.blocks * TILE_BYTES;
	u32 count = 0; // of tasks
	for (int index = blockIdx.x; index < items;) {
		u32 taken = atomicAdd((u32 *)p.taken, 1); // there when the tiles are on their way
		item w = itemOf(p, index);
		range k = rangeOf(p, w, 2 * TILE);
		int plane = w.plain ? w.modulus : p.plain + 3 * (w.modulus - p.plain);
		if (k.begin < k.end) {
			task &t = tasks[count++ % TASKS];
			i64 at = (i64)w.col * TILE * p.ld + w.row * 2 * TILE;
			i64 of = w.plain ? w.modulus : w.modulus - p.plain;
			t.out = w.plain ? p.out + of * p.stride + at : p.wide + 2 * (of * p.stride + at);
			t.blocks = k.end - k.begin;
			t.plain = w.plain;
			t.m = ((const reduction *)p.moduli)[w.modulus];
		}
		for (int pass = w.plain ? 2 : 0; pass < 3; pass++, plane++) {
			const char *right = (const char *)p.right + plane * p.rightStride + w.col * panel + (i64)k.begin * TILE_BYTES;
			const char *left = (const char *)p.left + plane * p.leftStride + 2 * w.row * panel + (i64)k.begin * TILE_BYTES;
			for (int b = k.begin; b < k.end; b++) {
				u32 full = r.full + 8 * r.stage, to = r.base + r.stage * STAGE_BYTES;
				barrierWait(r.empty + 8 * r.stage, r.phase ^ 1);
				barrierExpect(full, STAGE_BYTES);
				copyTile(to, right, full);
				copyTile(to + TILE_BYTES, left, full);
				copyTile(to + 2 * TILE_BYTES, left + panel, full);
				right += TILE_BYTES;
				left += TILE_BYTES;
				r.next();
			}
		}
		if (taken == items - 1)
			*(u32 *)p.taken = 0;
		index = taken + gridDim.x;
	}
	barrierWait(r.empty + 8 * r.stage, r.phase ^ 1);
	tasks[count % TASKS].blocks = 0;
	barrierExpect(r.full + 8 * r.stage, 0);
}

// Results of an item, which a thread stores while the next one is multiplied: all multiprocessors
// have theirs at about the same time, and waited some 2000 cycles a product for memory to take
// them.
#define PIECES 8

struct results {
	u32 w[64]; // pairs of half words, or words of bytes
	u64 at;    // of the first
	i64 ld;
	int sort; // 0: stored; 1: bytes; 2: half words

	// store stores a part, of PIECES.
	__device__ __forceinline__ void store(int part)
	{
#pragma unroll
		for (int i = 0; i < PIECES; i++) {
			if (i != part)
				continue;
			const int half = i / 4, c = i % 4;
			i64 to = half * 8 * ld + 64 * c;
			if (sort == 1) {
				*(uint4 *)((u8 *)at + to) = make_uint4(w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]);
			} else if (sort == 2) {
				const int k = 16 * c + half;
				uint4 *two = (uint4 *)((u16 *)at + to);
				two[0] = make_uint4(w[k], w[k + 2], w[k + 4], w[k + 6]);
				two[1] = make_uint4(w[k + 8], w[k + 10], w[k + 12], w[k + 14]);
			}
		}
	}
};

// accumulate sets sum to the product of this group's 64 columns of B with 256 rows of A, and stores
// what is held.
static __device__ __forceinline__ void accumulate(int (&sum)[128], ring &r, int blocks, u32 offset, bool signals, results &held)
{
	u32 last = 0; // the barrier of the stage before
#pragma unroll 1
	for (int b = 0; b < blocks; b++) {
		barrierWait(r.full + 8 * r.stage, r.phase);
		u32 at = r.base + r.stage * STAGE_BYTES;
		u64 x = descriptor(at + offset), y = descriptor(at + TILE_BYTES);
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
		for (int kk = 0; kk < 4; kk++)
			multiply(sum, x + 2 * kk, y + 2 * kk, b > 0 || kk > 0);
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		if (held.sort)
			held.store(b);
		if (b > 0) {
			asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
			if (signals)
				barrierArrive(last);
		}
		last = r.empty + 8 * r.stage;
		r.next();
	}
	if (held.sort)
		for (int b = blocks; b < PIECES; b++)
			held.store(b);
	held.sort = 0;
	asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
	for (int i = 0; i < 128; i++) // the sums are read after the wait
		asm volatile("" : "+r"(sum[i])::"memory");
	if (signals)
		barrierArrive(last);
}

static __device__ __forceinline__ void consume(const product &p, ring r, int group, const task *tasks)
{
	int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32, g = lane / 4, q = lane % 4;
	bool signals = thread == 0;
	u32 offset = group * 64 * TILE;
	// A thread holds 16 consecutive rows of A of each group of 64: number 16 q + 2 j + e
	// is column 8 j + 2 q + e.
	i64 mine = (64 * group + 16 * warp + g) * p.ld + 16 * q;
	int sum[128];
	bool quick = p.blocks <= QUICK_BLOCKS;
	results held;
	held.ld = p.ld;
	held.sort = 0;
	for (u32 count = 0;; count++) {
		barrierWait(r.full + 8 * r.stage, r.phase);
		const task &t = tasks[count % TASKS];
		int blocks = t.blocks, modulus = t.m.m;
		if (blocks == 0)
			break;
		if (t.plain) {
			int scale = t.m.scale[0], shift = t.m.shift;
			accumulate(sum, r, blocks, offset, signals, held);
#pragma unroll
			for (int i = 0; i < 32; i++) {
				const int s = 32 * (i / 4 % 4) + 8 * (i % 4) + 2 * (i / 16);
				held.w[i] = pack(reducePlain(sum[s], scale, shift, modulus), reducePlain(sum[s + 1], scale, shift, modulus),
					reducePlain(sum[s + 4], scale, shift, modulus), reducePlain(sum[s + 5], scale, shift, modulus));
			}
			held.at = t.out + mine;
			held.sort = 1;
			continue;
		}
#pragma unroll 1
		for (int pass = 0; pass < 3; pass++) {
			accumulate(sum, r, blocks, offset, signals, held);
			if (pass == 0) {
#pragma unroll
				for (int i = 0; i < 64; i++)
					held.w[i] = startOf(quick, modulus);
			}
			int factor = t.m.factor[pass], scale = t.m.scale[pass];
			if (quick) {
				quickly of(factor, scale, modulus);
#pragma unroll
				for (int i = 0; i < 64; i++)
					of.fold(held.w[i], sum[2 * i], sum[2 * i + 1]);
			} else {
#pragma unroll
				for (int i = 0; i < 64; i++)
					fold(held.w[i], sum[2 * i], sum[2 * i + 1], factor, scale, modulus);
			}
		}
		held.at = t.out + 2 * mine;
		held.sort = 2;
	}
	for (int i = 0; i < PIECES; i++)
		held.store(i);
}

// An item is 128 columns of B by 256 rows of A, of one modulus after the other.
extern "C" __global__ void __launch_bounds__(THREADS, 1) products(const __grid_constant__ product p)
{
	extern __shared__ char memory[];
	__shared__ __align__(8) u64 barriers[2 * STAGES];
	__shared__ task tasks[TASKS];
	ring r;
	r.base = (sharedAddress(memory) + 1023) & ~1023u;
	r.full = sharedAddress(barriers);
	r.empty = r.full + 8 * STAGES;
	r.stage = 0;
	r.phase = 0;
	if (threadIdx.x == 0) {
		for (int s = 0; s < STAGES; s++) {
			barrierInit(r.full + 8 * s, 1);
			barrierInit(r.empty + 8 * s, CONSUMERS);
		}
		asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	}
	__syncthreads();
	int group = threadIdx.x / 128;
	if (group == CONSUMERS) {
		asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
		if (threadIdx.x % 128 == 0)
			produce(p, r, tasks);
	} else {
		asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
		consume(p, r, group, tasks);
	}
}
