// What kernels of an elimination share.
#pragma once
#include "../common/common.cuh"
#include "tensor.cuh"

// Columns are eliminated in panels, of width columns at most, and those in steps of BLOCK.
struct elimination {
	u64 f;           // double: F by columns
	u64 order;       // int: all rows, the pivots so far before the others
	u64 slot;        // int: of which column a row is the pivot, or -1
	u64 corner;      // double: of the panel, width x width by columns: see rightFactor
	u64 upper;       // double: U^-1 of the step, by rows
	u64 left, right; // double: the panel's factors, N x width by columns, width x N by rows
	u64 ahead;       // double: of the next step's columns, CANDIDATES rows; null: see nextPivots
	u64 status;      // u32
	int n, first;    // N, the first column of the step
	int columns;     // of F, a multiple of BLOCK: N but for triangles of tall matrices
	int panel;       // the first column of the panel
	int width, pad;
};

// reciprocal returns 1 / x, but 0 for 0.
static __device__ __forceinline__ double reciprocal(double x) { return x == 0 ? 0 : 1 / x; }

// movePivots moves the pivots of a step to the front of the order. Chosen is which pivot the
// thread's row is, or less than 0, and place its place in the order.
static __device__ __forceinline__ void movePivots(const elimination &g, int chosen, int place)
{
	__shared__ int places[BLOCK], rows[BLOCK], displaced[BLOCK];
	__shared__ u32 taken[2], outside[2];
	if (threadIdx.x < 2)
		taken[threadIdx.x] = outside[threadIdx.x] = 0;
	__syncthreads();
	int *order = (int *)g.order + g.first;
	if (chosen >= 0) {
		place -= g.first;
		places[chosen] = place;
		rows[chosen] = order[place];
		((int *)g.slot)[order[place]] = g.first + chosen;
		if (place < BLOCK)
			atomicOr(&taken[place / 32], 1u << place % 32);
		else
			atomicOr(&outside[chosen / 32], 1u << chosen % 32);
	}
	__syncthreads();
	// The rows of the front that are not chosen go where chosen ones were.
	int t = threadIdx.x;
	u32 below = (1u << t % 32) - 1;
	if (t < BLOCK && !(taken[t / 32] >> t % 32 & 1))
		displaced[__popc(~taken[t / 32] & below) + (t < 32 ? 0 : __popc(~taken[0]))] = order[t];
	__syncthreads();
	if (t >= BLOCK)
		return;
	if (outside[t / 32] >> t % 32 & 1)
		order[places[t]] = displaced[__popc(outside[t / 32] & below) + (t < 32 ? 0 : __popc(outside[0]))];
	order[t] = rows[t];
}
