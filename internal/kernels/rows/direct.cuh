// The kernels of fused.cuh for numbers of a few limbs, which threads load into registers.
#pragma once
#include "fused.cuh"

#define DIRECT_THREADS 256

// number is a significand, of which W limbs count, the highest first, and the rest of it.
template <int W> struct number {
	u64 limb[W]; // zeros where numbers have fewer
	head h;
};

// cursor is where a thread is among the numbers of a.
struct cursor {
	// addresses: the end of the significand or a term, the exponent, the class byte
	u64 sig, exp, cls;
	i64 sigStep, step;

	__device__ __forceinline__ cursor(const numbers &a, i64 at, i64 distance)
	{
		int size = a.kind == MP ? 8 * a.limbs : a.kind == F32 ? 4 : 8;
		sig = a.plane[0] + (a.kind == MP ? at + 1 : at) * size;
		exp = a.plane[1] + 4 * at;
		cls = a.plane[2] + at;
		sigStep = distance * size;
		step = distance;
	}

	// load loads the number n steps on.
	template <int W> __device__ __forceinline__ void load(number<W> &x, const numbers &a, int n) const
	{
		u64 from = sig + n * sigStep;
		if (a.kind == MP) {
#pragma unroll
			for (int j = 0; j < W; j++)
				if (j < a.limbs)
					x.limb[j] = __ldg((const u64 *)from - 1 - j);
			x.h = head{__ldg((const int *)(exp + 4 * n * step)), __ldg((const u8 *)(cls + n * step))};
		} else if (a.kind == F32) {
			x.limb[0] = __double_as_longlong(__ldg((const float *)from));
		} else {
			x.limb[0] = __ldg((const u64 *)from);
		}
	}

	__device__ __forceinline__ void go(int n)
	{
		sig += n * sigStep;
		exp += 4 * n * step;
		cls += n * step;
	}
};

// convert makes a head and a significand of a term.
template <int W> static __device__ __forceinline__ void convert(number<W> &x, const numbers &a)
{
	if (a.kind == MP)
		return;
	u64 bits = x.limb[0];
	u32 e = (u32)(bits >> 52) & 0x7ff;
	x.limb[0] = bits << 11 | 1ull << 63;
	x.h = head{(int)e - 1022, FINITE << 1 | (u32)(bits >> 63)};
	if (e == 0 || e == 0x7ff) {
		double v = __longlong_as_double((i64)bits);
		int unused;
		u64 m = decompose(v, unused);
		x.limb[0] = m << (__clzll((i64)m) & 63);
		x.h = headOfTerm(v);
	}
}

// direct adds the addends of rows. A thread has BATCH of them on the way: the place of one that it
// has added takes the next.
template <int K, bool PRODUCTS, int BATCH> static __device__ __forceinline__ void direct(const reduction &r)
{
	extern __shared__ i64 room[];
	spot at(r, DIRECT_THREADS);
	int row = blockIdx.x * at.rows + at.row, stride = at.lanes * gridDim.y, first = blockIdx.y * at.lanes + at.lane;
	int count = row < r.a.n && first < r.a.k ? (r.a.k - 1 - first) / stride + 1 : 0;
	i64 start = r.a.off + row * r.a.rs + first * r.a.cs, startX = r.x.off + first * r.x.cs;
	accumulator<K, PRODUCTS> acc;
	const int W = (DIGIT * K + 63) / 64;
	number<W> u[BATCH], v[BATCH];
#pragma unroll
	for (int b = 0; b < BATCH; b++)
#pragma unroll
		for (int j = 0; j < W; j++)
			u[b].limb[j] = v[b].limb[j] = 0;
	int termsX = PRODUCTS ? termsOf(r.x.a) : 1, pairs = termsOf(r.a.a) * termsX;
#pragma unroll 1
	for (int pair = 0; pair < pairs; pair++) {
		numbers a = termOf(r.a.a, pair / termsX), x = termOf(r.x.a, pair % termsX);
		cursor atA(a, start, stride * r.a.cs), atX(x, startX, stride * r.x.cs);
		u32 zeros = acc.flags & (SEEN_POSITIVE_ZERO | SEEN_NEGATIVE_ZERO);
		auto load = [&](int b, int n) {
			atA.load(u[b], a, n);
			if (PRODUCTS)
				atX.load(v[b], x, n);
		};
		auto add = [&](number<W> &u, number<W> &v) {
			convert(u, a);
			u32 cls = u.h.cls;
			i64 exp = u.h.exp, shift;
			bool some = finiteClass(cls);
			if (PRODUCTS) {
				convert(v, x);
				some = some && finiteClass(v.h.cls);
				exp += v.h.exp;
			} else if (r.magnitudes) {
				cls &= ~1u;
			}
			if (!some) {
				acc.seeOther(PRODUCTS ? productClass(cls, v.h.cls) : cls);
				return;
			}
			if (!acc.admit(exp, shift))
				return;
			u32 d[K];
			cut<K>(d, (int)shift, [&](int j) { return u.limb[j]; });
			if (!PRODUCTS) {
				acc.note(d, cls & 1);
				return;
			}
			u32 e[K];
			cut<K>(e, 0, [&](int j) { return v.limb[j]; });
			acc.addProduct(d, e, (cls ^ v.h.cls) & 1);
		};
#pragma unroll
		for (int b = 0; b < BATCH; b++)
			if (b < count)
				load(b, b);
		if (pair == 0) // while they come
			acc.begin(guess<PRODUCTS>(r, at));
#pragma unroll 1
		for (int base = 0; base < count; base += BATCH) {
			atA.go(BATCH);
			if (PRODUCTS)
				atX.go(BATCH);
#pragma unroll
			for (int b = 0; b < BATCH; b++) {
				if (base + b >= count)
					break;
				add(u[b], v[b]);
				if (base + b + BATCH < count)
					load(b, b);
			}
			static_assert(BATCH <= 8, "digits noted fit 32 bits");
			if (!PRODUCTS)
				acc.addNoted();
		}
		if (pair > 0) // the zeros of later terms do not count
			acc.flags = acc.flags & ~(SEEN_POSITIVE_ZERO | SEEN_NEGATIVE_ZERO) | zeros;
	}
	finish<DIRECT_THREADS>(r, at, acc, room);
}

// DIRECT defines the kernels for K digits; a multiprocessor is to hold so many blocks of them.
#define DIRECT(K, SUM_BATCH, SUM_BLOCKS, PRODUCT_BATCH, PRODUCT_BLOCKS)                                                          \
	extern "C" __global__ void __launch_bounds__(DIRECT_THREADS, SUM_BLOCKS) sums##K(const __grid_constant__ reduction r)        \
	{                                                                                                                            \
		direct<K, false, SUM_BATCH>(r);                                                                                          \
	}                                                                                                                            \
	extern "C" __global__ void __launch_bounds__(DIRECT_THREADS, PRODUCT_BLOCKS) products##K(const __grid_constant__ reduction r) \
	{                                                                                                                            \
		direct<K, true, PRODUCT_BATCH>(r);                                                                                       \
	}
