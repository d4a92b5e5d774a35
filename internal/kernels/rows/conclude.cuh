// How the kernels of sums end: what becomes of rows whose columns are complete.
#pragma once
#include "../common/answer.cuh"
#include "../common/report.cuh"
#include "../common/round.cuh"
#include "rows.cuh"

// How rows are rounded.
struct rounding {
	target c;
	u64 list;     // u64: the rows that are left over
	i64 unit;     // exponent of column K - 1 relative to P, and of the factor
	double error; // of a sum in such units
	i64 exact;    // rows whose addends lie no further than this below P have exact sums
	int neg;
	int expansions; // the addends are terms of expansions
};

// What an end does with rows: leaves their columns and spans in memory, rounds them, or tells those
// of an only row.
enum { KEEPS, ROUNDS, TELLS };

struct ending {
	rounding to;
	u64 answer; // to the host, in words: the number of rows that are left over; what is told
	u32 ticket;
	int does;
};

#define AHEAD 10 // loads of a thread that do not wait for each other

#define MAX_TILES 2048 // of rows, if several blocks share them

// What launches leave as they find it, zeros: how many blocks of a tile of rows have come, the
// tiles that are done above the rows of theirs that are left over, and the length of the list of
// such rows. So launches of a module take turns.
static __device__ u32 arrived[MAX_TILES], listed;
static __device__ u64 done;

// lastOfTile reports whether all other blocks of the block's tile have come here. It then sees what
// they have written.
static __device__ __forceinline__ bool lastOfTile()
{
	if (gridDim.y > 1)
		return lastBlock(&arrived[blockIdx.x], gridDim.y);
	__threadfence();
	__syncthreads();
	return true;
}

// roundRow rounds row number i from its columns, stride apart, and returns whether it did: a sum
// that its error or its class leaves undecided is left to the host. room is for (28 K + 95) / 32
// words, as far apart.
static __device__ __noinline__ bool roundRow(const rounding &to, int digits, int row, const i64 *column, int stride, u32 *room, const span &s)
{
	i64 at = to.c.off + row * to.c.rs;
	if (s.flags & SEEN_SPECIAL)
		return false;
	if (!(s.flags & SEEN_FINITE)) {
		bool positive = s.flags & SEEN_POSITIVE_ZERO, negative = s.flags & SEEN_NEGATIVE_ZERO;
		storeZero(to.c, at, to.neg ? positive && !negative : negative && !positive);
		return true;
	}
	int words = (DIGIT * digits + 64 + 31) / 32;
	integer x = {room, stride, words};
	i64 carry = 0;
	u64 bits = 0; // low bits of the next word
	int have = 0, w = 0;
#pragma unroll 4
	for (int c = digits; c > 0; c--) {
		i64 v = column[c * stride] + carry;
		carry = v >> DIGIT;
		bits |= (u64)(v & MASK) << have;
		have += DIGIT;
		if (have >= 32) {
			x.at[w++ * stride] = (u32)bits;
			bits >>= 32;
			have -= 32;
		}
	}
	// The rest, sign included.
	i64 v = column[0] + carry;
	u64 low = bits | (u64)v << have;
	i64 high = have ? v >> (64 - have) : v >> 63;
	for (; w < words; w++) {
		x.at[w * stride] = (u32)low;
		low = low >> 32 | (u64)high << 32;
		high >>= 32;
	}
	bool neg = x.magnitude() != (to.neg != 0);
	int n = x.length();
	double error = s.top + s.bottom <= to.exact ? 0 : to.error;
	if (n != 0)
		return store(to.c, at, x, n, neg, s.top + to.unit, error);
	if (error != 0 || to.expansions)
		return false;
	storeZero(to.c, at, false);
	return true;
}

// conclude ends with a tile of rows, here of them from row first on, column c of row i at
// c rows + i, and what is known of them. Behind the sums there is room for rounding.
static __device__ __noinline__ void conclude(const ending &e, int digits, int first, int here, int rows, i64 *sums, const span *all)
{
	if (e.does == TELLS) {
		for (int i = threadIdx.x; i < digits + 4; i += blockDim.x)
			tellWide(e.answer, 1 + 2 * i, e.ticket,
				i <= digits ? sums[i * rows] : i == digits + 1 ? all->top : i == digits + 2 ? all->bottom : all->flags);
		if (threadIdx.x == 0)
			tellWord(e.answer, 0, e.ticket, 0);
		return;
	}
	bool rest = false;
	if (threadIdx.x < here) {
		int row = first + threadIdx.x;
		rest = !roundRow(e.to, digits, row, sums + threadIdx.x, rows, (u32 *)(sums + (digits + 1) * rows) + threadIdx.x, all[threadIdx.x]);
		if (rest)
			leave(leftovers{(u64)&listed, e.to.list, 1ll << 62}, row, 0);
	}
	u64 left = __syncthreads_count(rest);
	if (threadIdx.x != 0)
		return;
	// What blocks write for the stream's later operations needs no fence.
	if (gridDim.x > 1) {
		if (left != 0)
			__threadfence();
		u64 others = atomicAdd(&done, 1ull << 32 | left);
		if (others >> 32 != gridDim.x - 1)
			return;
		left += (u32)others;
		done = 0;
	}
	if (left != 0) {
		__threadfence();
		listed = 0;
	}
	tellWord(e.answer, 0, e.ticket, (u32)left);
}
