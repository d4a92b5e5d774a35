/* The state of the floating-point unit, for calls by programs that have changed it. */
#include <stdint.h>

/* struct mode is the state of the floating-point unit of the caller. */
struct mode {
#if defined __x86_64__
	unsigned control;
#elif defined __aarch64__
	uint64_t control;
#endif
};

/* standard_mode sets the arithmetic of this thread to IEEE 754, and returns the state before. A
 * program may have set another rounding, or treat subnormal numbers as zero, as -ffast-math of gcc
 * does. Threads begin with the state of the thread that starts them. */
static inline struct mode standard_mode(void) {
	struct mode mode;
#if defined __x86_64__
	mode.control = __builtin_ia32_stmxcsr();
	if ((mode.control & 0xffc0) != 0x1f80)
		__builtin_ia32_ldmxcsr(0x1f80);
#elif defined __aarch64__
	__asm__ volatile("mrs %0, fpcr" : "=r"(mode.control));
	if (mode.control)
		__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
#endif
	return mode;
}

/* restore_mode restores the state, the flags of exceptions included. */
static inline void restore_mode(struct mode mode) {
#if defined __x86_64__
	__builtin_ia32_ldmxcsr(mode.control);
#elif defined __aarch64__
	if (mode.control)
		__asm__ volatile("msr fpcr, %0" : : "r"(mode.control));
#endif
}
