// How the threads of a block copy significands of MP: those that follow each other have words that
// do.
#pragma once
#include "../common/common.cuh"

// eachWord calls f for all words of so many numbers of the threads of a block: threads that follow
// each other have words that do.
template <class F> static __device__ __forceinline__ void eachWord(int count, int limbs, F f)
{
	int number = threadIdx.x / limbs, word = threadIdx.x % limbs, step = blockDim.x / limbs, rest = blockDim.x % limbs;
	while (number < count) {
		f(number, word);
		number += step;
		if ((word += rest) >= limbs) {
			word -= limbs;
			number++;
		}
	}
}

// copyWord copies 8 bytes to shared memory in the background.
static __device__ __forceinline__ void copyWord(u64 *to, const u64 *from)
{
	asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from));
}

// Significands of the numbers of a block's threads in shared memory: threads copy words that follow
// each other there and back, and then work on a number each.
struct stage {
	u64 *at;
	int limbs, pitch; // the latter is odd

	__device__ __forceinline__ stage(u64 *at, const numbers &a) : at(at), limbs(a.limbs), pitch(a.limbs | 1) {}

	__device__ __forceinline__ u64 *of(int number) const { return at + number * pitch; }

	// load begins to load numbers from (i, j) of x on, down the column.
	__device__ __forceinline__ void load(const vectors &x, int i, int j, int count) const
	{
		const u64 *from = (const u64 *)x.a.plane[0] + (x.off + i * x.rs + j * x.cs) * limbs;
		eachWord(count, limbs, [&](int number, int word) { copyWord(of(number) + word, from + number * x.rs * limbs + word); });
	}
};
