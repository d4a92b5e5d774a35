// What kernels tell the host, in its mailbox.
#pragma once
#include "common.cuh"

// The extremes of all vectors of an operand, which start as zeros.
struct totals {
	u64 norm;  // bits of the largest norm
	i64 width; // the most of exp - low
	u32 flags;
	u32 pad;
};

struct sample {
	double size; // exponent of the entry over alpha relative to those of its vectors; -1e9 for zero
	double normL, normR;
	double cancelled; // not 0: the old entry cancels the product, size being that of either
};

#define SAMPLES 64

struct report {
	totals operand[2]; // left, right
	sample samples[SAMPLES];
};

// What became of the entries.
struct outcome {
	u32 list, rest;          // lengths of the lists of entries for the exact pass and for the host
	u64 overflow, underflow; // results that left the range
	u64 fault;               // of entries that contradict a redundant modulus, or 0: see finish.cu
};

// What a product keeps on the device, zeros at first.
struct control {
	report r;
	outcome o;
	u32 blocks; // that are done
	u32 pad;
};

// lastBlock reports whether all other blocks of a kernel have come here. It then sees what they
// have written, and the counter is 0 again.
static __device__ bool lastBlock(u32 *counter, u32 blocks)
{
	__shared__ bool last;
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		last = atomicInc(counter, blocks - 1) == blocks - 1;
		__threadfence();
	}
	__syncthreads();
	return last;
}

// tell writes an answer to a mailbox: the number of it, then on from ANSWER words that other blocks
// have written. It takes all threads of a block.
#define ANSWER 8

static __device__ void tell(u64 mailbox, u32 ticket, const void *from, int words)
{
	for (int i = threadIdx.x; i < words; i += blockDim.x)
		((volatile u64 *)(mailbox + ANSWER))[i] = __ldcg((const u64 *)from + i);
	__threadfence_system();
	__syncthreads();
	if (threadIdx.x == 0)
		*(volatile u32 *)mailbox = ticket;
}
