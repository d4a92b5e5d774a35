package grid

import (
	"context"
	"errors"

	"github.com/halfulp/halfulp/mpi"
)

// leaving is a transport that a process leaves when an operation fails and its context has ended.
// The contexts of the other processes need not end, and once one process has skipped an operation,
// later operations would no longer match.
type leaving struct{ Transport }

func (t leaving) after(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.Join(err, t.Leave())
	}
	return err
}

func (t leaving) Allreduce(ctx context.Context, op mpi.Op, x []int64) error {
	return t.after(ctx, t.Transport.Allreduce(ctx, op, x))
}

func (t leaving) Allgather(ctx context.Context, from, to []byte, counts []int) error {
	return t.after(ctx, t.Transport.Allgather(ctx, from, to, counts))
}

func (t leaving) AllgatherInPlace(ctx context.Context, all []byte, counts []int) error {
	return t.after(ctx, t.Transport.AllgatherInPlace(ctx, all, counts))
}

func (t leaving) Alltoall(ctx context.Context, from, to []byte, sent, got []int) error {
	return t.after(ctx, t.Transport.Alltoall(ctx, from, to, sent, got))
}

func (t leaving) Bcast(ctx context.Context, b []byte, root int) error {
	return t.after(ctx, t.Transport.Bcast(ctx, b, root))
}

// Leave informs the other processes that this process takes no further part in operations.
func (g *Grid) Leave() error { return g.to.Leave() }
