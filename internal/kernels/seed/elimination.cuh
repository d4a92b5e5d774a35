// What kernels of an elimination share.
#pragma once
#include "../common/common.cuh"

// Columns are eliminated in panels, of width columns at most, and those in steps of BLOCK.
struct elimination {
	u64 f;           // double: F by columns
	u64 order;       // int: all rows, the pivots so far before the others
	u64 slot;        // int: of which column a row is the pivot, or -1
	u64 corner;      // double: of the panel, width x width by columns: see rightFactor
	u64 upper;       // double: U^-1 of the step, by rows
	u64 left, right; // double: the panel's factors, N x width by columns, width x N by rows
	u64 status;      // u32
	int n, first;    // N, the first column of the step
	int columns;     // of F, a multiple of BLOCK: N but for triangles of tall matrices
	int panel;       // the first column of the panel
	int width, pad;
};

// reciprocal returns 1 / x, but 0 for 0.
static __device__ __forceinline__ double reciprocal(double x) { return x == 0 ? 0 : 1 / x; }
