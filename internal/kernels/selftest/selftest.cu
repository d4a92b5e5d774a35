// Kernels that test the way to the device: arguments, memory, barriers, failures.
#include "../common/answer.cuh"

// scale_add: z_i = a x_i + y_i, i < n, each operation rounded.
extern "C" __global__ void scale_add(double a, const double *x, const double *y, double *z, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		z[i] = a * x[i] + y[i];
}

// empty does nothing: its launches cost what a launch costs.
extern "C" __global__ void empty() {}

struct mixed {
	signed char a;
	unsigned long long b;
	float c[3];
	short d;
};

// arguments writes what it was given, in the order of its parameters.
extern "C" __global__ void arguments(double *out, int i, struct mixed m, long long l, float f, double d)
{
	out[0] = i;
	out[1] = m.a;
	out[2] = m.b;
	out[3] = m.c[0];
	out[4] = m.c[1];
	out[5] = m.c[2];
	out[6] = m.d;
	out[7] = l;
	out[8] = f;
	out[9] = d;
}

// reverse reverses n numbers, in one block of n threads, through dynamic shared memory.
extern "C" __global__ void reverse(int *x, int n)
{
	extern __shared__ int tile[];
	int i = threadIdx.x;
	tile[i] = x[i];
	__syncthreads();
	x[i] = tile[n - 1 - i];
}

// wander writes where there is no memory.
extern "C" __global__ void wander(unsigned long long address)
{
	*(int *)address = 1;
}

// answer writes value behind the first word of a mailbox, then ticket into it.
extern "C" __global__ void answer(unsigned *mailbox, unsigned value, unsigned ticket)
{
	mailbox[1] = value;
	__threadfence_system();
	*(volatile unsigned *)mailbox = ticket;
}

// answer_words writes n words of an answer, the last first: word i is value + i.
extern "C" __global__ void answer_words(unsigned long long mailbox, unsigned n, unsigned value, unsigned ticket)
{
	for (unsigned i = n; i-- > 0;)
		tellWord(mailbox, i, ticket, value + i);
}
