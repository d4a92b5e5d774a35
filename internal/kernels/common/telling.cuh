// Reports to the host by kernels that have other work.
#pragma once
#include "report.cuh"

// What a kernel tells the host beside its own work: of the control at c, if that is not 0, to the
// mailbox at to.
struct telling {
	u64 c, to;
	u32 ticket, pad;
};

// tellReport tells what a kernel before has found. It takes all threads of a block.
static __device__ void tellReport(const telling &t)
{
	tell(t.to, t.ticket, &((control *)t.c)->r, sizeof(report) / 8);
}
