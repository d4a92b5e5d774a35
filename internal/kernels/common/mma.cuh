// Tensor core instructions of compute capability 8.0, and the layout of residues.
#pragma once
#include "common.cuh"

// Residues of an operand modulo one modulus are a plane of bytes, cut into tiles of 128
// vectors x 128 numbers. Tile (p, b) lies at ((p blocks) + b) 16384; in it, the 16-byte
// chunk c of vector r lies at 128 r + 16 (c xor (r mod 8)), which is what the tensor
// cores' and ldmatrix' reads from shared memory want.
#define TILE 128
#define TILE_BYTES (TILE * TILE)

// place returns where vector v of a group of 64 vectors of the left operand lies. The
// products' columns then come out such that a thread holds 16 consecutive ones.
static __device__ __forceinline__ int place(int v)
{
	return v & ~63 | (v & 14) << 2 | v >> 3 & 6 | v & 1;
}

// multiplyAdd: c += a b for a 16 x 32 and b 32 x 8 of bytes.
static __device__ __forceinline__ void multiplyAdd(int (&c)[4], const uint4 &a, u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		: "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
		: "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

// multiplyAddUnsigned: the same for unsigned bytes.
static __device__ __forceinline__ void multiplyAddUnsigned(int (&c)[4], const uint4 &a, u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		: "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
		: "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}

// Copies of 16 bytes to shared memory that go on in the background, in groups.
static __device__ __forceinline__ u32 sharedAddress(const void *p) { return (u32)__cvta_generic_to_shared(p); }

static __device__ __forceinline__ void copyAsync(u32 to, const void *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

static __device__ __forceinline__ void closeGroup() { asm volatile("cp.async.commit_group;"); }

// waitGroups waits until at most N groups are going on.
template <int N> static __device__ __forceinline__ void waitGroups() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// pack returns the low bytes of four words.
static __device__ __forceinline__ u32 pack(u32 a, u32 b, u32 c, u32 d)
{
	return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}
