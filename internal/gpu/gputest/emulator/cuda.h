// What CUDA C++ has and a compiler for the host lacks. The threads of a block are coroutines of one
// thread of the host, which go on from barrier to barrier in an order that changes; blocks come one
// after the other. Copies in the background are done at once.
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ucontext.h>
#include <utility>

struct uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
struct alignas(16) longlong2 { long long x, y; };
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

namespace emulator {

typedef unsigned long long word;

// A launch as the host tells it.
struct launch {
	unsigned grid[3], block[3];
	unsigned long long shared; // bytes of dynamic shared memory
	unsigned long long order;  // of threads
	void **params;
};

enum { RUNNING, AT_WARP, AT_BLOCK, DONE };

const int SLOTS = 4; // words that a thread can tell at a time

struct thread {
	ucontext_t first;
	jmp_buf at;
	uint3 id;
	int state;
	unsigned all;     // lanes that it waits for
	unsigned present; // those that have come
	bool started, turn; // which of the slots is written next
	word slots[2][SLOTS];
};

const int STACK = 256 << 10, MOST = 1024, ROOM = 256 << 10;

struct machine {
	thread threads[MOST];
	char *stacks;
	alignas(1024) char room[ROOM]; // dynamic shared memory
	ucontext_t caller;
	jmp_buf back;
	thread *self;
	int count;
	size_t shared;
	uint3 grid, block, at;
	void (*kernel)(void **);
	void **params;
	int agreed; // threads that said so at a barrier

	machine() : stacks((char *)malloc((size_t)STACK * MOST)) {}
	~machine() { free(stacks); }
};

// One for each thread of the host.
static machine &m()
{
	static thread_local std::unique_ptr<machine> one;
	if (!one)
		one.reset(new machine());
	return *one;
}

static void body()
{
	machine &h = m();
	h.kernel(h.params);
	h.self->state = DONE;
	_longjmp(h.back, 1);
}

static void go(thread &t)
{
	machine &h = m();
	h.self = &t;
	if (_setjmp(h.back))
		return;
	if (t.started)
		_longjmp(t.at, 1);
	t.started = true;
	getcontext(&t.first);
	t.first.uc_stack.ss_sp = h.stacks + (size_t)STACK * (&t - h.threads);
	t.first.uc_stack.ss_size = STACK;
	t.first.uc_link = &h.caller;
	makecontext(&t.first, body, 0);
	setcontext(&t.first);
}

static __attribute__((noinline)) void wait(int state, unsigned all = ~0u)
{
	machine &h = m();
	thread *t = h.self;
	t->state = state;
	t->all = all;
	if (!_setjmp(t->at))
		_longjmp(h.back, 1);
}

// release lets count threads go on that have said to wait for each other, and reports whether there
// are some. Those that are done are waited for by no one.
static bool release(thread *t, int count, int state, unsigned all)
{
	unsigned present = 0;
	for (int i = 0; i < count; i++)
		if (all >> i % 32 & 1 && t[i].state != DONE) {
			if (t[i].state != state || t[i].all != all)
				return false;
			present |= 1u << i % 32;
		}
	for (int i = 0; present && i < count; i++)
		if (all >> i % 32 & 1 && t[i].state != DONE) {
			t[i].state = RUNNING;
			t[i].present = present;
		}
	return present;
}

// block runs a block and reports whether it came to its end.
static bool block(machine &h, word &order)
{
	for (int i = 0; i < h.count; i++) {
		thread &t = h.threads[i];
		t.state = RUNNING;
		t.started = t.turn = false;
		unsigned x = i % h.block.x, y = i / h.block.x;
		t.id = {x, y % h.block.y, y / h.block.y};
	}
	memset(h.room, 0xA5, h.shared);
	for (;;) {
		order = order * 6364136223846793005ull + 1442695040888963407ull;
		unsigned turn = order >> 33;
		bool back = turn & 1, ran = false;
		turn = (turn >> 1) % h.count;
		for (int i = 0; i < h.count; i++) {
			thread &t = h.threads[((back ? h.count - i : i) + turn) % h.count];
			if (t.state == RUNNING) {
				go(t);
				ran = true;
			}
		}
		if (ran)
			continue;
		bool more = false, done = true;
		for (int i = 0; i < h.count; i++)
			if (h.threads[i].state == AT_WARP)
				more |= release(h.threads + i / 32 * 32, std::min(32, h.count - i / 32 * 32), AT_WARP, h.threads[i].all);
		for (int i = 0; i < h.count; i++)
			done = done && h.threads[i].state == DONE;
		if (done)
			return true;
		if (!more && !release(h.threads, h.count, AT_BLOCK, ~0u))
			return false;
	}
}

// run reports whether all blocks came to their end: some of their threads may wait at one barrier
// while others wait at another one.
static int run(const launch *l, void (*kernel)(void **))
{
	machine &h = m();
	h.kernel = kernel;
	h.params = l->params;
	h.shared = l->shared;
	h.grid = {l->grid[0], l->grid[1], l->grid[2]};
	h.block = {l->block[0], l->block[1], l->block[2]};
	h.count = h.block.x * h.block.y * h.block.z;
	word order = l->order;
	for (unsigned z = 0; z < h.grid.z; z++)
		for (unsigned y = 0; y < h.grid.y; y++)
			for (unsigned x = 0; x < h.grid.x; x++) {
				h.at = {x, y, z};
				if (!block(h, order))
					return 0;
			}
	return 1;
}

// call calls a kernel with its parameters.
template <class... A, size_t... I> static void call(void (*f)(A...), void **p, std::index_sequence<I...>)
{
	f(*(std::remove_cv_t<std::remove_reference_t<A>> *)p[I]...);
}
template <class... A> static void call(void (*f)(A...), void **p) { call(f, p, std::index_sequence_for<A...>()); }

static int lane() { return (int)(m().self - m().threads) % 32; }

// What the threads of a warp have told each other.
struct told {
	thread *warp;
	bool turn;

	word operator()(int l, int k = 0) const { return warp[l].slots[turn][k]; }
	// Number r of the 32-bit words of lane l.
	unsigned half(int l, int r) const { return (unsigned)(warp[l].slots[turn][r / 2] >> 32 * (r % 2)); }
};

// tell returns the words that all threads of the warp tell. They stay until the next but one.
static told tell(word a, word b = 0, word c = 0, unsigned all = ~0u)
{
	thread *t = m().self;
	told e = {t - lane(), t->turn};
	word *to = t->slots[t->turn];
	to[0] = a, to[1] = b, to[2] = c;
	t->turn = !t->turn;
	wait(AT_WARP, all);
	return e;
}

template <class T> static word bits(T x)
{
	word b = 0;
	memcpy(&b, &x, sizeof x);
	return b;
}

template <class T, class U> static T as(U x)
{
	T y;
	memcpy(&y, &x, sizeof y);
	return y;
}

static word pair(unsigned low, unsigned high) { return (word)high << 32 | low; }

// dot is dp4a for bytes without sign.
static unsigned dot(unsigned x, unsigned y, unsigned sum)
{
	for (int k = 0; k < 32; k += 8)
		sum += (x >> k & 255) * (y >> k & 255);
	return sum;
}

// multiply is mma.m16n8k32 for bytes of type B, those of a of type A, or m16n8k16 for K = 16:
// d = a b + c.
template <class B, int K, class A = B> static void multiply(int (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1, const int (&c)[4])
{
	int l = lane(), g = l / 4, q = l % 4;
	told e = tell(pair(a0, a1), pair(a2, a3), pair(b0, b1));
	for (int i = 0; i < 4; i++) {
		unsigned sum = c[i];
		int column = 2 * q + i % 2;
		for (int k = 0; k < K; k++) {
			unsigned a = e.half(4 * g + k % 16 / 4, i / 2 + 2 * (k / 16)), b = e.half(4 * column + k % 16 / 4, 4 + k / 16);
			sum += (int)(A)(a >> 8 * (k % 4)) * (int)(B)(b >> 8 * (k % 4));
		}
		d[i] = sum;
	}
}

// multiply64 is mma.m8n8k4 for doubles.
static void multiply64(double2 &c, double a, double b)
{
	int l = lane(), g = l / 4, q = l % 4;
	told e = tell(bits(a), bits(b));
	for (int k = 0; k < 4; k++) {
		c.x = std::fma(as<double>(e(4 * g + k)), as<double>(e(4 * (2 * q) + k, 1)), c.x);
		c.y = std::fma(as<double>(e(4 * g + k)), as<double>(e(4 * (2 * q + 1) + k, 1)), c.y);
	}
}

// addDigits adds low and then 0x80808080 three times to a number of four words.
static void addDigits(unsigned &w0, unsigned &w1, unsigned &w2, unsigned &w3, unsigned low)
{
	word sum = (word)w0 + low;
	w0 = (unsigned)sum;
	for (unsigned *w : {&w1, &w2, &w3}) {
		sum = (sum >> 32) + *w + 0x80808080u;
		*w = (unsigned)sum;
	}
}

static char *shared(unsigned at) { return m().room + (int)at; }
static char *shared(void *p) { return (char *)p; }

// loadMatrices is ldmatrix.x4.
static uint4 matrices(unsigned at)
{
	told e = tell(at);
	unsigned r[4];
	for (int i = 0; i < 4; i++)
		memcpy(&r[i], shared((unsigned)e(8 * i + lane() / 4)) + 4 * (lane() % 4), 4);
	return {r[0], r[1], r[2], r[3]};
}

// transposed is ldmatrix.x4.trans.
static uint4 transposed(unsigned at)
{
	told e = tell(at);
	int g = lane() / 4, q = lane() % 4;
	unsigned r[4];
	for (int i = 0; i < 4; i++) {
		unsigned short pair[2];
		for (int k = 0; k < 2; k++)
			memcpy(&pair[k], shared((unsigned)e(8 * i + 2 * q + k)) + 2 * g, 2);
		r[i] = pair[0] | (unsigned)pair[1] << 16;
	}
	return {r[0], r[1], r[2], r[3]};
}

} // namespace emulator

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static thread_local
#define __align__(n) __attribute__((aligned(n)))
#define threadIdx (emulator::m().self->id)
#define blockIdx (emulator::m().at)
#define blockDim (emulator::m().block)
#define gridDim (emulator::m().grid)
#define EXPORT(name) \
	extern "C" int emulate_##name(const emulator::launch *l) \
	{ \
		return emulator::run(l, [](void **p) { emulator::call(name, p); }); \
	}

static void __syncthreads() { emulator::wait(emulator::AT_BLOCK); }
static void __syncwarp(unsigned all = ~0u) { emulator::wait(emulator::AT_WARP, all); }
static void __threadfence() {}
static void __threadfence_system() {}

static int __syncthreads_count(int x)
{
	emulator::machine &h = emulator::m();
	__syncthreads();
	h.agreed = 0;
	__syncthreads();
	if (x)
		h.agreed++;
	__syncthreads();
	return h.agreed;
}

static int __syncthreads_or(int x) { return __syncthreads_count(x) != 0; }

template <class T> static T __shfl_xor_sync(unsigned all, T x, int d) { return emulator::as<T>(emulator::tell(emulator::bits(x), 0, 0, all)(emulator::lane() ^ d)); }
template <class T> static T __shfl_sync(unsigned all, T x, int l) { return emulator::as<T>(emulator::tell(emulator::bits(x), 0, 0, all)(l & 31)); }
template <class T> static T __shfl_down_sync(unsigned all, T x, int d)
{
	int l = emulator::lane();
	return emulator::as<T>(emulator::tell(emulator::bits(x), 0, 0, all)(l + d < 32 ? l + d : l));
}
static unsigned __ballot_sync(unsigned all, int x)
{
	emulator::told e = emulator::tell(x != 0, 0, 0, all);
	unsigned b = 0;
	for (int l = 0; l < 32; l++)
		b |= (emulator::m().self->present >> l & 1 & (unsigned)e(l)) << l;
	return b;
}
static int __any_sync(unsigned all, int x) { return __ballot_sync(all, x) != 0; }
static int __all_sync(unsigned all, int x) { return __ballot_sync(all, !x) == 0; }
template <class T, class F> static T reduce(unsigned all, T x, F f)
{
	emulator::told e = emulator::tell((unsigned)x, 0, 0, all);
	for (int l = 0; l < 32; l++)
		if (emulator::m().self->present >> l & 1)
			x = f(x, (T)(unsigned)e(l));
	return x;
}
template <class T> static T __reduce_max_sync(unsigned all, T x) { return reduce(all, x, [](T a, T b) { return std::max(a, b); }); }
static unsigned __reduce_or_sync(unsigned all, unsigned x) { return reduce(all, x, [](unsigned a, unsigned b) { return a | b; }); }

template <class T, class U> static T atomicAdd(T *at, U x)
{
	T old = *at;
	*at += x;
	return old;
}
template <class T, class U> static T atomicMax(T *at, U x)
{
	T old = *at;
	*at = std::max(old, (T)x);
	return old;
}
template <class T, class U> static T atomicMin(T *at, U x)
{
	T old = *at;
	*at = std::min(old, (T)x);
	return old;
}
template <class T, class U> static T atomicOr(T *at, U x)
{
	T old = *at;
	*at |= x;
	return old;
}
template <class T, class U> static T atomicExch(T *at, U x)
{
	T old = *at;
	*at = x;
	return old;
}
static unsigned atomicInc(unsigned *at, unsigned most)
{
	unsigned old = *at;
	*at = old >= most ? 0 : old + 1;
	return old;
}

template <class T> static T __ldg(const T *p) { return *p; }
template <class T> static T __ldcg(const T *p) { return *p; }
static size_t __cvta_generic_to_shared(const void *p) { return (const char *)p - emulator::m().room; }

static double __longlong_as_double(long long x) { return emulator::as<double>(x); }
static long long __double_as_longlong(double x) { return emulator::as<long long>(x); }
static float __uint_as_float(unsigned x) { return emulator::as<float>(x); }
static float __int_as_float(int x) { return emulator::as<float>(x); }
static unsigned __float_as_uint(float x) { return emulator::as<unsigned>(x); }
static int __float_as_int(float x) { return emulator::as<int>(x); }
static int __double2hiint(double x) { return (int)(emulator::as<long long>(x) >> 32); }
static double __dadd_rn(double x, double y) { return x + y; }
static double __dmul_rn(double x, double y) { return x * y; }
static long long __double2ll_rn(double x) { return std::llrint(x); }
static double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
static float __fadd_rn(float x, float y) { return x + y; }
static float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }

static int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __ffs(int x) { return __builtin_ffs(x); }
static int __ffsll(long long x) { return __builtin_ffsll(x); }
static unsigned __umulhi(unsigned x, unsigned y) { return (unsigned long long)x * y >> 32; }
static int __mulhi(int x, int y) { return (long long)x * y >> 32; }
static unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned __int128)x * y >> 64; }
static unsigned __funnelshift_r(unsigned low, unsigned high, unsigned s) { return emulator::pair(low, high) >> (s & 31); }
static unsigned __funnelshift_l(unsigned low, unsigned high, unsigned s) { return emulator::pair(low, high) << (s & 31) >> 32; }
static unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
	unsigned r = 0;
	for (int i = 0; i < 4; i++) {
		unsigned k = s >> 4 * i;
		int byte = (signed char)(emulator::pair(a, b) >> 8 * (k & 7));
		r |= (unsigned)(unsigned char)(k & 8 ? byte >> 7 : byte) << 8 * i;
	}
	return r;
}

#define OVERLOADS(T) \
	static T min(T x, T y) { return y < x ? y : x; } \
	static T max(T x, T y) { return x < y ? y : x; }
OVERLOADS(int)
OVERLOADS(unsigned)
OVERLOADS(long long)
OVERLOADS(unsigned long long)
OVERLOADS(float)
OVERLOADS(double)
static unsigned min(int x, unsigned y) { return min((unsigned)x, y); }
static unsigned min(unsigned x, int y) { return min(x, (unsigned)y); }
static unsigned max(int x, unsigned y) { return max((unsigned)x, y); }
static unsigned max(unsigned x, int y) { return max(x, (unsigned)y); }
