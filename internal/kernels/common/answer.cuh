// Answers to the host in words of its mailbox that may come in any order.
#pragma once
#include "common.cuh"

// tellWord writes word i of the answer with that ticket. The host takes a word when the ticket is
// there: the halves are written together.
static __device__ __forceinline__ void tellWord(u64 mailbox, int i, u32 ticket, u32 value)
{
	((volatile u64 *)mailbox)[i] = (u64)value << 32 | ticket;
}

// tellWide writes words i and i + 1: the low half of value, then the high one.
static __device__ __forceinline__ void tellWide(u64 mailbox, int i, u32 ticket, i64 value)
{
	tellWord(mailbox, i, ticket, (u32)value);
	tellWord(mailbox, i + 1, ticket, (u32)((u64)value >> 32));
}
